//! The replay on random histories: against the model, and what must hold of any
//! replay at all.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

#[path = "support/cases.rs"]
mod cases;
#[path = "support/histories/mod.rs"]
mod histories;
#[path = "support/model/mod.rs"]
mod model;

use std::collections::{BTreeMap, BTreeSet};

use cases::differences;
use histories::{arrival, everyone, histories, histories_of};
use minca_access::case::Case;
use minca_access::history::{History, Status};
use minca_access::{Event, Kind};
use minca_record::content_id::ContentId;
use minca_record::json::{Object, Text, Value};
use model::Model;
use model::dump::Asked;
use proptest::prelude::*;

/// Steps a replay is given at a time where it is interrupted.
const LITTLE_FUEL: u64 = 40;

/// So many cases, or as many times more as `PROPTEST_CASES` is more than usual.
fn config(cases: u32) -> ProptestConfig {
    const USUAL: u32 = 256;
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: (cases * default.cases / USUAL).max(1),
        max_shrink_iters: 1_024,
        ..default
    }
}

/// A case of the first events of a random history, asking about everyone.
fn case_of(random: &histories::History, events: &[Event]) -> Case {
    let (accounts, invites) = everyone();
    let asked = |names: Vec<Text>| -> Object {
        names.into_iter().map(|name| (name, Value::Null)).collect()
    };
    Case {
        constitution: random.constitution.clone(),
        events: events.to_vec(),
        probes: random.probes.clone(),
        expect: Some(Object::from([
            ("named", asked(accounts)),
            ("knownInvites", asked(invites)),
        ])),
    }
}

fn by_the_model(case: &Case) -> Object {
    let (named, invites) = everyone();
    let model = Model::of(&case.constitution, &case.events);
    model.dump(&case.probes, &Asked { named, invites })
}

fn replayed(case: &Case) -> History {
    let mut history = History::new(&case.constitution);
    for event in &case.events {
        history.add(event.clone());
    }
    history
}

/// Each event's id and what became of it, without why.
fn statuses(history: &mut History) -> BTreeMap<ContentId, Status> {
    let ids = history.ids();
    let status = |id| (id, history.status(&id).unwrap());
    ids.into_iter().map(status).collect()
}

fn is_applied(history: &mut History, event: &Event) -> bool {
    history.status(&event.id) == Some(Status::Applied)
}

/// A revoke or a fork proof, which changes no state.
fn is_of_a_key(event: &Event) -> bool {
    matches!(event.kind, Kind::Revoke { .. } | Kind::Fork { .. })
}

/// What each event saw, of those that are held.
fn saw(events: &[Event]) -> BTreeMap<ContentId, BTreeSet<ContentId>> {
    let mut saw: BTreeMap<ContentId, BTreeSet<ContentId>> = BTreeMap::new();
    loop {
        let mut grew = false;
        for event in events {
            let mut seen: BTreeSet<ContentId> = event.seen.iter().copied().collect();
            for id in &event.seen {
                seen.extend(saw.get(id).into_iter().flatten());
            }
            grew |= saw.get(&event.id) != Some(&seen);
            saw.insert(event.id, seen);
        }
        if !grew {
            return saw;
        }
    }
}

