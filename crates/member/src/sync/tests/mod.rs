//! Two machines, or more, back to back in memory.

mod files;

use std::collections::VecDeque;

use super::*;
use crate::clock::UnixTime;
use crate::identity::{Account, Device};
use crate::randomness::FixedRandomness;
use crate::replica::{Replica, Write};
use crate::space::{Opened, Space, Visibility};
use minca_record::json::{MESSAGE_DEPTH, Object, read};
use proptest::prelude::*;

const NOTES: &str = "app.note";

fn at(second: u64) -> UnixTime {
    UnixTime::from_milliseconds((1_790_424_000 + second) * 1000)
}

fn account() -> Account {
    Account::from_seed([5; 16])
}

fn space(visibility: Visibility) -> Space {
    let founder = account().did().to_string();
    Space::found(
        "Notes",
        visibility,
        &founder,
        at(0),
        &mut FixedRandomness::new(1),
    )
    .unwrap()
}

/// Two devices of one account in one space; the first's DID sorts first.
fn two_devices(visibility: Visibility) -> [Replica; 2] {
    let space = space(visibility);
    let mut randomness = FixedRandomness::new(2);
    let mut devices: Vec<Device> = (0..2)
        .map(|_| account().new_device(&mut randomness).unwrap())
        .collect();
    devices.sort_by_key(Device::did);
    let mut number = 10;
    let mut replica = |device: Device| {
        number += 1;
        let randomness = Box::new(FixedRandomness::new(number));
        Replica::new(space.clone(), device, Holdings::in_memory(), randomness)
    };
    let second = devices.pop().unwrap();
    [replica(devices.pop().unwrap()), replica(second)]
}

fn text(text: impl Into<String>) -> Value {
    Object::from([("text", Value::from(text.into()))]).into()
}

/// The wires between two replicas, each way in order.
struct Wires {
    to: [VecDeque<Vec<u8>>; 2],
    events: Vec<Event>,
    carried: Vec<(usize, String)>,
}

impl Wires {
    fn connect(pair: &mut [Replica; 2]) -> Wires {
        let mut wires = Wires {
            to: Default::default(),
            events: Vec::new(),
            carried: Vec::new(),
        };
        let dids = [pair[0].device().did(), pair[1].device().did()];
        for side in 0..2 {
            let effects = pair[side].connected(dids[1 - side]);
            wires.carry_out(side, effects);
        }
        wires
    }

    fn carry_out(&mut self, from: usize, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Send { payload, .. } => self.to[1 - from].push_back(payload),
                Effect::Event(event) => self.events.push(event),
            }
        }
    }

    /// Delivers the next message to `side`, if there is one.
    fn deliver(&mut self, pair: &mut [Replica; 2], side: usize) -> bool {
        let Some(payload) = self.to[side].pop_front() else {
            return false;
        };
        let from = pair[1 - side].device().did();
        let payload = read(&payload, MESSAGE_DEPTH).unwrap();
        let kind = payload
            .as_object()
            .unwrap()
            .get("type")
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned();
        self.carried.push((side, kind));
        let effects = pair[side].received(from, payload).unwrap();
        self.carry_out(side, effects);
        true
    }

    fn run(&mut self, pair: &mut [Replica; 2]) {
        loop {
            let first = self.deliver(pair, 0);
            if !self.deliver(pair, 1) && !first {
                return;
            }
        }
    }

    fn count(&self, kind: &str) -> usize {
        self.carried
            .iter()
            .filter(|(_, carried)| carried == kind)
            .count()
    }
}

fn sums(replica: &Replica) -> Vec<(String, [u8; 16])> {
    replica
        .holdings()
        .sums()
        .map(|(name, sum)| (name.to_owned(), sum.fingerprint()))
        .collect()
}

fn standing(pair: &[Replica; 2], side: usize) -> Standing {
    pair[side].sync().standing(&pair[1 - side].device().did())
}

