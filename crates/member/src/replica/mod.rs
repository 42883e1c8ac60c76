//! A space on a device: what it holds, what it writes, and where its sync stands.

mod asking;
mod keys;
mod reading;
mod rules;

pub use reading::Record;

use minca_access::history;
use minca_access::{ChangeKeyError, NoEvent};
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::files::NamedFile;
use minca_record::json::{Object, Text, Value};
use minca_record::required::is_access_collection;
use minca_record::rules::RuleRefusal;
use minca_record::version::{ShapeError, Version};
use minca_sync::message::Holds;
use thiserror::Error;

use crate::clock::UnixTime;
use crate::files::{FileError, SealedFile};
use crate::gatekeeper::Gatekeeper;
use crate::holdings::{Holdings, JournalError};
use crate::identity::Device;
use crate::randomness::{Randomness, RandomnessError};
use crate::space::{Opened, Space, SpaceError};
use crate::sync::{Effect, Event, Sync};
use crate::write::{Draft, Position, new_record_key};

/// Collections in which a writer keeps its versions whole though no host asks for it (02 §4.5).
const RETAINED_BY_CUSTOM: [&str; 3] = ["sys.profile", "sys.memberkey", "sys.box"];

/// Why nothing was written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// There is no record at this key.
    #[error("there is no record with this key")]
    NoRecord,
    /// What would be written is no version: its collection, key, links or size.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A version by this device's key came from elsewhere: under this key it could use a place of
    /// a line twice. [`Replica::use_fresh_key`] helps.
    #[error("another copy of this device wrote under its key: a fresh key is needed")]
    LineUnknown,
    /// The account may not make this change of access (03 §4.5).
    #[error("the space's access history refuses it: {0}")]
    ChangeRefused(history::Refusal),
    /// No role of the account holds the command a change of access asks for, with these arguments
    /// (03 §4.5).
    #[error(
        "the space's access history refuses it: no role of this account grants {command} with {}",
        String::from_utf8_lossy(&arguments.canonical())
    )]
    ChangeNotGranted {
        /// The command.
        command: &'static str,
        /// What a policy on it reads.
        arguments: Object,
    },
    /// It would be no change of access (03 §3.3).
    #[error("it is no change of access: {0}")]
    NoEvent(#[from] NoEvent),
    /// The account is no member of the space, and may write nothing.
    #[error("this account is no member of the space")]
    NotMember,
    /// No role the account has lets it write this.
    #[error("no role of this account lets it write that in {collection}")]
    NotGranted {
        /// The collection.
        collection: String,
    },
    /// It would be withdrawn as soon as it is written.
    #[error("what this device's key writes doesn't count: it was revoked, or its line isn't one")]
    Withdrawn,
    /// It breaks a rule of the definition in force (02 §7).
    #[error(transparent)]
    Rule(#[from] RuleRefusal),
    /// The content gives no record key under `onePer`.
    #[error("the content lacks what the collection's `onePer` derives the record key from")]
    NoOnePerKey,
    /// The record key can't be derived without the space's first key.
    #[error("this device doesn't hold the space's first key, which `onePer` keys are made with")]
    FirstKeyMissing,
    /// It names changes of access that aren't held.
    #[error("it names changes of access that this device doesn't hold")]
    SeenMissing,
    /// The key can't be changed.
    #[error(transparent)]
    ChangeKey(#[from] ChangeKeyError),
    /// The body couldn't be sealed.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// There were no random bytes.
    #[error(transparent)]
    Randomness(#[from] RandomnessError),
    /// It couldn't be put on disk.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// What to write.
#[derive(Clone, Debug, Default)]
pub struct Write {
    /// The collection.
    pub collection: String,
    /// The record key; `None` for a new record of the account's own.
    pub key: Option<String>,
    /// The content, not sealed yet; `None` deletes the record.
    pub body: Option<Value>,
    /// Links, as JSON has them.
    pub links: Vec<Value>,
    /// The member `files`, as JSON has it; none where it is empty.
    pub files: Vec<Value>,
    /// Keep it whole once superseded, also where nothing asks for that.
    pub retain: bool,
    /// Heads of the access history the writer knew; `None` for those that are
    /// [held](Replica::heads).
    pub seen: Option<Vec<ContentId>>,
}

/// A space on a device.
pub struct Replica {
    device: Device,
    holdings: Holdings,
    sync: Sync,
    randomness: Box<dyn Randomness + Send>,
    line_unknown: bool,
}

impl Replica {
    /// The space on this device, which holds every collection.
    pub fn new(
        space: Space,
        device: Device,
        holdings: Holdings,
        randomness: Box<dyn Randomness + Send>,
    ) -> Replica {
        Replica::holding(space, device, holdings, randomness, Holds::All)
    }

    /// The space on a device that holds these collections.
    pub fn holding(
        space: Space,
        device: Device,
        holdings: Holdings,
        randomness: Box<dyn Randomness + Send>,
        holds: Holds,
    ) -> Replica {
        let gatekeeper = Gatekeeper::new(space, &holdings);
        let sync = Sync::new(device.did(), gatekeeper, holds);
        let line_unknown = holdings.has_foreign_version_by(&device.did());
        let mut replica = Replica {
            device,
            holdings,
            sync,
            randomness,
            line_unknown,
        };
        replica.learn_keys();
        replica
    }

    /// The space.
    pub fn space(&self) -> &Space {
        self.sync.gatekeeper().space()
    }

    /// Who may do what in it.
    pub fn gatekeeper(&self) -> &Gatekeeper {
        self.sync.gatekeeper()
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The device, to change.
    pub fn device_mut(&mut self) -> &mut Device {
        &mut self.device
    }

    /// What is held.
    pub fn holdings(&self) -> &Holdings {
        &self.holdings
    }

    /// Where sync stands.
    pub fn sync(&self) -> &Sync {
        &self.sync
    }

    /// Sync, to change.
    pub fn sync_mut(&mut self) -> &mut Sync {
        &mut self.sync
    }

    /// Random bytes for the handshake.
    pub fn randomness(&mut self) -> &mut dyn Randomness {
        &mut *self.randomness
    }

    /// The note the device signs under now.
    ///
    /// # Errors
    /// [`RandomnessError`].
    pub fn note(&mut self, now: UnixTime) -> Result<Option<Value>, RandomnessError> {
        self.device.note(now, &mut *self.randomness)
    }

    /// Takes the space off the device: what is left is its holdings.
    pub fn into_holdings(self) -> Holdings {
        self.holdings
    }

    /// Writes a new record of the account's own.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn create(
        &mut self,
        collection: &str,
        body: Value,
        now: UnixTime,
    ) -> Result<Version, WriteError> {
        let collection = collection.to_owned();
        self.write(
            Write {
                collection,
                body: Some(body),
                ..Write::default()
            },
            now,
        )
    }

    /// Writes a record anew, a deleted one too.
    ///
    /// # Errors
    /// [`WriteError::NoRecord`] where there is none at `key`; else as [`write`](Replica::write).
    pub fn edit(&mut self, key: &str, body: Value, now: UnixTime) -> Result<Version, WriteError> {
        self.replace(key, Some(body), now)
    }

    /// Deletes a record.
    ///
    /// # Errors
    /// As [`edit`](Replica::edit).
    pub fn delete(&mut self, key: &str, now: UnixTime) -> Result<Version, WriteError> {
        self.replace(key, None, now)
    }

    fn replace(
        &mut self,
        key: &str,
        body: Option<Value>,
        now: UnixTime,
    ) -> Result<Version, WriteError> {
        let current = self.holdings.current(key).ok_or(WriteError::NoRecord)?;
        let collection = current.collection().to_owned();
        self.write(
            Write {
                collection,
                key: Some(key.to_owned()),
                body,
                ..Write::default()
            },
            now,
        )
    }

    /// Writes a version. When it comes back, the version and its place in the device's line are
    /// on disk; it goes to peers by [`push`](Replica::push), or with the next sync.
    ///
    /// # Errors
    /// [`WriteError`]: nothing was written, be it that the account may not.
    pub fn write(&mut self, write: Write, now: UnixTime) -> Result<Version, WriteError> {
        let version = self.ask(write, now)?;
        self.adopt(version.clone())?;
        Ok(version)
    }

    /// What [`write`](Replica::write) would sign, to be changed and signed by whoever tests a
    /// host. It uses up no place, and whether the account may write it is not asked.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn draft(&mut self, write: Write, now: UnixTime) -> Result<Draft, WriteError> {
        if self.line_unknown {
            return Err(WriteError::LineUnknown);
        }
        let root = self.device.account().did();
        let heads = self.heads(&write.collection);
        let gatekeeper = self.sync.gatekeeper();
        let seen = write.seen.as_ref().unwrap_or(&heads);
        let definition = gatekeeper.definition(&write.collection, seen, &self.holdings);
        let (mut derived, mut tags) = (None, Vec::new());
        if let Some(definition) = &definition {
            derived = rules::one_per_key(gatekeeper.space(), definition, &write, &root)?;
            tags = rules::tags_due(gatekeeper.space(), definition, &write)?;
        }
        let key = match write.key.or(derived) {
            Some(key) => key,
            None => new_record_key(&root, &mut *self.randomness)?,
        };
        let current = self.holdings.current(&key);
        let position = current.map_or(Position::FIRST, |current| Position::after(current));
        let log = self
            .holdings
            .next_place(&self.device.did(), &write.collection);
        let retain =
            write.retain || self.retains(&write.collection, position.seq, write.body.is_none());
        let seen = match write.seen {
            Some(seen) => Some(seen),
            // The constitution is named where there is nothing else to name.
            None => Some(heads).filter(|heads| !heads.is_empty()),
        };
        let space = self.sync.gatekeeper().space();
        let mut draft = Draft::new(space.id(), &write.collection, &key, position, log, now);
        match write.body {
            None => draft = draft.delete(),
            Some(body) => {
                let links = if space.seals(&write.collection) {
                    write.links
                } else {
                    if !write.links.is_empty() {
                        draft = draft.set("links", write.links);
                    }
                    Vec::new()
                };
                let randomness = &mut *self.randomness;
                let body = space.seal(&write.collection, &key, body, links, randomness)?;
                draft = draft.body(body);
                if !write.files.is_empty() {
                    draft = draft.set("files", write.files);
                }
            }
        }
        if !tags.is_empty() {
            draft = draft.set("tags", tags);
        }
        if retain {
            draft = draft.set("retain", true);
        }
        if let Some(seen) = seen {
            let seen: Vec<Value> = seen.iter().map(|id| id.to_string().into()).collect();
            // An empty list is left out (02 §3.1).
            draft = match seen.is_empty() {
                true => draft.without("seen"),
                false => draft.set("seen", seen),
            };
        }
        if let Some(note) = self.device.note(now, &mut *self.randomness)? {
            draft = draft.set("proof", note);
        }
        Ok(draft)
    }

    /// Holds a version as this device's own, whatever it is.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn adopt(&mut self, version: Version) -> Result<(), JournalError> {
        // Whoever tests a host may have it hold what was never signed.
        let is_change = is_access_collection(&version.collection().into());
        let change = is_change.then(|| self.gatekeeper().check(version.object().clone()));
        self.holdings.stage_own(version);
        self.holdings.commit()?;
        if let Some(Ok(change)) = change {
            self.gatekeeper().took_in(&change);
            self.learn_keys();
        }
        Ok(())
    }

    /// What sends a version this device wrote to its peers.
    pub fn push(&mut self, version: &Version) -> Vec<Effect> {
        self.sync.written(version)
    }

    /// A peer is connected.
    pub fn connected(&mut self, peer: Did) -> Vec<Effect> {
        self.sync.connected(peer, &self.holdings)
    }

    /// A peer is gone.
    pub fn disconnected(&mut self, peer: Did) {
        self.sync.disconnected(peer);
    }

    /// Seals a file and holds it, to be named in a version written next.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn add_file(&mut self, content: &[u8]) -> Result<SealedFile, FileError> {
        let sealed = SealedFile::seal(content, &mut *self.randomness)?;
        self.sync.files_mut().add(sealed.stored.clone());
        Ok(sealed)
    }

    /// Asks a peer for a file that a version held names.
    pub fn fetch_file(&mut self, from: Did, named: NamedFile) -> Vec<Effect> {
        self.sync.fetch_file(from, named)
    }

    /// Says hello to a peer.
    pub fn say_hello(&mut self, peer: Did) -> Vec<Effect> {
        self.sync.say_hello(peer, &self.holdings)
    }

    /// A peer sent a sync message.
    ///
    /// # Errors
    /// [`JournalError`]: see [`Sync::received`].
    pub fn received(&mut self, from: Did, payload: Value) -> Result<Vec<Effect>, JournalError> {
        let effects = self.sync.received(from, payload, &mut self.holdings)?;
        self.line_unknown |= effects
            .iter()
            .any(|effect| matches!(effect, Effect::Event(Event::OwnLineUnknown { .. })));
        let took_in = |effect: &Effect| matches!(effect, Effect::Event(Event::TookIn { .. }));
        if effects.iter().any(took_in) {
            self.learn_keys();
        }
        Ok(effects)
    }

    /// Sends less per message from now on (04 §8).
    pub fn send_less(&mut self) {
        self.sync.send_less();
    }

    /// It is now `now`, in milliseconds since any moment.
    pub fn tick(&mut self, now: u64) -> Vec<Effect> {
        self.sync.tick(now, &mut self.holdings)
    }

    /// Whether the device's key may have been used elsewhere, and so can't be written under.
    pub fn needs_fresh_key(&self) -> bool {
        self.line_unknown
    }

    /// Goes on under a fresh session key.
    ///
    /// # Errors
    /// [`RandomnessError`].
    pub fn use_fresh_key(&mut self) -> Result<(), RandomnessError> {
        let device = self
            .device
            .account()
            .clone()
            .new_device(&mut *self.randomness)?;
        self.use_device(device);
        Ok(())
    }

    /// Goes on as `device`, whose key wrote nothing in this space but what is held. Peers know the
    /// replica by the key before, so it must connect anew.
    pub fn use_device(&mut self, device: Device) {
        self.line_unknown = self.holdings.has_foreign_version_by(&device.did());
        self.device = device;
        self.sync.go_on_as(self.device.did());
    }

    /// Whether a writer keeps a version whole (02 §4.5). The definition it goes by is the current
    /// one held.
    fn retains(&self, collection: &str, seq: u64, is_delete: bool) -> bool {
        if is_access_collection(&Text::from(collection)) {
            return true;
        }
        if RETAINED_BY_CUSTOM.contains(&collection) {
            return true;
        }
        let definition = self.holdings.current(&format!("collection:{collection}"));
        let Some(Opened::Body(Value::Object(definition))) =
            definition.map(|definition| self.space().open(definition))
        else {
            return false;
        };
        let keeps_history = definition.get("history").and_then(Value::as_str) == Some("all");
        let rules = definition.get("rules").and_then(Value::as_object);
        let has_rule =
            rules.is_some_and(|rules| rules.contains("onePer") || rules.contains("fixed"));
        keeps_history
            || (!is_delete && seq == 0 && has_rule)
            || (!is_delete && definition.contains("contract"))
    }
}

impl std::fmt::Debug for Replica {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replica")
            .field("space", &self.space().id())
            .finish_non_exhaustive()
    }
}
