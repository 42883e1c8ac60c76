//! One inside and one outside of each limit.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_access::{
    Kind, MAX_COPIES, MAX_KEEPER_DID, MAX_KEEPER_NAME, MAX_KEEPERS, MAX_KEY_ID, MAX_PLACES,
    MAX_RELAYS, NoEvent, event_of, keys,
};
use minca_record::constitution::{MAX_GRANTS, MAX_NESTS, MAX_TITLE};
use minca_record::json::{Object, Text, Value};
use minca_record::note::GREATEST_NONCE;
use support::{account, checked, says, some_space};

const DID: &str = "did:key:x";

fn strings(count: usize, word: &str) -> Value {
    let list: Vec<Value> = (0..count)
        .map(|n| Value::from(&*format!("{word}{n}")))
        .collect();
    list.into()
}

fn remove_with(cutoff: Value) -> Result<minca_access::Cutoff, NoEvent> {
    let body = Object::from([("did", DID.into()), ("cutoff", cutoff)]);
    let version = checked("sys.remove", &keys::remove(&DID.into()), body.into());
    event_of(&version, some_space()).map(|event| event.cutoff)
}

fn places(per_key: [usize; 2]) -> Value {
    let keys = per_key.iter().enumerate().map(|(key, count)| {
        let lines: Object = (0..*count).map(|n| (format!("c{n}"), 1u32)).collect();
        (format!("k{key}"), lines)
    });
    keys.collect::<Object>().into()
}

#[test]
fn a_cutoff_has_at_most_1024_places_over_all_keys() {
    assert_eq!(MAX_PLACES, 1_024);
    assert!(remove_with(places([24, 1_000])).is_ok());
    assert_eq!(remove_with(places([25, 1_000])), Err(NoEvent::Cutoff));
}

#[test]
fn a_cutoff_covers_up_to_its_place_in_its_line_alone() {
    let place = |place: Value| Value::from(Object::from([("k", Object::from([("c", place)]))]));
    let cutoff = remove_with(place(3u32.into())).unwrap();
    let (k, c, other) = (Text::from("k"), Text::from("c"), Text::from("d"));
    assert!(cutoff.covers(&k, &c, 0) && cutoff.covers(&k, &c, 3));
    assert!(!cutoff.covers(&k, &c, 4));
    assert!(!cutoff.covers(&k, &other, 0) && !cutoff.covers(&c, &c, 0));

    let beyond = remove_with(place(Value::Number(1e300))).unwrap();
    assert!(beyond.covers(&k, &c, minca_record::json::GREATEST_WHOLE_NUMBER));
    assert_eq!(
        remove_with(place(Value::Number(-1.0))),
        Err(NoEvent::Cutoff)
    );
}

fn keepers(count: usize, did_len: usize, name_len: usize, copies: u32) -> Result<Kind, NoEvent> {
    let list: Vec<Value> = (0..count)
        .map(|n| {
            let did = format!("{DID}{n:0>width$}", width = did_len - DID.len());
            let name = "n".repeat(name_len);
            Object::from([("did", did), ("name", name)]).into()
        })
        .collect();
    let body = Object::from([("keepers", Value::from(list)), ("copies", copies.into())]);
    says("sys.keepers", keys::KEEPERS, body)
}

#[test]
fn keepers_have_their_limits() {
    let copies = u32::from(MAX_COPIES);
    assert!(keepers(MAX_KEEPERS, MAX_KEEPER_DID, MAX_KEEPER_NAME, copies).is_ok());
    assert!(keepers(1, 20, 0, 1).is_ok());
    for refused in [
        keepers(MAX_KEEPERS + 1, 20, 1, 1),
        keepers(1, MAX_KEEPER_DID + 1, 1, 1),
        keepers(1, 20, MAX_KEEPER_NAME + 1, 1),
        keepers(1, 20, 1, copies + 1),
        keepers(1, 20, 1, 0),
    ] {
        assert_eq!(refused, Err(NoEvent::Fields));
    }
}

#[test]
fn a_space_names_at_most_eight_relays() {
    let relays = |count| {
        let body = Object::from([("relays", strings(count, "wss://r"))]);
        says("sys.relays", keys::RELAYS, body)
    };
    assert!(relays(MAX_RELAYS).is_ok());
    assert_eq!(relays(MAX_RELAYS + 1), Err(NoEvent::Fields));
}

#[test]
fn a_space_keys_id_has_at_most_64_characters() {
    let change = |len| {
        let body = Object::from([("keyId", "k".repeat(len)), ("readKey", DID.to_owned())]);
        says("sys.key", keys::SPACE_KEY, body)
    };
    assert!(change(MAX_KEY_ID).is_ok());
    assert_eq!(change(MAX_KEY_ID + 1), Err(NoEvent::Fields));
}

fn role(title: usize, grants: usize, nests: usize, nonce: usize) -> Result<Kind, NoEvent> {
    let grant = Object::from([
        ("iss", Value::from(&*account().to_string())),
        ("aud", "role:editor".into()),
        ("sub", (&*format!("space:{}", some_space().id)).into()),
        ("cmd", "/record".into()),
        ("pol", Value::Array(Vec::new())),
        ("nonce", (&*"n".repeat(nonce)).into()),
    ]);
    let body = Object::from([
        ("name", Value::from("editor")),
        ("title", (&*"t".repeat(title)).into()),
        ("grants", Value::Array(vec![grant.into(); grants])),
        ("nests", strings(nests, "r")),
    ]);
    says("sys.role", &keys::role("editor"), body)
}

#[test]
fn a_role_has_its_limits() {
    assert!(role(MAX_TITLE, MAX_GRANTS, MAX_NESTS, GREATEST_NONCE).is_ok());
    assert!(role(0, 1, 0, 1).is_ok());
    for refused in [
        role(MAX_TITLE + 1, 1, 0, 1),
        role(0, MAX_GRANTS + 1, 0, 1),
        role(0, 1, MAX_NESTS + 1, 1),
        role(0, 1, 0, GREATEST_NONCE + 1),
        role(0, 1, 0, 0),
    ] {
        assert_eq!(refused, Err(NoEvent::Definition));
    }
}