/// Everything is the same on both sides, and both know it.
fn assert_level(pair: &[Replica; 2]) {
    assert_eq!(sums(&pair[0]), sums(&pair[1]));
    assert_eq!(pair[0].records(None), pair[1].records(None));
    for side in 0..2 {
        assert_eq!(standing(pair, side), Standing::Level);
        assert_eq!(
            pair[side]
                .holdings()
                .unconfirmed(&pair[side].device().did()),
            []
        );
    }
}

/// 500 records, a third of them edited, a tenth deleted.
fn write_much(writer: &mut Replica) {
    let keys: Vec<String> = (0..500)
        .map(|number| {
            let version = writer.create(NOTES, text(format!("note {number}")), at(number / 7));
            version.unwrap().key().to_owned()
        })
        .collect();
    for key in keys.iter().step_by(3) {
        writer.edit(key, text("edited"), at(100)).unwrap();
    }
    for key in keys.iter().step_by(10) {
        writer.delete(key, at(101)).unwrap();
    }
}

#[test]
fn a_late_joiner_gets_everything_whichever_did_sorts_first() {
    for visibility in [Visibility::Public, Visibility::Private] {
        for writer in 0..2 {
            let mut pair = two_devices(visibility);
            write_much(&mut pair[writer]);
            let mut wires = Wires::connect(&mut pair);
            wires.run(&mut pair);
            assert_level(&pair);
            let joiner = &pair[1 - writer];
            assert_eq!(joiner.records(Some(NOTES)).len(), 450);
            assert_eq!(joiner.holdings().len(), 500 + 167 + 50);
            let unread = |record: &crate::replica::Record| !matches!(&record.body, Opened::Body(body) if body.as_object().is_some());
            assert!(!joiner.records(None).iter().any(unread));
            assert!(
                !wires
                    .events
                    .iter()
                    .any(|event| matches!(event, Event::Refused { .. }))
            );
        }
    }
}

#[test]
fn the_side_whose_did_sorts_first_initiates_and_the_other_never() {
    for writer in 0..2 {
        let mut pair = two_devices(Visibility::Public);
        write_much(&mut pair[writer]);
        let mut wires = Wires::connect(&mut pair);
        wires.run(&mut pair);
        let to = |side, kind: &str| {
            wires
                .carried
                .iter()
                .filter(|(s, k)| *s == side && k == kind)
                .count()
        };
        assert!(to(1, "reconcile") > 0);
        assert_eq!(to(0, "reconcile"), 0);
        assert_eq!(to(0, "reconciled"), to(1, "reconcile"));
    }
}

#[test]
fn changes_made_apart_come_together() {
    let mut pair = two_devices(Visibility::Public);
    write_much(&mut pair[0]);
    let mut wires = Wires::connect(&mut pair);
    wires.run(&mut pair);
    let keys: Vec<String> = pair[0]
        .records(None)
        .into_iter()
        .map(|record| record.key)
        .collect();
    for (place, key) in keys.iter().enumerate().take(60) {
        let side = place % 2;
        pair[side]
            .edit(key, text("from one side"), at(200))
            .unwrap();
        if place % 5 == 0 {
            pair[1 - side].delete(key, at(201)).unwrap();
        }
    }
    pair[1]
        .create("app.other", text("a new collection"), at(202))
        .unwrap();
    let mut wires = Wires::connect(&mut pair);
    wires.run(&mut pair);
    assert_level(&pair);
    assert_eq!(pair[0].records(Some("app.other")).len(), 1);
}

#[test]
fn level_peers_say_hello_and_nothing_more() {
    let mut pair = two_devices(Visibility::Public);
    write_much(&mut pair[0]);
    Wires::connect(&mut pair).run(&mut pair);
    let mut wires = Wires::connect(&mut pair);
    wires.run(&mut pair);
    let kinds: Vec<&str> = wires
        .carried
        .iter()
        .map(|(_, kind)| kind.as_str())
        .collect();
    assert_eq!(kinds, ["hello", "hello"]);
    assert_level(&pair);
}

