//! Finding keys whose lines aren't one among what a device holds, to prove it (03 §6.5).

use std::collections::{BTreeMap, HashMap};

use minca_record::did::Did;
use minca_record::fork::judge_pair;
use minca_record::json::{Object, Text, Value};
use minca_record::version::Version;

use crate::access;
use crate::clock::UnixTime;
use crate::replica::{Replica, Write, WriteError};

/// A line that isn't one.
#[derive(Clone, Debug)]
pub struct Found {
    /// The key.
    pub writer: Did,
    /// The line's collection.
    pub collection: Box<str>,
    /// The place from which on it is withdrawn.
    pub from: u64,
    /// The change that proves it.
    pub proof: Write,
}

/// The forks and breaks among what is held that no applied proof covers yet: of each line the one
/// at the earliest place.
pub fn unproven(replica: &Replica) -> Vec<Found> {
    let mut earliest: BTreeMap<(Did, Box<str>), Found> = BTreeMap::new();
    for (one, other) in suspects(replica) {
        let Some(found) = judged(replica, one, other) else {
            continue;
        };
        let line = (found.writer, found.collection.clone());
        let known = earliest.get(&line).map(|known| known.from);
        if known.is_none_or(|known| found.from < known) {
            earliest.insert(line, found);
        }
    }
    let proven = replica.gatekeeper().history().forks();
    let is_proven = |found: &Found| {
        let writer = Text::from(found.writer.to_string());
        proven.iter().any(|(key, collection, from, _)| {
            *key == writer && *collection == *found.collection && *from <= found.from
        })
    };
    let found = earliest.into_values();
    found.filter(|found| !is_proven(found)).collect()
}

/// Writes a proof of each; what was written.
///
/// # Errors
/// [`WriteError`]: those before it are written.
pub fn prove(
    replica: &mut Replica,
    found: &[Found],
    now: UnixTime,
) -> Result<Vec<Version>, WriteError> {
    let proofs = found.iter();
    proofs
        .map(|found| replica.write(found.proof.clone(), now))
        .collect()
}

/// Pairs that may prove something: two versions at one place, and a version with the one it names
/// as before it where that is at no place before.
fn suspects(replica: &Replica) -> Vec<(&Version, &Version)> {
    let holdings = replica.holdings();
    let mut at_place: HashMap<(&Text, &str, u64), &Version> = HashMap::new();
    let mut pairs = Vec::new();
    for version in holdings.versions() {
        let place = (version.author(), version.collection(), version.log().n);
        if let Some(other) = at_place.insert(place, version) {
            pairs.push((other, &**version));
        }
        let before = version.log().prev.and_then(|prev| holdings.get(&prev));
        if let Some(before) = before {
            let is_before = before.author() == version.author()
                && before.collection() == version.collection()
                && before.log().n + 1 == version.log().n;
            if !is_before {
                pairs.push((before, version));
            }
        }
    }
    pairs
}

fn judged(replica: &Replica, one: &Version, other: &Version) -> Option<Found> {
    let (a, b) = match one.id() < other.id() {
        true => (one, other),
        false => (other, one),
    };
    let (a, b) = (without_body(a), without_body(b));
    let (a_value, b_value) = (Value::from(a.clone()), Value::from(b.clone()));
    let proof = judge_pair(&a_value, &b_value, replica.space().id()).ok()?;
    Some(Found {
        writer: proof.writer,
        collection: proof.collection,
        from: proof.from,
        proof: access::fork(&proof.writer, a, b),
    })
}

fn without_body(version: &Version) -> Object {
    let mut object = version.object().clone();
    object.remove("body");
    object
}
