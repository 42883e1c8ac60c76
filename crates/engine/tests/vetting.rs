//! Checking versions with what is remembered of keys and notes: as without.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use engine::{Space, Vetter};
use minca_record::json::{self, MESSAGE_DEPTH, Object, Value};
use minca_record::note::{NoteError, sign_note};
use minca_record::version::{Refusal, check};
use minca_record::{constitution::Constitution, content_id::ContentId};
use support::pen::{Draft, Pen, key, space};

fn vectors() -> Object {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/vectors/records.json"
    );
    let read = json::read(&std::fs::read(path).unwrap(), MESSAGE_DEPTH).unwrap();
    read.into_object().unwrap()
}

fn member<'a>(value: &'a Value, name: &str) -> &'a Value {
    value.as_object().unwrap().get(name).unwrap()
}

#[test]
fn a_vetter_that_remembers_says_what_a_check_from_scratch_says() {
    let vectors = vectors();
    let spaces: Vec<(ContentId, bool)> = vectors.get("spaces").unwrap().as_array().unwrap()[..2]
        .iter()
        .map(|case| {
            let mut space = member(case, "constitution").as_object().unwrap().clone();
            space.insert("id", member(case, "id").as_str().unwrap());
            let space = Constitution::check(space.into()).unwrap();
            (space.id(), space.is_private())
        })
        .collect();
    let cases = member(vectors.get("judged").unwrap(), "cases");
    let cases = cases.as_array().unwrap();
    let mut remembering = Vetter::default();
    let (mut passed, mut refused) = (0, 0);
    // Twice, so that everything there is to remember is; and in both spaces.
    for case in cases.iter().chain(cases) {
        for (id, is_private) in &spaces {
            let version = member(case, "version").clone();
            let space = Space {
                id: *id,
                is_private: *is_private,
            };
            let scratch = check(version.clone(), *id);
            let vetted = remembering.vet(version, space);
            match (scratch, vetted) {
                (Ok(checked), Ok(vetted)) => {
                    assert_eq!(checked, vetted.checked);
                    passed += 1;
                }
                (Err(one), Err(other)) => {
                    assert_eq!(one, other);
                    refused += 1;
                }
                (one, other) => panic!(
                    "{one:?} and {other:?}: {}",
                    member(case, "name").as_str().unwrap()
                ),
            }
        }
    }
    assert!(passed > 100 && refused > 100, "{passed} {refused}");
}

#[test]
fn a_note_that_passed_for_one_key_passes_for_no_other() {
    let (account, device, thief) = (key(1), key(2), key(3));
    let constitution = space(&[&account], &[]);
    let space = Space {
        id: constitution.id(),
        is_private: false,
    };
    let payload = Object::from([
        ("iss", Value::from(account.did().to_string())),
        ("aud", device.did().to_string().into()),
        ("sub", account.did().to_string().into()),
        ("cmd", "/".into()),
        ("pol", Vec::<Value>::new().into()),
        ("nonce", "AAECAwQFBgcICQoL".into()),
        ("exp", Value::Null),
    ]);
    let note = sign_note(payload, &account);
    let shown = |pen: &mut Pen, note: &Value| -> Value {
        let owner = minca_record::hash::hex40(&account.did().to_string());
        let draft = Draft::first("a", "words");
        let version = pen.write_with(&draft, |version| {
            version.insert("key", format!("{owner}:a"));
            version.insert("proof", note.clone());
        });
        version.into()
    };
    let mut device = Pen::new(device, &constitution);
    let mut thief = Pen::new(thief, &constitution);
    let mut vetter = Vetter::default();
    for _ in 0..2 {
        let vetted = vetter.vet(shown(&mut device, &note), space).unwrap();
        assert_eq!(vetted.checked.root, account.did());
        let stolen = vetter.vet(shown(&mut thief, &note), space);
        let refusal = Refusal::Note(NoteError::Audience);
        assert_eq!(stolen.map(|_| ()), Err(refusal));
    }
    // What its signature doesn't cover any more is another note.
    let mut changed = note.clone().into_object().unwrap();
    let mut payload = changed.remove("payload").unwrap().into_object().unwrap();
    payload.insert("nonce", "BBECAwQFBgcICQoL");
    changed.insert("payload", payload);
    let changed = vetter.vet(shown(&mut device, &changed.into()), space);
    let refusal = Refusal::Note(NoteError::Signature);
    assert_eq!(changed.map(|_| ()), Err(refusal));
}
