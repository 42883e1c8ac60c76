//! What a device knows of one peer, and what is in flight with it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use minca_record::content_id::ContentId;
use minca_sync::message::{Holds, RequestId};
use minca_sync::negentropy::SortedItems;

use super::files::Fetching;

/// Refusals remembered of one peer.
const MAX_REFUSED: usize = 10_000;

/// A session this device initiated.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) collection: Box<str>,
    /// The collection as it was when the session began.
    pub(super) items: Arc<SortedItems>,
    pub(super) rounds: u32,
    /// Found in the rounds so far, oldest first, each once.
    pub(super) have: Found,
    pub(super) need: Found,
    /// When anything was last heard of it.
    pub(super) heard_at: u64,
}

/// Ids in the order they were found, each once.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) order: Vec<ContentId>,
    known: HashSet<ContentId>,
}

impl Found {
    pub(super) fn note(&mut self, ids: impl IntoIterator<Item = [u8; 32]>) {
        for id in ids.into_iter().map(ContentId::from_digest) {
            if self.known.insert(id) {
                self.order.push(id);
            }
        }
    }
}

/// A `want` that isn't answered yet.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) collection: Box<str>,
    pub(super) ids: Vec<ContentId>,
    pub(super) asked_at: u64,
}

/// One peer.
#[derive(Debug, Default)]
pub(super) struct Peer {
    /// What it said it holds; `None` before its first hello.
    pub(super) holds: Option<Holds>,
    /// Collections known to differ and not brought level since.
    pub(super) differing: BTreeSet<Box<str>>,
    /// Of those, the ones whose session has not begun.
    pub(super) to_begin: VecDeque<Box<str>>,
    pub(super) sessions: HashMap<RequestId, Session>,
    pub(super) wanted: HashMap<RequestId, Wanted>,
    /// To ask for, in order, with their collections.
    pub(super) to_ask: VecDeque<(Box<str>, ContentId)>,
    /// All that is in `wanted` and `to_ask`.
    pub(super) asking: HashSet<ContentId>,
    /// Collections this device initiated a session for that isn't over, answers to it included.
    pub(super) under_way: BTreeSet<Box<str>>,
    /// Sent and not in a `stored` yet, with their collections.
    pub(super) unacknowledged: BTreeMap<ContentId, Box<str>>,
    /// Files being fetched from it.
    pub(super) fetching: Vec<Fetching>,
    refused: HashSet<ContentId>,
}

impl Peer {
    /// Whether the peer holds the collection, as far as is known.
    pub(super) fn holds(&self, collection: &str) -> bool {
        self.holds
            .as_ref()
            .is_none_or(|holds| holds.includes(collection))
    }

    /// Whether nothing is in flight or about to be.
    pub(super) fn is_idle(&self) -> bool {
        self.sessions.is_empty()
            && self.wanted.is_empty()
            && self.to_ask.is_empty()
            && self.to_begin.is_empty()
    }

    /// Lines ids up to be asked for, but those that are already, or were refused from this peer.
    pub(super) fn ask(&mut self, collection: &str, ids: impl IntoIterator<Item = ContentId>) {
        for id in ids {
            if !self.refused.contains(&id) && self.asking.insert(id) {
                self.to_ask.push_back((collection.into(), id));
            }
        }
    }

    /// Takes the next ids to ask for, all of one collection.
    pub(super) fn next_to_ask(&mut self, most: usize) -> Option<(Box<str>, Vec<ContentId>)> {
        let (collection, first) = self.to_ask.pop_front()?;
        let mut ids = vec![first];
        while ids.len() < most
            && self
                .to_ask
                .front()
                .is_some_and(|(next, _)| *next == collection)
        {
            ids.extend(self.to_ask.pop_front().map(|(_, id)| id));
        }
        Some((collection, ids))
    }

    /// Whether nothing more is to come for a collection this device initiated on.
    pub(super) fn is_done_with(&self, collection: &str) -> bool {
        !self
            .sessions
            .values()
            .any(|session| *session.collection == *collection)
            && !self
                .wanted
                .values()
                .any(|wanted| *wanted.collection == *collection)
            && !self.to_ask.iter().any(|(other, _)| **other == *collection)
    }

    /// Remembers that a copy this peer sent was refused.
    pub(super) fn refuse(&mut self, id: ContentId) {
        if self.refused.len() < MAX_REFUSED {
            self.refused.insert(id);
        }
    }

    pub(super) fn was_refused(&self, id: &ContentId) -> bool {
        self.refused.contains(id)
    }
}
