//! `hello`: what a peer holds, and the sums of its collections (05 §4, §5).

use std::collections::{BTreeMap, BTreeSet};

use minca_record::{
    hex,
    json::{Object, Value},
};

use super::NotTaken;
use crate::sum::FINGERPRINT_BYTES;

/// Collections one hello may name, in `sums` and in `holds` (05 §4).
pub const MAX_HELLO_COLLECTIONS: usize = 1000;

/// A peer's hello.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// The collections the peer holds.
    pub holds: Holds,
    /// The fingerprint of each collection it keeps anything of; `None` where
    /// what it says is no fingerprint, so that it equals none. Members whose
    /// names hold lone surrogates, as no collection's does, are left out.
    pub sums: BTreeMap<Box<str>, Option<[u8; FINGERPRINT_BYTES]>>,
    /// Whether it answers a hello. It is never answered by another.
    pub reply: bool,
}

/// The collections a node holds (05 §5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holds {
    /// All.
    All,
    /// These, and `sys.*`.
    Only(BTreeSet<Box<str>>),
}

impl Holds {
    /// Whether `collection` is held. Everyone holds `sys.*`.
    pub fn includes(&self, collection: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(held) => is_system(collection) || held.contains(collection),
        }
    }

    fn read(holds: Option<&Value>) -> Self {
        match holds {
            None => Self::All,
            Some(Value::String(word)) if word == "all" => Self::All,
            Some(Value::Array(list)) if list.len() <= MAX_HELLO_COLLECTIONS => Self::Only(
                list.iter()
                    .filter_map(Value::as_str)
                    .map(Box::from)
                    .collect(),
            ),
            Some(_) => Self::Only(BTreeSet::new()),
        }
    }
}

/// Whether `collection` is one of the space's own, which every node holds.
pub fn is_system(collection: &str) -> bool {
    collection.starts_with("sys.")
}

impl Hello {
    pub(super) fn read(object: &Object) -> Result<Self, NotTaken> {
        let sums = object.get("sums").and_then(Value::as_object);
        let sums = sums.ok_or(NotTaken::Sums)?;
        if sums.len() > MAX_HELLO_COLLECTIONS {
            return Err(NotTaken::TooManyCollections(sums.len()));
        }
        Ok(Self {
            holds: Holds::read(object.get("holds")),
            sums: sums
                .iter()
                .filter_map(|(name, sum)| Some((name.as_str()?.into(), fingerprint(sum))))
                .collect(),
            reply: object.get("reply").and_then(Value::as_bool) == Some(true),
        })
    }
}

fn fingerprint(sum: &Value) -> Option<[u8; FINGERPRINT_BYTES]> {
    hex::decode_exact(sum.as_str()?)
}
