//! A private space's keys on a device (03 §9): those it learns from boxes and key changes, and
//! those it makes and hands on.

use std::collections::BTreeSet;

use minca_access::history::State;
use minca_access::{
    BOXES, Event, KeyBox, KeyChange, Kind, MEMBER_KEYS, MalformedEarlier, lacking_boxes,
    member_key_of, seal_box,
};
use minca_record::agreement::{AgreementKey, AgreementPublic};
use minca_record::content_id::ContentId;
use minca_record::derive::{self, SpaceKey};
use minca_record::did::{Did, Dids};
use minca_record::json::Text;
use minca_record::version::{Checked, Version};

use super::{Replica, WriteError};
use crate::access;
use crate::clock::UnixTime;
use crate::gatekeeper::history_of;
use crate::randomness::random_bytes;
use minca_access::history::{Status, Verdict};

impl Replica {
    /// Takes the keys that boxes for this account and earlier keys hold, until there is nothing
    /// new, and goes by the keys the history names.
    pub(super) fn learn_keys(&mut self) {
        if !self.space().is_private() {
            return;
        }
        let state = self.gatekeeper().history().current();
        loop {
            let mut learned = self.keys_in_boxes(&state);
            for key in &state.keys {
                learned.extend(
                    self.earlier_keys(&state, key)
                        .and_then(Result::ok)
                        .into_iter()
                        .flatten(),
                );
            }
            let space = self.sync.gatekeeper_mut().space_mut();
            let mut is_new = false;
            for key in learned {
                is_new |= space.hold_key(key);
            }
            if !is_new {
                break;
            }
        }
        let named: Vec<String> = state
            .keys
            .iter()
            .filter_map(|key| key.key_id.as_str().map(str::to_owned))
            .collect();
        self.sync.gatekeeper_mut().space_mut().go_by(&named);
    }

    /// The ids of key changes that are malformed to this device, which holds their key: their
    /// earlier keys don't open, or leave the first out (03 §9.3). They call for another change.
    pub fn malformed_key_changes(&self) -> Vec<ContentId> {
        let state = self.gatekeeper().history().current();
        let malformed = state.keys.iter().filter(|key| {
            self.earlier_keys(&state, key)
                .is_some_and(|keys| keys.is_err())
        });
        malformed.map(|key| key.event).collect()
    }

    /// What the change to a key says of earlier ones; `None` for the first key, and where the key or
    /// the change isn't held.
    fn earlier_keys(
        &self,
        state: &State,
        key: &minca_access::history::SpaceKey,
    ) -> Option<Result<Vec<SpaceKey>, MalformedEarlier>> {
        let space = self.space();
        let key_id = key.key_id.as_str()?;
        let held = space.held_key(key_id)?;
        let change = self.holdings.get(&key.event)?;
        let earlier = change.body()?.as_object()?.get("earlier");
        let Some(earlier) = earlier.and_then(|earlier| earlier.as_str()) else {
            return Some(Err(MalformedEarlier::NotOpened));
        };
        let change = KeyChange {
            space: space.id(),
            key_id,
            earlier,
        };
        let first = space.constitution().encryption_key_id()?;
        Some(change.open(held, first, |key_id, read_key| {
            is_named(state, key_id, read_key)
        }))
    }

    fn keys_in_boxes(&self, state: &State) -> Vec<SpaceKey> {
        let (space, account) = (self.space(), self.device.account().did());
        let own = self.member_key();
        let mut keys = Vec::new();
        for version in self.holdings.versions_in(BOXES) {
            let held = version
                .body()
                .and_then(|body| KeyBox::read(space.id(), body));
            // What names no key of the space, or one that is held, isn't worth opening.
            let is_key = |key_id: &str| state.keys.iter().any(|key| key.key_id == key_id);
            let lacks =
                held.filter(|held| is_key(held.key_id) && space.held_key(held.key_id).is_none());
            let opened = lacks.and_then(|lacks| {
                let is_named = |key_id: &str, read_key: &Did| is_named(state, key_id, read_key);
                lacks.open(&account, &own, is_named).ok()
            });
            keys.extend(opened);
        }
        keys
    }

    /// The account's member key in this space (03 §9.1).
    fn member_key(&self) -> AgreementKey {
        let account_key = derive::account_key(self.device.account().seed());
        derive::member_key(&account_key, &self.space().id().to_string())
    }

