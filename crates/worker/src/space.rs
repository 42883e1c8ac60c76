//! The task of one open space: it drives an engine.
//!
//! It hears its peers over a bounded channel, hands the engine one event after
//! the other, and carries out what comes of it: checks in the pool, reads and
//! commits in the store, messages over the link. Whatever is under way is a
//! future polled here, so that nothing outlives the task and nothing is queued
//! without a bound.

use std::sync::Arc;

use engine::{Effect, Engine, EngineConfig, Event, PeerId, PeerMessage, Space};
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use link::channel::LinkSender;
use link::{ConnectionId, ToFront};
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_sync::close::Close;
use store::Lease;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Duration, Instant};

use crate::committer::failure_of;
use crate::lease::{self, Leases};
use crate::metrics::WorkerMetrics;
use crate::opening::Opened;
use crate::shared::Shared;
use crate::sockets::{Admission, PEERS_PER_SPACE, Sockets};

/// What may wait for a space's task. Beyond it a connection's task waits, and
/// with it that connection's socket.
const INPUTS_WAITING: usize = 64;

/// How long a space may take to finish what is on its way in when the worker stops.
const TO_COME_TO_REST: Duration = Duration::from_secs(5);

/// What a space's task is told.
#[derive(Debug)]
pub(crate) enum Input {
    /// A peer proved itself on this read key (`None` in a public space).
    Join {
        connection: ConnectionId,
        did: Did,
        read_key: Option<Did>,
    },
    /// It said this; `bytes` is its length.
    Message {
        connection: ConnectionId,
        message: PeerMessage,
        bytes: usize,
    },
    /// Its socket took so many bytes.
    Room {
        connection: ConnectionId,
        bytes: usize,
    },
    /// Its socket is gone.
    Leave { connection: ConnectionId },
    /// The space's row changed: these are let go.
    LetGo {
        who: LetGo,
        done: oneshot::Sender<()>,
    },
}

/// Whom a change of a space's row lets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LetGo {
    /// The host holds the space no more.
    Everyone,
    /// This is the read key now; who was let in on another goes.
    AllButOn(Option<Did>),
}

/// Opens a space's task's channel.
pub(crate) fn channel() -> (mpsc::Sender<Input>, mpsc::Receiver<Input>) {
    mpsc::channel(INPUTS_WAITING)
}

/// One open space.
pub(crate) struct SpaceTask {
    shared: Arc<Shared>,
    space: ContentId,
    /// The read key peers of a private space must have been let in on.
    read_key: Option<Did>,
    /// What it is written under.
    lease: Lease,
    held: watch::Receiver<Leases>,
    engine: Engine,
    inputs: mpsc::Receiver<Input>,
    to_front: LinkSender<ToFront>,
    under_way: FuturesUnordered<BoxFuture<'static, Event>>,
    sockets: Sockets,
    idle_since: Option<Instant>,
}

impl SpaceTask {
    pub(crate) fn new(
        shared: Arc<Shared>,
        space: ContentId,
        opened: Opened,
        inputs: mpsc::Receiver<Input>,
        to_front: LinkSender<ToFront>,
    ) -> SpaceTask {
        let Opened {
            lease,
            sums,
            judge,
            read_key,
        } = opened;
        let config = EngineConfig::default();
        let engine = Engine::new(shared.node, sums, judge, read_key, config);
        SpaceTask {
            lease,
            held: shared.held.clone(),
            shared,
            space,
            read_key,
            engine,
            inputs,
            to_front,
            under_way: FuturesUnordered::new(),
            sockets: Sockets::default(),
            idle_since: Some(Instant::now()),
        }
    }