#[test]
fn a_write_is_pushed_and_acknowledged_at_once() {
    let mut pair = two_devices(Visibility::Private);
    let mut wires = Wires::connect(&mut pair);
    wires.run(&mut pair);
    let version = pair[0].create(NOTES, text("hello"), at(1)).unwrap();
    let effects = pair[0].push(&version);
    wires.carry_out(0, effects);
    assert_eq!(standing(&pair, 0), Standing::Unacknowledged(1));
    wires.run(&mut pair);
    assert_eq!((wires.count("push-update"), wires.count("stored")), (1, 1));
    assert!(
        pair[0]
            .holdings()
            .is_stored_by(&version.id(), &pair[1].device().did())
    );
    assert_level(&pair);
}

#[test]
fn an_edit_that_overtakes_its_first_version_waits_and_is_acknowledged_once_it_goes_in() {
    let mut pair = two_devices(Visibility::Public);
    let mut wires = Wires::connect(&mut pair);
    wires.run(&mut pair);
    let first = pair[0].create(NOTES, text("one"), at(1)).unwrap();
    let second = pair[0].edit(first.key(), text("two"), at(2)).unwrap();
    let effects = pair[0].push(&second);
    wires.carry_out(0, effects);
    assert!(wires.deliver(&mut pair, 1));
    assert_eq!(pair[1].sync().waiting(), 1);
    assert!(!pair[1].holdings().holds(&second.id()));
    // The first version is asked for at once, and the second goes in with it.
    wires.run(&mut pair);
    assert_eq!((wires.count("want"), pair[1].sync().waiting()), (1, 0));
    assert_level(&pair);
}

#[test]
fn a_mangled_copy_is_refused_and_the_good_one_is_still_taken() {
    let mut pair = two_devices(Visibility::Public);
    let mut wires = Wires::connect(&mut pair);
    wires.run(&mut pair);
    let version = pair[0].create(NOTES, text("true"), at(1)).unwrap();
    let mut mangled = version.object().clone();
    mangled.insert("body", text("false"));
    let mut payload = Vec::new();
    write_push_update(&mut payload, &mangled.canonical());
    wires.to[1].push_back(payload);
    wires.deliver(&mut pair, 1);
    assert!(
        matches!(wires.events.last(), Some(Event::Refused { id: Some(id), .. }) if *id == version.id())
    );
    assert!(!pair[1].holdings().holds(&version.id()));

    let effects = pair[0].push(&version);
    wires.carry_out(0, effects);
    wires.run(&mut pair);
    assert_level(&pair);
}

#[test]
fn a_version_of_another_space_is_refused() {
    let mut pair = two_devices(Visibility::Public);
    let mut wires = Wires::connect(&mut pair);
    wires.run(&mut pair);
    let mut elsewhere = two_devices(Visibility::Private);
    let version = elsewhere[0]
        .create(NOTES, text("elsewhere"), at(1))
        .unwrap();
    let mut payload = Vec::new();
    write_push_update(&mut payload, &version.canonical());
    wires.to[1].push_back(payload);
    wires.run(&mut pair);
    assert_eq!(wires.count("stored"), 0);
    assert!(pair[1].holdings().is_empty());
}

#[test]
fn an_unanswered_session_and_an_unanswered_want_are_given_up() {
    let mut pair = two_devices(Visibility::Public);
    write_much(&mut pair[1]);
    let mut wires = Wires::connect(&mut pair);
    // The initiator's first round is lost.
    while !wires.to[1]
        .iter()
        .any(|payload| payload.windows(11).any(|w| w == b"\"reconcile\""))
    {
        assert!(wires.deliver(&mut pair, 0));
    }
    wires.to[1].clear();
    pair[0].tick(29_999);
    assert_eq!(standing(&pair, 0), Standing::Working);
    let effects = pair[0].tick(30_000);
    assert!(
        effects
            .iter()
            .any(|e| matches!(e, Effect::Event(Event::GaveUp { .. })))
    );
    // The next hello begins anew.
    let from = pair[0].device().did();
    let effects = pair[1].say_hello(from);
    wires.carry_out(1, effects);
    wires.run(&mut pair);
    assert_level(&pair);
}

