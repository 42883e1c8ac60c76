//! The random histories that properties are checked on: that they hold enough of
//! everything that can become of an event or a record.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

#[path = "support/histories/mod.rs"]
mod histories;
#[path = "support/model/mod.rs"]
mod model;

use std::collections::BTreeMap;

use histories::histories_of;
use model::{Model, Status};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

const HISTORIES: usize = 100;
const EVENTS: usize = 30;
const RECORDS: usize = 4;
/// Kinds of event (03 §3.1).
const KINDS: usize = 12;

#[test]
fn a_good_share_of_random_events_and_records_comes_to_each_end() {
    let mut runner = TestRunner::deterministic();
    let strategy = histories_of(EVENTS, RECORDS);
    let mut statuses: BTreeMap<&str, usize> = BTreeMap::new();
    let mut verdicts: BTreeMap<String, usize> = BTreeMap::new();
    let mut applied: BTreeMap<&str, usize> = BTreeMap::new();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..HISTORIES {
        let history = strategy.new_tree(&mut runner).unwrap().current();
        let model = Model::of(&history.constitution, &history.events);
        for event in model.events() {
            let status = match model.status(event.id).unwrap() {
                Status::Applied => "applied",
                Status::Refused => "refused",
                Status::Struck => "struck",
                Status::Waiting => "waiting",
            };
            *statuses.entry(status).or_default() += 1;
            if status == "applied" {
                *applied.entry(event.kind.name()).or_default() += 1;
            }
        }
        for probe in &history.probes {
            let judged = model.judge(probe);
            let verdict = format!("{} at {}", judged.verdict, judged.step);
            *verdicts.entry(verdict).or_default() += 1;
            if model.standing(probe).1 == "5.2.8" {
                *verdicts.entry("without its body".into()).or_default() += 1;
            }
        }
        let current = model.current();
        let mut add = |what: &'static str, is: bool| {
            *count.entry(what).or_default() += usize::from(is);
        };
        add(
            "reductions that strike each other",
            !model.mutual().is_empty(),
        );
        add("a contested definition", !current.contested.is_empty());
        add(
            "rival definitions of a role",
            current.roles.values().any(|it| it.len() > 1),
        );
        add("a key change that is due", model.key_due());
        add("a public space", !history.constitution.is_private());
        add("no founder", current.founders.is_empty());
    }
    println!("{statuses:?}\n{verdicts:?}\n{applied:?}\n{count:?}");

    let is_share = |count: usize, of: usize, percent: usize| count * 100 >= of * percent;
    for status in ["applied", "refused", "struck"] {
        let count = statuses[status];
        assert!(is_share(count, HISTORIES * EVENTS, 5), "{status}: {count}");
    }
    assert!(statuses["waiting"] > 0);
    for verdict in [
        "stands at 6",
        "refused at 3",
        "withdrawn at 4",
        "not-yet at 1",
    ] {
        let count = verdicts[verdict];
        assert!(
            is_share(count, HISTORIES * RECORDS, 5),
            "{verdict}: {count}"
        );
    }
    for verdict in ["withdrawn at 2", "withdrawn at 5"] {
        let count = verdicts[verdict];
        assert!(
            is_share(count, HISTORIES * RECORDS, 1),
            "{verdict}: {count}"
        );
    }
    assert_eq!(applied.len(), KINDS, "a kind is never applied: {applied:?}");
    for (what, count) in count {
        assert!(is_share(count, HISTORIES, 5), "{what}: {count}");
    }
}
