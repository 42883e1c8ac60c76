//! [`Store`] over Postgres: several processes, one database.
//!
//! Every step is a single statement or a single transaction, so what it gives back was so
//! at one moment. A round trip costs more than a row, so statements take arrays and a
//! group commit is a few statements, however many batches it holds.

mod commit;
mod error;
mod facts;
mod lease;
mod migrate;
mod open;
mod options;
mod read;
mod runs;
mod segments;
mod spaces;
mod transaction;

use std::time::Duration;

use async_trait::async_trait;
use engine::rows::{Found, OpenedSpace, StoredVersion, Wanted};
use minca_record::content_id::ContentId;
use minca_sync::item::Item;
use sqlx::PgPool;

use crate::{
    BatchError, CarriedSpace, Door, Holder, Lease, NewSpace, Run, SegmentRow, Shard, SpaceBatch,
    Store, StoreError, StoreWriter, TakeLease,
};

pub use migrate::{DEFAULT_SHARDS, Migrated, migrate};
pub use open::OpenError;
pub use options::PostgresOptions;

/// Where entries live: a Postgres database, which several processes may have open.
pub struct PostgresStore {
    pool: PgPool,
    /// Into how many shards the database is divided, for good.
    shards: u32,
}

#[async_trait]
impl Store for PostgresStore {
    fn shards(&self) -> u32 {
        self.shards
    }

    /// The id is a hash already.
    fn shard_of(&self, space: &ContentId) -> Shard {
        let [a, b, c, d, e, f, g, h, ..] = *space.digest();
        let number = u64::from_be_bytes([a, b, c, d, e, f, g, h]) % u64::from(self.shards.max(1));
        // Less than a u32.
        Shard(u32::try_from(number).unwrap_or_default())
    }

    async fn take_lease(
        &self,
        shard: Shard,
        holder: Holder,
        lasts: Duration,
    ) -> Result<TakeLease, StoreError> {
        lease::take(&self.pool, shard, holder, lasts).await
    }

    async fn renew_lease(&self, lease: &Lease, lasts: Duration) -> Result<(), StoreError> {
        lease::renew(&self.pool, lease, lasts).await
    }

    async fn release_lease(&self, lease: &Lease) -> Result<(), StoreError> {
        lease::release(&self.pool, lease).await
    }

    async fn carry(&self, lease: &Lease, space: &NewSpace) -> Result<CarriedSpace, StoreError> {
        let shard = self.shard_of(&space.space);
        spaces::carry(&self.pool, shard, lease, space).await
    }

    async fn stop_carrying(&self, lease: &Lease, space: &ContentId) -> Result<bool, StoreError> {
        spaces::stop_carrying(&self.pool, self.shard_of(space), lease, space).await
    }

    async fn carried(
        &self,
        after: Option<ContentId>,
        limit: usize,
    ) -> Result<Vec<CarriedSpace>, StoreError> {
        spaces::carried(&self.pool, after, limit).await
    }

    async fn door(&self, space: &ContentId) -> Result<Option<Door>, StoreError> {
        spaces::door(&self.pool, space).await
    }

    async fn open(&self, space: &ContentId) -> Result<Option<OpenedSpace>, StoreError> {
        read::open(&self.pool, space).await
    }

    async fn read(&self, space: &ContentId, wanted: &Wanted) -> Result<Found, StoreError> {
        read::read(&self.pool, space, wanted).await
    }

    async fn items(
        &self,
        space: &ContentId,
        collection: &str,
        after: Option<Item>,
        limit: usize,
    ) -> Result<Vec<Item>, StoreError> {
        read::items(&self.pool, space, collection, after, limit).await
    }

    async fn runs(&self, space: &ContentId, collection: &str) -> Result<Vec<Run>, StoreError> {
        runs::read(&self.pool, space, collection).await
    }

    async fn versions(
        &self,
        space: &ContentId,
        ids: &[ContentId],
        max_bytes: usize,
    ) -> Result<Vec<StoredVersion>, StoreError> {
        read::versions(&self.pool, space, ids, max_bytes).await
    }

    async fn commit(
        &self,
        lease: &Lease,
        batches: &[SpaceBatch],
    ) -> Result<Vec<Result<(), BatchError>>, StoreError> {
        commit::commit(&self.pool, lease, batches).await
    }

    async fn spaces_to_segment(
        &self,
        shard: Shard,
        limit: usize,
    ) -> Result<Vec<ContentId>, StoreError> {
        segments::spaces_to_segment(&self.pool, shard, limit).await
    }

    async fn unsegmented(
        &self,
        space: &ContentId,
        max_bytes: usize,
    ) -> Result<Vec<StoredVersion>, StoreError> {
        segments::unsegmented(&self.pool, space, max_bytes).await
    }

    async fn store_writer(
        &self,
        lease: &Lease,
        space: &ContentId,
        fresh: [u8; 16],
    ) -> Result<StoreWriter, StoreError> {
        segments::store_writer(&self.pool, lease, space, fresh).await
    }

    async fn mark_writer_announced(
        &self,
        lease: &Lease,
        space: &ContentId,
        writer: [u8; 16],
    ) -> Result<(), StoreError> {
        segments::mark_writer_announced(&self.pool, lease, space, writer).await
    }

    async fn record_segment(
        &self,
        lease: &Lease,
        space: &ContentId,
        segment: &SegmentRow,
    ) -> Result<(), StoreError> {
        segments::record_segment(&self.pool, lease, space, segment).await
    }

    async fn segments(&self, space: &ContentId) -> Result<Vec<SegmentRow>, StoreError> {
        segments::segments(&self.pool, space).await
    }

    async fn host_fact(&self, name: &str) -> Result<Option<String>, StoreError> {
        facts::host_fact(&self.pool, name).await
    }

    async fn keep_host_fact(&self, name: &str, value: &str) -> Result<String, StoreError> {
        facts::keep_host_fact(&self.pool, name, value).await
    }

    async fn close(&self) {
        self.pool.close().await;
    }
}
