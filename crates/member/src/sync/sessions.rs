//! Sessions and requests (05 §6.3, §6.4).

use minca_record::did::Did;
use minca_sync::message::{
    MAX_IDS, Reconcile, Reconciled, RequestId, Says, write_not_held, write_reconcile,
    write_reconciled, write_unreadable, write_versions, write_want,
};
use minca_sync::negentropy::{
    Found, FrameLimit, Initiator, InitiatorStep, Responder, ResponderStep, SortedItems, initiate,
};

use super::peer::{Session, Wanted};
use super::{Event, Sync, batches};
use crate::holdings::Holdings;

/// Sessions with one peer at once.
const MAX_SESSIONS: usize = 8;

/// `want`s to one peer that aren't answered, at once.
const MAX_WANTS: usize = 4;

/// Rounds after which a session is given up. Each splits its ranges 16 ways or lists 900 ids.
const MAX_ROUNDS: u32 = 10_000;

/// Milliseconds without a word after which a session or a `want` is given up.
const GIVE_UP_AFTER: u64 = 30_000;

impl Sync {
    /// Begins sessions for what waits to begin, as many as may run at once.
    pub(super) fn begin_sessions(&mut self, with: Did, holdings: &mut Holdings) {
        while let Some(peer) = self.peers.get_mut(&with) {
            if peer.sessions.len() >= MAX_SESSIONS {
                return;
            }
            let Some(collection) = peer.to_begin.pop_front() else {
                return;
            };
            let items = holdings.items(&collection);
            // All items are in memory, so the first message needs none loaded.
            let Ok(message) = initiate(&*items) else {
                continue;
            };
            self.last_request += 1;
            let id = RequestId::from(self.last_request);
            peer.under_way.insert(collection.clone());
            let mut payload = Vec::new();
            write_reconcile(&mut payload, id, &collection, &message);
            let session = Session {
                collection,
                items,
                rounds: 1,
                have: Default::default(),
                need: Default::default(),
                heard_at: self.now,
            };
            peer.sessions.insert(id, session);
            self.send(with, payload);
        }
    }

