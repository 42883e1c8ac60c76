//! The replay of a space's access history: a constitution, changes and records written down in a
//! few bytes each, replayed in every way there is and by the naive model beside it.

mod pool;
mod space;
mod steps;

use arbitrary::{Arbitrary, Result, Unstructured};
use minca_access::case::{Case, differences};
use minca_access::history::History;
use minca_record::content_id::ContentId;
use minca_record::json::{Object, Text, Value};

use crate::model::Model;
use crate::model::dump::{Asked, state_object};

/// Events in a history, at most: the model takes a power of their number.
const MOST_EVENTS: usize = 60;
/// Records judged in one.
const MOST_RECORDS: usize = 12;
/// Steps a replay is given at a time where it is interrupted.
const LITTLE_FUEL: u64 = 30;

/// One run.
pub fn run(data: &[u8]) {
    let Ok((case, order)) = read(&mut Unstructured::new(data)) else {
        return;
    };
    let by_model = by_the_model(&case);
    let whole = replayed_whole(&case);
    let different = differences(&by_model, &whole);
    assert!(
        different.is_empty(),
        "not as the model has it: {different:#?}"
    );
    let whole = whole.canonical();
    assert_eq!(replayed_one_by_one(&case).canonical(), whole, "one by one");
    assert_eq!(replayed_in_bits(&case).canonical(), whole, "in bits");
    let mut forgetful = History::with_budget(&case.constitution, 0);
    let mut shuffled = case.clone();
    shuffle(&mut shuffled, order);
    for event in &shuffled.events {
        forgetful.add(event.clone());
    }
    let came = case.outcome_in(&mut forgetful);
    assert_eq!(came.canonical(), whole, "in another order, forgetting all");
}

/// A case asking about everyone, and a number to shuffle it by.
fn read(bytes: &mut Unstructured<'_>) -> Result<(Case, u64)> {
    let constitution = space::constitution(bytes)?;
    let order = u64::from(u8::arbitrary(bytes)?);
    let mut steps = steps::Steps::new(constitution.id(), u8::arbitrary(bytes)?);
    while !bytes.is_empty() {
        if u8::arbitrary(bytes)? % 6 == 5 {
            if steps.probes.len() < MOST_RECORDS {
                steps.record(bytes)?;
            }
        } else if steps.events.len() < MOST_EVENTS {
            steps.event(bytes)?;
        } else {
            break;
        }
    }
    let asked = |names: Vec<Text>| -> Object {
        names.into_iter().map(|name| (name, Value::Null)).collect()
    };
    let Asked { named, invites } = everyone();
    let case = Case {
        constitution,
        events: steps.events,
        probes: steps.probes,
        expect: Some(Object::from([
            ("named", asked(named)),
            ("knownInvites", asked(invites)),
        ])),
    };
    Ok((case, order))
}

fn everyone() -> Asked {
    Asked {
        named: pool::accounts().iter().map(pool::text).collect(),
        invites: pool::invites().iter().map(pool::text).collect(),
    }
}

fn by_the_model(case: &Case) -> Object {
    let model = Model::of(&case.constitution, &case.events);
    let mut history = History::new(&case.constitution);
    for event in &case.events {
        history.add(event.clone());
    }
    // States asked for by name, which no verdict shows whole.
    for probe in &case.probes {
        let by_model = model.seen_as(&probe.seen).map(|state| state_object(&state));
        let came = history.seen_as(&probe.seen).ok();
        let without_due = |state: minca_access::history::State| {
            let mut object = state.to_json();
            object.remove("keyDue");
            object
        };
        assert_eq!(by_model, came.map(without_due), "seenAs");
        let within = history.at(&probe.seen, Some(&probe.seen)).ok();
        assert_eq!(
            within,
            history.seen_as(&probe.seen).ok(),
            "at within itself"
        );
        let _ = history.struck_among(&probe.seen);
        let _ = history.definition_in_force(&probe.collection, &probe.seen);
        let _ = history.was_member(&probe.root, &probe.seen);
        let _ = history.is_former_member(&probe.root);
    }
    explain(&mut history);
    model.dump(&case.probes, &everyone())
}

/// What explains a replay fails for nothing.
fn explain(history: &mut History) {
    for id in history.ids() {
        let _ = history.judged_in(&id);
        let _ = history.struck_by(&id);
        let _ = history.strikes(&id);
        let _ = history.disarmed_by(&id);
    }
}

fn replayed_whole(case: &Case) -> Object {
    case.outcome()
}

/// Settled after each event, with a look at what it comes to now and then, and at what each
/// placing takes.
fn replayed_one_by_one(case: &Case) -> Object {
    let mut history = History::new(&case.constitution);
    for (number, event) in case.events.iter().enumerate() {
        let most = history.most_it_takes(event);
        let before = history.spent();
        history.add(event.clone());
        // One step, which is the placing.
        history.advance(1);
        let took = history.spent() - before;
        assert!(took <= most, "{took} steps, not at most {most}: {event:?}");
        history.advance(u64::MAX);
        if number % 16 == 7 {
            let so_far = Case {
                events: case.events[..=number].to_vec(),
                ..case.clone()
            };
            let came = so_far.outcome_in(&mut history).canonical();
            assert_eq!(came, so_far.outcome().canonical(), "after {}", number + 1);
        }
    }
    case.outcome_in(&mut history)
}

fn replayed_in_bits(case: &Case) -> Object {
    let mut history = History::new(&case.constitution);
    for event in &case.events {
        history.add(event.clone());
        history.advance(LITTLE_FUEL);
    }
    while !history.advance(1) {}
    case.outcome_in(&mut history)
}

fn shuffle(case: &mut Case, order: u64) {
    let mut number = order;
    for place in (1..case.events.len()).rev() {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        case.events
            .swap(place, (number >> 33) as usize % (place + 1));
    }
}

/// The id of the event in this place: in another order than the places.
fn id_of(place: usize, salt: u8) -> ContentId {
    ContentId::of(&[salt, place as u8, (place >> 8) as u8])
}
