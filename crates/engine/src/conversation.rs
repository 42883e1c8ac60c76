//! What a peer says, message by message, in the order it came (05 §6.1).
//!
//! Messages of versions go to the intake and the next message may follow; any
//! other waits until the versions before it are dealt with, so that no hello
//! overtakes them. While more than its share waits to go out to a peer, its
//! next message is left where it is (04 §7.2).

use minca_record::did::Did;
use minca_record::json::Value;
use minca_sync::close::Close;
use minca_sync::envelope::write_who;
use minca_sync::message::{
    Hello, Holds, MAX_HELLO_COLLECTIONS, Message, RequestId, Says, arrange, write_hello,
};

use crate::Engine;
use crate::answer::Answering;
use crate::event::{Count, Effect, Millis, PeerId, PeerMessage};
use crate::intake::claimed_id;

impl Engine {
    /// What a host says first: an empty `who`, then its hello (04 §9.1).
    pub(crate) fn greet(&mut self, peer: PeerId, now: Millis) {
        let who = write_who(&self.node, None);
        self.send_enveloped(peer, who.into());
        self.say_hello(peer, false, now);
    }

    /// Goes on with a peer: its next messages, what is to be asked, what is to be sent.
    pub(crate) fn pump(&mut self, id: PeerId, now: Millis) {
        while let Some((message, bytes)) = self.next_message(id, now) {
            self.said(id, message, bytes, now);
        }
        self.begin_sessions(id, now);
        self.ask_more(id, now);
        self.offer_more(id);
        self.say_if_level(id, now);
    }

    /// The peer's next message, if it may be handled now.
    fn next_message(&mut self, id: PeerId, now: Millis) -> Option<(PeerMessage, usize)> {
        let under_way = self.intake.takes_of(id);
        let has_room = self.intake.bytes <= self.config.intake_bytes
            && (self.in_line.is_empty() || self.turn == Some(id));
        let peer = self.peers.get_mut(&id)?;
        if peer.answering || peer.unsent > self.config.unsent_bytes {
            return None;
        }
        let (message, _) = peer.inbox.front()?;
        let may_go = match message {
            PeerMessage::Sync(Message::Versions(_) | Message::PushUpdate(_)) => {
                let may_go = under_way < self.config.takes_per_peer;
                if may_go && !has_room && !peer.in_line {
                    peer.in_line = true;
                    self.in_line.push_back(id);
                }
                may_go && has_room
            }
            _ => under_way == 0,
        };
        if !may_go {
            return None;
        }
        if let Err(free_at) = peer.rates.take(message, now) {
            if peer.held_until.replace(free_at).is_none() {
                self.count(Count::Limited("asked-too-often"));
            }
            return None;
        }
        // One message a turn, while others wait for theirs.
        self.turn = None;
        peer.inbox.pop_front()
    }

    fn said(&mut self, id: PeerId, message: PeerMessage, bytes: usize, now: Millis) {
        match message {
            PeerMessage::Sync(Message::Versions(message)) => {
                let versions = match message.id {
                    Some(request) => self.asked_for(id, request, message.versions),
                    None => message.versions,
                };
                self.take_in(id, versions, false, bytes, now);
                return;
            }
            PeerMessage::Sync(Message::PushUpdate(push)) => {
                self.take_in(id, vec![Value::Object(push.version)], true, bytes, now);
                return;
            }
            PeerMessage::Sync(message) => self.said_in_sync(id, message, now),
            // Whose key it is matters once the access history can name former members.
            PeerMessage::Who(_) => {}
            // These were dealt with as they came.
            PeerMessage::Malformed | PeerMessage::Live | PeerMessage::Ignored => {}
        }
        self.handled(id, bytes);
    }

    fn said_in_sync(&mut self, id: PeerId, message: Message, now: Millis) {
        match message {
            Message::Hello(hello) => self.hello_came(id, hello, now),
            Message::Reconcile(reconcile) => self.answer(id, Answering::Reconcile(reconcile)),
            Message::Reconciled(reconciled) => {
                let message = match reconciled.says {
                    Says::Message(message) => Some(message),
                    Says::NotHeld | Says::Unreadable => None,
                };
                self.reconciled(id, reconciled.id, message, now);
            }
            Message::Want(want) => self.answer(id, Answering::Want(want)),
            Message::WantFile(want) => self.answer_file(id, &want),
            // A host writes nothing itself, so that it has no use for who stored what; nor
            // for parts of a file it asked nobody for.
            Message::Stored(_) | Message::File(_) | Message::FileDone(_) => {}
            // These go to the intake.
            Message::Versions(_) | Message::PushUpdate(_) => {}
        }
    }

    pub(crate) fn malformed(&mut self, id: PeerId, bytes: usize) {
        self.handled(id, bytes);
        self.count(Count::Limited("malformed"));
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        peer.malformed += 1;
        if peer.malformed > self.config.malformed_messages {
            let code = Close::Malformed.code();
            self.effects.push(Effect::Close { peer: id, code });
        }
    }

