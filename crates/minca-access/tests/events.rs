//! The vectors of events: a signed version, and exactly the event it yields.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_access::event_of;
use minca_record::version::check;
use support::{as_written, read, space, vectors};

/// The kinds and how many cases each has.
const KINDS: [(&str, usize); 12] = [
    ("assign", 59),
    ("definition", 27),
    ("fork", 37),
    ("invite", 29),
    ("keepers", 39),
    ("key", 33),
    ("relays", 39),
    ("remove", 27),
    ("revoke", 32),
    ("role", 68),
    ("stepdown", 27),
    ("succeed", 30),
];

#[test]
fn a_version_yields_exactly_its_event_or_none() {
    let vectors = vectors();
    let events = vectors["events"].as_object().unwrap();
    let counted: Vec<(&str, usize)> = events
        .iter()
        .map(|(kind, cases)| (&**kind, cases.as_array().unwrap().len()))
        .collect();
    assert_eq!(counted, KINDS);
    let (mut good, mut bad) = (0, 0);
    for (kind, cases) in events {
        for case in cases.as_array().unwrap() {
            let space = space(&vectors, case["space"].as_str().unwrap());
            let checked = check(read(&case["version"]), space.id);
            let came = match &checked {
                Ok(checked) => event_of(checked, space).map_err(|none| none.reason()),
                Err(refusal) => Err(refusal.reason()),
            };
            let about = format!("{kind}: {}", case["name"]);
            match came {
                Ok(event) => {
                    assert_eq!(as_written(&event), read(&case["yields"]), "{about}");
                    let version = checked.unwrap().version;
                    assert_eq!(event.log_place, version.log().n, "{about}");
                    good += 1;
                }
                Err(reason) => {
                    assert!(case["yields"].is_null(), "{about} came out {reason}");
                    bad += 1;
                }
            }
        }
    }
    assert!(good > 100 && bad > 200, "{good} good, {bad} bad");
}

#[test]
fn a_version_yields_none_for_the_reason_the_vectors_name() {
    let vectors = vectors();
    let mut compared = 0;
    for (kind, cases) in vectors["events"].as_object().unwrap() {
        for case in cases.as_array().unwrap() {
            let Some(why) = case["why"].as_str() else {
                continue;
            };
            let space = space(&vectors, case["space"].as_str().unwrap());
            // What 02 refuses already is the record crate's to name.
            let Ok(checked) = check(read(&case["version"]), space.id) else {
                continue;
            };
            // The vectors say of a missing version that it has a body.
            if why == "proof:has-body" {
                continue;
            }
            let none = event_of(&checked, space).unwrap_err();
            let reason = none.reason();
            let why = why.strip_prefix("proof:").unwrap_or(why);
            assert_eq!(reason, why, "{kind}: {}", case["name"]);
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared} compared");
}
