//! Drives an engine over the dumb store, doing what it asks for in any order.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::{
    Count, Effect, Engine, EngineConfig, Event, JobId, Millis, PeerId, PeerMessage, StoreFailure,
    Vetter,
};
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{Object, Value};
use minca_sync::envelope::{Envelope, Kind};
use minca_sync::frame::Frame;
use minca_sync::message::Message;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::rows::Rows;

/// A host of one space.
pub struct Host {
    pub engine: Engine,
    pub rows: Rows,
    pub space: Constitution,
    pub now: Millis,
    /// What was sent to whom, in order, until taken.
    pub sent: Vec<(PeerId, Vec<u8>)>,
    pub closed: Vec<(PeerId, u16)>,
    pub counts: Vec<Count>,
    pub handled: usize,
    pub handled_by: BTreeMap<PeerId, usize>,
    pub abandoned: bool,
    /// The key readers prove, as last told.
    pub read_key: Option<Did>,
    /// The most versions judged in one go, and the most bodies read at once.
    pub most_judged: usize,
    pub most_bodies: usize,
    /// How often it went on at once without anything having come.
    pub went_on: usize,
    /// What was asked of the store so far.
    pub reads: usize,
    pub commits: usize,
    /// Versions kept by the largest commit.
    pub largest_commit: usize,
    /// Asked for and not done yet.
    waiting: Vec<Effect>,
    /// The next commits that fail, in a way of `failure`.
    pub failing_commits: usize,
    pub failure: StoreFailure,
    /// A commit that fails has landed all the same.
    pub lands_anyway: bool,
    /// The next reads that fail.
    pub failing_reads: usize,
    /// The next messages whose versions can't be checked.
    pub failing_checks: usize,
    /// One of so many reads and commits fails, by chance.
    pub one_fails_of: Option<u32>,
    /// A version no commit can take.
    pub unfit: Option<ContentId>,
    /// A commit landed and the engine was told otherwise.
    pub in_doubt: bool,
    random: Option<StdRng>,
    vetter: Vetter,
}

impl Host {
    pub fn new(node: Did, space: &Constitution) -> Host {
        Host::with(node, space, EngineConfig::default())
    }

    pub fn with(node: Did, space: &Constitution, config: EngineConfig) -> Host {
        let rows = Rows {
            first_read_key: space.read_key().copied(),
            ..Rows::default()
        };
        Host {
            engine: rows.engine(node, space, config),
            rows,
            space: space.clone(),
            now: 1_000,
            sent: Vec::new(),
            closed: Vec::new(),
            counts: Vec::new(),
            handled: 0,
            handled_by: BTreeMap::new(),
            abandoned: false,
            read_key: None,
            most_judged: 0,
            most_bodies: 0,
            went_on: 0,
            reads: 0,
            commits: 0,
            largest_commit: 0,
            waiting: Vec::new(),
            failing_commits: 0,
            failure: StoreFailure::Unavailable,
            lands_anyway: false,
            failing_reads: 0,
            failing_checks: 0,
            one_fails_of: None,
            unfit: None,
            in_doubt: false,
            random: None,
            vetter: Vetter::default(),
        }
    }

    /// Does what is asked for in a random order from now on.
    pub fn shuffle(&mut self, seed: u64) {
        self.random = Some(StdRng::seed_from_u64(seed));
    }

    pub fn event(&mut self, event: Event) {
        let mut effects = Vec::new();
        self.engine.handle(self.now, event, &mut effects);
        let judged = effects
            .iter()
            .filter(|effect| matches!(effect, Effect::Count(Count::Answer(_))));
        self.most_judged = self.most_judged.max(judged.count());
        for effect in effects {
            match effect {
                Effect::Send { peer, message } => {
                    self.check_sent(&message);
                    self.sent.push((peer, message.to_vec()));
                }
                Effect::Handled { peer, bytes } => {
                    self.handled += bytes;
                    *self.handled_by.entry(peer).or_default() += bytes;
                }
                Effect::Close { peer, code } => self.closed.push((peer, code)),
                Effect::Count(count) => self.counts.push(count),
                Effect::Abandon => self.abandoned = true,
                Effect::ReadKey(read_key) => {
                    assert_eq!(self.rows.read_key, Some(read_key), "before its commit");
                    self.read_key = Some(read_key);
                }
                other => self.waiting.push(other),
            }
        }
    }

