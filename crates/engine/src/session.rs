//! Reconciling as the initiator (05 §6.3).
//!
//! `sys.*` collections go first: what others rest on is there before them.

use std::collections::HashSet;

use minca_record::content_id::ContentId;
use minca_sync::message::{RequestId, is_system, write_reconcile, write_want};
use minca_sync::negentropy::{FrameLimit, Initiator, InitiatorStep, initiate};

use crate::Engine;
use crate::collections::Access;
use crate::config::EngineConfig;
use crate::engine::ReadFor;
use crate::event::{Count, Effect, JobId, Millis, PeerId};
use crate::peer::Peer;

/// One collection being reconciled with one peer, this host asking.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: RequestId,
    pub(crate) collection: String,
    /// Found so far, in the order the rounds gave them, each once.
    have: Vec<ContentId>,
    need: Vec<ContentId>,
    handled: HashSet<[u8; 32]>,
    rounds: usize,
    heard: Millis,
}

/// What a round came to.
enum Round {
    Next(Vec<u8>),
    /// There is nothing more to say.
    Over,
    /// More ids were found than are noted at once.
    TooMuch,
}

impl Session {
    pub(crate) fn ids_noted(&self) -> usize {
        self.have.len() + self.need.len()
    }

    /// Notes what a round found, each id once, as long as it is no more than `most` in
    /// all. False where more was found.
    fn note(&mut self, found: minca_sync::negentropy::Found, most: usize) -> bool {
        for (ids, list) in [(found.have, &mut self.have), (found.need, &mut self.need)] {
            for id in ids {
                if self.handled.contains(&id) {
                    continue;
                }
                if self.handled.len() >= most {
                    return false;
                }
                self.handled.insert(id);
                list.push(ContentId::from_digest(id));
            }
        }
        true
    }
}

impl Peer {
    /// When something is due for this peer.
    pub(crate) fn next_wake(&self, config: &EngineConfig) -> Millis {
        let sessions = self
            .sessions
            .iter()
            .map(|session| session.heard + config.silence);
        let wants = self
            .asks
            .in_flight
            .iter()
            .map(|want| want.asked + config.silence);
        let late_hello = self
            .late_hello
            .as_ref()
            .map(|_| self.rates.hellos.free_at());
        sessions
            .chain(wants)
            .chain(self.held_until)
            .chain(late_hello)
            .min()
            .map_or(self.hello_due, |due| due.min(self.hello_due))
    }
}

impl Engine {
    /// Begins the sessions a peer's hello called for, as far as items are at hand.
    pub(crate) fn begin_sessions(&mut self, id: PeerId, now: Millis) {
        let Some(peer) = self.peers.get(&id) else {
            return;
        };
        if peer.to_begin.is_empty()
            || peer.sessions.len() >= self.config.sessions_per_peer
            || peer.ids_noted() >= self.config.ids_per_peer
        {
            return;
        }
        let sys_first = peer
            .sessions
            .iter()
            .any(|session| is_system(&session.collection))
            || peer.to_begin.iter().any(|name| is_system(name));
        let places = self
            .config
            .sessions_per_peer
            .saturating_sub(peer.sessions.len());
        let names = peer
            .to_begin
            .iter()
            .filter(|name| !sys_first || is_system(name));
        let names: Vec<String> = names.take(places).cloned().collect();
        for name in names {
            let message = match self.collections.access(&name) {
                // An open collection has all its items, so there is always a message.
                Access::Open(set) => initiate(set).unwrap_or_default(),
                Access::Loading => continue,
                Access::ReadAfter(_) => {
                    self.read(ReadFor::Items { collection: name });
                    continue;
                }
            };
            let session = Session {
                id: self.next_request(),
                collection: name.clone(),
                have: Vec::new(),
                need: Vec::new(),
                handled: HashSet::new(),
                rounds: 1,
                heard: now,
            };
            self.send(id, |out| write_reconcile(out, session.id, &name, &message));
            if let Some(peer) = self.peers.get_mut(&id) {
                peer.to_begin.remove(&name);
                peer.sessions.push(session);
            }
        }
    }