    /// The peer answered a round.
    pub(super) fn on_reconciled(&mut self, from: Did, answer: Reconciled, holdings: &mut Holdings) {
        let now = self.now;
        let Some(peer) = self.peers.get_mut(&from) else {
            return;
        };
        let Some(mut session) = peer.sessions.remove(&answer.id) else {
            return;
        };
        session.heard_at = now;
        let message = match answer.says {
            Says::NotHeld => return self.end_session(from, session, holdings),
            Says::Message(message) => message,
            Says::Unreadable => return self.fail_session(from, session, holdings),
        };
        let Some((found, next)) = run_initiator(message, &session.items) else {
            return self.fail_session(from, session, holdings);
        };
        session.have.note(found.have);
        session.need.note(found.need);
        let Some(next) = next else {
            return self.end_session(from, session, holdings);
        };
        session.rounds += 1;
        if session.rounds > MAX_ROUNDS {
            return self.fail_session(from, session, holdings);
        }
        let mut payload = Vec::new();
        write_reconcile(&mut payload, answer.id, &session.collection, &next);
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.sessions.insert(answer.id, session);
        }
        self.send(from, payload);
    }

    /// A round of a session the peer initiates: always answered.
    pub(super) fn on_reconcile(&mut self, from: Did, round: Reconcile, holdings: &mut Holdings) {
        let mut payload = Vec::new();
        let collection = round
            .collection
            .filter(|collection| self.holds.includes(collection));
        match (collection, round.message) {
            (None, _) => write_not_held(&mut payload, round.id),
            (Some(_), None) => write_unreadable(&mut payload, round.id),
            (Some(collection), Some(message)) => {
                match run_responder(message, &holdings.items(&collection)) {
                    Some(answer) => write_reconciled(&mut payload, round.id, &answer),
                    None => write_unreadable(&mut payload, round.id),
                }
            }
        }
        self.send(from, payload);
    }

    fn fail_session(&mut self, with: Did, session: Session, holdings: &mut Holdings) {
        let collection = session.collection.clone();
        self.tell(Event::GaveUp {
            peer: with,
            collection,
        });
        self.end_session(with, session, holdings);
    }

    /// However a session ends, what it found is sent and asked for, newest first.
    fn end_session(&mut self, with: Did, session: Session, holdings: &mut Holdings) {
        let Some(peer) = self.peers.get_mut(&with) else {
            return;
        };
        let have: Vec<_> = session
            .have
            .order
            .iter()
            .filter_map(|id| holdings.get(id).cloned())
            .collect();
        let mut payloads = Vec::new();
        for (ids, batch) in batches::newest_first(&have, self.message_bytes) {
            for id in ids {
                peer.unacknowledged.insert(id, session.collection.clone());
            }
            let mut payload = Vec::new();
            write_versions(&mut payload, None, batch.iter().map(Vec::as_slice));
            payloads.push(payload);
        }
        let need = session.need.order.iter().rev().copied();
        let need: Vec<_> = need
            .filter(|id| !holdings.holds(id) && !peer.was_refused(id))
            .collect();
        peer.ask(&session.collection, need);
        for payload in payloads {
            self.send(with, payload);
        }
        self.go_on_asking(with);
        self.finish_collections(with, holdings);
        self.begin_sessions(with, holdings);
    }

    /// Sends `want`s for what is lined up, as many as may be unanswered at once.
    pub(super) fn go_on_asking(&mut self, of: Did) {
        while let Some(peer) = self.peers.get_mut(&of) {
            if peer.wanted.len() >= MAX_WANTS {
                return;
            }
            let Some((collection, ids)) = peer.next_to_ask(MAX_IDS) else {
                return;
            };
            self.last_request += 1;
            let id = RequestId::from(self.last_request);
            let mut payload = Vec::new();
            write_want(&mut payload, id, &ids);
            peer.wanted.insert(
                id,
                Wanted {
                    collection,
                    ids,
                    asked_at: self.now,
                },
            );
            self.send(of, payload);
        }
    }

    /// Collections whose session and requests are over are level; the peer is told by a hello
    /// that asks for no answer.
    pub(super) fn finish_collections(&mut self, with: Did, holdings: &mut Holdings) {
        let Some(peer) = self.peers.get_mut(&with) else {
            return;
        };
        let done: Vec<Box<str>> = peer
            .under_way
            .iter()
            .filter(|collection| peer.is_done_with(collection))
            .cloned()
            .collect();
        for collection in &done {
            peer.under_way.remove(collection);
            peer.differing.remove(collection);
        }
        for collection in done {
            self.tell(Event::Level {
                peer: with,
                collection,
            });
            self.send_hello(with, holdings, true);
        }
    }

    /// Gives up what heard nothing for too long.
    pub(super) fn give_up_the_unheard(&mut self, with: Did, holdings: &mut Holdings) {
        let now = self.now;
        let Some(peer) = self.peers.get_mut(&with) else {
            return;
        };
        let is_over = |since: u64| now.saturating_sub(since) >= GIVE_UP_AFTER;
        let sessions: Vec<RequestId> = peer
            .sessions
            .iter()
            .filter(|(_, session)| is_over(session.heard_at))
            .map(|(id, _)| *id)
            .collect();
        let wants: Vec<RequestId> = peer
            .wanted
            .iter()
            .filter(|(_, wanted)| is_over(wanted.asked_at))
            .map(|(id, _)| *id)
            .collect();
        let ended: Vec<Session> = sessions
            .iter()
            .filter_map(|id| peer.sessions.remove(id))
            .collect();
        let mut given_up = Vec::new();
        for wanted in wants.iter().filter_map(|id| peer.wanted.remove(id)) {
            for id in &wanted.ids {
                peer.asking.remove(id);
            }
            given_up.push(wanted.collection);
        }
        for collection in given_up {
            self.tell(Event::GaveUp {
                peer: with,
                collection,
            });
        }
        for session in ended {
            self.fail_session(with, session, holdings);
        }
        self.give_up_fetches(with, is_over);
        self.go_on_asking(with);
        self.finish_collections(with, holdings);
    }
}

/// One round as the initiator: what it finds, and the next message. `None` where the answer can't
/// be read.
fn run_initiator(message: Vec<u8>, items: &SortedItems) -> Option<(Found, Option<Vec<u8>>)> {
    let mut round = Initiator::new(message, FrameLimit::SYNC).ok()?;
    let mut all = Found::default();
    loop {
        let (found, next) = match round.step(items) {
            // Nothing is ever left out of a set in memory.
            InitiatorStep::Needs(_) => return None,
            InitiatorStep::Found(found) => (found, None),
            InitiatorStep::Done { found, next } => (found, Some(next)),
        };
        all.have.extend(found.have);
        all.need.extend(found.need);
        if let Some(next) = next {
            return Some((all, next));
        }
    }
}

/// One answer as the responder; `None` where the round can't be read.
fn run_responder(message: Vec<u8>, items: &SortedItems) -> Option<Vec<u8>> {
    match Responder::new(message, FrameLimit::SYNC).ok()?.step(items) {
        ResponderStep::Needs(_) => None,
        ResponderStep::Done(answer) => Some(answer),
    }
}
