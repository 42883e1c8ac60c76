//! A version: one signed JSON object, the unit that is hashed, stored and
//! synced (02 §3).

mod chain;
mod order;
mod parts;
mod shape;
mod verify;

pub use chain::{Chain, ChainRefusal, Held, Missing, follows};
pub use order::supersedes;
pub use parts::{Parts, join};
pub use shape::{
    MAX_COLLECTION, MAX_CREATED_AT, MAX_DEPTH, MAX_SEEN, MAX_TAGS, MAX_VERSION_BYTES, ShapeError,
};

pub use verify::{
    Checked, Refusal, author_key, check, check_body, check_id, check_note, check_owner,
    check_place, check_scope, check_signature,
};

use crate::content_id::ContentId;
use crate::json::{Object, Text, Value};
use crate::links::Link;
use crate::signature::Signature;
use crate::time::item_timestamp;

/// The members of a version that its signature doesn't cover (02 §3.2).
pub(crate) const UNSIGNED: [&str; 3] = ["id", "signature", "body"];

/// A well-formed version (02 §4.6). That its id, signature and note are good
/// is another matter: see [`check`].
///
/// Members it doesn't know are kept, and written and hashed with the rest.
#[derive(Clone)]
pub struct Version {
    object: Object,
    signed_part: Vec<u8>,
    body_canonical: Option<Vec<u8>>,
    id: ContentId,
    author: Text,
    collection: Box<str>,
    key: Box<str>,
    created_at: Text,
    seq: u64,
    chain: Option<Chain>,
    seen: Vec<ContentId>,
    retain: bool,
    deleted: bool,
    log: LogPlace,
    signature: Signature,
}

/// A version's place in its author's line for its collection (02 §4.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPlace {
    /// The place, from 0.
    pub n: u64,
    /// The version at the place before; `None` exactly when `n` is 0.
    pub prev: Option<ContentId>,
}

impl Version {
    /// Reads a version of a space, checking everything that can be told from
    /// it alone, in the order of 02 §4.6.
    ///
    /// # Errors
    /// The first check that fails.
    pub fn shape(value: Value) -> Result<Version, ShapeError> {
        shape::read(value, shape::LogRule::Required)
    }

    /// As [`Version::shape`] for a version of no space, which has no `log`
    /// (02 §3.5). Its [`log`](Version::log) then means nothing.
    pub(crate) fn loose_shape(value: Value) -> Result<Version, ShapeError> {
        shape::read(value, shape::LogRule::NotRead)
    }

    /// The content id it claims, which [`check_id`] checks.
    pub fn id(&self) -> ContentId {
        self.id
    }

    /// The DID of the key that signed, as it is written:
    /// [`author_key`] tells whether it is one.
    pub fn author(&self) -> &Text {
        &self.author
    }

    /// The collection its record is in.
    pub fn collection(&self) -> &str {
        &self.collection
    }

    /// The space it names, if it names one in a space id's only spelling.
    pub fn space(&self) -> Option<ContentId> {
        as_id(self.object.get("space")?)
    }

    /// The key of its record.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// 0 for a first version, else one more than the version it replaces.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The versions a later version follows; `None` exactly when `seq` is 0.
    pub fn chain(&self) -> Option<Chain> {
        self.chain
    }

    /// The version it replaces, if its `seq` isn't 0.
    pub fn prev(&self) -> Option<ContentId> {
        self.chain.map(|chain| chain.prev)
    }

    /// The first version of its chain, if its own `seq` isn't 0.
    pub fn genesis(&self) -> Option<ContentId> {
        self.chain.map(|chain| chain.genesis)
    }

    /// What the writer's clock said, as it is written. It orders nothing and
    /// may be no time at all (02 §11).
    pub fn created_at(&self) -> &Text {
        &self.created_at
    }

    /// Whether it is kept whole once superseded.
    pub fn retain(&self) -> bool {
        self.retain
    }

    /// Whether it deletes its record.
    pub fn deleted(&self) -> bool {
        self.deleted
    }

    /// Heads of the access history its writer knew, at most 64; the space's id
    /// stands for the constitution. Empty also when it has no `seen`.
    pub fn seen(&self) -> &[ContentId] {
        &self.seen
    }

    /// Its place in its author's line for its collection.
    pub fn log(&self) -> LogPlace {
        self.log
    }

    /// The content, if it carries it. On a delete `null`, or absent.
    pub fn body(&self) -> Option<&Value> {
        self.object.get("body")
    }

    /// The canonical form of [`body`](Version::body).
    pub fn body_canonical(&self) -> Option<&[u8]> {
        self.body_canonical.as_deref()
    }

    /// The content id of the body; `None` exactly on a delete. [`check_body`]
    /// checks it.
    pub fn body_hash(&self) -> Option<&Text> {
        self.object.get("bodyHash")?.as_text()
    }

    /// The note its author signs under, not yet checked (02 §9.3).
    pub fn proof(&self) -> Option<&Value> {
        self.object.get("proof")
    }

    /// The ECDSA signature, `r ‖ s`.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Its blind topic tags, as they are written: in any order, perhaps twice.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.list("tags").iter().filter_map(Value::as_str)
    }

    /// The links it carries in the clear.
    pub fn links(&self) -> impl Iterator<Item = Link<'_>> {
        self.list("links").iter().filter_map(Link::read)
    }

    /// The member with this name, known or not.
    pub fn member(&self, name: &str) -> Option<&Value> {
        self.object.get(name)
    }

    /// Whether it lacks a body it would need: no delete, and no `body`
    /// (02, terms). Whole, otherwise.
    pub fn is_stub(&self) -> bool {
        !self.deleted && self.body_canonical.is_none()
    }

    /// The bytes that are signed, whose content id is the version's id: the
    /// canonical form without `id`, `signature` and `body` (02 §3.2).
    pub fn signed_part(&self) -> &[u8] {
        &self.signed_part
    }

    /// The canonical form of the whole version, as it is kept here.
    pub fn canonical(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.object.write_canonical_without(&[], &mut out);
        out
    }

    /// The version's JSON object.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// The pair that sync compares: a timestamp in seconds since 1970, and the
    /// digest inside the id (05 §2).
    pub fn item(&self) -> (u64, [u8; 32]) {
        let timestamp = self.created_at.as_str().map_or(0, item_timestamp);
        (timestamp, *self.id.digest())
    }

    fn list(&self, name: &str) -> &[Value] {
        self.object
            .get(name)
            .and_then(Value::as_array)
            .unwrap_or_default()
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Version) -> bool {
        self.object == other.object
    }
}

/// Shows the id alone: a version's members belong in no log.
impl std::fmt::Debug for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Version")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// The content id a JSON value spells, if it is one.
fn as_id(value: &Value) -> Option<ContentId> {
    ContentId::parse(value.as_str()?).ok()
}
