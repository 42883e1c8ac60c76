//! A device's side of sync (05 §4–§8): messages in, messages out. No socket, no clock and no
//! randomness; the one thing it touches is the device's [`Holdings`], so that nothing is
//! acknowledged before it is on disk.
//!
//! Written against the text alone, apart from the host's engine, so that the two check each other.

mod batches;
mod event;
mod files;
mod intake;
mod peer;
mod sessions;
mod waiting;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::Value;
use minca_record::version::Version;
use minca_sync::message::{
    Hello, Holds, MAX_HELLO_COLLECTIONS, Message, Want, write_hello, write_push_update,
    write_versions,
};

pub use event::{Effect, Event, Standing};

use crate::files::Files;
use crate::gatekeeper::Gatekeeper;
use crate::holdings::{Holdings, JournalError};
use peer::Peer;
use waiting::Waiting;

/// Under so many bytes of versions a message isn't made smaller.
const LEAST_MESSAGE_BYTES: usize = 16 * 1024;

/// One device's sync of one space with any number of peers.
#[derive(Debug)]
pub struct Sync {
    me: Did,
    /// `me` as versions name it.
    author: String,
    gatekeeper: Gatekeeper,
    holds: Holds,
    peers: BTreeMap<Did, Peer>,
    waiting: Waiting,
    last_request: u32,
    now: u64,
    message_bytes: usize,
    files: Files,
    effects: Vec<Effect>,
}

impl Sync {
    /// A device with the session DID `me`, which holds these collections of the gatekeeper's space.
    pub fn new(me: Did, gatekeeper: Gatekeeper, holds: Holds) -> Sync {
        Sync {
            me,
            author: me.to_string(),
            gatekeeper,
            holds,
            peers: BTreeMap::new(),
            waiting: Waiting::default(),
            last_request: 0,
            now: 0,
            message_bytes: batches::MAX_BYTES,
            files: Files::default(),
            effects: Vec::new(),
        }
    }

    /// Goes on as the session DID `me`: no peer is connected, and nothing waits.
    pub fn go_on_as(&mut self, me: Did) {
        self.me = me;
        self.author = me.to_string();
        self.peers.clear();
        self.waiting = Waiting::default();
        self.effects.clear();
    }

    /// Who may do what in the space.
    pub fn gatekeeper(&self) -> &Gatekeeper {
        &self.gatekeeper
    }

    /// The gatekeeper, to change.
    pub fn gatekeeper_mut(&mut self) -> &mut Gatekeeper {
        &mut self.gatekeeper
    }

    /// A peer with this session DID is connected: it gets a hello.
    pub fn connected(&mut self, peer: Did, holdings: &Holdings) -> Vec<Effect> {
        self.peers.insert(peer, Peer::default());
        self.send_hello(peer, holdings, false);
        self.take_effects()
    }

    /// The peer is gone: what was in flight with it is forgotten.
    pub fn disconnected(&mut self, peer: Did) {
        self.peers.remove(&peer);
    }

    /// Says hello to a connected peer, as is done now and then (05 §6.2).
    pub fn say_hello(&mut self, peer: Did, holdings: &Holdings) -> Vec<Effect> {
        if self.peers.contains_key(&peer) {
            self.send_hello(peer, holdings, false);
        }
        self.take_effects()
    }

    /// A peer sent a sync message: `payload` of its envelope. One from a peer that isn't connected
    /// is ignored.
    ///
    /// # Errors
    /// [`JournalError`] where what came couldn't be put on disk; the machine and the holdings are
    /// then of no more use.
    pub fn received(
        &mut self,
        from: Did,
        payload: Value,
        holdings: &mut Holdings,
    ) -> Result<Vec<Effect>, JournalError> {
        if !self.peers.contains_key(&from) {
            return Ok(Vec::new());
        }
        // What couldn't be put on disk is in memory all the same, and must reach no one.
        holdings.commit()?;
        match Message::read(payload) {
            Err(why) => self.tell(Event::Dropped { from, why }),
            Ok(message) => self.handle(from, message, holdings)?,
        }
        Ok(self.take_effects())
    }