proptest! {
    #![proptest_config(config(96))]

    #[test]
    fn a_replay_comes_to_what_the_model_comes_to(random in histories(36, 8)) {
        let case = case_of(&random, &random.events);
        let differences = differences(&by_the_model(&case), &case.outcome());
        prop_assert!(differences.is_empty(), "{:#?}", differences);
    }

    #[test]
    fn every_order_of_arrival_comes_to_the_same_bytes(random in histories(36, 4), other: u64) {
        let first = case_of(&random, &random.written).outcome().canonical();
        let second = case_of(&random, &random.events).outcome().canonical();
        let third = case_of(&random, &arrival(&random.written, other)).outcome().canonical();
        prop_assert_eq!(String::from_utf8(first.clone()), String::from_utf8(second));
        prop_assert_eq!(String::from_utf8(first), String::from_utf8(third));
    }

    #[test]
    fn placing_an_event_takes_no_more_than_was_said_before(random in histories(36, 0)) {
        let mut history = History::new(&random.constitution);
        for event in &random.events {
            let most = history.most_it_takes(event);
            let before = history.spent();
            history.add(event.clone());
            // One step, which is the placing.
            history.advance(1);
            let took = history.spent() - before;
            prop_assert!(took <= most, "{took} steps, not at most {most}: {event:?}");
            history.advance(u64::MAX);
        }
    }

    #[test]
    fn who_reads_no_more_is_a_former_member(random in histories(36, 0)) {
        let case = case_of(&random, &random.events);
        let mut history = replayed(&case);
        let state = history.current();
        let founders = random.constitution.founders();
        let assigned = random.constitution.assigned().iter().map(|it| it.account.clone());
        let mut once: BTreeSet<Text> = founders.iter().cloned().chain(assigned).collect();
        for event in &random.events {
            if let Kind::Assign { did, .. } | Kind::Remove { did } | Kind::StepDown { did } = &event.kind
                && is_applied(&mut history, event)
            {
                once.insert(did.clone());
            }
        }
        for name in everyone().0 {
            let did = name.as_str().unwrap().parse().unwrap();
            let reads = state.founders.contains(&name) || state.assigned.contains_key(&name);
            prop_assert_eq!(history.is_member(&did), reads);
            prop_assert_eq!(history.is_former_member(&did), once.contains(&name) && !reads);
        }
    }

    #[test]
    fn an_interrupted_replay_comes_to_the_same_bytes(random in histories(36, 4)) {
        let case = case_of(&random, &random.events);
        let mut history = History::new(&case.constitution);
        for event in &case.events {
            history.add(event.clone());
            history.advance(LITTLE_FUEL);
        }
        let mut interruptions = 0;
        while !history.advance(LITTLE_FUEL) {
            interruptions += 1;
            prop_assert!(interruptions < 1_000_000, "it doesn't get on");
        }
        prop_assert!(history.is_settled());
        let interrupted = case.outcome_in(&mut history).canonical();
        prop_assert_eq!(String::from_utf8(interrupted), String::from_utf8(case.outcome().canonical()));
    }

    #[test]
    fn a_replay_that_remembers_nothing_comes_to_the_same_bytes(random in histories(30, 8)) {
        let case = case_of(&random, &random.events);
        let mut forgetful = History::with_budget(&case.constitution, 0);
        for event in &case.events {
            forgetful.add(event.clone());
        }
        let forgot = case.outcome_in(&mut forgetful).canonical();
        prop_assert_eq!(String::from_utf8(forgot), String::from_utf8(case.outcome().canonical()));
    }

    #[test]
    fn whether_a_placed_event_is_refused_never_changes(random in histories(30, 0)) {
        let mut history = History::new(&random.constitution);
        let mut was_refused: BTreeMap<ContentId, bool> = BTreeMap::new();
        for event in &random.events {
            history.add(event.clone());
            for (id, status) in statuses(&mut history) {
                let is_refused = match status {
                    Status::Waiting => {
                        prop_assert!(!was_refused.contains_key(&id), "{} waits again", id);
                        continue;
                    }
                    Status::Refused(_) => true,
                    Status::Applied | Status::Struck { .. } => false,
                };
                prop_assert_eq!(*was_refused.entry(id).or_insert(is_refused), is_refused);
            }
        }
    }

    #[test]
    fn revokes_fork_proofs_and_stepping_down_are_never_struck_by_anything(random in histories(36, 0)) {
        let mut history = replayed(&case_of(&random, &random.events));
        for event in &random.written {
            let is_safe = is_of_a_key(event) || matches!(event.kind, Kind::StepDown { .. });
            if let (true, Some(Status::Struck { by, .. })) = (is_safe, history.status(&event.id)) {
                prop_assert!(by.is_empty(), "{:?} struck {:?}", by, event);
            }
        }
    }

    #[test]
    fn only_a_founders_own_change_ends_its_being_one(random in histories(36, 0)) {
        let mut history = replayed(&case_of(&random, &random.events));
        let founders = history.current().founders;
        for founder in random.constitution.founders() {
            let ends_it = |event: &Event| {
                let did = match &event.kind {
                    Kind::Remove { did } | Kind::StepDown { did } => did,
                    _ => return false,
                };
                did == founder && *founder == *event.root.to_string()
            };
            let mut own = random.written.iter().filter(|event| ends_it(event));
            let ended = own.any(|event| is_applied(&mut history, event));
            prop_assert_eq!(founders.contains(founder), !ended);
        }
    }

    #[test]
    fn nobody_changes_the_roles_of_a_founder_but_itself(random in histories(36, 0)) {
        let mut history = replayed(&case_of(&random, &random.events));
        let founders = history.current().founders;
        for event in &random.written {
            let (Kind::Assign { did, .. } | Kind::Remove { did }) = &event.kind else {
                continue;
            };
            if founders.contains(did) && *did != *event.root.to_string() {
                prop_assert!(!is_applied(&mut history, event), "{:?}", event);
            }
        }
    }

    #[test]
    fn nothing_of_a_removed_account_counts_that_is_unseen_and_uncovered(random in histories(36, 0)) {
        let mut history = replayed(&case_of(&random, &random.events));
        let saw = saw(&random.written);
        let groups = history.mutual();
        for removal in &random.written {
            let Kind::Remove { did } = &removal.kind else {
                continue;
            };
            if !is_applied(&mut history, removal) {
                continue;
            }
            for event in &random.written {
                let is_covered = removal.cutoff.covers(
                    &event.author.to_string().into(),
                    &event.kind.collection().into(),
                    event.log_place,
                );
                let stands_anyway = is_covered
                    || is_of_a_key(event)
                    || matches!(event.kind, Kind::StepDown { .. })
                    || groups
                        .iter()
                        .any(|group| group.contains(&event.id) && group.contains(&removal.id));
                if *did == *event.root.to_string()
                    && event.id != removal.id
                    && !saw[&event.id].contains(&removal.id)
                    && !saw[&removal.id].contains(&event.id)
                    && !stands_anyway
                {
                    prop_assert!(!is_applied(&mut history, event), "{:?}", event);
                }
            }
        }
    }

    #[test]
    fn heads_are_applied_and_never_a_revoke_or_a_fork_proof(random in histories(36, 0)) {
        let mut history = replayed(&case_of(&random, &random.events));
        let heads = history.heads();
        let saw = saw(&random.written);
        for event in random.written.iter().filter(|event| heads.contains(&event.id)) {
            prop_assert!(is_applied(&mut history, event));
            prop_assert!(!is_of_a_key(event));
            prop_assert!(!heads.iter().any(|head| saw[head].contains(&event.id)));
        }
        let mut others = random.written.iter().filter(|event| !is_of_a_key(event));
        let some = others.any(|event| is_applied(&mut history, event));
        prop_assert_eq!(some, !heads.is_empty());
    }
}

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn a_history_that_grows_comes_to_what_the_model_comes_to_at_every_step(
        random in histories_of(8..=30, 10),
    ) {
        let mut history = History::new(&random.constitution);
        for (place, event) in random.events.iter().enumerate() {
            history.add(event.clone());
            let case = case_of(&random, &random.events[..=place]);
            let came = case.outcome_in(&mut history);
            let differences = differences(&by_the_model(&case), &came);
            prop_assert!(differences.is_empty(), "after {}: {:#?}", place + 1, differences);
        }
    }
}