    /// Nothing is acknowledged, passed on or summed that is not committed.
    fn check_sent(&self, message: &[u8]) {
        match read(message) {
            PeerMessage::Sync(Message::Stored(stored)) => {
                for id in &stored.ids {
                    assert!(
                        self.rows.versions.contains_key(id),
                        "acknowledged before its commit"
                    );
                }
            }
            PeerMessage::Sync(Message::PushUpdate(push)) => {
                let id = super::pen::id_of(&push.version);
                assert!(
                    self.rows.versions.contains_key(&id),
                    "passed on before its commit"
                );
            }
            PeerMessage::Sync(Message::Hello(hello)) if !self.in_doubt => {
                let sums = self.rows.sums();
                assert_eq!(hello.sums.len(), sums.len().min(1_000));
                for (name, said) in &hello.sums {
                    let sum = sums.get(&**name).map(minca_sync::sum::Sum::fingerprint);
                    assert_eq!(
                        *said, sum,
                        "said another sum than that of what is committed"
                    );
                }
            }
            _ => {}
        }
    }

    /// Does one thing that was asked for; false when there is none.
    pub fn step(&mut self) -> bool {
        if self.waiting.is_empty() {
            return false;
        }
        let at = match &mut self.random {
            Some(random) => random.random_range(0..self.waiting.len()),
            None => 0,
        };
        let event = self.carry_out(at);
        self.event(event);
        true
    }

    fn carry_out(&mut self, at: usize) -> Event {
        let effect = self.waiting.remove(at);
        if let Some(event) = self.failing_read(&effect) {
            return event;
        }
        match effect {
            Effect::Verify { job, .. } if self.failing_checks > 0 => {
                self.failing_checks -= 1;
                let outcomes = Vec::new();
                Event::Verified { job, outcomes }
            }
            Effect::Verify { job, versions, .. } => {
                let space = engine::Space {
                    id: self.space.id(),
                    is_private: self.space.is_private(),
                };
                Event::Verified {
                    job,
                    outcomes: versions
                        .into_iter()
                        .map(|version| self.vetter.vet(version, space))
                        .collect(),
                }
            }
            Effect::Read { job, wanted } => {
                self.most_bodies = self.most_bodies.max(wanted.bodies.len());
                Event::Found {
                    job,
                    found: Ok(self.rows.read(&wanted)),
                }
            }
            Effect::ReadItems {
                job,
                collection,
                after,
                limit,
            } => Event::Items {
                job,
                items: Ok(self.rows.items(&collection, after, limit)),
            },
            Effect::ReadVersions {
                job,
                ids,
                max_bytes,
            } => Event::Versions {
                job,
                versions: Ok(self.rows.versions(&ids, max_bytes)),
            },
            Effect::Commit { job, batch } => self.commit(job, &batch),
            other => panic!("not something to carry out: {other:?}"),
        }
    }

    /// By chance, one of so many.
    fn by_chance(&mut self) -> bool {
        match (self.one_fails_of, &mut self.random) {
            (Some(of), Some(random)) => random.random_ratio(1, of),
            _ => false,
        }
    }

    fn failing_read(&mut self, effect: &Effect) -> Option<Event> {
        let failed = StoreFailure::Unavailable;
        let event = match effect {
            Effect::Read { job, .. } => Event::Found {
                job: *job,
                found: Err(failed),
            },
            Effect::ReadItems { job, .. } => Event::Items {
                job: *job,
                items: Err(failed),
            },
            Effect::ReadVersions { job, .. } => Event::Versions {
                job: *job,
                versions: Err(failed),
            },
            _ => return None,
        };
        self.reads += 1;
        let fails = self.failing_reads > 0 || self.by_chance();
        self.failing_reads = self.failing_reads.saturating_sub(1);
        fails.then_some(event)
    }

    fn commit(&mut self, job: JobId, batch: &Arc<engine::rows::Batch>) -> Event {
        self.commits += 1;
        self.largest_commit = self.largest_commit.max(batch.keep.len());
        if batch.keep.iter().any(|row| Some(row.id) == self.unfit) {
            return Event::Committed {
                job,
                outcome: Err(StoreFailure::DoesNotFit),
            };
        }
        if self.failing_commits > 0 || self.by_chance() {
            self.failing_commits = self.failing_commits.saturating_sub(1);
            if self.lands_anyway && self.failure == StoreFailure::Unavailable {
                self.rows.commit(batch).expect("a batch that fits");
                self.in_doubt = true;
            }
            return Event::Committed {
                job,
                outcome: Err(self.failure),
            };
        }
        self.rows.commit(batch).expect("a batch that fits");
        Event::Committed {
            job,
            outcome: Ok(()),
        }
    }

