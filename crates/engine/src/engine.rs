//! The engine itself: its state, and which part handles which event.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use bytes::Bytes;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::version::Refusal;
use minca_sync::envelope::write_sync;
use minca_sync::message::RequestId;
use minca_sync::sum::Sum;

use crate::answer::Answering;
use crate::backoff::Backoff;
use crate::collections::Collections;
use crate::config::EngineConfig;
use crate::event::{
    Answer, Count, Effect, Event, JobId, Millis, PeerId, PeerMessage, StoreFailure,
};
use crate::intake::{Intake, TakeId};
use crate::judging::{Judging, ToJudge};
use crate::peer::Peer;
use crate::refusals::Refusals;
use crate::rows::{Found, Wanted};
use crate::standing::Judge;
use crate::vetting::Vetted;
use crate::waiting::Waiting;

/// One open space. See the crate's documentation.
#[derive(Debug)]
pub struct Engine {
    pub(crate) config: EngineConfig,
    /// The host's DID: its name among peers, and what decides who initiates.
    pub(crate) node: Did,
    pub(crate) judge: Judge,
    /// The key readers of a private space prove, as stored.
    pub(crate) read_key: Option<Did>,
    /// It may not be the one that the history makes the current one: the space was just
    /// opened, or a commit failed that may have been to change it.
    pub(crate) is_read_key_in_doubt: bool,
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
    /// There is more to replay or to judge; others have their turn first.
    is_behind: bool,
    /// A version that did not fit when it stood alone; the next time it is dropped.
    pub(crate) unfit: Option<ContentId>,
    /// A store that can't read may still write, and the other way round.
    reading: Backoff,
    pub(crate) committing: Backoff,
    /// Peers with something to go on with once this event is handled.
    pub(crate) to_pump: BTreeSet<PeerId>,
    /// Peers whose next message waits for room in the intake, in turn.
    pub(crate) in_line: VecDeque<PeerId>,
    /// Whose turn it is.
    pub(crate) turn: Option<PeerId>,
    /// Where the next hello goes on that can't name every collection.
    pub(crate) hello_from: usize,
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
    Grouping { peer: PeerId, ids: Vec<ContentId> },
    /// Versions a peer lacks.
    Offer { peer: PeerId, ids: Vec<ContentId> },
}

impl ReadFor {
    /// Whom it is for, if for one peer.
    fn peer(&self) -> Option<PeerId> {
        match self {
            ReadFor::Judging | ReadFor::Items { .. } => None,
            ReadFor::Answer { peer, .. }
            | ReadFor::Grouping { peer, .. }
            | ReadFor::Offer { peer, .. } => Some(*peer),
        }
    }
}

