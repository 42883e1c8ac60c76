//! The earlier keys of a key change, and how many are taken.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_access::{KeyChange, MAX_EARLIER, MalformedEarlier};
use minca_record::base64url;
use minca_record::derive::SpaceKey;
use minca_record::envelope::{EARLIER_KEYS, seal};
use minca_record::json::{Object, Value};
use support::{some_space, space, vectors};

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
