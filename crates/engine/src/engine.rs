//! The engine itself: its state, and which part handles which event.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bytes::Bytes;
use minca_record::did::Did;
use minca_record::version::{Checked, Refusal};
use minca_sync::envelope::write_sync;
use minca_sync::message::RequestId;

use crate::answer::Answering;
use crate::collections::Collections;
use crate::config::EngineConfig;
use crate::event::{
    Answer, Count, Effect, Event, JobId, Millis, PeerId, PeerMessage, StoreFailure,
};
use crate::intake::{Intake, TakeId};
use crate::peer::Peer;
use crate::refusals::Refusals;
use crate::rows::{Found, OpenedSpace};
use crate::standing::Judge;
use crate::waiting::Waiting;

/// One open space. See the crate's documentation.
#[derive(Debug)]
pub struct Engine {
    pub(crate) config: EngineConfig,
    /// The host's DID: its name among peers, and what decides who initiates.
    pub(crate) node: Did,
    pub(crate) judge: Box<dyn Judge>,
    pub(crate) peers: BTreeMap<PeerId, Peer>,
    pub(crate) collections: Collections,
    pub(crate) intake: Intake,
    pub(crate) waiting: Waiting,
    pub(crate) refusals: Refusals,
    /// What a read under way is for.
    pub(crate) reads: HashMap<JobId, ReadFor>,
    /// Messages whose answers wait for a collection's items.
    pub(crate) waiting_answers: Vec<(PeerId, Answering)>,
    /// Reads that failed, to be made again.
    pub(crate) failed_reads: Vec<ReadFor>,
    /// How many versions go in one group; fewer after one did not fit.
    pub(crate) versions_per_group: usize,
    /// After a failure the store is left alone until then.
    retry_at: Option<Millis>,
    retry_delay: Millis,
    /// Peers with something to go on with once this event is handled.
    pub(crate) to_pump: BTreeSet<PeerId>,
    pub(crate) effects: Vec<Effect>,
    next_job: u64,
    next_request: u32,
}

/// What a read is for.
#[derive(Debug)]
pub(crate) enum ReadFor {
    /// Rows that candidates name.
    Judging,
    /// A page of a collection's items.
    Items { collection: String },
    /// The answer to a peer's message.
    Answer { peer: PeerId, answering: Answering },
    /// The records of versions a peer lacks.
    Grouping {
        peer: PeerId,
        ids: Vec<minca_record::content_id::ContentId>,
    },
    /// Versions a peer lacks.
    Offer {
        peer: PeerId,
        ids: Vec<minca_record::content_id::ContentId>,
    },
}

impl Engine {
    /// Opens a space at a host: `node` is the host's DID, `opened` what the store
    /// has of the space, `judge` who says what stands.
    pub fn new(
        node: Did,
        opened: OpenedSpace,
        judge: Box<dyn Judge>,
        config: EngineConfig,
    ) -> Engine {
        Engine {
            node,
            judge,
            peers: BTreeMap::new(),
            collections: Collections::new(opened.sums),
            intake: Intake::new(),
            waiting: Waiting::new(config.waiting_per_peer, config.waiting_per_space),
            refusals: Refusals::new(config.refusals),
            reads: HashMap::new(),
            waiting_answers: Vec::new(),
            failed_reads: Vec::new(),
            versions_per_group: config.versions_per_commit,
            retry_at: None,
            retry_delay: config.retry_first,
            to_pump: BTreeSet::new(),
            effects: Vec::new(),
            next_job: 0,
            next_request: 0,
            config,
        }
    }

    /// Takes one event in. What is to be done is added to `effects`, in order.
    pub fn handle(&mut self, now: Millis, event: Event, effects: &mut Vec<Effect>) {
        match event {
            Event::PeerJoined { peer, did } => self.peer_joined(peer, did, now),
            Event::PeerLeft { peer } => self.peer_left(peer),
            Event::Message {
                peer,
                message,
                bytes,
            } => self.message_came(peer, message, bytes),
            Event::Room { peer, bytes } => self.room_came(peer, bytes),
            Event::Verified { job, outcomes } => self.verified(job, outcomes),
            Event::Found { job, found } => self.found(job, found, now),
            Event::Items { job, items } => self.items_came(job, items, now),
            Event::Versions { job, versions } => self.versions_came(job, versions, now),
            Event::Committed { job, outcome } => self.committed(job, outcome, now),
            Event::Tick => self.tick(now),
        }
        self.go_on(now);
        effects.append(&mut self.effects);
    }

    /// When [`Event::Tick`] is due next.
    pub fn next_wake(&self) -> Option<Millis> {
        let peers = self.peers.values().map(|peer| peer.next_wake(&self.config));
        peers.chain(self.retry_at).min()
    }

    /// Whether nothing is under way and no peer is here: it may be closed and
    /// nothing is lost but what waits, which is found again in a later round.
    pub fn is_idle(&self) -> bool {
        self.peers.is_empty() && self.intake.is_idle()
    }

    /// Versions waiting for what they follow, and their canonical bytes.
    pub fn waiting(&self) -> (usize, usize) {
        (self.waiting.len(), self.waiting.bytes())
    }

    /// How many peers are here.
    pub fn peers(&self) -> usize {
        self.peers.len()
    }

    /// Does whatever the event made possible.
    fn go_on(&mut self, now: Millis) {
        loop {
            while let Some(peer) = self.to_pump.pop_first() {
                self.pump(peer, now);
            }
            self.judge_next();
            self.land_next(now);
            if self.to_pump.is_empty() {
                return;
            }
        }
    }

