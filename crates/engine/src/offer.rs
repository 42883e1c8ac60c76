//! Sending a peer what it lacks, after a session (05 §6.3).
//!
//! Newest first, and the versions of one record in one message: a reader takes
//! them in at once, and nothing of them waits for its first version.

use std::collections::HashMap;

use minca_record::content_id::ContentId;
use minca_sync::message::write_versions;

use crate::Engine;
use crate::answer::wire_form;
use crate::engine::ReadFor;
use crate::event::PeerId;
use crate::rows::{Found, StoredVersion};

/// Ids whose records are looked up at once, and so kept together.
const IDS_PER_GROUPING: usize = 4_000;

impl Engine {
    /// Goes on sending a peer what it lacks, while it takes what it is sent.
    pub(crate) fn offer_more(&mut self, id: PeerId) {
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        if peer.offers.reading || peer.offers.is_empty() || peer.unsent > self.config.offer_bytes {
            return;
        }
        if !peer.offers.is_grouped() {
            let count = peer.offers.to_group.len().min(IDS_PER_GROUPING);
            let ids = peer.offers.to_group.drain(..count).collect();
            self.read_grouping(id, ids);
            return;
        }
        let ids = peer.offers.next_message(self.config.ids_per_request);
        self.read_offer(id, ids);
    }

    /// Has the records looked up that versions belong to.
    fn read_grouping(&mut self, id: PeerId, ids: Vec<ContentId>) {
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        peer.offers.reading = true;
        self.read(ReadFor::Grouping { peer: id, ids });
    }

    /// Puts the versions of one record together, in the place of its newest.
    pub(crate) fn group_offers(&mut self, id: PeerId, ids: Vec<ContentId>, found: &Found) {
        let mut order: Vec<Vec<ContentId>> = Vec::new();
        let mut place: HashMap<&str, usize> = HashMap::new();
        for id in ids {
            let Some(held) = found.versions.get(&id) else {
                continue;
            };
            let at = *place.entry(&held.key).or_insert_with(|| {
                order.push(Vec::new());
                order.len() - 1
            });
            order[at].push(id);
        }
        if let Some(peer) = self.peers.get_mut(&id) {
            peer.offers.reading = false;
            peer.offers.put(order);
            self.to_pump.insert(id);
        }
    }

    /// Has the versions of one message read.
    fn read_offer(&mut self, id: PeerId, ids: Vec<ContentId>) {
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        peer.offers.reading = true;
        self.read(ReadFor::Offer { peer: id, ids });
    }

    /// Sends a message of versions; those it had no room for go in the next.
    pub(crate) fn offer(&mut self, id: PeerId, ids: Vec<ContentId>, versions: &[StoredVersion]) {
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        peer.offers.reading = false;
        let rest = match versions.last() {
            Some(last) => ids
                .iter()
                .position(|id| *id == last.id)
                .map_or(0, |at| at + 1),
            None => ids.len(),
        };
        if rest < ids.len() {
            peer.offers.put_back(ids[rest..].to_vec());
        }
        self.to_pump.insert(id);
        if !versions.is_empty() {
            let bytes: Vec<Vec<u8>> = versions.iter().map(wire_form).collect();
            self.send(id, |out| {
                write_versions(out, None, bytes.iter().map(Vec::as_slice))
            });
        }
    }
}
