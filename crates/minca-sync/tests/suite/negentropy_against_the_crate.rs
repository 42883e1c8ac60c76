//! Random sessions, byte for byte against the `negentropy` crate, in both
//! roles; and the same with sets of which little is loaded.

use std::collections::BTreeSet;

use minca_record::hash::sha256;
use minca_sync::{
    item::Item,
    negentropy::{
        Bound, Found, FrameLimit, Initiator, InitiatorStep, ItemSet, Malformed, NotLoaded,
        Responder, ResponderStep, SortedItems, initiate,
    },
};
use negentropy::{Id, Negentropy, NegentropyStorageVector};
use proptest::prelude::*;

use crate::lazy_items::LazyItems;

/// Something goes in circles if it asks more often than this.
const ENOUGH: usize = 20_000;

fn frame(limit: u64) -> FrameLimit {
    match limit {
        0 => FrameLimit::NONE,
        bytes => FrameLimit::new(bytes as usize).unwrap(),
    }
}

fn limit() -> impl Strategy<Value = u64> {
    prop_oneof![
        prop::sample::select(vec![
            0, 4096, 4097, 4128, 4767, 5000, 8192, 10_000, 32_000, 65_536
        ]),
        4096u64..40_000,
    ]
}

/// Two sets that share much: items with their places among seconds and, in some
/// cases, the same first bytes of their ids; enough is left of those that no
/// two sums are equal by chance.
fn sets() -> impl Strategy<Value = (Vec<Item>, Vec<Item>)> {
    let size = prop_oneof![2 => 0usize..70, 3 => 0usize..600, 2 => 1000usize..2500];
    let share = prop_oneof![Just(0u32), Just(1), Just(20), Just(200), Just(1000)];
    let per = prop_oneof![Just(1u64), Just(3), Just(100), Just(100_000)];
    (size, share, per, any::<u64>(), 0usize..21, any::<bool>()).prop_map(
        |(size, share, per, seed, same, crowds)| {
            let mut a = Vec::new();
            let mut b = Vec::new();
            for i in 0..size as u64 {
                let dice = sha256(&[seed.to_be_bytes(), i.to_be_bytes()].concat());
                let mut id = dice;
                if crowds {
                    id[..same].fill(7);
                }
                let item = Item {
                    timestamp: 1_000 + i / per * 5,
                    id,
                };
                let one_side = u32::from_be_bytes([0, 0, dice[30], dice[31]]) % 1000 < share;
                // Whole stretches are missing as well as single items.
                let stretch = share > 0 && (i / 97) % 5 == seed % 5;
                match (one_side || stretch, dice[29] & 1, seed & 1) {
                    (false, ..) => {
                        a.push(item);
                        b.push(item);
                    }
                    (true, 0, _) if one_side => a.push(item),
                    (true, _, _) if one_side => b.push(item),
                    (true, _, 0) => a.push(item),
                    (true, ..) => b.push(item),
                }
            }
            (a, b)
        },
    )
}

fn storage(items: &[Item]) -> NegentropyStorageVector {
    let mut storage = NegentropyStorageVector::new();
    for item in items {
        storage
            .insert(item.timestamp, Id::from_byte_array(item.id))
            .unwrap();
    }
    storage.seal().unwrap();
    storage
}

fn respond(
    message: &[u8],
    limit: FrameLimit,
    set: &impl ItemSet,
    load: &dyn Fn(NotLoaded),
) -> Vec<u8> {
    let mut responder = Responder::new(message.to_vec(), limit).unwrap();
    for _ in 0..ENOUGH {
        match responder.step(set) {
            ResponderStep::Done(message) => return message,
            ResponderStep::Needs(ranges) => load(NotLoaded { ranges }),
        }
    }
    panic!("never done");
}

fn go_on(
    message: &[u8],
    limit: FrameLimit,
    set: &impl ItemSet,
    load: &dyn Fn(NotLoaded),
    all: &mut Found,
) -> Option<Vec<u8>> {
    let mut round = Initiator::new(message.to_vec(), limit).unwrap();
    for _ in 0..ENOUGH {
        match round.step(set) {
            InitiatorStep::Needs(ranges) => load(NotLoaded { ranges }),
            InitiatorStep::Found(found) => {
                all.have.extend(found.have);
                all.need.extend(found.need);
            }
            InitiatorStep::Done { found, next } => {
                all.have.extend(found.have);
                all.need.extend(found.need);
                return next;
            }
        }
    }
    panic!("never done");
}

fn first(set: &impl ItemSet, load: &dyn Fn(NotLoaded)) -> Vec<u8> {
    for _ in 0..ENOUGH {
        match initiate(set) {
            Ok(message) => return message,
            Err(not_loaded) => load(not_loaded),
        }
    }
    panic!("never done");
}