    fn peer_joined(&mut self, id: PeerId, did: Did, now: Millis) {
        self.peers.insert(id, Peer::new(did, now));
        self.greet(id, now);
    }

    fn peer_left(&mut self, id: PeerId) {
        self.peers.remove(&id);
        self.to_pump.remove(&id);
    }

    fn message_came(&mut self, id: PeerId, message: PeerMessage, bytes: usize) {
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        peer.inbox.push_back((message, bytes));
        self.to_pump.insert(id);
    }

    fn room_came(&mut self, id: PeerId, bytes: usize) {
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        peer.unsent = peer.unsent.saturating_sub(bytes);
        self.to_pump.insert(id);
    }

    fn verified(&mut self, job: JobId, outcomes: Vec<Result<Checked, Refusal>>) {
        let Some(verified) = self.intake.verified(job, outcomes) else {
            return;
        };
        for (claimed, refusal) in verified.refused {
            self.count(Count::Answer(Answer::Refused));
            self.count(Count::Refused(refusal.reason()));
            if let Some(id) = claimed {
                self.refusals.remember(verified.did, id);
            }
        }
        for take in self.intake.line_up(verified.peer) {
            self.end_take(take);
        }
        self.judge_next();
    }

    /// Has the rows read that the next candidates name, unless others are being read.
    fn judge_next(&mut self) {
        if !self.store_answers() {
            return;
        }
        while let Some((candidates, wanted)) = self.intake.next_to_judge(self.versions_per_group) {
            if wanted.is_empty() {
                self.judge_batch(candidates, &Found::default());
                continue;
            }
            let job = self.next_job();
            self.reads.insert(job, ReadFor::Judging);
            self.intake.judging = Some((job, candidates));
            self.effects.push(Effect::Read { job, wanted });
        }
    }

    fn found(&mut self, job: JobId, found: Result<Found, StoreFailure>, now: Millis) {
        let Some(read) = self.reads.remove(&job) else {
            return;
        };
        let Some(found) = self.worked(found, now) else {
            if matches!(read, ReadFor::Judging) {
                self.intake.read_failed(job);
            } else {
                self.failed_reads.push(read);
            }
            return;
        };
        match read {
            ReadFor::Judging => {
                if let Some(candidates) = self.intake.read_done(job) {
                    self.judge_batch(candidates, &found);
                }
            }
            ReadFor::Grouping { peer, ids } => self.group_offers(peer, ids, &found),
            other => self.failed_reads.push(other),
        }
    }

    /// One version of a take is done with; with the last, so is its message.
    pub(crate) fn one_of_take_done(&mut self, take: Option<TakeId>) {
        if let Some(take) = take
            && self.intake.one_done(take)
        {
            self.end_take(take);
        }
    }

    fn end_take(&mut self, take: TakeId) {
        let Some(take) = self.intake.end(take) else {
            return;
        };
        self.effects.push(Effect::Handled {
            peer: take.peer,
            bytes: take.bytes,
        });
        // Room for others' messages too, where the intake was full.
        self.to_pump.extend(self.peers.keys().copied());
    }

    fn tick(&mut self, now: Millis) {
        if self.retry_at.is_some_and(|at| at <= now) {
            self.retry_at = None;
            for read in std::mem::take(&mut self.failed_reads) {
                self.read_again(read);
            }
        }
        let peers: Vec<PeerId> = self.peers.keys().copied().collect();
        for peer in peers {
            self.tick_peer(peer, now);
        }
    }

    /// The value of a store's answer; after a failure the store is left alone a while.
    pub(crate) fn worked<T>(&mut self, answer: Result<T, StoreFailure>, now: Millis) -> Option<T> {
        match answer {
            Ok(value) => {
                self.store_worked();
                Some(value)
            }
            Err(StoreFailure::Lost) => {
                self.effects.push(Effect::Abandon);
                None
            }
            Err(StoreFailure::Unavailable | StoreFailure::DoesNotFit) => {
                self.store_failed(now);
                None
            }
        }
    }

    pub(crate) fn store_failed(&mut self, now: Millis) {
        if self.retry_at.is_none() {
            self.retry_at = Some(now + self.retry_delay);
            self.retry_delay = (self.retry_delay * 2).min(self.config.retry_most);
        }
    }

    pub(crate) fn store_worked(&mut self) {
        self.retry_delay = self.config.retry_first;
    }

    /// Whether the store is worth asking: not while it is left alone after a failure.
    pub(crate) fn store_answers(&self) -> bool {
        self.retry_at.is_none()
    }

    pub(crate) fn next_job(&mut self) -> JobId {
        self.next_job += 1;
        JobId(self.next_job)
    }

    /// A number for a session or a request of this host's; fresh over all peers, until four thousand million.
    pub(crate) fn next_request(&mut self) -> RequestId {
        self.next_request = self.next_request.wrapping_add(1);
        RequestId::from(self.next_request)
    }

    /// A sync message in its envelope, from this host (04 §9).
    pub(crate) fn enveloped(&self, write: impl FnOnce(&mut Vec<u8>)) -> Bytes {
        Bytes::from(write_sync(&self.node, write))
    }

    /// Sends a sync message to a peer.
    pub(crate) fn send(&mut self, peer: PeerId, write: impl FnOnce(&mut Vec<u8>)) {
        let message = self.enveloped(write);
        self.send_enveloped(peer, message);
    }

    pub(crate) fn send_enveloped(&mut self, id: PeerId, message: Bytes) {
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        peer.unsent += message.len();
        self.effects.push(Effect::Send { peer: id, message });
    }
}