    /// This device wrote a version, which is in the holdings and on disk: the peers that hold its
    /// collection get it (05 §7).
    pub fn written(&mut self, version: &Version) -> Vec<Effect> {
        let mut payload = Vec::new();
        write_push_update(&mut payload, &version.canonical());
        for (to, peer) in &mut self.peers {
            if peer.holds(version.collection()) {
                peer.unacknowledged
                    .insert(version.id(), version.collection().into());
                self.effects.push(Effect::Send {
                    to: *to,
                    payload: payload.clone(),
                });
            }
        }
        self.take_effects()
    }

    /// It is now `now`, in milliseconds since any moment, never going back. What heard nothing for
    /// too long is given up.
    pub fn tick(&mut self, now: u64, holdings: &mut Holdings) -> Vec<Effect> {
        self.now = now;
        for peer in self.peers.keys().copied().collect::<Vec<_>>() {
            self.give_up_the_unheard(peer, holdings);
        }
        self.take_effects()
    }

    /// Sends less per message from now on, as after a close with `1009` (04 §8).
    pub fn send_less(&mut self) {
        self.message_bytes = (self.message_bytes / 2).max(LEAST_MESSAGE_BYTES);
    }

    /// Where this device stands with a peer.
    pub fn standing(&self, peer: &Did) -> Standing {
        let Some(peer) = self.peers.get(peer).filter(|peer| peer.holds.is_some()) else {
            return Standing::Unheard;
        };
        if !peer.is_idle() || !peer.differing.is_empty() {
            return Standing::Working;
        }
        match peer.unacknowledged.len() {
            0 => Standing::Level,
            some => Standing::Unacknowledged(some),
        }
    }

    /// Versions sent to the peer on this connection that it didn't say it stored.
    pub fn unacknowledged(&self, peer: &Did) -> Vec<ContentId> {
        self.peers.get(peer).map_or_else(Vec::new, |peer| {
            peer.unacknowledged.keys().copied().collect()
        })
    }

    /// How many versions wait for others.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The collections this device holds.
    pub fn holds(&self) -> &Holds {
        &self.holds
    }

    /// The session DID this device has.
    pub fn me(&self) -> Did {
        self.me
    }

    fn handle(
        &mut self,
        from: Did,
        message: Message,
        holdings: &mut Holdings,
    ) -> Result<(), JournalError> {
        match message {
            Message::Hello(hello) => self.on_hello(from, hello, holdings)?,
            Message::Reconcile(round) => self.on_reconcile(from, round, holdings),
            Message::Reconciled(answer) => self.on_reconciled(from, answer, holdings),
            Message::Want(want) => self.on_want(from, &want, holdings),
            Message::Versions(versions) => self.on_versions(from, versions, holdings)?,
            Message::PushUpdate(push) => {
                self.take_batch(from, vec![Value::from(push.version)], holdings)?;
                self.go_on_asking(from);
            }
            Message::Stored(stored) => self.on_stored(from, stored.ids, holdings)?,
            Message::WantFile(want) => self.on_want_file(from, &want, holdings),
            Message::File(bytes) => self.on_file(from, bytes),
            Message::FileDone(done) => self.on_file_done(from, &done),
        }
        Ok(())
    }

