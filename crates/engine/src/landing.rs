//! What follows once a commit landed, and what when it did not (design line 1).
//!
//! Only here is anything acknowledged, summed or passed on.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use bytes::Bytes;
use minca_record::content_id::ContentId;
use minca_record::json::Text;
use minca_record::required::is_access_collection;
use minca_record::version::join;
use minca_sync::item::Item;
use minca_sync::message::{write_push_update, write_stored};

use crate::Engine;
use crate::event::{Answer, Count, Effect, JobId, Millis, PeerId, StoreFailure};
use crate::intake::{Candidate, Landing};
use crate::rows::VersionRow;

/// Ids named in one `stored`: a receiver considers at most 2,000 (05 §4).
const STORED_IDS: usize = 1_000;

impl Engine {
    /// Gives the store the next group, if none is landing and the replay is done with
    /// its access changes: so what they make the read key lands with them. True when it
    /// did.
    pub(crate) fn land_next(&mut self, now: Millis) -> bool {
        if !self.committing.is_over() || !self.judge.is_settled() {
            return false;
        }
        if self.intake.may_land() || self.is_read_key_in_doubt {
            self.follow_read_key();
        }
        if !self.intake.may_land() {
            return false;
        }
        let job = self.next_job();
        let Some(landing) = self.intake.next_to_land(job) else {
            return false;
        };
        let batch = landing.batch.clone();
        for change in batch.keep.iter().filter(|row| is_change(row)) {
            let answer = match self.judge.counts(&change.id) {
                true => Answer::Stands,
                false => Answer::Withdrawn,
            };
            self.count(Count::Answer(answer));
        }
        if batch.is_empty() {
            self.committed(job, Ok(()), now);
        } else {
            self.effects.push(Effect::Commit { job, batch });
        }
        true
    }

    /// Has the next group write the read key that the history makes the current one.
    /// With what is placed and isn't landing yet: all that the judge knows and isn't
    /// committed is in that group.
    fn follow_read_key(&mut self) {
        if self.intake.landing.is_some() {
            return;
        }
        self.is_read_key_in_doubt = false;
        let Some(known) = self.read_key else {
            return;
        };
        let current = self.judge.read_key(&known);
        if current != known {
            self.intake.group.batch.read_key(current);
        }
    }

    /// A commit landed, or didn't.
    pub(crate) fn committed(&mut self, job: JobId, outcome: Result<(), StoreFailure>, now: Millis) {
        match outcome {
            Ok(()) => {
                if let Some(landing) = self.intake.landed(job) {
                    if !landing.batch.is_empty() {
                        self.committing.worked();
                        let wider = self.versions_per_group.saturating_mul(2);
                        self.versions_per_group = wider.min(self.config.versions_per_commit);
                    }
                    self.follow_up(landing, now);
                }
            }
            Err(StoreFailure::Lost) => self.effects.push(Effect::Abandon),
            Err(StoreFailure::Unavailable) => {
                self.count(Count::CommitFailed);
                self.judge_again();
                self.committing.failed(now);
            }
            Err(StoreFailure::DoesNotFit) => {
                self.count(Count::CommitFailed);
                // The store answers, so there is nothing to wait for, if there is
                // anything to leave out.
                if !self.narrow_down() {
                    self.committing.failed(now);
                }
                self.judge_again();
            }
        }
    }

    /// Forgets what was placed and did not land; all of it is judged again.
    fn judge_again(&mut self) {
        self.intake.judge_again();
        self.judge.forget_uncommitted();
        self.is_read_key_in_doubt = true;
    }

