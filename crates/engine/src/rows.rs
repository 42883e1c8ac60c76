//! What goes between an engine and the store: whole steps, never SQL.
//!
//! A version is kept in three pieces (`minca_record::version::Parts`): the
//! envelope without its note, the note (kept once per space by the store), and
//! the body, which goes when the version is superseded.

use std::collections::HashMap;

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::placement::{Form, Placed};
use minca_sync::item::Item;
use minca_sync::sum::Sum;

/// A version as a commit writes it (05 §10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRow {
    /// The version's id; its digest is the item id (05 §2).
    pub id: ContentId,
    /// The collection it is in (02 §4.6: never with a lone surrogate).
    pub collection: String,
    /// The item timestamp in seconds (02 §11).
    pub timestamp: u64,
    /// The record key (02 §4.1).
    pub key: String,
    /// Its place in the record's chain.
    pub seq: u64,
    /// The chain's first version; `None` exactly when `seq` is 0.
    pub genesis: Option<ContentId>,
    /// The account it speaks for (01 §7.5): the note's issuer, or its author.
    pub root: Did,
    /// Its writer asked for it to be kept whole once superseded.
    pub retain: bool,
    /// It deletes the record. A delete has no body and counts as whole.
    pub deleted: bool,
    /// Canonical JSON of the version without `body` and `proof`.
    pub envelope: Vec<u8>,
    /// Canonical JSON of the note in `proof`, if it has one.
    pub proof: Option<Vec<u8>>,
    /// Canonical JSON of the body; `None` for a stub, or a delete without one.
    pub body: Option<Vec<u8>>,
}

impl VersionRow {
    /// Whether this is no stub: a delete, or a version with its body (02 Terms).
    pub fn is_whole(&self) -> bool {
        self.deleted || self.body.is_some()
    }

    /// What the version counts for in a space's bytes: envelope, note and body.
    pub fn stored_bytes(&self) -> u64 {
        let length = |piece: &Option<Vec<u8>>| piece.as_ref().map_or(0, Vec::len);
        (self.envelope.len() + length(&self.proof) + length(&self.body)) as u64
    }

    /// The version's place in sync's order (05 §2).
    pub fn item(&self) -> Item {
        Item {
            timestamp: self.timestamp,
            id: *self.id.digest(),
        }
    }

    /// What later versions are checked against (02 §4.7) and placed by.
    pub fn held(&self) -> HeldVersion {
        HeldVersion {
            id: self.id,
            collection: self.collection.clone(),
            key: self.key.clone(),
            seq: self.seq,
            genesis: self.genesis,
            root: self.root,
            retain: self.retain,
            deleted: self.deleted,
            whole: self.is_whole(),
        }
    }
}

/// What judging and placing need to know of a held version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldVersion {
    /// The version's id.
    pub id: ContentId,
    /// The collection it is in.
    pub collection: String,
    /// Its record key.
    pub key: String,
    /// Its place in the record's chain.
    pub seq: u64,
    /// The chain's first version; `None` exactly when `seq` is 0.
    pub genesis: Option<ContentId>,
    /// The account it speaks for; of a chain's first version, the record's creator
    /// as `byCreator` asks for it (02 §4.1).
    pub root: Did,
    /// It is kept whole once superseded.
    pub retain: bool,
    /// It deletes the record.
    pub deleted: bool,
    /// Kept whole, not as a stub. A delete always counts as whole.
    pub whole: bool,
}

impl HeldVersion {
    /// What a later version is checked against (02 §4.7).
    pub fn chain_place(&self) -> minca_record::version::Held {
        minca_record::version::Held {
            id: self.id,
            key: self.key.as_str().into(),
            collection: self.collection.as_str().into(),
            seq: self.seq,
            genesis: self.genesis,
        }
    }

    /// What placing needs to know of it (05 §10.1).
    pub fn placed(&self) -> Placed {
        Placed {
            id: self.id,
            seq: self.seq,
            retain: self.retain,
            deleted: self.deleted,
            form: if self.whole { Form::Whole } else { Form::Stub },
        }
    }
}

/// The heads of one record: the `r/` and `g/` entries of 05 §10.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordRow {
    /// The record key.
    pub key: String,
    /// The current version, possibly a delete (`r/`).
    pub current: ContentId,
    /// The first version kept apart once the record was edited (`g/`).
    pub first: Option<ContentId>,
}

/// What a batch of versions names, asked for in one read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Versions by id.
    pub versions: Vec<ContentId>,
    /// Record keys; their current version comes back among the versions too.
    pub records: Vec<String>,
    /// Versions whose body is wanted, where it is held.
    pub bodies: Vec<ContentId>,
}

impl Wanted {
    pub fn is_empty(&self) -> bool {
        self.versions.is_empty() && self.records.is_empty() && self.bodies.is_empty()
    }
}

/// The answer to [`Wanted`]: what is there; what isn't is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub versions: HashMap<ContentId, HeldVersion>,
    pub records: HashMap<String, RecordRow>,
    /// Canonical JSON of the bodies asked for.
    pub bodies: HashMap<ContentId, Vec<u8>>,
}

/// What one commit writes for one space: whole, or not at all.
///
/// The store adds to and takes from the collection's sum, the run's sum and the
/// space's bytes in the same transaction. A batch names a version in at most one
/// of `keep`, `fill` and `drop_bodies`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Versions not held before, whole or as stubs.
    pub keep: Vec<VersionRow>,
    /// Bodies of versions held as stubs until now.
    pub fill: Vec<(ContentId, Vec<u8>)>,
    /// Versions held whole until now whose body goes (05 §10.1 "demote").
    pub drop_bodies: Vec<ContentId>,
    /// The new heads of every record the batch touches.
    pub records: Vec<RecordRow>,
    /// The key readers of the private space prove from now on (04 §6.3), where the
    /// batch's access changes make it another.
    pub read_key: Option<Did>,
}

impl Batch {
    pub fn is_empty(&self) -> bool {
        self.keep.is_empty()
            && self.fill.is_empty()
            && self.drop_bodies.is_empty()
            && self.records.is_empty()
            && self.read_key.is_none()
    }
}

/// A version as the store gives it back, its pieces still apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredVersion {
    pub id: ContentId,
    pub collection: String,
    pub key: String,
    pub envelope: Vec<u8>,
    pub proof: Option<Vec<u8>>,
    pub body: Option<Vec<u8>>,
}

/// What a space in use needs at first touch, read in one round trip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedSpace {
    /// Canonical JSON of the constitution (03 §1.1).
    pub constitution: Vec<u8>,
    /// Count and sum of every collection with at least one version.
    pub sums: Vec<(String, Sum)>,
    /// The versions of the twelve access collections (02 §6.4), whole.
    pub access: Vec<StoredVersion>,
}
