//! Notes and what they must grant (01 §7, §8).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_record::did::Did;
use minca_record::hex;
use minca_record::json::{Object, Text, Value};
use minca_record::note::{NOTE_TYPE, Note, NoteError, UnverifiedNote, sign_note};
use minca_record::required::{
    Required, VersionAsked, is_access_collection, required_of_version, required_to_invite,
    required_to_read,
};
use minca_record::signing::SigningKey;
use serde_json::json;
use support::{list, our_object, read, section, string};

fn did(of: &serde_json::Value, name: &str) -> Did {
    Did::parse(string(of, name)).unwrap()
}

fn person(name: &str) -> SigningKey {
    let people = section("identity.json", "keys");
    let person = people
        .as_array()
        .unwrap()
        .iter()
        .find(|person| person["name"] == name)
        .unwrap();
    SigningKey::from_scalar(&hex::decode_exact(string(person, "d")).unwrap()).unwrap()
}

#[test]
fn good_notes_give_their_root_their_grants_and_their_times() {
    let cases = section("identity.json", "notes");
    let cases = list(&cases, "valid");
    assert_eq!(cases.len(), 18);
    let (mut grants, mut times) = (0, 0);
    for case in cases {
        let note = Note::check(&read(&case["note"]), &did(case, "author")).unwrap();
        assert_eq!(note.root(), did(case, "root"), "{}", string(case, "name"));
        assert_eq!(note.audience(), did(case, "author"));
        for asked in list(case, "grants") {
            let granted = note.grants(string(asked, "cmd"), &our_object(&asked["args"]));
            assert_eq!(
                granted,
                asked["grants"].as_bool().unwrap(),
                "{}: {asked}",
                string(case, "name")
            );
            grants += 1;
        }
        for time in list(case, "times") {
            let in_time = note.in_time(time["at"].as_u64().unwrap());
            assert_eq!(
                in_time,
                time["inTime"].as_bool().unwrap(),
                "{}: {time}",
                string(case, "name")
            );
            times += 1;
        }
    }
    assert_eq!((grants, times), (32, 20));
}

#[test]
fn signing_a_payload_of_the_vectors_gives_its_note() {
    let alice = person("alice");
    let cases = section("identity.json", "notes");
    let mut signed = 0;
    for case in list(&cases, "valid") {
        let note = read(&case["note"]);
        if string(case, "name").contains("the other s")
            || string(case, "root") != alice.did().to_string()
        {
            continue;
        }
        let payload = our_object(&case["note"]["payload"]);
        assert_eq!(sign_note(payload, &alice), note, "{}", string(case, "name"));
        let text = string(case, "signed");
        let by_text = Object::from([
            ("type", Value::from(NOTE_TYPE)),
            ("payload", read(&case["note"]["payload"])),
        ]);
        assert_eq!(String::from_utf8(by_text.canonical()).unwrap(), text);
        signed += 1;
    }
    assert_eq!(signed, 15);
}

#[test]
fn bad_notes_fail_at_the_step_of_the_vectors() {
    let cases = section("identity.json", "notes");
    let cases = list(&cases, "invalid");
    assert_eq!(cases.len(), 61);
    for case in cases {
        let note = read(&case["note"]);
        let failure = Note::check(&note, &did(case, "author")).unwrap_err();
        let step = match failure {
            NoteError::Shape(_) => "shape",
            NoteError::Subject => "subject",
            NoteError::Audience => "audience",
            NoteError::Signature => "signature",
        };
        assert_eq!(
            step,
            string(case, "fails"),
            "{}: {failure}",
            string(case, "name")
        );
        let form = UnverifiedNote::read(&note);
        assert_eq!(form.is_err(), step == "shape", "{}", string(case, "name"));
    }
}

#[test]
fn a_note_is_taken_up_to_its_size() {
    let limits = section("identity.json", "notes")["limits"].take();
    let cases = list(&limits, "cases");
    assert_eq!(cases.len(), 2);
    for case in cases {
        let mut payload = limits["payload"].clone();
        payload["meta"]["x"] = "a".repeat(case["n"].as_u64().unwrap() as usize).into();
        let author = did(&payload, "aud");
        let note = read(&json!({ "type": NOTE_TYPE, "payload": payload, "sig": case["sig"] }));
        let size = note.canonical().len();
        match case["fails"].as_str() {
            None => {
                assert_eq!(size, 65_536);
                assert!(Note::check(&note, &author).is_ok());
            }
            Some(step) => {
                assert_eq!((size, step), (65_537, "shape"));
                assert!(matches!(
                    Note::check(&note, &author),
                    Err(NoteError::Shape(_))
                ));
            }
        }
    }
}