    /// Does everything asked for, letting time go by where only time helps.
    pub fn settle(&mut self) {
        let mut waited = 0;
        while waited < 100 {
            while self.step() {}
            if self.engine.is_idle() || self.engine.next_wake().is_none() {
                return;
            }
            let wake = self.engine.next_wake().expect("a time");
            if wake > self.now + 60_000 {
                return;
            }
            match wake {
                0 => self.went_on += 1,
                _ => waited += 1,
            }
            self.now = self.now.max(wake);
            self.event(Event::Tick);
        }
    }

    /// Starts it again over what is committed; whoever was there is gone.
    pub fn restart(&mut self, node: Did, config: EngineConfig) {
        self.engine = self.rows.engine(node, &self.space.clone(), config);
        self.waiting.clear();
        self.sent.clear();
        self.in_doubt = false;
    }

    pub fn join(&mut self, peer: u64, did: Did) {
        self.event(Event::PeerJoined {
            peer: PeerId(peer),
            did,
        });
    }

    /// Has a peer say something, as it comes over the wire.
    pub fn hear(&mut self, peer: u64, message: &[u8]) {
        self.event(Event::Message {
            peer: PeerId(peer),
            message: read(message),
            bytes: message.len(),
        });
    }

    /// Has a peer say a sync message.
    pub fn hear_sync(&mut self, peer: u64, message: Message) {
        self.event(Event::Message {
            peer: PeerId(peer),
            message: PeerMessage::Sync(message),
            bytes: 1,
        });
    }

    /// Has a peer push versions, in one message.
    pub fn hear_versions(&mut self, peer: u64, versions: &[Object]) {
        let versions = versions.iter().cloned().map(Value::Object).collect();
        self.hear_sync(
            peer,
            Message::Versions(minca_sync::message::Versions { id: None, versions }),
        );
    }

    /// Everything sent to a peer since it was last asked for, and its bytes taken.
    pub fn take_sent(&mut self, peer: u64) -> Vec<PeerMessage> {
        let (taken, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.sent)
            .into_iter()
            .partition(|(to, _)| to.0 == peer);
        self.sent = kept;
        for (to, message) in &taken {
            self.event(Event::Room {
                peer: *to,
                bytes: message.len(),
            });
        }
        taken.iter().map(|(_, message)| read(message)).collect()
    }

    /// Ids acknowledged to a peer since its messages were last taken.
    pub fn acknowledged(&mut self, peer: u64) -> Vec<ContentId> {
        let mut ids = Vec::new();
        for message in self.take_sent(peer) {
            if let PeerMessage::Sync(Message::Stored(stored)) = message {
                ids.extend(stored.ids);
            }
        }
        ids
    }
}

/// A message as a worker reads it.
pub fn read(bytes: &[u8]) -> PeerMessage {
    let Ok(Some(envelope)) = Envelope::read(Frame::Binary(bytes)) else {
        return PeerMessage::Malformed;
    };
    match envelope.kind {
        Kind::Sync => {
            Message::read(envelope.payload).map_or(PeerMessage::Ignored, PeerMessage::Sync)
        }
        Kind::Who => PeerMessage::Who(envelope.payload),
        Kind::Live => PeerMessage::Live,
        Kind::Other(_) => PeerMessage::Ignored,
    }
}

/// Lets two hosts that are peers of each other talk until neither has anything to say.
pub fn talk(a: &mut Host, b: &mut Host) {
    for _ in 0..10_000 {
        let mut any = a.step() | b.step();
        any |= pass(a, b);
        any |= pass(b, a);
        if !any {
            return;
        }
    }
    panic!("two hosts never came to rest");
}

/// Carries what one host says to the other over. Each is the other's only peer, numbered 1.
fn pass(from: &mut Host, to: &mut Host) -> bool {
    let sent = std::mem::take(&mut from.sent);
    for (peer, message) in &sent {
        from.event(Event::Room {
            peer: *peer,
            bytes: message.len(),
        });
        to.event(Event::Message {
            peer: PeerId(1),
            message: read(message),
            bytes: message.len(),
        });
    }
    !sent.is_empty()
}

/// Lets hosts that are peers of each other talk until none has anything to say.
/// To each, another is the peer of its number here.
pub fn talk_all(hosts: &mut [Host]) {
    for _ in 0..10_000 {
        let mut any = false;
        for from in 0..hosts.len() {
            any |= hosts[from].step();
            for (peer, message) in std::mem::take(&mut hosts[from].sent) {
                any = true;
                let bytes = message.len();
                hosts[from].event(Event::Room { peer, bytes });
                let to = usize::try_from(peer.0).expect("small");
                hosts[to].hear(from as u64, &message);
            }
        }
        if !any {
            return;
        }
    }
    panic!("the hosts never came to rest");
}
