//! Data messages and the sync messages in them: any bytes are taken, and what a message says is
//! written and read again.

use std::sync::LazyLock;

use minca_record::did::Did;
use minca_record::files::{CHUNK, MAX_FILE_SIZE};
use minca_record::json::{MESSAGE_DEPTH, Value, read};
use minca_sync::allowance::is_small_enough;
use minca_sync::envelope::{Envelope, Kind, write_live, write_sync, write_who};
use minca_sync::files::{part_len, serve};
use minca_sync::frame::Frame;
use minca_sync::message::{
    Hello, Holds, MAX_FILE_BYTES, MAX_HELLO_COLLECTIONS, MAX_IDS, MAX_STORED_IDS, Message, Says,
    Versions, arrange, write_file_bytes, write_file_done, write_hello, write_not_held,
    write_push_update, write_reconcile, write_reconciled, write_stored, write_versions, write_want,
    write_want_file,
};

static FROM: LazyLock<Did> = LazyLock::new(|| {
    Did::parse("did:key:zDnaezfzzwcZ3ad3pzrynAr2LTgTceueQAKMX1auV6M8ptjzA").expect("a DID")
});

/// One run: the bytes as a data message, and as the payload of one.
pub fn run(data: &[u8]) {
    assert_eq!(Envelope::read(Frame::Text(data)), Ok(None));
    if let Ok(Some(envelope)) = Envelope::read(Frame::Binary(data)) {
        envelope_again(&envelope);
        if envelope.kind == Kind::Sync {
            payload(envelope.payload);
        }
    }
    if let Ok(value) = read(data, MESSAGE_DEPTH) {
        payload(value);
    }
}

fn envelope_again(envelope: &Envelope) {
    let payload = &envelope.payload;
    let written = match envelope.kind {
        Kind::Sync => write_sync(&FROM, |out| payload.write_canonical(out)),
        Kind::Live => {
            let _ = is_small_enough(payload);
            write_live(&FROM, payload)
        }
        Kind::Who => {
            // Only its note is carried on.
            let note = payload.as_object().and_then(|payload| payload.get("note"));
            let written = write_who(&FROM, note);
            let again = Envelope::read(Frame::Binary(&written))
                .expect("reads")
                .expect("binary");
            assert_eq!(
                again
                    .payload
                    .as_object()
                    .and_then(|again| again.get("note")),
                note
            );
            return;
        }
        Kind::Other(_) => return,
    };
    let again = Envelope::read(Frame::Binary(&written));
    assert_eq!(again.as_ref(), Ok(&Some(envelope.clone())));
}

fn payload(value: Value) {
    let Ok(mut message) = Message::read(value) else {
        return;
    };
    bounds(&message);
    if !forget_what_is_not_written(&mut message) {
        return;
    }
    let mut out = Vec::new();
    write(&message, &mut out);
    let again = read(&out, MESSAGE_DEPTH).expect("what is written reads");
    assert_eq!(Message::read(again), Ok(message.clone()));
    if let Message::Versions(Versions { versions, .. }) = message {
        let given = versions.len();
        assert!(arrange(versions, &Holds::All).len() <= given);
    }
}

fn bounds(message: &Message) {
    match message {
        Message::Hello(hello) => {
            assert!(hello.sums.len() <= MAX_HELLO_COLLECTIONS);
            assert!(
                !matches!(&hello.holds, Holds::Only(held) if held.len() > MAX_HELLO_COLLECTIONS)
            );
        }
        Message::Want(want) => assert!(want.ids.len() <= MAX_IDS),
        Message::Stored(stored) => assert!(stored.ids.len() <= MAX_STORED_IDS),
        Message::File(file) => {
            assert!(file.bytes.len() <= MAX_FILE_BYTES);
            for size in [0, 1, CHUNK, CHUNK + 1, MAX_FILE_SIZE, u64::MAX] {
                let _ = part_len(size, file.part);
            }
        }
        Message::WantFile(want) => {
            let (sent, missing) = serve(want, |_| true);
            assert!(!sent.is_empty() && missing.is_empty());
        }
        _ => {}
    }
}

/// Leaves out of a message what only others write; `false` where nothing is left.
fn forget_what_is_not_written(message: &mut Message) -> bool {
    match message {
        Message::Hello(Hello { sums, .. }) => sums.retain(|_, sum| sum.is_some()),
        Message::Reconcile(reconcile) => {
            return reconcile.collection.is_some() && reconcile.message.is_some();
        }
        Message::Reconciled(reconciled) => return reconciled.says != Says::Unreadable,
        _ => {}
    }
    true
}

fn write(message: &Message, out: &mut Vec<u8>) {
    match message {
        Message::Hello(hello) => {
            let sums = hello.sums.iter();
            let sums = sums.filter_map(|(name, sum)| Some((&**name, (*sum)?)));
            write_hello(out, &hello.holds, sums, hello.reply);
        }
        Message::Reconcile(reconcile) => {
            let collection = reconcile.collection.as_deref().unwrap_or_default();
            let message = reconcile.message.as_deref().unwrap_or_default();
            write_reconcile(out, reconcile.id, collection, message);
        }
        Message::Reconciled(reconciled) => match &reconciled.says {
            Says::NotHeld => write_not_held(out, reconciled.id),
            Says::Message(message) => write_reconciled(out, reconciled.id, message),
            Says::Unreadable => {}
        },
        Message::Want(want) => write_want(out, want.id, &want.ids),
        Message::Versions(Versions { id, versions }) => {
            let versions: Vec<Vec<u8>> = versions.iter().map(Value::canonical).collect();
            write_versions(out, *id, versions.iter().map(Vec::as_slice));
        }
        Message::PushUpdate(push) => write_push_update(out, &push.version.canonical()),
        Message::Stored(stored) => write_stored(out, &stored.ids),
        Message::WantFile(want) => write_want_file(out, want.id, &want.file, &want.asked),
        Message::File(file) => {
            write_file_bytes(out, file.id, &file.file, file.part, file.at, &file.bytes);
        }
        Message::FileDone(done) => write_file_done(out, done.id, &done.file, &done.missing),
    }
}
