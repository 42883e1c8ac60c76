//! Random histories: a constitution, events in the order they arrive, and records
//! to judge.
//!
//! A history is interpreted from a list of small steps, so that one that fails
//! shrinks by dropping steps. Each step is written by some device with some view
//! of what was written before, and mostly says what its writer may say.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    dead_code,
    reason = "a test's support, which not every test uses all of"
)]

mod changes;
mod dice;
mod people;
mod records;
mod says;
mod show;
mod space;
mod writing;

use minca_access::Event;
use minca_access::case::Probe;
use minca_record::constitution::Constitution;
use minca_record::json::Text;
use proptest::prelude::*;

use dice::Dice;
pub use people::{accounts, invite_keys};

/// A history to replay.
#[derive(Clone)]
pub struct History {
    pub constitution: Constitution,
    /// As written: but for what waits, each after all it names.
    pub written: Vec<Event>,
    /// As they arrive: in another order, some twice.
    pub events: Vec<Event>,
    pub probes: Vec<Probe>,
}

/// What makes one event.
#[derive(Clone, Debug)]
struct Step {
    /// Who writes, of those the history has heard of.
    account: u8,
    /// With which of the account's keys.
    device: u8,
    /// From which view.
    view: u8,
    /// Which kind of change.
    kind: u8,
    /// All else.
    seed: u64,
}

/// Histories of at most `most` events, with at most `most_probes` records to judge.
pub fn histories(most: usize, most_probes: usize) -> impl Strategy<Value = History> {
    histories_of(0..=most, 0..=most_probes)
}

/// Histories with as many events and records to judge as the ranges say.
pub fn histories_of(
    events: impl Into<prop::collection::SizeRange>,
    probes: impl Into<prop::collection::SizeRange>,
) -> impl Strategy<Value = History> {
    let step = (0..100u8, 0..3u8, 0..100u8, 0..100u8, any::<u64>()).prop_map(
        |(account, device, view, kind, seed)| Step {
            account,
            device,
            view,
            kind,
            seed,
        },
    );
    let steps = prop::collection::vec(step, events);
    let probes = prop::collection::vec(any::<u64>(), probes);
    (space::spaces(), steps, probes, any::<u64>()).prop_map(
        |(constitution, steps, probes, order)| {
            let mut writing = writing::Writing::new(&constitution);
            for step in &steps {
                writing.write(step);
            }
            let probes = probes.iter().map(|seed| records::probe(&writing, *seed));
            let probes = probes.collect();
            let written = writing.into_events();
            History {
                constitution,
                events: arrival(&written, order),
                written,
                probes,
            }
        },
    )
}

/// Another order for the events, some of them twice; as written for 0.
pub fn arrival(written: &[Event], order: u64) -> Vec<Event> {
    let mut events = written.to_vec();
    if order == 0 {
        return events;
    }
    let mut dice = Dice::new(order);
    for event in written {
        if dice.chance(4) {
            events.push(event.clone());
        }
    }
    for place in (1..events.len()).rev() {
        events.swap(place, dice.roll(place + 1));
    }
    events
}

/// Everyone and every invite a history may know of, as text.
pub fn everyone() -> (Vec<Text>, Vec<Text>) {
    let texts = |dids: &[minca_record::did::Did]| -> Vec<Text> {
        dids.iter().map(|it| it.to_string().into()).collect()
    };
    (texts(accounts()), texts(invite_keys()))
}
