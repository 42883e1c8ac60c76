//! Where entries live: one trait, one conformance suite, SQLite and Postgres behind it.
//!
//! [`Store`] speaks of whole steps, one round trip each, never of rows. Every
//! write is fenced: it names the [`Lease`] it is made under, and a store whose
//! term has moved on refuses it with [`StoreError::Fenced`], so that a worker
//! that only believes it still owns a shard can't write.
//!
//! [`SqliteStore`] keeps them in one file, which a [`SqliteReader`] reads beside it;
//! [`PostgresStore`] in a database that several processes may have open. What every kind
//! of store does alike is in the conformance suite under `tests/`.

mod batch;
mod codec;
mod failure;
mod folder;
pub mod postgres;
mod runs;
mod sqlite;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use engine::rows::{Batch, Found, OpenedSpace, StoredVersion, Wanted};
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_sync::item::Item;
use minca_sync::sum::Sum;

pub use folder::{make_folder, sync_folder};
pub use postgres::PostgresStore;
pub use sqlite::{OpenError, SqliteReader, SqliteStore, lock_folder};

/// One of the parts that the spaces of a deployment are divided into. A space's
/// shard is a hash of its id; how many there are is the store's (SQLite: 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shard(pub u32);

/// A process that may hold leases: 16 random bytes drawn when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Holder(pub [u8; 16]);

/// The right to write one shard, until it runs out or the term is raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The shard it gives.
    pub shard: Shard,
    /// Whose it is.
    pub holder: Holder,
    /// Raised by one with every take-over; fences every write.
    pub term: u64,
}

/// The answer to asking for a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakeLease {
    /// It is the asker's now.
    Taken(Lease),
    /// Another holder has it.
    HeldByOther {
        /// For this long yet by the database's clock, unless it is prolonged or given back.
        runs_out_in: Duration,
    },
}

/// A space the host is to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSpace {
    /// The space's id.
    pub space: ContentId,
    /// Canonical JSON of the constitution, without the `id` member.
    pub constitution: Vec<u8>,
    /// The read key to let readers in on, in a private space. The constitution's
    /// unless the operator named a later one.
    pub read_key: Option<Did>,
}

/// A space the host holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarriedSpace {
    /// The space's id.
    pub space: ContentId,
    /// Canonical JSON of the constitution, without the `id` member.
    pub constitution: Vec<u8>,
    /// The current read key of a private space.
    pub read_key: Option<Did>,
    /// Counts changes of this row, for the bucket's copy of it (08 §14.1).
    pub revision: u64,
    /// Bytes of all versions kept, as [`engine::rows::VersionRow::stored_bytes`] counts them.
    pub bytes: u64,
    /// Versions kept, whole and stubs.
    pub versions: u64,
}

/// What a front-end needs to judge a proof (04 §5.3, §6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Door {
    /// The current read key of a private space; `None` for a public one.
    pub read_key: Option<Did>,
}

/// A run of at most [`RUN_ITEMS`] neighbouring items of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The run's least item when it was cut; items before the next run's `first`
    /// belong to it. The first run of a collection also takes all that sorts before it.
    pub first: Item,
    /// Count and sum of its items.
    pub sum: Sum,
}

/// The most items one run holds; one more and it is cut in two.
pub const RUN_ITEMS: usize = 1_024;

/// One space's batch in a group commit.
#[derive(Clone, Debug)]
pub struct SpaceBatch {
    /// The space it is for.
    pub space: ContentId,
    /// What is to be written.
    pub batch: Arc<Batch>,
}

/// A store writer id of this host for a space, under one term (05 §16.2, 08 §14.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreWriter {
    /// Its id, written as 32 hex characters in the bucket.
    pub id: [u8; 16],
    /// The counter of the last segment it wrote; 0 before the first.
    pub last_counter: u64,
    /// Whether `host/writers/…` names it in the bucket already.
    pub announced: bool,
}

/// A segment that is in the bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentRow {
    /// The store writer under whose prefix it is.
    pub writer: [u8; 16],
    /// Its place among that store writer's segments, from 1.
    pub counter: u64,
    /// The file name, `<counter>-<hash>.seg`.
    pub name: String,
    /// Length of the file.
    pub bytes: u64,
    /// The versions in it.
    pub versions: Vec<ContentId>,
}

/// Why the store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The lease's term is over. Nothing was written; whoever holds it must stop.
    #[error("the lease has been taken over: its term is no longer current")]
    Fenced,
    /// The space was never carried here, so there is nothing to write about it.
    #[error("the space was never held here")]
    NotHeld,
    /// The database did not answer, or answered that it can't now. Worth trying again.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// What is stored is not what this program writes. Trying again won't help.
    #[error("the database holds what it should not: {0}")]
    Corrupt(String),
    /// The schema is not one this program knows.
    #[error("the database's schema is at version {found}, and this program's is version {known}")]
    UnknownSchema {
        /// The last migration the database has been through.
        found: i64,
        /// The last migration of this program.
        known: i64,
    },
}