    /// Of an answer to a `want`, the versions that were asked for. What is still
    /// lacking is asked for again while answers bring something.
    fn asked_for(&mut self, id: PeerId, request: RequestId, versions: Vec<Value>) -> Vec<Value> {
        let Some(peer) = self.peers.get_mut(&id) else {
            return Vec::new();
        };
        let Some(mut want) = peer.asks.answered(request) else {
            return Vec::new();
        };
        let mut brought = Vec::with_capacity(versions.len());
        for version in versions {
            if claimed_id(&version).is_some_and(|id| want.ids.remove(&id)) {
                brought.push(version);
            }
        }
        if !brought.is_empty() {
            let collection = want.collection;
            for lacking in want
                .order
                .into_iter()
                .rev()
                .filter(|id| want.ids.contains(id))
            {
                peer.asks.ask(lacking, &collection, true);
            }
        }
        brought
    }

    /// Sends a message's versions to be checked.
    fn take_in(&mut self, id: PeerId, versions: Vec<Value>, live: bool, bytes: usize, now: Millis) {
        let versions: Vec<Value> = arrange(versions, &Holds::All)
            .into_iter()
            .map(Value::Object)
            .collect();
        let did: Option<Did> = self.peers.get(&id).map(|peer| peer.did);
        let Some(did) = did.filter(|_| !versions.is_empty()) else {
            self.handled(id, bytes);
            return;
        };
        let job = self.next_job();
        self.intake.begin(job, (id, did), &versions, bytes, now);
        self.effects.push(Effect::Verify {
            job,
            versions,
            live,
        });
    }

    /// A peer's hello (05 §6.2).
    fn hello_came(&mut self, id: PeerId, hello: Hello, now: Millis) {
        let initiates = self.initiates(id);
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        peer.holds = Some(hello.holds.clone());
        if !hello.reply {
            if peer.rates.hellos.free_at() > now {
                peer.late_hello = Some(hello);
                self.count(Count::Limited("hellos"));
                return;
            }
            peer.rates.hellos.take(now);
        }
        // An older one says nothing that this doesn't.
        peer.late_hello = None;
        let differing = self.differing(&hello);
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        if differing.is_empty() {
            peer.to_begin.clear();
            return;
        }
        if initiates {
            let running = |name: &String| {
                peer.sessions
                    .iter()
                    .any(|session| session.collection == *name)
            };
            peer.to_begin = differing
                .into_iter()
                .filter(|name| !running(name))
                .collect();
        } else if !hello.reply {
            self.say_hello(id, true, now);
        }
    }

    /// Collections both hold whose sums are not both there and equal.
    fn differing(&self, hello: &Hello) -> Vec<String> {
        let holds = |name: &str| hello.holds.includes(name);
        let theirs = hello.sums.iter().filter(|(name, sum)| {
            holds(name) && (sum.is_none() || self.collections.fingerprint(name) != **sum)
        });
        let unnamed = self
            .collections
            .names()
            .filter(|name| holds(name) && !hello.sums.contains_key(*name));
        theirs
            .map(|(name, _)| name.to_string())
            .chain(unnamed.map(str::to_owned))
            .collect()
    }

    /// Whether this host initiates with a peer: its DID sorts first (05 §6.2).
    fn initiates(&self, id: PeerId) -> bool {
        self.peers.get(&id).is_some_and(|peer| self.node < peer.did)
    }

    /// Says what is held, by its sums.
    pub(crate) fn say_hello(&mut self, id: PeerId, reply: bool, now: Millis) {
        let sums = self.collections.fingerprints(self.hello_from);
        let is_cut = sums.len() < self.collections.len();
        let hello = self.enveloped(|out| write_hello(out, &Holds::All, sums, reply));
        if is_cut {
            self.hello_from = self.hello_from.wrapping_add(MAX_HELLO_COLLECTIONS / 2);
        }
        self.send_enveloped(id, hello);
        // The other side begins nothing on the reply of one that initiates, so that
        // what was due is still due.
        if reply && self.initiates(id) {
            return;
        }
        let next = now + self.config.hello_interval;
        if let Some(peer) = self.peers.get_mut(&id) {
            peer.skipped = false;
            peer.hello_due = next;
        }
    }

    /// Whether a peer is left out of something it didn't ask for because its
    /// buffer is full; it is told by a hello once it has room.
    pub(crate) fn skip_if_full(&mut self, id: PeerId, now: Millis) -> bool {
        let due = now + self.config.hello_after_skip;
        let Some(peer) = self.peers.get_mut(&id) else {
            return true;
        };
        if peer.unsent <= self.config.unsent_bytes {
            return false;
        }
        peer.skipped = true;
        peer.hello_by(due);
        self.count(Count::Limited("unsent"));
        true
    }

    /// What is due for a peer: its hello, and sessions and wants given up.
    pub(crate) fn tick_peer(&mut self, id: PeerId, now: Millis) {
        self.give_up_silent(id, now);
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        if peer.held_until.take_if(|until| *until <= now).is_some() {
            self.to_pump.insert(id);
        }
        if peer.rates.hellos.free_at() <= now
            && let Some(hello) = peer.late_hello.take()
        {
            self.hello_came(id, hello, now);
            self.to_pump.insert(id);
        }
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        if peer.hello_due > now {
            return;
        }
        if peer.unsent > self.config.unsent_bytes {
            peer.hello_due = now + self.config.hello_after_skip;
            return;
        }
        self.say_hello(id, false, now);
    }
}
