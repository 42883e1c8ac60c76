//! Key changes: what they are made of, and the earlier keys taken from them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_access::{ChangeKeyError, KeyChange, MAX_EARLIER, MalformedEarlier, change_key};
use minca_record::base64url;
use minca_record::derive::SpaceKey;
use minca_record::envelope::{EARLIER_KEYS, seal};
use minca_record::json::{Object, Value};
use support::{read, some_space, space, vectors};

#[test]
fn a_key_change_gives_the_earlier_keys_the_history_names() {
    let vectors = vectors();
    let space = space(&vectors, "private").id;
    let named = vectors["spaceKeys"].as_object().unwrap();
    let first_key_id = named["K0"]["keyId"].as_str().unwrap();
    let cases = vectors["earlier"].as_array().unwrap();
    assert_eq!(cases.len(), 16);
    for case in cases {
        let key_id = case["keyId"].as_str().unwrap();
        let key = named.values().find(|key| key["keyId"] == key_id).unwrap();
        let bytes = base64url::decode_exact(key["key"].as_str().unwrap()).unwrap();
        let change = KeyChange {
            space,
            key_id,
            earlier: case["earlier"].as_str().unwrap(),
        };
        let opened = change.open(&SpaceKey::new(bytes), first_key_id, |id, read_key| {
            let read_key = read_key.to_string();
            named
                .values()
                .any(|key| key["keyId"] == id && key["readKey"] == *read_key)
        });
        assert_eq!(
            opened.is_err(),
            case["malformed"] == true,
            "{}",
            case["name"]
        );
        let takes: Vec<String> = opened.iter().flatten().map(SpaceKey::key_id).collect();
        assert_eq!(serde_json::json!(takes), case["takes"], "{}", case["name"]);
    }
}

/// Opens an `earlier` whose list has the first key at `place`, after keys
/// nobody named.
fn with_the_first_key_at(place: usize) -> Result<Vec<SpaceKey>, MalformedEarlier> {
    let (new, first) = (SpaceKey::new([1; 32]), SpaceKey::new([2; 32]));
    let space = some_space().id;
    let mut list = vec![Value::Null; place];
    list.push(base64url::encode(first.bytes()).into());
    let bound = Object::from([("space", space.to_string()), ("keyId", new.key_id())]);
    let list = Value::from(list).canonical();
    let sealed = seal(&new.seal_key(), EARLIER_KEYS, &bound, &list, [0; 12]).unwrap();
    let change = KeyChange {
        space,
        key_id: &new.key_id(),
        earlier: &base64url::encode(&sealed),
    };
    change.open(&new, &first.key_id(), |_, _| true)
}

#[test]
fn the_first_thousand_entries_are_looked_at() {
    assert_eq!(with_the_first_key_at(MAX_EARLIER - 1).unwrap().len(), 1);
    assert_eq!(
        with_the_first_key_at(MAX_EARLIER),
        Err(MalformedEarlier::FirstKeyMissing)
    );
}

#[test]
fn a_change_of_the_key_is_that_of_the_vectors() {
    let vectors = vectors();
    let key = |name: &str| {
        let key = vectors["spaceKeys"][name]["key"].as_str().unwrap();
        SpaceKey::new(base64url::decode_exact(key).unwrap())
    };
    let cases = vectors["events"]["key"].as_array().unwrap();
    let case = cases.iter().find(|case| !case["yields"].is_null()).unwrap();
    let held = [key("K0")];
    let nonce = std::array::from_fn(|place| 0xa0 + place as u8);
    let space = space(&vectors, "private").id;
    let body = change_key(space, &key("K1"), &held, &held[0].key_id(), nonce).unwrap();
    assert_eq!(Value::from(body), read(&case["version"]["body"]));
}

#[test]
fn who_lacks_the_first_key_changes_none() {
    let [first, second, new] = [1, 2, 3].map(|byte| SpaceKey::new([byte; 32]));
    let change = |held: &[SpaceKey]| {
        let first = first.key_id();
        change_key(some_space().id, &new, held, &first, [0; 12])
    };
    for held in [vec![], vec![second.clone()], vec![new.clone()]] {
        assert_eq!(change(&held), Err(ChangeKeyError::FirstKeyMissing));
    }
    assert!(change(&[second.clone(), first.clone()]).is_ok());
}

#[test]
fn what_a_change_carries_is_opened_by_who_holds_its_key() {
    let (first, new) = (SpaceKey::new([1; 32]), SpaceKey::new([2; 32]));
    // More than a reader takes, the first key last.
    let mut held: Vec<SpaceKey> = (0..MAX_EARLIER)
        .map(|n| {
            let mut bytes = [3; 32];
            bytes[..8].copy_from_slice(&n.to_be_bytes());
            SpaceKey::new(bytes)
        })
        .collect();
    held.push(first.clone());
    let space = some_space().id;
    let body = change_key(space, &new, &held, &first.key_id(), [0; 12]).unwrap();
    let change = KeyChange {
        space,
        key_id: &new.key_id(),
        earlier: body.get("earlier").and_then(Value::as_str).unwrap(),
    };
    let opened = change.open(&new, &first.key_id(), |_, _| true).unwrap();
    assert_eq!(opened.len(), MAX_EARLIER);
    assert_eq!(opened[0], first);
    assert_eq!(opened[1..], held[..MAX_EARLIER - 1]);
    let by_another = change.open(&first, &first.key_id(), |_, _| true);
    assert_eq!(by_another, Err(MalformedEarlier::NotOpened));
}