    /// Runs until nobody needs the space, or it is stopped. The receiver comes
    /// back so that a peer that came in the last moment is not lost.
    pub(crate) async fn run(mut self, first: Input) -> mpsc::Receiver<Input> {
        let mut input = Some(first);
        let mut just_ticked = false;
        loop {
            let wake = self.wake_at();
            // However much comes, what is due is not put off; and what is still due
            // after that does not keep out what comes.
            let is_due = wake.is_some_and(|at| at <= Instant::now());
            let event = if let Some(first) = input.take() {
                self.event_of(first).await
            } else if is_due && !just_ticked {
                just_ticked = true;
                Some(Event::Tick)
            } else {
                just_ticked = false;
                tokio::select! {
                    biased;
                    () = lease::lost(&mut self.held, &self.lease) => {
                        // Whoever dials again may come to the worker that has it now.
                        self.let_everyone_go(Close::TryAgainLater.code()).await;
                        return self.inputs;
                    }
                    Some(event) = self.under_way.next(), if !self.under_way.is_empty() => Some(event),
                    input = self.inputs.recv() => match input {
                        Some(Input::LetGo { who, done }) => {
                            if who == LetGo::AllButOn(self.read_key) {
                                let _ = done.send(());
                                continue;
                            }
                            self.let_everyone_go(Close::NotAReader.code()).await;
                            let _ = done.send(());
                            return self.inputs;
                        }
                        Some(input) => self.event_of(input).await,
                        None => {
                            self.come_to_rest().await;
                            return self.inputs;
                        }
                    },
                    () = sleep_until(wake) => {
                        if self.may_close() {
                            return self.inputs;
                        }
                        Some(Event::Tick)
                    }
                }
            };
            let Some(event) = event else {
                continue;
            };
            if self.handle(event).await == Next::End {
                return self.inputs;
            }
        }
    }

    /// Once nobody can come any more: finishes what is on its way in, so that it is
    /// stored and need not be sent again.
    async fn come_to_rest(&mut self) {
        let end = Instant::now() + TO_COME_TO_REST;
        while !self.engine.is_idle() && Instant::now() < end {
            let wake = self.wake_at().map_or(end, |at| at.min(end));
            let event = tokio::select! {
                biased;
                Some(event) = self.under_way.next(), if !self.under_way.is_empty() => event,
                () = sleep_until(Some(wake)) => Event::Tick,
            };
            if self.handle(event).await == Next::End {
                return;
            }
        }
    }

    /// When there is something to do without anything having come.
    fn wake_at(&self) -> Option<Instant> {
        let engine = self
            .engine
            .next_wake()
            .map(|millis| self.shared.instant_of(millis));
        let idle = self
            .idle_since
            .map(|since| since + self.shared.config.idle_close);
        [engine, idle].into_iter().flatten().min()
    }

    fn may_close(&self) -> bool {
        let idle_close = self.shared.config.idle_close;
        self.inputs.is_empty()
            && self
                .idle_since
                .is_some_and(|since| since.elapsed() >= idle_close)
    }

    /// What an input is to the engine; the link is told here who is in.
    async fn event_of(&mut self, input: Input) -> Option<Event> {
        match input {
            Input::Join {
                connection,
                did,
                read_key,
            } => self.join(connection, did, read_key).await,
            Input::Message {
                connection,
                message,
                bytes,
            } => Some(Event::Message {
                peer: peer_of(connection),
                message,
                bytes,
            }),
            Input::Room { connection, bytes } => Some(Event::Room {
                peer: peer_of(connection),
                bytes,
            }),
            Input::Leave { connection } => {
                self.sockets.left(connection);
                Some(Event::PeerLeft {
                    peer: peer_of(connection),
                })
            }
            Input::LetGo { .. } => None,
        }
    }

    /// Admits a peer (04 §5.3 steps 7–9): the older socket of its DID goes, the
    /// welcome is released, and it is a peer, in one step.
    async fn join(
        &mut self,
        connection: ConnectionId,
        did: Did,
        read_key: Option<Did>,
    ) -> Option<Event> {
        if read_key != self.read_key {
            say(
                &self.to_front,
                ToFront::Refused {
                    connection,
                    code: Close::NotAReader.code(),
                },
            )
            .await;
            return None;
        }
        let engine = &self.engine;
        let named = |did: &Did| engine.names(did);
        let now = Instant::now();
        let admission = self
            .sockets
            .admit(did, connection, PEERS_PER_SPACE, now, named);
        let gone = match admission {
            Admission::Refused => {
                let code = Close::TryAgainLater.code();
                say(&self.to_front, ToFront::Refused { connection, code }).await;
                return None;
            }
            Admission::Free => None,
            Admission::Replaces(older) => Some((older, Close::Replaced)),
            Admission::InPlaceOf(other) => Some((other, Close::TryAgainLater)),
        };
        if let Some((connection, close)) = gone {
            let code = close.code();
            say(&self.to_front, ToFront::Close { connection, code }).await;
            self.handle(Event::PeerLeft {
                peer: peer_of(connection),
            })
            .await;
        }
        say(&self.to_front, ToFront::Admitted { connection }).await;
        Some(Event::PeerJoined {
            peer: peer_of(connection),
            did,
        })
    }

