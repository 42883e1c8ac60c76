//! The replay against the cases in `tests/vectors/access`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

#[path = "support/cases.rs"]
mod cases;

use cases::{cases, differences};

#[test]
fn the_replay_comes_to_what_every_case_expects() {
    let mut count = 0;
    for (name, case) in cases() {
        count += 1;
        let expected = case.expect.clone().unwrap();
        let differences = differences(&expected, &case.outcome());
        assert!(differences.is_empty(), "{name}: {differences:#?}");
    }
    assert_eq!(count, 60);
}
