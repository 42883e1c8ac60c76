//! A store and an object store that fail at a chosen call, real ones below them.

use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use bucket::FolderStore;
use engine::rows::{Found, OpenedSpace, StoredVersion, Wanted};
use futures::stream::BoxStream;
use minca_record::content_id::ContentId;
use minca_sync::item::Item;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult,
};
use store::{
    BatchError, CarriedSpace, Door, Holder, Lease, NewSpace, Run, SegmentRow, Shard, SpaceBatch,
    SqliteStore, Store, StoreError, StoreWriter, TakeLease,
};

/// Whether a call that fails has had its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Before,
    After,
}

/// Which call fails, counted over both stores.
#[derive(Debug, Default)]
pub(crate) struct Faults(Mutex<Option<(usize, When)>>);

impl Faults {
    /// Lets `step` calls pass, then fails one.
    pub(crate) fn fail_at(&self, step: usize, when: When) {
        *self.0.lock().unwrap() = Some((step, when));
    }

    /// Counts a call; says how it fails if it does.
    pub(crate) fn step(&self) -> Option<When> {
        let mut left = self.0.lock().unwrap();
        match *left {
            Some((0, when)) => {
                *left = None;
                Some(when)
            }
            Some((steps, when)) => {
                *left = Some((steps - 1, when));
                None
            }
            None => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct FaultyFolder {
    pub(crate) folder: FolderStore,
    pub(crate) faults: Arc<Faults>,
}

fn object_store_failed() -> object_store::Error {
    object_store::Error::Generic {
        store: "faulty",
        source: "the call was cut short".into(),
    }
}

impl std::fmt::Display for FaultyFolder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("faulty")
    }
}

#[async_trait]
impl ObjectStore for FaultyFolder {
    async fn put_opts(
        &self,
        at: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> object_store::Result<PutResult> {
        match self.faults.step() {
            None => self.folder.put_opts(at, payload, options).await,
            Some(When::Before) => Err(object_store_failed()),
            Some(When::After) => {
                self.folder.put_opts(at, payload, options).await?;
                Err(object_store_failed())
            }
        }
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        options: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        self.folder.put_multipart_opts(at, options).await
    }

    async fn get_opts(&self, at: &Path, options: GetOptions) -> object_store::Result<GetResult> {
        self.folder.get_opts(at, options).await
    }

    fn delete_stream(
        &self,
        all: BoxStream<'static, object_store::Result<Path>>,
    ) -> BoxStream<'static, object_store::Result<Path>> {
        self.folder.delete_stream(all)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        self.folder.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> object_store::Result<ListResult> {
        self.folder.list_with_delimiter(prefix).await
    }

    async fn copy_opts(
        &self,
        from: &Path,
        to: &Path,
        options: CopyOptions,
    ) -> object_store::Result<()> {
        self.folder.copy_opts(from, to, options).await
    }
}

pub(crate) struct FaultyStore {
    pub(crate) store: SqliteStore,
    pub(crate) faults: Arc<Faults>,
}

impl FaultyStore {
    async fn call<T>(
        &self,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let failed = || StoreError::Unavailable("the call was cut short".to_owned());
        match self.faults.step() {
            None => call.await,
            Some(When::Before) => Err(failed()),
            Some(When::After) => {
                call.await?;
                Err(failed())
            }
        }
    }
}

type Stored<T> = Result<T, StoreError>;

/// Only what a flush calls can fail.
#[async_trait]
impl Store for FaultyStore {
    async fn unsegmented(&self, space: &ContentId, max_bytes: usize) -> Stored<Vec<StoredVersion>> {
        self.call(self.store.unsegmented(space, max_bytes)).await
    }

    async fn store_writer(
        &self,
        lease: &Lease,
        space: &ContentId,
        fresh: [u8; 16],
    ) -> Stored<StoreWriter> {
        self.call(self.store.store_writer(lease, space, fresh))
            .await
    }

    async fn mark_writer_announced(
        &self,
        lease: &Lease,
        space: &ContentId,
        writer: [u8; 16],
    ) -> Stored<()> {
        self.call(self.store.mark_writer_announced(lease, space, writer))
            .await
    }

    async fn record_segment(
        &self,
        lease: &Lease,
        space: &ContentId,
        segment: &SegmentRow,
    ) -> Stored<()> {
        self.call(self.store.record_segment(lease, space, segment))
            .await
    }

    fn shards(&self) -> u32 {
        self.store.shards()
    }

    fn shard_of(&self, space: &ContentId) -> Shard {
        self.store.shard_of(space)
    }

    async fn take_lease(&self, shard: Shard, holder: Holder, lasts: Duration) -> Stored<TakeLease> {
        self.store.take_lease(shard, holder, lasts).await
    }

    async fn renew_lease(&self, lease: &Lease, lasts: Duration) -> Stored<()> {
        self.store.renew_lease(lease, lasts).await
    }

    async fn release_lease(&self, lease: &Lease) -> Stored<()> {
        self.store.release_lease(lease).await
    }

    async fn carry(&self, lease: &Lease, space: &NewSpace) -> Stored<CarriedSpace> {
        self.store.carry(lease, space).await
    }

    async fn stop_carrying(&self, lease: &Lease, space: &ContentId) -> Stored<bool> {
        self.store.stop_carrying(lease, space).await
    }

    async fn carried(&self, after: Option<ContentId>, limit: usize) -> Stored<Vec<CarriedSpace>> {
        self.store.carried(after, limit).await
    }

    async fn door(&self, space: &ContentId) -> Stored<Option<Door>> {
        self.store.door(space).await
    }

    async fn open(&self, space: &ContentId) -> Stored<Option<OpenedSpace>> {
        self.store.open(space).await
    }

    async fn read(&self, space: &ContentId, wanted: &Wanted) -> Stored<Found> {
        self.store.read(space, wanted).await
    }

    async fn items(
        &self,
        space: &ContentId,
        collection: &str,
        after: Option<Item>,
        limit: usize,
    ) -> Stored<Vec<Item>> {
        self.store.items(space, collection, after, limit).await
    }

    async fn runs(&self, space: &ContentId, collection: &str) -> Stored<Vec<Run>> {
        self.store.runs(space, collection).await
    }

    async fn versions(
        &self,
        space: &ContentId,
        ids: &[ContentId],
        max_bytes: usize,
    ) -> Stored<Vec<StoredVersion>> {
        self.store.versions(space, ids, max_bytes).await
    }

    async fn commit(
        &self,
        lease: &Lease,
        batches: &[SpaceBatch],
    ) -> Stored<Vec<Result<(), BatchError>>> {
        self.store.commit(lease, batches).await
    }

    async fn spaces_to_segment(&self, shard: Shard, limit: usize) -> Stored<Vec<ContentId>> {
        self.store.spaces_to_segment(shard, limit).await
    }

    async fn segments(&self, space: &ContentId) -> Stored<Vec<SegmentRow>> {
        self.store.segments(space).await
    }

    async fn host_fact(&self, name: &str) -> Stored<Option<String>> {
        self.store.host_fact(name).await
    }

    async fn keep_host_fact(&self, name: &str, value: &str) -> Stored<String> {
        self.store.keep_host_fact(name, value).await
    }

    async fn close(&self) {
        self.store.close().await;
    }
}