#[test]
fn a_device_that_holds_some_collections_gets_those_and_the_spaces_own() {
    let [whole, _] = two_devices(Visibility::Public);
    let device = account().new_device(&mut FixedRandomness::new(77)).unwrap();
    let holds = Holds::Only([Box::from("app.held")].into());
    let randomness = Box::new(FixedRandomness::new(78));
    let space = whole.space().clone();
    let part = Replica::holding(space, device, Holdings::in_memory(), randomness, holds);
    let mut pair = [whole, part];
    for collection in ["app.held", "app.other", "sys.profile"] {
        pair[0].create(collection, text(collection), at(1)).unwrap();
    }
    let mut wires = Wires::connect(&mut pair);
    wires.run(&mut pair);
    let held: Vec<String> = sums(&pair[1]).into_iter().map(|(name, _)| name).collect();
    assert_eq!(held, ["app.held", "sys.profile"]);
    // A write elsewhere isn't pushed to it.
    let version = pair[0].create("app.other", text("more"), at(2)).unwrap();
    assert_eq!(pair[0].push(&version), []);
}

#[test]
fn a_device_restored_from_a_copy_must_take_a_fresh_key() {
    let mut pair = two_devices(Visibility::Public);
    let mut wires = Wires::connect(&mut pair);
    wires.run(&mut pair);
    let version = pair[0]
        .create(NOTES, text("before the copy was put back"), at(1))
        .unwrap();
    let effects = pair[0].push(&version);
    wires.carry_out(0, effects);
    wires.run(&mut pair);

    // The same key, with what it held before.
    let (space, device) = (pair[0].space().clone(), pair[0].device().clone());
    let randomness = Box::new(FixedRandomness::new(90));
    pair[0] = Replica::new(space, device, Holdings::in_memory(), randomness);
    Wires::connect(&mut pair).run(&mut pair);
    assert!(pair[0].needs_fresh_key());
    // Started again, it still knows.
    let (space, device) = (pair[0].space().clone(), pair[0].device().clone());
    let mut holdings = Holdings::in_memory();
    for version in pair[0].holdings().current_versions() {
        holdings.stage((**version).clone());
    }
    let randomness = Box::new(FixedRandomness::new(91));
    pair[0] = Replica::new(space, device, holdings, randomness);
    assert!(pair[0].needs_fresh_key());
    assert!(pair[0].create(NOTES, text("would fork"), at(2)).is_err());
    let old = pair[0].device().did();
    pair[0].use_fresh_key().unwrap();
    let version = pair[0]
        .create(NOTES, text("under a fresh key"), at(2))
        .unwrap();
    assert_ne!(version.author().as_str(), Some(old.to_string().as_str()));
    assert_eq!(version.log().n, 0);
}

#[test]
fn definitions_access_records_and_history_are_written_with_retain() {
    let [mut writer, _] = two_devices(Visibility::Private);
    let definition = Object::from([
        ("name", Value::from("app.kept")),
        ("version", Value::from(1u32)),
        ("schema", Object::new().into()),
        ("history", Value::from("all")),
    ]);
    let write = |collection: &str, key: &str, body: Value| Write {
        collection: collection.to_owned(),
        key: Some(key.to_owned()),
        body: Some(body),
        ..Write::default()
    };
    let before = writer.create("app.kept", text("not yet"), at(1)).unwrap();
    assert!(!before.retain());
    let defined = writer.write(
        write("sys.collection", "collection:app.kept", definition.into()),
        at(2),
    );
    assert!(defined.unwrap().retain());
    assert!(
        writer
            .create("app.kept", text("kept"), at(3))
            .unwrap()
            .retain()
    );
    assert!(writer.delete(before.key(), at(4)).unwrap().retain());
}

