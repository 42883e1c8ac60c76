//! Versions: their shape, their checks, and their pieces put together again. Text that begins with a
//! new line is made good and signed first, so that the checks behind the signature are met too.

use std::sync::LazyLock;

use minca_record::base64url;
use minca_record::content_id::ContentId;
use minca_record::files::named_files;
use minca_record::json::{MESSAGE_DEPTH, Object, Value, read};
use minca_record::line::Line;
use minca_record::note::sign_note;
use minca_record::placement::{Placed, place};
use minca_record::signing::SigningKey;
use minca_record::version::{
    MAX_DEPTH, MAX_VERSION_BYTES, Parts, Refusal, Version, check, check_id, check_place, join,
};

/// The key that signs, whose DID the vectors call the founder's.
static AUTHOR: LazyLock<SigningKey> = LazyLock::new(|| {
    minca_record::derive::identity_key(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])
});

/// The public space of the vectors, most of whose versions are of it.
static SPACE: LazyLock<ContentId> = LazyLock::new(|| {
    ContentId::parse("blm7z6wkumdjs43sxki3lv27z5x6qtwa345vmlzjco2mxxau3jmhq").expect("an id")
});

/// One run.
pub fn run(data: &[u8]) {
    let Ok(value) = read(data, MESSAGE_DEPTH) else {
        return;
    };
    let verdict = check(value.clone(), *SPACE);
    if let Ok(checked) = &verdict {
        assert_eq!(
            checked.version.author(),
            &checked.author.to_string().as_str()
        );
    }
    let version = match Version::shape(value.clone()) {
        Err(error) => {
            assert!(!error.reason().is_empty());
            assert_eq!(verdict, Err(Refusal::Shape(error)));
            return;
        }
        Ok(version) => version,
    };
    assert!(!matches!(verdict, Err(Refusal::Shape(_))));
    check_shape(&version, &value);
    check_parts(&version);
    if data.first() == Some(&b'\n') {
        check_signed(version);
    }
}

fn check_shape(version: &Version, value: &Value) {
    let canonical = version.canonical();
    assert_eq!(canonical, value.canonical());
    assert!(canonical.len() <= MAX_VERSION_BYTES);
    assert!(version.object().depth() <= MAX_DEPTH);
    assert_eq!(version.seq() == 0, version.chain().is_none());
    assert_eq!(version.log().n == 0, version.log().prev.is_none());
    let _ = (
        version.item(),
        version.tags().count(),
        version.links().count(),
    );
    let _ = named_files(version);
    let mut line = Line::new();
    line.add_version(version);
    assert_eq!(line.unbroken_end().is_some(), version.log().n == 0);
    let placement = place(None, &Placed::from(version), None);
    assert!(
        !placement.is_nothing(),
        "a record's first version is always kept"
    );
}

fn check_parts(version: &Version) {
    let parts = Parts::split(version);
    let joined = read(&parts.join(), MESSAGE_DEPTH).expect("what is joined reads");
    assert_eq!(joined.as_object(), Some(version.object()));
    let stub = join(&parts.envelope, parts.proof.as_deref(), None);
    let stub = read(&stub, MESSAGE_DEPTH).expect("a stub reads");
    let stub = Version::shape(stub).expect("a stub is a version");
    assert_eq!(stub.signed_part(), version.signed_part());
    assert_eq!(stub.id(), version.id());
    assert_eq!(stub.is_stub(), !version.deleted());
}

/// Makes the version the key's own, under the note it has or none, and signs it.
fn check_signed(version: Version) {
    let mut object = version.object().clone();
    let author = AUTHOR.did().to_string();
    object.insert("author", author.as_str());
    object.insert("space", SPACE.to_string());
    if let Some(body) = version.body_canonical().filter(|_| !version.deleted()) {
        object.insert("bodyHash", ContentId::of(body).to_string());
    }
    let has_note = object.contains("proof");
    if let Some(payload) = note_payload(object.get("proof"), &author) {
        object.insert("proof", sign_note(payload, &AUTHOR));
    }
    sign(&mut object);
    match check(object.into(), *SPACE) {
        Ok(checked) => {
            assert_eq!(checked.author, AUTHOR.did());
            assert_eq!(check_id(&checked.version), Ok(()));
            assert_eq!(check_place(&checked.version, *SPACE), Ok(()));
        }
        Err(Refusal::Note(_) | Refusal::NoteScope) => assert!(has_note),
        // What was put in may make it too large, or name another version it already named.
        Err(Refusal::Shape(_) | Refusal::RetainedStub | Refusal::KeyOwner) => {}
        Err(other) => panic!("{other}"),
    }
}

/// The payload of a note, made out by the key to itself.
fn note_payload(note: Option<&Value>, author: &str) -> Option<Object> {
    let mut payload = note?.as_object()?.get("payload")?.as_object()?.clone();
    for name in ["iss", "aud", "sub"] {
        payload.insert(name, author);
    }
    Some(payload)
}

fn sign(object: &mut Object) {
    let mut signed = Vec::new();
    object.write_canonical_without(&["id", "signature", "body"], &mut signed);
    object.insert("id", ContentId::of(&signed).to_string());
    object.insert("signature", base64url::encode(&AUTHOR.sign(&signed)));
}