    /// 05 §6.2.
    fn on_hello(
        &mut self,
        from: Did,
        hello: Hello,
        holdings: &mut Holdings,
    ) -> Result<(), JournalError> {
        let mut differing = Vec::new();
        let mut level = Vec::new();
        let own_list: Vec<Box<str>> = match &self.holds {
            Holds::All => Vec::new(),
            Holds::Only(held) => held.iter().cloned().collect(),
        };
        let mut names: Vec<Box<str>> = hello.sums.keys().cloned().collect();
        names.extend(holdings.sums().map(|(name, _)| Box::from(name)));
        names.extend(own_list);
        names.sort_unstable();
        names.dedup();
        for name in names {
            if !self.holds.includes(&name) || !hello.holds.includes(&name) {
                continue;
            }
            let own = holdings.sum(&name);
            let own = (own.count() > 0).then(|| own.fingerprint());
            match (hello.sums.get(&name), own) {
                // Nothing on either side: a name in a list of what is held.
                (None, None) => {}
                (Some(Some(theirs)), Some(own)) if *theirs == own => level.push(name),
                _ => differing.push(name),
            }
        }
        self.confirm_level(from, &level, holdings)?;
        let Some(peer) = self.peers.get_mut(&from) else {
            return Ok(());
        };
        peer.holds = Some(hello.holds);
        // A session that is under way goes on whatever the newer sums say.
        peer.differing = differing.iter().cloned().collect();
        if differing.is_empty() {
            peer.to_begin.clear();
            return Ok(());
        }
        if self.me < from {
            peer.to_begin = differing
                .into_iter()
                .filter(|name| !peer.under_way.contains(name))
                .collect();
            self.begin_sessions(from, holdings);
        } else if !hello.reply {
            self.send_hello(from, holdings, true);
        }
        Ok(())
    }

    /// Equal sums mean that the peer has everything this device has there (05 §9).
    fn confirm_level(
        &mut self,
        by: Did,
        collections: &[Box<str>],
        holdings: &mut Holdings,
    ) -> Result<(), JournalError> {
        if collections.is_empty() {
            return Ok(());
        }
        let has = |id: &ContentId| {
            holdings.get(id).is_some_and(|version| {
                collections
                    .iter()
                    .any(|collection| **collection == *version.collection())
            })
        };
        let ids: Vec<ContentId> = holdings
            .unconfirmed(&self.me)
            .into_iter()
            .filter(has)
            .collect();
        holdings.confirm(&ids, by)?;
        if !ids.is_empty() {
            self.tell(Event::Stored { by, ids });
        }
        if let Some(peer) = self.peers.get_mut(&by) {
            peer.unacknowledged
                .retain(|_, collection| !collections.contains(collection));
        }
        for collection in collections {
            self.tell(Event::Level {
                peer: by,
                collection: collection.clone(),
            });
        }
        Ok(())
    }

    fn on_want(&mut self, from: Did, want: &Want, holdings: &Holdings) {
        let held = want.ids.iter().filter_map(|id| holdings.get(id).cloned());
        let batch = batches::answer(held);
        let mut payload = Vec::new();
        write_versions(&mut payload, Some(want.id), batch.iter().map(Vec::as_slice));
        self.send(from, payload);
    }

    fn on_stored(
        &mut self,
        by: Did,
        ids: Vec<ContentId>,
        holdings: &mut Holdings,
    ) -> Result<(), JournalError> {
        if let Some(peer) = self.peers.get_mut(&by) {
            for id in &ids {
                peer.unacknowledged.remove(id);
            }
        }
        let is_own = |id: &ContentId| {
            holdings
                .get(id)
                .is_some_and(|version| version.author().as_str() == Some(&self.author))
        };
        let own: Vec<ContentId> = ids.iter().copied().filter(is_own).collect();
        holdings.confirm(&own, by)?;
        self.tell(Event::Stored { by, ids });
        Ok(())
    }

    fn send_hello(&mut self, to: Did, holdings: &Holdings, reply: bool) {
        let sums = holdings
            .sums()
            .filter(|(name, _)| self.holds.includes(name))
            .take(MAX_HELLO_COLLECTIONS)
            .map(|(name, sum)| (name, sum.fingerprint()));
        let mut payload = Vec::new();
        write_hello(&mut payload, &self.holds, sums, reply);
        self.send(to, payload);
    }

    fn send(&mut self, to: Did, payload: Vec<u8>) {
        self.effects.push(Effect::Send { to, payload });
    }

    fn tell(&mut self, event: Event) {
        self.effects.push(Effect::Event(event));
    }

    fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }
}