fn sorted(ids: &[[u8; 32]]) -> BTreeSet<[u8; 32]> {
    ids.iter().copied().collect()
}

fn only_in(items: &[Item], others: &[Item]) -> BTreeSet<[u8; 32]> {
    let others: BTreeSet<Item> = others.iter().copied().collect();
    let own = items.iter().filter(|item| !others.contains(*item));
    own.map(|item| item.id).collect()
}

/// Plays a session of the crate with itself and gives each message to ours.
fn compare(
    a: &[Item],
    b: &[Item],
    limits: (u64, u64),
    ours_a: &impl ItemSet,
    ours_b: &impl ItemSet,
    load_a: &dyn Fn(NotLoaded),
    load_b: &dyn Fn(NotLoaded),
) {
    let (storage_a, storage_b) = (storage(a), storage(b));
    let mut crate_a = Negentropy::borrowed(&storage_a, limits.0).unwrap();
    let mut crate_b = Negentropy::borrowed(&storage_b, limits.1).unwrap();
    let mut theirs = (Vec::new(), Vec::new());
    let mut found = Found::default();
    let mut message = crate_a.initiate().unwrap();
    assert_eq!(first(ours_a, load_a), message);
    loop {
        let answer = crate_b.reconcile(&message).unwrap();
        assert_eq!(respond(&message, frame(limits.1), ours_b, load_b), answer);
        let next = crate_a
            .reconcile_with_ids(&answer, &mut theirs.0, &mut theirs.1)
            .unwrap();
        assert_eq!(
            go_on(&answer, frame(limits.0), ours_a, load_a, &mut found),
            next
        );
        match next {
            Some(next) => message = next,
            None => break,
        }
    }
    let ids = |ids: &[Id]| -> BTreeSet<[u8; 32]> { ids.iter().map(|id| id.to_bytes()).collect() };
    assert_eq!(sorted(&found.have), ids(&theirs.0));
    assert_eq!(sorted(&found.need), ids(&theirs.1));
    assert_eq!(sorted(&found.have), only_in(a, b));
    assert_eq!(sorted(&found.need), only_in(b, a));
}

proptest! {
    #[test]
    fn sessions_are_the_crates_byte_for_byte((a, b) in sets(), limits in (limit(), limit())) {
        let ours_a: SortedItems = a.iter().copied().collect();
        let ours_b: SortedItems = b.iter().copied().collect();
        let never = |not_loaded: NotLoaded| panic!("needs {not_loaded:?}");
        compare(&a, &b, limits, &ours_a, &ours_b, &never, &never);
    }

    #[test]
    fn a_set_hardly_loaded_says_the_same(
        (a, b) in sets(),
        limits in (limit(), limit()),
        run in prop_oneof![Just(2usize), Just(7), Just(64), Just(1024)],
    ) {
        let ours_a = LazyItems::new(a.iter().copied().collect(), run);
        let ours_b = LazyItems::new(b.iter().copied().collect(), run);
        let load_a = |not_loaded: NotLoaded| { ours_a.load_only(&not_loaded.ranges); };
        let load_b = |not_loaded: NotLoaded| { ours_b.load_only(&not_loaded.ranges); };
        compare(&a, &b, limits, &ours_a, &ours_b, &load_a, &load_b);
    }

    #[test]
    fn any_bytes_are_answered_as_the_crate_does_or_refused(
        message in message_like(),
        size in 0u64..200,
        limit in limit(),
    ) {
        let items: Vec<Item> = (0..size)
            .map(|i| Item { timestamp: i / 4, id: sha256(&i.to_be_bytes()) })
            .collect();
        let set: SortedItems = items.iter().copied().collect();
        let storage = storage(&items);
        let theirs = Negentropy::borrowed(&storage, limit).unwrap().reconcile(&message);
        match Responder::new(message.clone(), frame(limit)) {
            Ok(mut responder) => {
                prop_assert_eq!(responder.step(&set), ResponderStep::Done(theirs.unwrap()));
            }
            // The crate reads what we refuse only where we are stricter.
            Err(Malformed::EndsEarly | Malformed::VarintTooLarge) => {}
            Err(Malformed::OtherVersion(_)) => prop_assert!(false, "a responder answers"),
            // It also stops reading at its limit.
            Err(_) => prop_assert!(theirs.is_err() || limit != 0),
        }
        if let Ok(mut initiator) = Initiator::new(message, frame(limit)) {
            let done = matches!(initiator.step(&set), InitiatorStep::Done { .. });
            prop_assert!(done);
        }
    }
}