#[test]
fn after_a_failed_write_nothing_is_written_taken_in_or_served() {
    let [whole, _] = two_devices(Visibility::Public);
    let folder = tempfile::tempdir().unwrap();
    let mut holdings = Holdings::open(&folder.path().join("versions.jsonl")).unwrap();
    holdings.fail();
    let device = account().new_device(&mut FixedRandomness::new(77)).unwrap();
    let (space, peer) = (whole.space().clone(), whole.device().did());
    let randomness = Box::new(FixedRandomness::new(78));
    let mut broken = Replica::new(space, device, holdings, randomness);
    broken.connected(peer);
    assert!(broken.create(NOTES, text("lost"), at(1)).is_err());
    let id = broken.records(None)[0].id;
    let want = format!(r#"{{"v":8,"type":"want","id":1,"ids":["{id}"]}}"#);
    let want = read(want.as_bytes(), MESSAGE_DEPTH).unwrap();
    assert!(broken.received(peer, want).is_err());
}

#[test]
fn what_a_writer_saw_is_named_and_an_empty_list_left_out() {
    let [mut writer, _] = two_devices(Visibility::Public);
    let head = ContentId::of(b"head");
    let mut seen = |seen| {
        let write = Write {
            collection: NOTES.to_owned(),
            body: Some(text("x")),
            seen,
            ..Write::default()
        };
        let seen = writer.draft(write, at(1)).unwrap();
        let version = seen.sign(account().root_key());
        let version = Version::shape(version.into()).unwrap();
        (version.seen().to_vec(), version.member("seen").is_some())
    };
    assert_eq!(seen(Some(vec![head])), (vec![head], true));
    assert_eq!(seen(Some(vec![])), (vec![], false));
    let space = space(Visibility::Public).id();
    assert_eq!(seen(None), (vec![space], true));
}

/// One step of a run of two devices.
#[derive(Clone, Debug)]
enum Step {
    Create(usize),
    Edit(usize, prop::sample::Index),
    Delete(usize, prop::sample::Index),
    Deliver(usize, u8),
    Reconnect,
    Hello(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let side = || 0usize..2;
    let step = prop_oneof![
        3 => side().prop_map(Step::Create),
        3 => (side(), any::<prop::sample::Index>()).prop_map(|(s, i)| Step::Edit(s, i)),
        2 => (side(), any::<prop::sample::Index>()).prop_map(|(s, i)| Step::Delete(s, i)),
        6 => (side(), 1u8..12).prop_map(|(s, n)| Step::Deliver(s, n)),
        1 => Just(Step::Reconnect),
        1 => side().prop_map(Step::Hello),
    ];
    proptest::collection::vec(step, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn whatever_is_written_delivered_and_lost_in_the_end_both_hold_the_same(steps in steps()) {
        let mut pair = two_devices(Visibility::Private);
        let mut wires = Wires::connect(&mut pair);
        let mut second = 0;
        for step in steps {
            second += 1;
            let mut written = None;
            match step {
                Step::Create(side) => {
                    written = Some((side, pair[side].create(NOTES, text("new"), at(second)).unwrap()));
                }
                Step::Edit(side, index) | Step::Delete(side, index) => {
                    let records = pair[side].records(None);
                    if records.is_empty() {
                        continue;
                    }
                    let key = &index.get(&records).key;
                    let version = match step {
                        Step::Edit(..) => pair[side].edit(key, text("edited"), at(second)),
                        _ => pair[side].delete(key, at(second)),
                    };
                    written = Some((side, version.unwrap()));
                }
                Step::Deliver(side, count) => {
                    for _ in 0..count {
                        wires.deliver(&mut pair, side);
                    }
                }
                Step::Reconnect => wires = Wires::connect(&mut pair),
                Step::Hello(side) => {
                    let peer = pair[1 - side].device().did();
                    let effects = pair[side].say_hello(peer);
                    wires.carry_out(side, effects);
                }
            }
            if let Some((side, version)) = written {
                let effects = pair[side].push(&version);
                wires.carry_out(side, effects);
            }
        }
        wires.run(&mut pair);
        let mut wires = Wires::connect(&mut pair);
        wires.run(&mut pair);
        assert_level(&pair);
        let was_refused = |event: &Event| matches!(event, Event::Refused { .. });
        prop_assert!(!wires.events.iter().any(was_refused));
    }
}
