//! Any body at all, and bodies a little off.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_access::{Space, event_of};
use minca_record::json::{Object, Text, Value};
use minca_record::required::ACCESS_COLLECTIONS;
use minca_record::version::{Checked, Version, check};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use support::{checked, read, some_space, space, vectors};

/// The members that each kind reads.
const READ: [(&str, &[&str]); 11] = [
    ("sys.role", &["name", "title", "grants", "nests"]),
    (
        "sys.assign",
        &["did", "role", "assigned", "invite", "cutoff"],
    ),
    ("sys.remove", &["did", "cutoff"]),
    ("sys.invite", &["key", "role", "open"]),
    ("sys.revoke", &["key", "cutoff"]),
    ("sys.key", &["keyId", "readKey"]),
    ("sys.relays", &["relays"]),
    ("sys.keepers", &["keepers", "copies"]),
    ("sys.fork", &["a", "b"]),
    ("sys.stepdown", &["did", "cutoff"]),
    ("sys.succeed", &["space"]),
];

/// JSON that looks now and then like what bodies hold.
fn values() -> impl Strategy<Value = Value> {
    let names = prop_oneof![
        prop::sample::select(vec![
            "did",
            "role",
            "assigned",
            "invite",
            "key",
            "signature",
            "cutoff",
            "open",
            "keyId",
            "readKey",
            "relays",
            "keepers",
            "copies",
            "a",
            "b",
            "space",
            "name",
            "title",
            "grants",
            "nests",
            "sealed",
            "iss",
            "aud",
            "sub",
            "cmd",
            "pol",
            "nonce",
            "meta",
            "log",
            "id",
        ])
        .prop_map(Text::from),
        prop::collection::vec(any::<u16>(), 0..4).prop_map(|units| Text::from_utf16(&units)),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has finite numbers", |it| it.is_finite())
            .prop_map(Value::Number),
        (0u32..20).prop_map(Value::from),
        prop::sample::select(vec![
            "did:key:x",
            "/",
            "editor",
            "wss://a.example",
            "role:a"
        ])
        .prop_map(Value::from),
        prop::collection::vec(any::<u16>(), 0..6)
            .prop_map(|units| Value::String(Text::from_utf16(&units))),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((names.clone(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Object>())),
        ]
    })
}

/// The good versions of the vectors, with their spaces.
fn good() -> Vec<(Checked, Space)> {
    let vectors = vectors();
    let mut good = Vec::new();
    for cases in vectors["events"].as_object().unwrap().values() {
        for case in cases.as_array().unwrap() {
            let space = space(&vectors, case["space"].as_str().unwrap());
            if !case["yields"].is_null() && case["version"]["collection"] != "sys.collection" {
                good.push((check(read(&case["version"]), space.id).unwrap(), space));
            }
        }
    }
    good
}

fn with_member(checked: &Checked, name: &str, value: Value) -> Checked {
    let mut object = checked.version.object().clone();
    let mut body = object.remove("body").unwrap().into_object().unwrap();
    body.insert(name, value);
    object.insert("body", body);
    Checked {
        version: Version::shape(object.into()).unwrap(),
        ..checked.clone()
    }
}

/// A member's value without what no event says: which of an invite key's
/// signatures it is, and what a grant has beside its command and policy.
fn what_it_says(name: &str, value: &Value) -> Value {
    let without = |value: &Value, members: &[&str]| {
        let mut value = value.clone();
        if let Some(object) = value.as_object_mut() {
            for member in members {
                object.remove(member);
            }
        }
        value
    };
    match (name, value) {
        ("invite", _) => without(value, &["signature"]),
        ("grants", Value::Array(grants)) => {
            let grants = grants.iter();
            let grants = grants.map(|grant| without(grant, &["nonce", "meta"]));
            Value::Array(grants.collect())
        }
        _ => value.clone(),
    }
}

proptest! {
    #[test]
    fn no_body_at_no_key_panics(
        at in prop::sample::select(ACCESS_COLLECTIONS.to_vec()),
        suffix in prop_oneof![Just("space".to_owned()), "[0-9a-f]{40}", "[a-z.]{1,12}"],
        body in values(),
        is_private in any::<bool>(),
    ) {
        let prefix = at.strip_prefix("sys.").unwrap();
        let version = checked(at, &format!("{prefix}:{suffix}"), body);
        let event = event_of(&version, Space { is_private, ..some_space() });
        if at == "sys.collection" {
            prop_assert!(event.is_ok());
        }
    }
}

#[test]
fn another_value_of_a_member_is_another_change_or_none() {
    let good = good();
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = values();
    let (mut others, mut nones) = (0, 0);
    for (place, (checked, space)) in good.iter().enumerate() {
        let before = event_of(checked, *space).unwrap();
        let collection = checked.version.collection();
        let body = checked.version.body().unwrap().as_object().unwrap();
        let (_, members) = READ.iter().find(|(name, _)| *name == collection).unwrap();
        for name in *members {
            let Some(old) = body.get(name) else {
                continue;
            };
            let mut instead: Vec<Value> = (0..20)
                .map(|_| strategy.new_tree(&mut runner).unwrap().current())
                .collect();
            // What other good bodies have there, which is well-formed.
            instead.extend(good.iter().enumerate().filter_map(|(other, (checked, _))| {
                let is_alike = other != place && checked.version.collection() == collection;
                let body = checked.version.body().unwrap().as_object().unwrap();
                is_alike.then(|| body.get(name).cloned()).flatten()
            }));
            for value in instead
                .into_iter()
                .filter(|value| what_it_says(name, value) != what_it_says(name, old))
            {
                match event_of(&with_member(checked, name, value), *space) {
                    Ok(after) => {
                        let is_other = after.kind != before.kind || after.cutoff != before.cutoff;
                        assert!(is_other, "{collection} {name}");
                        others += 1;
                    }
                    Err(_) => nones += 1,
                }
            }
        }
    }
    assert!(
        others > 50 && nones > 1_000,
        "{others} others, {nones} nones"
    );
}
