//! A store that does what it is told to do wrong, over one that works.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use engine::rows::{Found, OpenedSpace, StoredVersion, Wanted};
use minca_record::content_id::ContentId;
use minca_sync::item::Item;
use store::{
    BatchError, CarriedSpace, Door, Holder, Lease, NewSpace, Run, SegmentRow, Shard, SpaceBatch,
    Store, StoreError, StoreWriter, TakeLease,
};
use tokio::sync::Semaphore;

/// See the module's documentation.
pub struct Faulty {
    pub inner: Arc<dyn Store>,
    /// A commit takes a permit first.
    pub commits: Semaphore,
    /// Commits that wait for one.
    pub commits_waiting: AtomicUsize,
    /// The most there were at a time.
    pub most_commits_waiting: AtomicUsize,
    /// A lease can't be renewed.
    pub renews_nothing: AtomicBool,
    pub panics_at_open: AtomicBool,
    pub panics_at_commit: AtomicBool,
}

impl Faulty {
    pub fn new(inner: Arc<dyn Store>) -> Faulty {
        Faulty {
            inner,
            commits: Semaphore::new(1_000_000),
            commits_waiting: AtomicUsize::new(0),
            most_commits_waiting: AtomicUsize::new(0),
            renews_nothing: AtomicBool::new(false),
            panics_at_open: AtomicBool::new(false),
            panics_at_commit: AtomicBool::new(false),
        }
    }

    /// Holds up every commit from now on; gives the number of permits to let them go with.
    pub async fn hold_commits(&self) -> usize {
        let free = self.commits.available_permits();
        let all = u32::try_from(free).unwrap();
        self.commits.acquire_many(all).await.unwrap().forget();
        free
    }

    /// Waits until a commit is held up.
    pub async fn until_a_commit_waits(&self) {
        self.until_commits_wait(1).await;
    }

    /// Waits until so many commits are held up.
    pub async fn until_commits_wait(&self, count: usize) {
        while self.commits_waiting.load(Ordering::SeqCst) < count {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

type Result<T> = std::result::Result<T, StoreError>;

#[async_trait]
impl Store for Faulty {
    fn shards(&self) -> u32 {
        self.inner.shards()
    }

    fn shard_of(&self, space: &ContentId) -> Shard {
        self.inner.shard_of(space)
    }

    async fn take_lease(&self, shard: Shard, holder: Holder, lasts: Duration) -> Result<TakeLease> {
        self.inner.take_lease(shard, holder, lasts).await
    }

    async fn renew_lease(&self, lease: &Lease, lasts: Duration) -> Result<()> {
        if self.renews_nothing.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("told to renew nothing".to_owned()));
        }
        self.inner.renew_lease(lease, lasts).await
    }

    async fn release_lease(&self, lease: &Lease) -> Result<()> {
        self.inner.release_lease(lease).await
    }

    async fn carry(&self, lease: &Lease, space: &NewSpace) -> Result<CarriedSpace> {
        self.inner.carry(lease, space).await
    }

    async fn stop_carrying(&self, lease: &Lease, space: &ContentId) -> Result<bool> {
        self.inner.stop_carrying(lease, space).await
    }

    async fn carried(&self, after: Option<ContentId>, limit: usize) -> Result<Vec<CarriedSpace>> {
        self.inner.carried(after, limit).await
    }

    async fn door(&self, space: &ContentId) -> Result<Option<Door>> {
        self.inner.door(space).await
    }

    async fn open(&self, space: &ContentId) -> Result<Option<OpenedSpace>> {
        assert!(
            !self.panics_at_open.swap(false, Ordering::SeqCst),
            "told to"
        );
        self.inner.open(space).await
    }

    async fn read(&self, space: &ContentId, wanted: &Wanted) -> Result<Found> {
        self.inner.read(space, wanted).await
    }

    async fn items(
        &self,
        space: &ContentId,
        collection: &str,
        after: Option<Item>,
        limit: usize,
    ) -> Result<Vec<Item>> {
        self.inner.items(space, collection, after, limit).await
    }

    async fn runs(&self, space: &ContentId, collection: &str) -> Result<Vec<Run>> {
        self.inner.runs(space, collection).await
    }

    async fn versions(
        &self,
        space: &ContentId,
        ids: &[ContentId],
        max_bytes: usize,
    ) -> Result<Vec<StoredVersion>> {
        self.inner.versions(space, ids, max_bytes).await
    }

    async fn commit(
        &self,
        lease: &Lease,
        batches: &[SpaceBatch],
    ) -> Result<Vec<std::result::Result<(), BatchError>>> {
        assert!(
            !self.panics_at_commit.swap(false, Ordering::SeqCst),
            "told to"
        );
        let before = self.commits_waiting.fetch_add(1, Ordering::SeqCst);
        self.most_commits_waiting
            .fetch_max(before + 1, Ordering::SeqCst);
        self.commits.acquire().await.unwrap().forget();
        self.commits_waiting.fetch_sub(1, Ordering::SeqCst);
        self.inner.commit(lease, batches).await
    }

    async fn spaces_to_segment(&self, shard: Shard, limit: usize) -> Result<Vec<ContentId>> {
        self.inner.spaces_to_segment(shard, limit).await
    }

    async fn unsegmented(&self, space: &ContentId, max_bytes: usize) -> Result<Vec<StoredVersion>> {
        self.inner.unsegmented(space, max_bytes).await
    }

    async fn store_writer(
        &self,
        lease: &Lease,
        space: &ContentId,
        fresh: [u8; 16],
    ) -> Result<StoreWriter> {
        self.inner.store_writer(lease, space, fresh).await
    }

    async fn mark_writer_announced(
        &self,
        lease: &Lease,
        space: &ContentId,
        writer: [u8; 16],
    ) -> Result<()> {
        self.inner.mark_writer_announced(lease, space, writer).await
    }

    async fn record_segment(
        &self,
        lease: &Lease,
        space: &ContentId,
        segment: &SegmentRow,
    ) -> Result<()> {
        self.inner.record_segment(lease, space, segment).await
    }

    async fn segments(&self, space: &ContentId) -> Result<Vec<SegmentRow>> {
        self.inner.segments(space).await
    }

    async fn host_fact(&self, name: &str) -> Result<Option<String>> {
        self.inner.host_fact(name).await
    }

    async fn keep_host_fact(&self, name: &str, value: &str) -> Result<String> {
        self.inner.keep_host_fact(name, value).await
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}