#[test]
fn a_note_is_taken_up_to_each_members_limit() {
    let alice = person("alice");
    let laptop = person("aliceLaptop").did();
    let check = |name: &str, value: Value| {
        let mut payload = Object::from([
            ("iss", alice.did().to_string()),
            ("aud", laptop.to_string()),
            ("sub", alice.did().to_string()),
            ("cmd", "/".into()),
            ("nonce", "n".into()),
        ]);
        payload.insert("pol", vec![]);
        payload.insert(name, value);
        Note::check(&sign_note(payload, &alice), &laptop).is_ok()
    };
    let greatest = (1u64 << 53) - 1;
    for name in ["exp", "nbf"] {
        assert!(check(name, 0u32.into()), "{name}");
        assert!(check(name, greatest.into()), "{name}");
        assert!(!check(name, (greatest + 1).into()), "{name}");
        assert!(!check(name, Value::Number(-1.0)), "{name}");
    }
    assert!(check("nonce", "a".repeat(64).into()));
    assert!(!check("nonce", "a".repeat(65).into()));
    assert!(!check("nonce", "".into()));
    assert!(check("cmd", format!("/{}", "a".repeat(199)).into()));
    assert!(!check("cmd", format!("/{}", "a".repeat(200)).into()));
    assert!(check("meta", Object::new().into()));
    assert!(!check("other", Value::Null));
}

#[test]
fn a_note_shown_by_its_own_issuer_or_another_key_is_not_for_it() {
    let alice = person("alice");
    let laptop = person("aliceLaptop").did();
    let bob = person("bob").did();
    let mut payload = Object::from([
        ("iss", alice.did().to_string()),
        ("aud", laptop.to_string()),
        ("sub", alice.did().to_string()),
        ("cmd", "/".into()),
        ("nonce", "n".into()),
    ]);
    payload.insert("pol", vec![]);
    let note = sign_note(payload, &alice);
    assert!(Note::check(&note, &laptop).is_ok());
    assert_eq!(Note::check(&note, &alice.did()), Err(NoteError::Audience));
    assert_eq!(Note::check(&note, &bob), Err(NoteError::Audience));
}

#[test]
fn versions_need_what_the_vectors_say() {
    let cases = section("identity.json", "required");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 11);
    for case in cases {
        let version = &case["version"];
        let required = required_of_version(VersionAsked {
            space: string(version, "space"),
            collection: &string(version, "collection").into(),
            key: string(version, "key"),
            is_delete: version.get("deleted").is_some(),
            in_own_space: case["accountsOwnSpace"].as_bool().unwrap(),
        })
        .unwrap();
        let found: Vec<_> = required
            .iter()
            .map(|one| (one.command, one.arguments.clone()))
            .collect();
        let expected: Vec<_> = list(case, "requires")
            .iter()
            .map(|one| (string(one, "cmd"), our_object(&one["args"])))
            .collect();
        assert_eq!(found, expected, "{}", string(case, "why"));
    }
}

#[test]
fn a_key_without_its_prefix_defines_nothing() {
    for key in ["app.chess", "collection", "Collection:x", "k1", ""] {
        let asked = VersionAsked {
            space: "bspace",
            collection: &"sys.collection".into(),
            key,
            is_delete: false,
            in_own_space: false,
        };
        assert!(required_of_version(asked).is_err(), "{key}");
    }
}

#[test]
fn every_access_collection_asks_to_change_access_or_to_define() {
    let names = [
        "sys.role",
        "sys.assign",
        "sys.remove",
        "sys.invite",
        "sys.revoke",
        "sys.key",
        "sys.relays",
        "sys.keepers",
        "sys.fork",
        "sys.stepdown",
        "sys.succeed",
    ];
    for name in names {
        let collection = Text::from(name);
        assert!(is_access_collection(&collection));
        for is_delete in [false, true] {
            let asked = VersionAsked {
                space: "b",
                collection: &collection,
                key: "k",
                is_delete,
                in_own_space: false,
            };
            assert_eq!(
                required_of_version(asked).unwrap()[0].command,
                "/access/change"
            );
        }
    }
    assert!(is_access_collection(&"sys.collection".into()));
    for name in [
        "sys.box",
        "sys.memberkey",
        "sys.profile",
        "sys",
        "sys.roles",
        "app.role",
    ] {
        assert!(!is_access_collection(&name.into()), "{name}");
    }
}

#[test]
fn inviting_and_reading_need_what_the_text_says() {
    let invite = required_to_invite("b1");
    assert_eq!(invite.command, "/access/change");
    assert_eq!(
        invite.arguments,
        our_object(&json!({ "collection": "sys.invite", "space": "b1" }))
    );
    let read = required_to_read("b1");
    assert_eq!(
        read,
        Required {
            command: "/record/read",
            arguments: our_object(&json!({ "space": "b1" }))
        }
    );
}
