//! Random records to judge.

use minca_access::case::Probe;
use minca_record::content_id::ContentId;

use super::dice::Dice;
use super::people::{accounts, keys_of};
use super::says::{COLLECTIONS, SYSTEM, body};
use super::writing::Writing;

/// A record that someone wrote while the history came to be.
pub fn probe(writing: &Writing, seed: u64) -> Probe {
    let mut dice = Dice::new(seed);
    let among: &[&str] = if dice.chance(15) {
        &SYSTEM
    } else {
        &COLLECTIONS
    };
    let collection = *dice.pick(among).unwrap();
    let mut root = *dice.pick(accounts()).unwrap();
    let mut author = *dice.pick(&keys_of(&root)).unwrap();
    let mut seen = writing.some_seen(&author, &mut dice);
    // Mostly someone who could write, and now and then by one change.
    match dice.roll(100) {
        0..40 => {
            if let Some((did, by)) = writing.some_assignment(&mut dice) {
                root = did;
                seen.push(by);
            }
        }
        40..92 => {
            root = writing
                .some_writer(&seen, collection, &mut dice)
                .unwrap_or(root)
        }
        _ => {}
    }
    if !keys_of(&root).contains(&author) {
        author = *dice.pick(&keys_of(&root)).unwrap();
    }
    let deletes = dice.chance(20);
    let (blind, stub) = match dice.roll(10) {
        0 if !deletes => (true, false),
        1 | 2 if !deletes => (false, true),
        _ => (false, false),
    };
    let body = if deletes || blind || stub {
        None
    } else {
        body(&mut dice)
    };
    Probe {
        id: ContentId::of(&seed.to_be_bytes()),
        root,
        seen,
        author,
        collection: collection.into(),
        place: dice.roll(5) as u64,
        deletes,
        by_creator: dice.chance(60),
        body,
        within: dice
            .chance(20)
            .then(|| writing.some_seen(&author, &mut dice)),
        blind,
        stub,
    }
}