impl Engine {
    /// Opens a space at a host: `node` is the host's DID, `sums` the count and sum of
    /// every collection stored, `judge` who says what stands, by the access versions
    /// stored, `read_key` what readers of a private space prove, as stored.
    pub fn new(
        node: Did,
        sums: Vec<(String, Sum)>,
        judge: Judge,
        read_key: Option<Did>,
        config: EngineConfig,
    ) -> Engine {
        Engine {
            node,
            judge,
            read_key,
            is_read_key_in_doubt: true,
            peers: BTreeMap::new(),
            collections: Collections::new(sums),
            intake: Intake::new(),
            waiting: Waiting::new(config.waiting_per_peer, config.waiting_per_space),
            refusals: Refusals::new(config.refusals),
            reads: HashMap::new(),
            waiting_answers: Vec::new(),
            failed_reads: Vec::new(),
            versions_per_group: config.versions_per_commit,
            is_behind: false,
            unfit: None,
            reading: Backoff::new(config.retry_first, config.retry_most),
            committing: Backoff::new(config.retry_first, config.retry_most),
            to_pump: BTreeSet::new(),
            in_line: VecDeque::new(),
            turn: None,
            hello_from: 0,
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

    /// When [`Event::Tick`] is due next; at once, while there is more to replay or to
    /// judge.
    pub fn next_wake(&self) -> Option<Millis> {
        if self.is_behind {
            return Some(0);
        }
        let peers = self.peers.values().map(|peer| peer.next_wake(&self.config));
        let retries = [self.reading.until(), self.committing.until()];
        peers.chain(retries.into_iter().flatten()).min()
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

    /// Ids noted of all peers: found in sessions, to be asked for, to be sent.
    pub fn ids_noted(&self) -> usize {
        self.peers.values().map(Peer::ids_noted).sum()
    }

    /// Whether the space's history names an account (03 §3.4).
    pub fn names(&self, account: &Did) -> bool {
        self.judge.names(account)
    }

    /// How many peers are here.
    pub fn peers(&self) -> usize {
        self.peers.len()
    }

    /// Does whatever the event made possible.
    fn go_on(&mut self, now: Millis) {
        self.is_behind = false;
        loop {
            while let Some(peer) = self.next_to_pump() {
                self.pump(peer, now);
                self.turn = None;
            }
            if !self.is_behind {
                self.judge_next();
            }
            let is_landing = self.land_next(now);
            if !is_landing && self.to_pump.is_empty() && !self.someones_turn() {
                return;
            }
        }
    }

    /// The next peer to go on with: one something happened to, or, while the intake
    /// has room, the one that waits for it longest.
    fn next_to_pump(&mut self) -> Option<PeerId> {
        if let Some(peer) = self.to_pump.pop_first() {
            return Some(peer);
        }
        if !self.someones_turn() {
            return None;
        }
        let id = self.in_line.pop_front()?;
        self.turn = Some(id);
        if let Some(peer) = self.peers.get_mut(&id) {
            peer.in_line = false;
        }
        Some(id)
    }

    fn someones_turn(&self) -> bool {
        !self.in_line.is_empty() && self.intake.bytes <= self.config.intake_bytes
    }

    fn peer_joined(&mut self, id: PeerId, did: Did, now: Millis) {
        self.peers.insert(id, Peer::new(did, &self.config, now));
        self.greet(id, now);
    }

    fn peer_left(&mut self, id: PeerId) {
        self.peers.remove(&id);
        self.to_pump.remove(&id);
        self.in_line.retain(|peer| *peer != id);
        self.waiting_answers.retain(|(peer, _)| *peer != id);
        self.failed_reads.retain(|read| read.peer() != Some(id));
    }

    fn message_came(&mut self, id: PeerId, message: PeerMessage, bytes: usize) {
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        // What changes nothing need not wait for what was said before it.
        match message {
            PeerMessage::Malformed => return self.malformed(id, bytes),
            PeerMessage::Live => {
                self.count(Count::Limited("live"));
                return self.handled(id, bytes);
            }
            PeerMessage::Ignored => return self.handled(id, bytes),
            PeerMessage::Sync(_) | PeerMessage::Who(_) => {}
        }
        peer.inbox.push_back((message, bytes));
        self.to_pump.insert(id);
    }

    pub(crate) fn handled(&mut self, peer: PeerId, bytes: usize) {
        self.effects.push(Effect::Handled { peer, bytes });
    }

    fn room_came(&mut self, id: PeerId, bytes: usize) {
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        peer.unsent = peer.unsent.saturating_sub(bytes);
        self.to_pump.insert(id);
    }

    fn verified(&mut self, job: JobId, outcomes: Vec<Result<Vetted, Refusal>>) {
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
    }

    /// Goes on with the replay, judges what rows are here for, and has those read that
    /// the next candidates name; as long as that takes little of the thread.
    fn judge_next(&mut self) {
        loop {
            if !self.judge.advance(self.config.replay_steps) {
                self.is_behind = true;
                return;
            }
            if let Some(to_judge) = self.intake.take_to_judge() {
                if self.judge_batch(to_judge) {
                    continue;
                }
                self.is_behind = true;
                return;
            }
            if !self.reading.is_over() || !self.committing.is_over() {
                return;
            }
            // A group takes no more than it may: what is judged beyond waits for the next.
            let most = self
                .versions_per_group
                .saturating_sub(self.intake.group.stored.len());
            let most_bodies = self.config.first_bodies_per_read;
            let may_want_first = |collection: &str| self.judge.may_want_first(collection);
            let next = self.intake.next_to_judge(most, most_bodies, may_want_first);
            let Some((candidates, wanted)) = next else {
                return;
            };
            if wanted.is_empty() {
                let to_judge = ToJudge::new(candidates, Found::default());
                self.intake.judging = Some(Judging::Read(to_judge));
                continue;
            }
            let job = self.next_job();
            self.reads.insert(job, ReadFor::Judging);
            self.intake.judging = Some(Judging::Reading(job, candidates));
            self.effects.push(Effect::Read { job, wanted });
        }
    }

    fn found(&mut self, job: JobId, found: Result<Found, StoreFailure>, now: Millis) {
        let Some(read) = self.reads.remove(&job) else {
            return;
        };
        let Some(found) = self.worked(found, now) else {
            match read {
                ReadFor::Judging => self.intake.read_done(job, None),
                read => self.put_off(read),
            }
            return;
        };
        match read {
            ReadFor::Judging => self.intake.read_done(job, Some(found)),
            ReadFor::Grouping { peer, ids } => self.group_offers(peer, ids, &found),
            ReadFor::Items { .. } | ReadFor::Answer { .. } | ReadFor::Offer { .. } => {}
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
        self.to_pump.insert(take.peer);
    }

    fn tick(&mut self, now: Millis) {
        self.committing.passed(now);
        if self.reading.passed(now) {
            for read in std::mem::take(&mut self.failed_reads) {
                self.read(read);
            }
        }
        let peers: Vec<PeerId> = self.peers.keys().copied().collect();
        for peer in peers {
            self.tick_peer(peer, now);
        }
    }

    /// What a read gave; after a failure nothing is read for a while.
    pub(crate) fn worked<T>(&mut self, answer: Result<T, StoreFailure>, now: Millis) -> Option<T> {
        match answer {
            Ok(value) => {
                self.reading.worked();
                Some(value)
            }
            Err(StoreFailure::Lost) => {
                self.effects.push(Effect::Abandon);
                None
            }
            Err(StoreFailure::Unavailable | StoreFailure::DoesNotFit) => {
                self.reading.failed(now);
                None
            }
        }
    }

    /// Has something read; later, while nothing is read because that failed.
    pub(crate) fn read(&mut self, read: ReadFor) {
        if !self.reading.is_over() {
            self.put_off(read);
            return;
        }
        let job = self.next_job();
        let Some(effect) = self.effect_of(job, &read) else {
            return;
        };
        self.reads.insert(job, read);
        self.effects.push(effect);
    }

    /// Has a read wait until the store is tried again, if anybody still needs it.
    pub(crate) fn put_off(&mut self, read: ReadFor) {
        let is_gone = |peer| !self.peers.contains_key(&peer);
        if read.peer().is_some_and(is_gone) {
            return;
        }
        if let ReadFor::Items { collection } = &read {
            let same = |it: &ReadFor| matches!(it, ReadFor::Items { collection: other } if other == collection);
            if self.failed_reads.iter().any(same) {
                return;
            }
        }
        self.failed_reads.push(read);
    }

    fn effect_of(&mut self, job: JobId, read: &ReadFor) -> Option<Effect> {
        let versions = |ids: &[ContentId], max_bytes| Effect::ReadVersions {
            job,
            ids: ids.to_vec(),
            max_bytes,
        };
        match read {
            ReadFor::Judging => None,
            ReadFor::Items { collection } => self.page_to_read(job, collection),
            ReadFor::Answer { answering, .. } => match answering {
                Answering::Want(want) => Some(versions(&want.ids, self.config.answer_bytes)),
                Answering::Reconcile(_) => None,
            },
            ReadFor::Grouping { ids, .. } => Some(Effect::Read {
                job,
                wanted: Wanted {
                    versions: ids.clone(),
                    ..Wanted::default()
                },
            }),
            ReadFor::Offer { ids, .. } => Some(versions(ids, self.config.offer_bytes)),
        }
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