    /// Sums, acknowledges and passes on what landed, and tries again what waited for it.
    fn follow_up(&mut self, landing: Landing, now: Millis) {
        let mut senders: HashMap<ContentId, HashSet<PeerId>> = HashMap::new();
        for candidate in &landing.stored {
            senders
                .entry(candidate.id())
                .or_default()
                .insert(candidate.peer);
        }
        for candidate in &landing.stored {
            self.judge.committed(&candidate.vetted);
        }
        let mut items: BTreeMap<&str, Vec<Item>> = BTreeMap::new();
        for row in landing.rows() {
            items.entry(&row.collection).or_default().push(row.item());
        }
        for (collection, items) in items {
            self.collections.landed(collection, items);
        }
        self.acknowledge(&landing.stored, now);
        for row in landing.rows() {
            self.pass_on(row, senders.get(&row.id), now);
        }
        let arrived: Vec<ContentId> = landing.rows().map(|row| row.id).collect();
        if !arrived.is_empty() {
            let due = now + self.config.hello_after_intake;
            for peer in self.peers.values_mut() {
                peer.hello_by(due);
            }
            let access_changed = landing.rows().any(is_change);
            let judge = &self.judge;
            let is_named =
                |candidate: &Candidate| access_changed && judge.names_root(&candidate.vetted);
            let released = self.waiting.release(&arrived, is_named);
            self.intake.try_again(released);
        }
        if let Some(read_key) = landing.batch.read_key {
            self.read_key = Some(read_key);
            self.effects.push(Effect::ReadKey(read_key));
        }
        for candidate in landing.stored {
            self.one_of_take_done(candidate.take);
        }
        for (candidate, reason) in &landing.refused {
            self.refuse(candidate, reason);
        }
    }

    /// Tells senders what of theirs is taken in now (05 §4 `stored`).
    fn acknowledge(&mut self, stored: &[Candidate], now: Millis) {
        let mut by_peer: BTreeMap<PeerId, Vec<ContentId>> = BTreeMap::new();
        for candidate in stored {
            by_peer
                .entry(candidate.peer)
                .or_default()
                .push(candidate.id());
            self.count(Count::Acknowledged(now.saturating_sub(candidate.received)));
        }
        for (peer, ids) in by_peer {
            for ids in ids.chunks(STORED_IDS) {
                self.send(peer, |out| write_stored(out, ids));
            }
        }
    }

    /// Passes a newly stored version on to every peer that holds its collection
    /// but those it came from. One whose buffer is full is left out and finds it
    /// at the next hello.
    fn pass_on(&mut self, row: &VersionRow, senders: Option<&HashSet<PeerId>>, now: Millis) {
        let mut message: Option<Bytes> = None;
        let came_from = |peer: &PeerId| senders.is_some_and(|senders| senders.contains(peer));
        let receivers: Vec<PeerId> = self
            .peers
            .iter()
            .filter(|(id, peer)| !came_from(id) && peer.wants_pushed(&row.collection))
            .map(|(id, _)| *id)
            .collect();
        for id in receivers {
            if self.skip_if_full(id, now) {
                continue;
            }
            let message = message
                .get_or_insert_with(|| {
                    let version = join(&row.envelope, row.proof.as_deref(), row.body.as_deref());
                    self.enveloped(|out| write_push_update(out, &version))
                })
                .clone();
            self.send_enveloped(id, message);
        }
    }

    /// After a batch the store could not take: smaller groups, until the version
    /// that does not fit stands alone. It is judged once more, as an earlier commit of it
    /// may have landed late, and then dropped. False where the batch was of no version.
    fn narrow_down(&mut self) -> bool {
        let stored = self.intake.landing.as_ref().map(|landing| &landing.stored);
        let alone = match stored.map_or(&[][..], Vec::as_slice) {
            [] => return false,
            [alone] => alone,
            several => {
                self.versions_per_group = (several.len() / 4).max(1);
                return true;
            }
        };
        let (id, take) = (alone.id(), alone.take);
        self.versions_per_group = 1;
        if self.unfit.replace(id) == Some(id) {
            if let Some(landing) = &mut self.intake.landing {
                landing.stored.clear();
                landing.batch = Arc::default();
            }
            self.count(Count::Unplaceable);
            self.one_of_take_done(take);
        }
        true
    }
}

/// Whether it is of an access collection.
fn is_change(row: &VersionRow) -> bool {
    is_access_collection(&Text::from(row.collection.as_str()))
}