    /// The answer to a `reconcile`; `None` where the peer doesn't hold the collection.
    pub(crate) fn reconciled(
        &mut self,
        id: PeerId,
        request: RequestId,
        message: Option<Vec<u8>>,
        now: Millis,
    ) {
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        let Some(at) = peer
            .sessions
            .iter()
            .position(|session| session.id == request)
        else {
            return;
        };
        let mut session = peer.sessions.swap_remove(at);
        session.heard = now;
        let noted = peer.ids_noted();
        let most = self.config.ids_per_peer.saturating_sub(noted);
        let round = message.map_or(Round::Over, |message| {
            self.next_round(&mut session, message, most)
        });
        let rounds_left = session.rounds < self.config.rounds_per_session;
        match round {
            Round::Next(next) if rounds_left => {
                session.rounds += 1;
                self.send(id, |out| {
                    write_reconcile(out, session.id, &session.collection, &next)
                });
                if let Some(peer) = self.peers.get_mut(&id) {
                    peer.sessions.push(session);
                }
            }
            Round::Over => self.end_session(id, session),
            Round::Next(_) | Round::TooMuch => {
                self.count(Count::Limited("session"));
                self.end_session(id, session);
                // The rest is found in the session that the next hello begins.
                let due = now + self.config.hello_after_intake;
                if let Some(peer) = self.peers.get_mut(&id) {
                    peer.hello_by(due);
                }
            }
        }
    }

    /// What this host says next in a session, of which no more than `most` ids are noted.
    fn next_round(&mut self, session: &mut Session, message: Vec<u8>, most: usize) -> Round {
        let mut round = match Initiator::new(message, FrameLimit::SYNC) {
            Ok(round) => round,
            Err(_) => {
                self.count(Count::Limited("reconciled-malformed"));
                return Round::Over;
            }
        };
        loop {
            let Access::Open(set) = self.collections.access(&session.collection) else {
                return Round::Over;
            };
            match round.step(set) {
                InitiatorStep::Found(found) => {
                    if !session.note(found, most) {
                        return Round::TooMuch;
                    }
                }
                InitiatorStep::Done { found, next } => {
                    return match (session.note(found, most), next) {
                        (false, _) => Round::TooMuch,
                        (true, Some(next)) => Round::Next(next),
                        (true, None) => Round::Over,
                    };
                }
                // An open collection has all its items.
                InitiatorStep::Needs(_) => return Round::Over,
            }
        }
    }

    /// Ends a session, however it ended: asks for what is lacking here and sends
    /// what the peer lacks, newest first.
    fn end_session(&mut self, id: PeerId, session: Session) {
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        for needed in session.need.iter().rev() {
            if !self.refusals.knows(peer.did, *needed) {
                peer.asks.ask(*needed, &session.collection, false);
            }
        }
        peer.offers.to_group.extend(session.have.iter().rev());
        peer.owes_level_hello = true;
    }

    /// Asks for what is in the queue: a few `want`s at once, each of one collection.
    pub(crate) fn ask_more(&mut self, id: PeerId, now: Millis) {
        loop {
            let may_ask = self.peers.get(&id).is_some_and(|peer| {
                peer.asks.has_more()
                    && peer.asks.in_flight.len() < self.config.wants_in_flight
                    && peer.unsent <= self.config.unsent_bytes
            });
            if !may_ask {
                return;
            }
            let request = self.next_request();
            let Some(peer) = self.peers.get_mut(&id) else {
                return;
            };
            let Some(ids) = peer
                .asks
                .next_want(request, self.config.ids_per_request, now)
            else {
                return;
            };
            self.send(id, |out| write_want(out, request, &ids));
        }
    }

    /// Once nothing is in flight with a peer after a session, tells it where
    /// things stand (05 §6.3 step 3).
    pub(crate) fn say_if_level(&mut self, id: PeerId, now: Millis) {
        let taking_in = self.intake.takes_of(id) > 0;
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        if !peer.owes_level_hello || taking_in || !peer.is_quiet() {
            return;
        }
        peer.owes_level_hello = false;
        self.say_hello(id, true, now);
    }

    /// Gives up sessions and wants that heard nothing for a while (05 §6.3). What
    /// this host holds up is not the peer's silence: while messages of its wait here, or
    /// are being taken in, the answer may be among them (04 §7.2).
    pub(crate) fn give_up_silent(&mut self, id: PeerId, now: Millis) {
        let Some(before) = now.checked_sub(self.config.silence) else {
            return;
        };
        let takes_in = self.intake.takes_of(id) > 0;
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        if !peer.inbox.is_empty() || takes_in {
            peer.asks.still_wait(now);
            for session in &mut peer.sessions {
                session.heard = now;
            }
            return;
        }
        peer.asks.give_up(before);
        let (kept, silent): (Vec<Session>, Vec<Session>) = peer
            .sessions
            .drain(..)
            .partition(|session| session.heard > before);
        peer.sessions = kept;
        for session in silent {
            self.end_session(id, session);
        }
        self.to_pump.insert(id);
    }

    /// The next page of a collection's items, unless one is being read.
    pub(crate) fn page_to_read(&mut self, job: JobId, collection: &str) -> Option<Effect> {
        let Access::ReadAfter(after) = self.collections.access(collection) else {
            return None;
        };
        self.collections.reading(collection, job);
        Some(Effect::ReadItems {
            job,
            collection: collection.to_owned(),
            after,
            limit: self.config.items_per_read,
        })
    }
}