    /// Publishes the account's member key where another one, or none, is; `None` where there is
    /// nothing to do. A public space needs none.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn publish_member_key(&mut self, now: UnixTime) -> Result<Option<Version>, WriteError> {
        let account = self.device.account().did();
        if !self.space().is_private() || !self.gatekeeper().history().is_member(&account) {
            return Ok(None);
        }
        let own = self.member_key().public();
        if member_key_of(&account, &self.standing_in(MEMBER_KEYS)) == Some(own) {
            return Ok(None);
        }
        self.write(access::member_key(&account, &own), now)
            .map(Some)
    }

    /// Makes a new space key and goes by it (03 §9.3): writes the change, and a box for every reader
    /// with a member key. What was written, in order. The new key is on disk, in a box for this
    /// account itself, before the change that names it.
    ///
    /// # Errors
    /// [`WriteError`]: where the change itself is refused, nothing was written.
    pub fn change_key(&mut self, now: UnixTime) -> Result<Vec<Version>, WriteError> {
        if self.space().is_private() && self.space().current_key().is_none() {
            return Err(crate::space::SpaceError::CurrentKeyMissing.into());
        }
        let new = SpaceKey::new(random_bytes(&mut *self.randomness)?);
        let change =
            access::change_key(self.sync.gatekeeper().space(), &new, &mut *self.randomness)?;
        self.ask(change.clone(), now)?;
        let mut written: Vec<Version> = self.publish_member_key(now)?.into_iter().collect();
        let account = self.device.account().did();
        let own = self.member_key().public();
        written.push(self.write_box(&new, &account, &own, now)?);
        written.push(self.write(change, now)?);
        written.extend(self.share_key(now)?);
        Ok(written)
    }

    /// Seals the current key to every reader with a member key that has no box of it yet, where
    /// this account may change the key and holds it (03 §9.4). The boxes written.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn share_key(&mut self, now: UnixTime) -> Result<Vec<Version>, WriteError> {
        let account = self.device.account().did();
        let Some(key) = self.space().current_key().cloned() else {
            return Ok(Vec::new());
        };
        let sealed = self.standing_in(BOXES);
        let by: BTreeSet<Did> = sealed.iter().map(|it| it.root).chain([account]).collect();
        let may = self.who_may_change_key(&by);
        if !may.contains(&account) {
            return Ok(Vec::new());
        }
        let member_keys = self.standing_in(MEMBER_KEYS);
        let readers = readers(&self.gatekeeper().history().current());
        let with_keys = readers
            .into_iter()
            .filter_map(|reader| Some((reader, member_key_of(&reader, &member_keys)?)));
        let space = self.space().id();
        let boxes = sealed
            .iter()
            .filter_map(|it| Some((it.root, KeyBox::read(space, it.version.body()?)?)));
        let lacking = lacking_boxes(with_keys, &key.key_id(), boxes, |by| may.contains(by));
        let mut written = Vec::with_capacity(lacking.len());
        for (reader, member_key) in lacking {
            written.push(self.write_box(&key, &reader, &member_key, now)?);
        }
        Ok(written)
    }

    /// Everyone who reads: the members (03 §4.1).
    pub fn readers(&self) -> BTreeSet<Did> {
        readers(&self.gatekeeper().history().current())
    }

    /// The readers no box of the current key is for.
    pub fn readers_without_box(&self) -> BTreeSet<Did> {
        let mut readers = self.readers();
        let Some(key) = self.space().current_key() else {
            return readers;
        };
        let (space, key_id) = (self.space().id(), key.key_id());
        for sealed in self.standing_in(BOXES) {
            let held = sealed.version.body();
            let held = held.and_then(|body| KeyBox::read(space, body));
            if let Some(held) = held.filter(|held| held.key_id == key_id) {
                readers.retain(|reader| reader.to_string() != held.to);
            }
        }
        readers
    }

    fn write_box(
        &mut self,
        key: &SpaceKey,
        to: &Did,
        member_key: &AgreementPublic,
        now: UnixTime,
    ) -> Result<Version, WriteError> {
        let ephemeral = AgreementKey::from_uniform(&random_bytes(&mut *self.randomness)?);
        let sealed = seal_box(self.space().id(), key, to, member_key, &ephemeral);
        let sealed = sealed.map_err(crate::space::SpaceError::from)?;
        let by = self.device.account().did();
        self.write(access::key_box(to, &key.key_id(), &by, sealed), now)
    }

    /// The versions of a `sys.*` collection that count.
    fn standing_in(&self, collection: &str) -> Vec<Checked> {
        let held = self.holdings.versions_in(collection);
        let standing = held
            .filter(|version| self.gatekeeper().stands(version, &self.holdings) == Verdict::Stands);
        let mut dids = Dids::default();
        standing
            .filter_map(|version| Checked::kept((**version).clone(), &mut dids))
            .collect()
    }

    /// Which of these accounts may change the key now: those whose change to a key nobody had would
    /// count.
    fn who_may_change_key(&self, accounts: &BTreeSet<Did>) -> BTreeSet<Did> {
        let mut scratch = history_of(self.space(), &self.holdings);
        let seen = scratch.heads();
        let probes: Vec<(Did, ContentId)> = accounts
            .iter()
            .map(|account| {
                (
                    *account,
                    ContentId::of(format!("probe {account}").as_bytes()),
                )
            })
            .collect();
        for (account, id) in &probes {
            scratch.add(Event {
                id: *id,
                key: minca_access::keys::SPACE_KEY.into(),
                root: *account,
                author: *account,
                seen: seen.clone(),
                log_place: 0,
                cutoff: minca_access::Cutoff::default(),
                kind: Kind::Key {
                    key_id: Text::from(id.to_string()),
                    read_key: Text::from(account.to_string()),
                },
            });
        }
        let allowed = probes
            .into_iter()
            .filter(|(_, id)| scratch.status(id) == Some(Status::Applied));
        allowed.map(|(account, _)| account).collect()
    }
}

/// Everyone who reads: the members (03 §4.1).
fn readers(state: &State) -> BTreeSet<Did> {
    let members = state.founders.iter().chain(state.assigned.keys());
    members
        .filter_map(|did| Did::parse(did.as_str()?).ok())
        .collect()
}

fn is_named(state: &State, key_id: &str, read_key: &Did) -> bool {
    let read_key = read_key.to_string();
    state
        .keys
        .iter()
        .any(|key| key.key_id == key_id && key.read_key == read_key.as_str())
}