/// Why one batch was cut out of a group commit while the rest landed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BatchError {
    /// The space is not held (any more).
    #[error("the space is not held")]
    NotHeld,
    /// The batch contradicts what is stored. Nothing of it was written.
    #[error("the batch does not fit what is stored: {0}")]
    DoesNotFit(String),
}

/// Where a host's entries live. One conformance suite runs against every kind.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// How many shards spaces are divided into.
    fn shards(&self) -> u32;

    /// The shard a space is in.
    fn shard_of(&self, space: &ContentId) -> Shard;

    // Who owns what.

    /// Takes a shard's lease if it is free, run out or already this holder's;
    /// raises the term unless it is this holder's own and still running.
    async fn take_lease(
        &self,
        shard: Shard,
        holder: Holder,
        lasts: Duration,
    ) -> Result<TakeLease, StoreError>;
    /// Prolongs a lease from the database's now. [`StoreError::Fenced`] if it was taken over.
    async fn renew_lease(&self, lease: &Lease, lasts: Duration) -> Result<(), StoreError>;
    /// Gives a lease back, so that the next holder need not wait.
    async fn release_lease(&self, lease: &Lease) -> Result<(), StoreError>;

    // Which spaces the host holds.

    /// Holds a space, or, when it is held already, changes its read key. Returns the row as it is now.
    async fn carry(&self, lease: &Lease, space: &NewSpace) -> Result<CarriedSpace, StoreError>;
    /// Stops holding a space; its entries stay. False if it was not held.
    async fn stop_carrying(&self, lease: &Lease, space: &ContentId) -> Result<bool, StoreError>;
    /// The spaces held, by id (order of digests), after `after`, at most `limit`.
    async fn carried(
        &self,
        after: Option<ContentId>,
        limit: usize,
    ) -> Result<Vec<CarriedSpace>, StoreError>;
    /// What a front-end needs to let someone in; `None` where the space is not held.
    /// Costs the same either way.
    async fn door(&self, space: &ContentId) -> Result<Option<Door>, StoreError>;

    // One space.

    /// What a space needs at first touch; `None` where it is not held.
    async fn open(&self, space: &ContentId) -> Result<Option<OpenedSpace>, StoreError>;
    /// What is held of what a batch names.
    async fn read(&self, space: &ContentId, wanted: &Wanted) -> Result<Found, StoreError>;
    /// Items of a collection in sync's order, after `after`, at most `limit`.
    async fn items(
        &self,
        space: &ContentId,
        collection: &str,
        after: Option<Item>,
        limit: usize,
    ) -> Result<Vec<Item>, StoreError>;
    /// The runs of a collection, in order.
    async fn runs(&self, space: &ContentId, collection: &str) -> Result<Vec<Run>, StoreError>;
    /// Versions by id, in the order asked, those held only; stops before `max_bytes`
    /// of pieces but always gives the first that is held.
    async fn versions(
        &self,
        space: &ContentId,
        ids: &[ContentId],
        max_bytes: usize,
    ) -> Result<Vec<StoredVersion>, StoreError>;
    /// Writes batches of spaces of the lease's shard in one transaction. A batch that
    /// fails is cut out and the rest lands; the outer error means that nothing did.
    /// The answers are in the order of `batches`.
    async fn commit(
        &self,
        lease: &Lease,
        batches: &[SpaceBatch],
    ) -> Result<Vec<Result<(), BatchError>>, StoreError>;

    // What is in the bucket.

    /// Spaces of a shard with versions (or a changed body) no segment holds yet, oldest first.
    async fn spaces_to_segment(
        &self,
        shard: Shard,
        limit: usize,
    ) -> Result<Vec<ContentId>, StoreError>;
    /// Versions no segment holds yet, in the order they were written, up to `max_bytes` (at least one).
    async fn unsegmented(
        &self,
        space: &ContentId,
        max_bytes: usize,
    ) -> Result<Vec<StoredVersion>, StoreError>;
    /// The store writer of this lease's term for a space, made from `fresh` if there is none yet.
    async fn store_writer(
        &self,
        lease: &Lease,
        space: &ContentId,
        fresh: [u8; 16],
    ) -> Result<StoreWriter, StoreError>;
    /// Notes that `host/writers/…` names the store writer in the bucket.
    async fn mark_writer_announced(
        &self,
        lease: &Lease,
        space: &ContentId,
        writer: [u8; 16],
    ) -> Result<(), StoreError>;
    /// Notes a segment that is in the bucket and marks its versions known, in one step.
    async fn record_segment(
        &self,
        lease: &Lease,
        space: &ContentId,
        segment: &SegmentRow,
    ) -> Result<(), StoreError>;
    /// The segments recorded for a space, by writer and counter.
    async fn segments(&self, space: &ContentId) -> Result<Vec<SegmentRow>, StoreError>;

    // The host itself.

    /// A fact about the host kept with its entries, such as its DID.
    async fn host_fact(&self, name: &str) -> Result<Option<String>, StoreError>;
    /// Keeps a fact unless there is one by that name; returns the one that is kept.
    async fn keep_host_fact(&self, name: &str, value: &str) -> Result<String, StoreError>;
    /// Finishes what is under way and closes the database.
    async fn close(&self);
}
