//! Answering as a responder: our time against the `negentropy` crate's, in one
//! run. The crate's storage is sealed, and our list built, outside the timed
//! part.

#![allow(clippy::print_stdout, clippy::expect_used, clippy::unwrap_used)]

use std::{hint::black_box, time::Instant};

use minca_record::hash::sha256;
use minca_sync::{
    item::Item,
    negentropy::{
        FrameLimit, Initiator, InitiatorStep, Responder, ResponderStep, SortedItems, initiate,
    },
};
use negentropy::{Id, Negentropy, NegentropyStorageVector};

const ROUNDS: usize = 40;
const LIMIT: u64 = 32_000;

fn main() {
    println!("one answer of a responder, median of {ROUNDS}, frame limit {LIMIT}");
    for count in [10_000u64, 100_000] {
        let items: Vec<Item> = (0..count)
            .map(|i| Item {
                timestamp: 1_700_000_000 + i / 3,
                id: sha256(&i.to_be_bytes()),
            })
            .collect();
        let lacking: SortedItems = items
            .iter()
            .enumerate()
            .filter(|(at, _)| at % 997 != 5)
            .map(|(_, item)| *item)
            .collect();
        compare(
            count,
            &items,
            &session(&lacking, &items.iter().copied().collect()),
        );
    }
}

/// The messages the responder gets in a whole session.
fn session(a: &SortedItems, b: &SortedItems) -> Vec<Vec<u8>> {
    let mut messages = vec![initiate(a).unwrap()];
    loop {
        let answer = respond(messages.last().unwrap(), b);
        let mut round = Initiator::new(answer, FrameLimit::SYNC).unwrap();
        loop {
            match round.step(a) {
                InitiatorStep::Needs(_) => unreachable!("all is in memory"),
                InitiatorStep::Found(_) => {}
                InitiatorStep::Done { next: None, .. } => return messages,
                InitiatorStep::Done {
                    next: Some(next), ..
                } => {
                    messages.push(next);
                    break;
                }
            }
        }
    }
}

fn respond(message: &[u8], set: &SortedItems) -> Vec<u8> {
    match Responder::new(message.to_vec(), FrameLimit::SYNC)
        .unwrap()
        .step(set)
    {
        ResponderStep::Done(answer) => answer,
        ResponderStep::Needs(_) => unreachable!("all is in memory"),
    }
}

fn compare(count: u64, items: &[Item], messages: &[Vec<u8>]) {
    let ours: SortedItems = items.iter().copied().collect();
    let mut theirs = NegentropyStorageVector::with_capacity(items.len());
    for item in items {
        theirs
            .insert(item.timestamp, Id::from_byte_array(item.id))
            .unwrap();
    }
    theirs.seal().unwrap();
    for (at, message) in messages.iter().enumerate() {
        let answer = respond(message, &ours);
        let mut reconciler = Negentropy::borrowed(&theirs, LIMIT).unwrap();
        assert_eq!(answer, reconciler.reconcile(message).unwrap());
        let our_time = median(|| {
            black_box(respond(black_box(message), &ours));
        });
        let their_time = median(|| {
            let mut reconciler = Negentropy::borrowed(&theirs, LIMIT).unwrap();
            black_box(reconciler.reconcile(black_box(message)).unwrap());
        });
        println!(
            "{count:>7} items, message {at}: {:>6} bytes in, {:>6} out; ours {our_time:>8.1} µs, the crate {their_time:>8.1} µs, {:.1} times as fast",
            message.len(),
            answer.len(),
            their_time / our_time,
        );
    }
}

/// Microseconds.
fn median(mut run: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[ROUNDS / 2]
}
