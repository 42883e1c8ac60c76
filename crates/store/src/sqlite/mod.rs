//! [`Store`] over one SQLite file: one process, no services.
//!
//! One connection writes, so transactions never wait for one another inside
//! SQLite; a few read beside it, each statement on a snapshot of its own (WAL).
//! Every step is a single statement or a single transaction, so what it gives
//! back was so at one moment.

mod arrays;
mod commit;
mod error;
mod facts;
mod lease;
mod open;
#[cfg(test)]
mod plans;
mod read;
mod reader;
mod rows;
mod runs;
mod segments;
mod spaces;

use std::fs::File;
use std::time::Duration;

use async_trait::async_trait;
use engine::rows::{Found, OpenedSpace, StoredVersion, Wanted};
use minca_record::content_id::ContentId;
use minca_sync::item::Item;
use sqlx::SqlitePool;

use crate::{
    BatchError, CarriedSpace, Door, Holder, Lease, NewSpace, Run, SegmentRow, Shard, SpaceBatch,
    Store, StoreError, StoreWriter, TakeLease,
};

pub use open::{OpenError, lock_folder};
pub use reader::SqliteReader;

/// The one shard of a SQLite store: there is one process to own it.
const SHARD: Shard = Shard(0);

/// Where entries live: a SQLite file in a data folder.
pub struct SqliteStore {
    /// One connection.
    writer: SqlitePool,
    readers: SqlitePool,
    /// Locked for as long as the store exists, so that no second one opens the folder.
    lock: File,
}

#[async_trait]
impl Store for SqliteStore {
    fn shards(&self) -> u32 {
        1
    }

    fn shard_of(&self, _space: &ContentId) -> Shard {
        SHARD
    }

    async fn take_lease(
        &self,
        shard: Shard,
        holder: Holder,
        lasts: Duration,
    ) -> Result<TakeLease, StoreError> {
        lease::take(&self.writer, shard, holder, lasts).await
    }

    async fn renew_lease(&self, lease: &Lease, lasts: Duration) -> Result<(), StoreError> {
        lease::renew(&self.writer, lease, lasts).await
    }

    async fn release_lease(&self, lease: &Lease) -> Result<(), StoreError> {
        lease::release(&self.writer, lease).await
    }

    async fn carry(&self, lease: &Lease, space: &NewSpace) -> Result<CarriedSpace, StoreError> {
        spaces::carry(&self.writer, lease, space).await
    }

    async fn stop_carrying(&self, lease: &Lease, space: &ContentId) -> Result<bool, StoreError> {
        spaces::stop_carrying(&self.writer, lease, space).await
    }

    async fn carried(
        &self,
        after: Option<ContentId>,
        limit: usize,
    ) -> Result<Vec<CarriedSpace>, StoreError> {
        spaces::carried(&self.readers, after, limit).await
    }

    async fn door(&self, space: &ContentId) -> Result<Option<Door>, StoreError> {
        spaces::door(&self.readers, space).await
    }

    async fn open(&self, space: &ContentId) -> Result<Option<OpenedSpace>, StoreError> {
        read::open(&self.readers, space).await
    }

    async fn read(&self, space: &ContentId, wanted: &Wanted) -> Result<Found, StoreError> {
        read::read(&self.readers, space, wanted).await
    }

    async fn items(
        &self,
        space: &ContentId,
        collection: &str,
        after: Option<Item>,
        limit: usize,
    ) -> Result<Vec<Item>, StoreError> {
        read::items(&self.readers, space, collection, after, limit).await
    }

    async fn runs(&self, space: &ContentId, collection: &str) -> Result<Vec<Run>, StoreError> {
        runs::read(&self.readers, space, collection).await
    }

    async fn versions(
        &self,
        space: &ContentId,
        ids: &[ContentId],
        max_bytes: usize,
    ) -> Result<Vec<StoredVersion>, StoreError> {
        read::versions(&self.readers, space, ids, max_bytes).await
    }

    async fn commit(
        &self,
        lease: &Lease,
        batches: &[SpaceBatch],
    ) -> Result<Vec<Result<(), BatchError>>, StoreError> {
        commit::commit(&self.writer, lease, batches).await
    }

    async fn spaces_to_segment(
        &self,
        shard: Shard,
        limit: usize,
    ) -> Result<Vec<ContentId>, StoreError> {
        segments::spaces_to_segment(&self.readers, shard, limit).await
    }

    async fn unsegmented(
        &self,
        space: &ContentId,
        max_bytes: usize,
    ) -> Result<Vec<StoredVersion>, StoreError> {
        segments::unsegmented(&self.readers, space, max_bytes).await
    }

    async fn store_writer(
        &self,
        lease: &Lease,
        space: &ContentId,
        fresh: [u8; 16],
    ) -> Result<StoreWriter, StoreError> {
        segments::store_writer(&self.writer, lease, space, fresh).await
    }

    async fn mark_writer_announced(
        &self,
        lease: &Lease,
        space: &ContentId,
        writer: [u8; 16],
    ) -> Result<(), StoreError> {
        segments::mark_writer_announced(&self.writer, lease, space, writer).await
    }

    async fn record_segment(
        &self,
        lease: &Lease,
        space: &ContentId,
        segment: &SegmentRow,
    ) -> Result<(), StoreError> {
        segments::record_segment(&self.writer, lease, space, segment).await
    }

    async fn segments(&self, space: &ContentId) -> Result<Vec<SegmentRow>, StoreError> {
        segments::segments(&self.readers, space).await
    }

    async fn host_fact(&self, name: &str) -> Result<Option<String>, StoreError> {
        facts::host_fact(&self.readers, name).await
    }

    async fn keep_host_fact(&self, name: &str, value: &str) -> Result<String, StoreError> {
        facts::keep_host_fact(&self.writer, name, value).await
    }

    async fn close(&self) {
        // Readers first: the last connection to go folds the log into the file.
        self.readers.close().await;
        self.writer.close().await;
        // The folder is free from here on, even while somebody still holds the store.
        if let Err(error) = self.lock.unlock() {
            tracing::warn!(kind = %error.kind(), "the data folder's lock could not be given back before the process ends");
        }
    }
}
