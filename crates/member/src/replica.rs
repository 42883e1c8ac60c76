//! A space on a device: what it holds, what it writes, and where its sync stands.

use minca_record::content_id::ContentId;
use minca_record::derive::SpaceKey;
use minca_record::did::Did;
use minca_record::files::NamedFile;
use minca_record::json::{Text, Value};
use minca_record::required::is_access_collection;
use minca_record::version::{ShapeError, Version};
use minca_sync::message::Holds;
use thiserror::Error;

use crate::clock::UnixTime;
use crate::files::{FileError, SealedFile};
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
    /// Heads of the access history the writer knew; `None` for the constitution alone.
    pub seen: Option<Vec<ContentId>>,
}

/// A record as a member reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The current version.
    pub id: ContentId,
    /// The record key.
    pub key: String,
    /// The collection.
    pub collection: String,
    /// How often the record was changed.
    pub seq: u64,
    /// What the writer's clock said.
    pub created_at: Text,
    /// The content.
    pub body: Opened,
}

/// A space on a device.
pub struct Replica {
    space: Space,
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
        let sync = Sync::new(device.did(), space.id(), holds);
        let line_unknown = holdings.has_foreign_version_by(&device.did());
        Replica {
            space,
            device,
            holdings,
            sync,
            randomness,
            line_unknown,
        }
    }

    /// The space.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Writes under this space key from now on, and proves its read key (03 §9.3).
    pub fn take_key(&mut self, key: SpaceKey) {
        self.space.take_key(key);
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
    /// [`WriteError`]: nothing was written.
    pub fn write(&mut self, write: Write, now: UnixTime) -> Result<Version, WriteError> {
        let draft = self.draft(write, now)?;
        let version = Version::shape(Value::from(draft.sign(self.device.key())))?;
        self.adopt(version.clone())?;
        Ok(version)
    }

    /// What [`write`](Replica::write) would sign, to be changed and signed by whoever tests a
    /// host. It uses up no place.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn draft(&mut self, write: Write, now: UnixTime) -> Result<Draft, WriteError> {
        if self.line_unknown {
            return Err(WriteError::LineUnknown);
        }
        let root = self.device.account().did();
        let key = match write.key {
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
        let mut draft = Draft::new(self.space.id(), &write.collection, &key, position, log, now);
        match write.body {
            None => draft = draft.delete(),
            Some(body) => {
                let links = if self.space.seals(&write.collection) {
                    write.links
                } else {
                    if !write.links.is_empty() {
                        draft = draft.set("links", write.links);
                    }
                    Vec::new()
                };
                let randomness = &mut *self.randomness;
                let body = self
                    .space
                    .seal(&write.collection, &key, body, links, randomness)?;
                draft = draft.body(body);
                if !write.files.is_empty() {
                    draft = draft.set("files", write.files);
                }
            }
        }
        if retain {
            draft = draft.set("retain", true);
        }
        if let Some(seen) = write.seen {
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
        self.holdings.stage_own(version);
        self.holdings.commit()
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
        let holds = self.sync.holds().clone();
        let files = std::mem::take(self.sync.files_mut());
        self.sync = Sync::new(self.device.did(), self.space.id(), holds);
        *self.sync.files_mut() = files;
    }

    /// The current records, those of one collection or all, by record key. Deleted ones are left
    /// out.
    pub fn records(&self, collection: Option<&str>) -> Vec<Record> {
        self.holdings
            .current_versions()
            .filter(|version| !version.deleted())
            .filter(|version| collection.is_none_or(|name| name == version.collection()))
            .map(|version| Record {
                id: version.id(),
                key: version.key().to_owned(),
                collection: version.collection().to_owned(),
                seq: version.seq(),
                created_at: version.created_at().clone(),
                body: self.space.open(version),
            })
            .collect()
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
            definition.map(|definition| self.space.open(definition))
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
            .field("space", &self.space.id())
            .finish_non_exhaustive()
    }
}
