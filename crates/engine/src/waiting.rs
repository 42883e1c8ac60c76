//! Versions that wait for something not held yet (02 §9.5 "later").
//!
//! Bounded by number and bytes, per peer and per space (08 §17.2). A peer's
//! share is its session DID's, so that dialling again gains nothing. One peer's
//! versions never push out another's: of its own, those whose root no history
//! names give way first, then the oldest; where the space's bound is reached and
//! the peer has none waiting, its version is the one that does not wait.

use std::collections::{BTreeSet, HashMap};

use minca_record::content_id::ContentId;
use minca_record::did::Did;

use crate::config::WaitingLimit;
use crate::intake::Candidate;

/// What a version waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Missing {
    /// Ids of versions; any of them arriving makes it worth another try.
    pub(crate) ids: Vec<ContentId>,
    /// Whether the history names its root, or the invite it joins by. If not, any access
    /// change may.
    pub(crate) root_named: bool,
}

/// Number of a waiting version; grows, so it is also its age.
type Slot = u64;

#[derive(Debug)]
struct Entry {
    candidate: Candidate,
    missing: Missing,
}

#[derive(Debug, Default)]
struct Share {
    bytes: usize,
    /// Those that give way first come first: unnamed roots, then the oldest.
    order: BTreeSet<(bool, Slot)>,
}

/// The waiting versions of one space.
#[derive(Debug)]
pub(crate) struct Waiting {
    per_peer: WaitingLimit,
    per_space: WaitingLimit,
    next: Slot,
    entries: HashMap<Slot, Entry>,
    by_version: HashMap<(Did, ContentId), Slot>,
    by_missing: HashMap<ContentId, BTreeSet<Slot>>,
    unnamed: BTreeSet<Slot>,
    shares: HashMap<Did, Share>,
    bytes: usize,
}

impl Waiting {
    pub(crate) fn new(per_peer: WaitingLimit, per_space: WaitingLimit) -> Waiting {
        Waiting {
            per_peer,
            per_space,
            next: 0,
            entries: HashMap::new(),
            by_version: HashMap::new(),
            by_missing: HashMap::new(),
            unnamed: BTreeSet::new(),
            shares: HashMap::new(),
            bytes: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Has a version wait. Returns how many gave way, the version itself
    /// included where it was the one to give way.
    pub(crate) fn insert(&mut self, candidate: Candidate, missing: Missing) -> usize {
        let did = candidate.did;
        let id = candidate.id();
        if let Some(slot) = self.by_version.get(&(did, id)).copied() {
            self.take(slot);
        }
        let mut gave_way = 0;
        let bytes = candidate.bytes;
        if bytes > self.per_peer.bytes.min(self.per_space.bytes) {
            return 1;
        }
        while self.over(did, bytes) {
            let first = self
                .shares
                .get(&did)
                .and_then(|share| share.order.first().copied());
            let Some((named, slot)) = first else {
                return gave_way + 1;
            };
            // It is itself the one that gives way: all that wait have a named root.
            if named && !missing.root_named {
                return gave_way + 1;
            }
            self.take(slot);
            gave_way += 1;
        }
        let slot = self.next;
        self.next += 1;
        let share = self.shares.entry(did).or_default();
        share.bytes += bytes;
        share.order.insert((missing.root_named, slot));
        self.bytes += bytes;
        self.by_version.insert((did, id), slot);
        for id in &missing.ids {
            self.by_missing.entry(*id).or_default().insert(slot);
        }
        if !missing.root_named {
            self.unnamed.insert(slot);
        }
        self.entries.insert(slot, Entry { candidate, missing });
        gave_way
    }

    /// Takes out every version that waited for one of `arrived`, and those whose root
    /// was not named and `is_named` now. Oldest first.
    pub(crate) fn release(
        &mut self,
        arrived: &[ContentId],
        is_named: impl Fn(&Candidate) -> bool,
    ) -> Vec<Candidate> {
        let mut slots = BTreeSet::new();
        for id in arrived {
            if let Some(waiting) = self.by_missing.get(id) {
                slots.extend(waiting.iter().copied());
            }
        }
        let is_named = |slot: &Slot| {
            self.entries
                .get(slot)
                .is_some_and(|it| is_named(&it.candidate))
        };
        slots.extend(self.unnamed.iter().copied().filter(is_named));
        slots
            .into_iter()
            .filter_map(|slot| self.take(slot))
            .collect()
    }

    /// Whether adding a version of this size would go over a bound.
    fn over(&self, did: Did, bytes: usize) -> bool {
        let (of_peer, bytes_of_peer) = self
            .shares
            .get(&did)
            .map_or((0, 0), |share| (share.order.len(), share.bytes));
        of_peer + 1 > self.per_peer.versions
            || bytes_of_peer + bytes > self.per_peer.bytes
            || self.entries.len() + 1 > self.per_space.versions
            || self.bytes + bytes > self.per_space.bytes
    }

    fn take(&mut self, slot: Slot) -> Option<Candidate> {
        let Entry { candidate, missing } = self.entries.remove(&slot)?;
        self.by_version.remove(&(candidate.did, candidate.id()));
        self.bytes -= candidate.bytes;
        self.unnamed.remove(&slot);
        for id in &missing.ids {
            if let Some(waiting) = self.by_missing.get_mut(id) {
                waiting.remove(&slot);
                if waiting.is_empty() {
                    self.by_missing.remove(id);
                }
            }
        }
        if let Some(share) = self.shares.get_mut(&candidate.did) {
            share.bytes -= candidate.bytes;
            share.order.remove(&(missing.root_named, slot));
            if share.order.is_empty() {
                self.shares.remove(&candidate.did);
            }
        }
        Some(candidate)
    }
}
