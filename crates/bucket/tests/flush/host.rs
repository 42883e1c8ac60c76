//! A host of one space: SQLite and a folder, both with faults to order.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bucket::{Bucket, FlushError, Flushed, FolderStore, flush_space};
use engine::rows::{Batch, RecordRow, VersionRow};
use futures::TryStreamExt;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::hex;
use minca_record::segment::read_segment;
use object_store::ObjectStore;
use store::{Holder, Lease, NewSpace, SpaceBatch, SqliteStore, Store, TakeLease};

use crate::faults::{Faults, FaultyFolder, FaultyStore};

pub(crate) const SEGMENT_BYTES: usize = 800;
const NOW: u64 = 1_790_000_000;
const AUTHOR: &str = "did:key:zDnaed8DYZ8Hx21hjLc7fE9TXMkDUV65S3ys8HtLrnPC1piwd";

pub(crate) struct Host {
    folder: tempfile::TempDir,
    pub(crate) faults: Arc<Faults>,
    pub(crate) store: FaultyStore,
    objects: FolderStore,
    bucket: Bucket,
    pub(crate) space: ContentId,
    pub(crate) lease: Lease,
    terms: u8,
}

pub(crate) fn version_id(number: usize) -> String {
    ContentId::of(format!("version {number}").as_bytes()).to_string()
}

fn version(number: usize) -> VersionRow {
    let text = version_id(number);
    VersionRow {
        id: ContentId::parse(&text).unwrap(),
        collection: "app.note".to_owned(),
        timestamp: 1_700_000_000 + number as u64,
        key: format!("key-{number}"),
        seq: 0,
        genesis: None,
        root: Did::parse(AUTHOR).unwrap(),
        retain: false,
        deleted: false,
        envelope: format!("{{\"id\":\"{text}\",\"key\":\"key-{number}\"}}").into_bytes(),
        proof: number
            .is_multiple_of(3)
            .then(|| b"{\"payload\":{}}".to_vec()),
        body: Some(format!("{{\"text\":\"{}\"}}", "x".repeat(20 * (number % 9))).into_bytes()),
    }
}

async fn take_lease(store: &dyn Store, space: &ContentId, holder: u8) -> Lease {
    let shard = store.shard_of(space);
    let taken = store
        .take_lease(shard, Holder([holder; 16]), Duration::from_secs(3_600))
        .await;
    match taken.unwrap() {
        TakeLease::Taken(lease) => lease,
        TakeLease::HeldByOther { .. } => panic!("the lease is another's"),
    }
}

impl Host {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let faults = Arc::new(Faults::default());
        let store = FaultyStore {
            store: SqliteStore::open(&folder.path().join("data"))
                .await
                .unwrap(),
            faults: Arc::clone(&faults),
        };
        let objects = FolderStore::open(folder.path().join("bucket"), "host")
            .await
            .unwrap();
        let faulty = FaultyFolder {
            folder: objects.clone(),
            faults: Arc::clone(&faults),
        };
        let bucket = Bucket::new(Arc::new(faulty), "backup/host-1").unwrap();

        let space = ContentId::of(b"a space");
        let lease = take_lease(&store, &space, 1).await;
        let carried = NewSpace {
            space,
            constitution: b"{}".to_vec(),
            read_key: None,
        };
        store.carry(&lease, &carried).await.unwrap();
        Self {
            folder,
            faults,
            store,
            objects,
            bucket,
            space,
            lease,
            terms: 1,
        }
    }

    /// Another process takes the shard over, after the one before ended.
    pub(crate) async fn take_over(&mut self) {
        assert!(self.folder.path().exists());
        self.store.release_lease(&self.lease).await.unwrap();
        self.terms += 1;
        self.lease = take_lease(&self.store, &self.space, self.terms).await;
    }

    pub(crate) async fn commit(&self, numbers: Range<usize>) {
        let keep: Vec<_> = numbers.map(version).collect();
        let records = keep.iter().map(|row| RecordRow {
            key: row.key.clone(),
            current: row.id,
            first: None,
        });
        let batch = Batch {
            records: records.collect(),
            keep,
            ..Batch::default()
        };
        let batches = [SpaceBatch {
            space: self.space,
            batch: Arc::new(batch),
        }];
        for landed in self.store.commit(&self.lease, &batches).await.unwrap() {
            landed.unwrap();
        }
    }

    pub(crate) async fn flush(&self) -> Result<Flushed, FlushError> {
        self.flush_under(&self.lease).await
    }

    pub(crate) async fn flush_under(&self, lease: &Lease) -> Result<Flushed, FlushError> {
        let fresh = [0x10 + self.terms; 16];
        flush_space(
            &self.store,
            &self.bucket,
            lease,
            &self.space,
            fresh,
            NOW,
            SEGMENT_BYTES,
        )
        .await
    }

    /// Flushes until there is no more.
    pub(crate) async fn flush_all(&self) -> Result<Flushed, FlushError> {
        let mut all = Flushed::default();
        loop {
            let flushed = self.flush().await?;
            all.segments += flushed.segments;
            all.versions += flushed.versions;
            all.bytes += flushed.bytes;
            if !flushed.more {
                return Ok(all);
            }
        }
    }

    /// Every segment in the bucket is whole, holds the versions as they are, and is
    /// of a store writer that was announced. Gives the versions' ids.
    pub(crate) async fn check_bucket(&self) -> BTreeSet<String> {
        let keys = self.all_keys().await;
        let mut ids = BTreeSet::new();
        for segment in self.bucket.list_segments(&self.space).await.unwrap() {
            let record = format!(
                "backup/host-1/host/writers/{}/{}.json",
                self.space,
                hex::encode(&segment.writer)
            );
            assert!(keys.contains(&record), "{record} in {keys:?}");
            let bytes = self
                .bucket
                .get_segment(&self.space, &segment.writer, &segment.name)
                .await
                .unwrap();
            assert_eq!(bytes.len() as u64, segment.bytes);
            for value in read_segment(&bytes) {
                let object = value.as_object().unwrap();
                let id = object.get("id").unwrap().as_str().unwrap().to_owned();
                let number = object
                    .get("key")
                    .unwrap()
                    .as_str()
                    .unwrap()
                    .strip_prefix("key-")
                    .unwrap()
                    .parse();
                let row = version(number.unwrap());
                assert_eq!(row.id.to_string(), id);
                assert_eq!(object.get("body").unwrap().canonical(), row.body.unwrap());
                assert_eq!(
                    object
                        .get("proof")
                        .map(minca_record::json::Value::canonical),
                    row.proof
                );
                ids.insert(id);
            }
        }
        ids
    }

    /// Writer, name and length of each segment in the bucket.
    pub(crate) async fn bucket_segments(&self) -> BTreeSet<([u8; 16], String, u64)> {
        let listed = self.bucket.list_segments(&self.space).await.unwrap();
        listed
            .into_iter()
            .map(|segment| (segment.writer, segment.name.to_string(), segment.bytes))
            .collect()
    }

    /// Writer, name and length of each segment the store knows of.
    pub(crate) async fn recorded_segments(&self) -> BTreeSet<([u8; 16], String, u64)> {
        let rows = self.store.segments(&self.space).await.unwrap();
        rows.into_iter()
            .map(|row| (row.writer, row.name, row.bytes))
            .collect()
    }

    pub(crate) async fn all_keys(&self) -> BTreeSet<String> {
        let objects: Vec<_> = self.objects.list(None).try_collect().await.unwrap();
        objects
            .into_iter()
            .map(|object| object.location.to_string())
            .collect()
    }
}
