//! The model of the replay against the cases, which others worked out.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

#[path = "support/cases.rs"]
mod cases;
#[path = "support/model/mod.rs"]
mod model;

use cases::{asked, cases, differences};
use model::Model;
use model::dump::Asked;

#[test]
fn there_are_as_many_cases_as_the_readme_says() {
    assert_eq!(cases().len(), 60);
}

#[test]
fn the_model_comes_to_what_every_case_expects() {
    let mut wrong = Vec::new();
    for (name, case) in cases() {
        let expect = case.expect.expect("what is expected");
        let asked = Asked {
            named: asked(&expect, "named"),
            invites: asked(&expect, "knownInvites"),
        };
        let dump = Model::of(&case.constitution, &case.events).dump(&case.probes, &asked);
        for difference in differences(&expect, &dump) {
            wrong.push(format!("{name}{difference}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