/// Bytes that begin like messages, so that they get somewhere.
fn message_like() -> impl Strategy<Value = Vec<u8>> {
    let id = (0u64..200).prop_map(|i| sha256(&i.to_be_bytes()).to_vec());
    let piece = prop_oneof![
        8 => (0u8..60, 0u8..3, any::<bool>(), prop::collection::vec(id.clone(), 0..4)).prop_map(|(ahead, mode, prefixed, ids)| {
            let mut range = vec![ahead];
            if prefixed { range.extend([2, 0x40, ahead]); } else { range.push(0); }
            range.push(mode);
            match mode {
                1 => range.extend([ahead; 16]),
                2 => { range.push(ids.len() as u8); range.extend(ids.concat()); }
                _ => {}
            }
            range
        }),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| {
        let mut message = vec![0x61];
        message.extend(pieces.concat());
        message
    })
}

#[test]
fn a_large_closed_set_is_answered_in_a_few_loads() {
    let items: Vec<Item> = (0..200_000u64)
        .map(|i| Item {
            timestamp: i,
            id: sha256(&i.to_be_bytes()),
        })
        .collect();
    let lacking: Vec<Item> = items
        .iter()
        .copied()
        .filter(|item| item.timestamp != 123_456)
        .collect();
    let a: SortedItems = lacking.into_iter().collect();
    let b = LazyItems::new(items.into_iter().collect(), 1024);
    let loads = std::cell::Cell::new((0, 0));
    let load = |not_loaded: NotLoaded| {
        let (times, runs) = loads.get();
        loads.set((times + 1, runs + b.load_only(&not_loaded.ranges)));
    };
    let never = |not_loaded: NotLoaded| panic!("needs {not_loaded:?}");
    let mut found = Found::default();
    let mut message = initiate(&a).unwrap();
    loop {
        let answer = respond(&message, FrameLimit::SYNC, &b, &load);
        match go_on(&answer, FrameLimit::SYNC, &a, &never, &mut found) {
            Some(next) => message = next,
            None => break,
        }
    }
    assert_eq!(found.need, [sha256(&123_456u64.to_be_bytes())]);
    // Three messages: the bounds of each, and what splitting takes.
    let (times, runs) = loads.get();
    assert!(times <= 9 && runs <= 70, "{times} loads of {runs} runs");
}

#[test]
fn a_large_set_met_by_an_empty_one_is_found_a_window_at_a_time() {
    let set: SortedItems = (0..50_000u64)
        .map(|i| Item {
            timestamp: i,
            id: sha256(&i.to_be_bytes()),
        })
        .collect();
    let mut round = Initiator::new(vec![0x61, 0, 0, 2, 0], FrameLimit::SYNC).unwrap();
    let mut have = Vec::new();
    loop {
        match round.step(&set) {
            InitiatorStep::Needs(ranges) => panic!("needs {ranges:?}"),
            InitiatorStep::Found(found) => {
                assert!(found.have.len() <= 4096 && found.need.is_empty());
                have.extend(found.have);
            }
            InitiatorStep::Done { found, next } => {
                have.extend(found.have);
                assert_eq!(next, None);
                break;
            }
        }
    }
    assert!(have.iter().eq(set.as_slice().iter().map(|item| &item.id)));
}

#[test]
fn a_set_that_changes_in_the_midst_is_answered_as_it_then_is() {
    let items = |to: u64| {
        (0..to).map(|i| Item {
            timestamp: i,
            id: sha256(&i.to_be_bytes()),
        })
    };
    let before = LazyItems::new(items(500).collect(), 64);
    let mut changed: SortedItems = items(500).collect();
    for item in items(600) {
        changed.insert(item);
    }
    let message = initiate(&items(480).collect::<SortedItems>()).unwrap();
    let mut responder = Responder::new(message.clone(), FrameLimit::SYNC).unwrap();
    assert!(matches!(responder.step(&before), ResponderStep::Needs(_)));
    let never = |not_loaded: NotLoaded| panic!("needs {not_loaded:?}");
    let expected = respond(&message, FrameLimit::SYNC, &changed, &never);
    assert_eq!(responder.step(&changed), ResponderStep::Done(expected));
}

#[test]
fn a_limit_is_at_least_4096() {
    assert_eq!(FrameLimit::new(4095), None);
    assert_eq!(FrameLimit::new(0), None);
    assert!(FrameLimit::new(4096).is_some());
}

#[test]
fn a_prefix_is_at_most_32_bytes() {
    assert!(Bound::new(5, &[1; 32]).is_some());
    assert!(Bound::new(5, &[1; 33]).is_none());
}