    async fn handle(&mut self, event: Event) -> Next {
        let mut effects = Vec::new();
        self.engine.handle(self.shared.now(), event, &mut effects);
        for effect in effects {
            if self.carry_out(effect).await == Next::End {
                return Next::End;
            }
        }
        self.idle_since = match (self.engine.is_idle(), self.idle_since) {
            (true, None) => Some(Instant::now()),
            (true, since) => since,
            (false, _) => None,
        };
        Next::GoOn
    }

    async fn carry_out(&mut self, effect: Effect) -> Next {
        let shared = Arc::clone(&self.shared);
        let space = self.space;
        let lease = self.lease;
        match effect {
            Effect::Verify {
                job,
                versions,
                live,
            } => {
                let count = versions.len();
                // A private space is one that has a read key (03 §1.2).
                let space = Space {
                    id: space,
                    is_private: self.read_key.is_some(),
                };
                self.under_way.push(Box::pin(async move {
                    let outcomes = shared.pool.check(space, versions, live).await;
                    let outcomes = outcomes.unwrap_or_else(|_| {
                        tracing::error!(count, "versions could not be checked and are dropped");
                        Vec::new()
                    });
                    Event::Verified { job, outcomes }
                }));
            }
            Effect::Read { job, wanted } => self.under_way.push(Box::pin(async move {
                let found = shared
                    .store
                    .read(&space, &wanted)
                    .await
                    .map_err(|error| failure_of(&error));
                Event::Found { job, found }
            })),
            Effect::ReadItems {
                job,
                collection,
                after,
                limit,
            } => self.under_way.push(Box::pin(async move {
                let items = shared.store.items(&space, &collection, after, limit).await;
                Event::Items {
                    job,
                    items: items.map_err(|error| failure_of(&error)),
                }
            })),
            Effect::ReadVersions {
                job,
                ids,
                max_bytes,
            } => self.under_way.push(Box::pin(async move {
                let versions = shared.store.versions(&space, &ids, max_bytes).await;
                Event::Versions {
                    job,
                    versions: versions.map_err(|error| failure_of(&error)),
                }
            })),
            Effect::Commit { job, batch } => self.under_way.push(Box::pin(async move {
                let outcome = shared.committer.commit(lease, space, batch).await;
                Event::Committed { job, outcome }
            })),
            Effect::Send { peer, message } => {
                say(
                    &self.to_front,
                    ToFront::Send {
                        connection: connection_of(peer),
                        bytes: message,
                    },
                )
                .await;
            }
            Effect::Handled { peer, bytes } => {
                let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
                say(
                    &self.to_front,
                    ToFront::Room {
                        connection: connection_of(peer),
                        bytes,
                    },
                )
                .await;
            }
            Effect::Close { peer, code } => {
                say(
                    &self.to_front,
                    ToFront::Close {
                        connection: connection_of(peer),
                        code,
                    },
                )
                .await
            }
            // Who was let in on the one before stays: a reader learns the new key here.
            Effect::ReadKey(read_key) => self.read_key = Some(read_key),
            Effect::Count(count) => self.metrics().count(count),
            Effect::Abandon => {
                self.let_everyone_go(Close::InternalError.code()).await;
                return Next::End;
            }
        }
        Next::GoOn
    }

    async fn let_everyone_go(&mut self, code: u16) {
        for connection in self.sockets.take_all() {
            say(&self.to_front, ToFront::Close { connection, code }).await;
        }
    }

    fn metrics(&self) -> &WorkerMetrics {
        &self.shared.metrics
    }
}

/// Whether the task goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    GoOn,
    End,
}

fn peer_of(connection: ConnectionId) -> PeerId {
    PeerId(connection.0)
}

fn connection_of(peer: PeerId) -> ConnectionId {
    ConnectionId(peer.0)
}

/// Sleeps until then; without a time, for ever (an hour at a time).
async fn sleep_until(at: Option<Instant>) {
    const FAR: Duration = Duration::from_secs(3_600);
    tokio::time::sleep_until(at.unwrap_or_else(|| Instant::now() + FAR)).await;
}

/// Says something to the front-end. One that is gone is noticed where it is heard.
async fn say(to_front: &LinkSender<ToFront>, message: ToFront) {
    let _ = to_front.send(message).await;
}
