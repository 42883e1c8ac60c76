//! The cases' format: what is read, and what is said of anything else.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

#[path = "support/cases.rs"]
mod cases;

use cases::{cases, differences};
use minca_access::case::{Came, Case, CaseError};
use minca_record::json::{MESSAGE_DEPTH, Object, Value, read};

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/vectors/access/case-015.json"
);

fn case() -> Object {
    let text = std::fs::read(FILE).unwrap();
    let value = read(&text, MESSAGE_DEPTH).unwrap();
    value.into_object().unwrap()
}

/// The error of the case with one member of its first element of `list` changed.
fn with(list: &str, name: &str, value: impl Into<Value>) -> String {
    let mut case = case();
    let mut elements = case.get(list).and_then(Value::as_array).unwrap().to_vec();
    let first = elements[0].as_object_mut().unwrap();
    first.insert(name, value);
    case.insert(list, elements);
    Case::read(case.into()).unwrap_err().to_string()
}

#[test]
fn events_and_probes_are_read_as_they_are_written() {
    let (_, read) = cases().remove(0);
    let written = case();
    let list = |name| written.get(name).and_then(Value::as_array).unwrap();
    assert_eq!(read.events.len(), list("events").len());
    assert_eq!(read.probes.len(), list("probes").len());
    assert_eq!(
        read.expect.as_ref(),
        written.get("expect").and_then(Value::as_object)
    );
    let says = |written: &Value, name, id: &str| {
        let written = written.as_object().and_then(|it| it.get(name));
        written.and_then(Value::as_str) == Some(id)
    };
    for (event, written) in read.events.iter().zip(list("events")) {
        assert!(says(written, "id", &event.id.to_string()));
        assert!(says(written, "key", &event.key));
        assert!(says(written, "kind", event.kind.name()));
        assert!(says(written, "root", &event.root.to_string()));
        assert!(says(written, "author", &event.author.to_string()));
    }
    for (probe, written) in read.probes.iter().zip(list("probes")) {
        assert!(says(written, "id", &probe.id.to_string()));
        assert!(says(written, "collection", &probe.collection));
        assert!(says(
            written,
            "op",
            if probe.deletes { "delete" } else { "write" }
        ));
    }
}

#[test]
fn an_error_names_the_place_and_what_was_expected_there() {
    assert_eq!(
        with("events", "did", 7u32),
        "events[0].did: expected a string, and there is a number"
    );
    assert_eq!(
        with("events", "seen", vec![Value::from("b")]),
        "events[0].seen: expected an array of content ids, and there is an array"
    );
    assert_eq!(
        with("events", "role", "another"),
        "events[0].key: expected the record key the event's fields give, and there is a string"
    );
    assert_eq!(
        with("probes", "op", "read"),
        "probes[0].op: expected \"write\" or \"delete\", and there is a string"
    );
    assert_eq!(
        with("probes", "n", Value::Null),
        "probes[0].n: expected a whole number from 0 to 2^53 - 1, and there is null"
    );
}

#[test]
fn a_place_within_a_grant_is_named_from_the_case_down() {
    let mut case = case();
    let mut events = case
        .get("events")
        .and_then(Value::as_array)
        .unwrap()
        .to_vec();
    let is_role = |event: &Value| event.as_object().unwrap().get("kind") == Some(&"role".into());
    let place = events.iter().position(is_role).unwrap();
    let grant = Object::from([("cmd", "/Record")]);
    let event = events[place].as_object_mut().unwrap();
    event.insert("grants", vec![grant.into()]);
    case.insert("events", events);
    assert_eq!(
        Case::read(case.into()).unwrap_err(),
        CaseError::Unlike {
            at: format!("events[{place}].grants[0].cmd"),
            expected: "a command path",
            came: Came::String,
        }
    );
}

#[test]
fn a_constitution_that_does_not_make_the_space_is_no_case() {
    let mut case = case();
    let other = minca_record::content_id::ContentId::of(b"another space");
    case.insert("space", other.to_string());
    let error = Case::read(case.into()).unwrap_err();
    assert!(matches!(error, CaseError::Constitution(_)), "{error}");
}

#[test]
fn every_member_a_case_needs_is_missed() {
    for name in ["format", "space", "constitution", "events", "probes"] {
        let mut case = case();
        case.remove(name);
        match Case::read(case.into()).unwrap_err() {
            CaseError::Unlike { at, came, .. } => assert_eq!((&*at, came), (name, Came::Nothing)),
            error => panic!("{name}: {error}"),
        }
    }
    let mut case = case();
    case.remove("expect");
    assert_eq!(Case::read(case.into()).unwrap().expect, None);
    assert!(Case::read(Value::Null).is_err());
}

#[test]
fn what_only_informs_makes_no_difference_and_all_else_does() {
    let status = |members: &[(&str, &str)]| -> Object {
        let status: Object = members.iter().copied().collect();
        Object::from([("status", Object::from([("b", status)]))])
    };
    let came = status(&[("status", "dropped"), ("class", "struck")]);
    let informing = status(&[("status", "dropped"), ("class", "struck"), ("why", "x")]);
    let other = status(&[("status", "dropped"), ("class", "refused")]);
    assert_eq!(differences(&informing, &came), Vec::<String>::new());
    assert_eq!(
        differences(&other, &came),
        ["/status/b/class: expected \"refused\", came \"struck\""]
    );
    assert_eq!(differences(&Object::new(), &came).len(), 1);
    let more = Object::from([("heads", Value::Array(vec![]))]);
    assert_eq!(differences(&more, &Object::new()).len(), 1);
}
