//! A bucket as the host sees it: segments, and the host's own documents.

use std::sync::Arc;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use minca_record::content_id::ContentId;
use minca_record::hex;
use minca_record::json::{Object, Value};
use minca_record::segment::SegmentName;
use object_store::path::{Path, PathPart};
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt, PutPayload};

use crate::error::BucketError;
use crate::keys::{self, WriterId};

/// No segment of ours is larger; a larger object is not read into memory.
pub const MAX_SEGMENT_BYTES: u64 = 256 * 1024 * 1024;

/// The documents' own format, theirs all (08 §14.1, §14.4).
pub(crate) const DOCUMENT_FORMAT: u64 = 1;

/// A blob store of part 05 §16, below an optional prefix.
#[derive(Clone, Debug)]
pub struct Bucket {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
}

/// A segment found in the bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSegment {
    /// The store writer it is of.
    pub writer: [u8; 16],
    /// Its name, which holds its counter.
    pub name: SegmentName,
    /// How long it is.
    pub bytes: u64,
}

impl Bucket {
    /// The bucket in `store` whose keys all begin with `prefix` and a `/`; an
    /// empty prefix is none.
    pub fn new(store: Arc<dyn ObjectStore>, prefix: &str) -> Result<Self, BucketError> {
        let prefix = Path::parse(prefix).map_err(|_| BucketError::Prefix)?;
        Ok(Self { store, prefix })
    }

    /// Puts a segment under its store writer's prefix, and gives its name: the same
    /// for the same counter and bytes, so putting it again changes nothing (05 §16.3).
    pub async fn put_segment(
        &self,
        space: &ContentId,
        writer: &[u8; 16],
        counter: u64,
        bytes: impl Into<Bytes>,
    ) -> Result<SegmentName, BucketError> {
        let bytes = bytes.into();
        let name = SegmentName::of(counter, &bytes);
        self.put(&keys::segment(space, writer, &name.to_string()), bytes)
            .await?;
        Ok(name)
    }

    /// A segment's bytes. [`BucketError::BadSegment`] where they are not what its
    /// name was made of: a reader takes no others (05 §16.4).
    pub async fn get_segment(
        &self,
        space: &ContentId,
        writer: &[u8; 16],
        name: &SegmentName,
    ) -> Result<Bytes, BucketError> {
        let key = keys::segment(space, writer, &name.to_string());
        let bytes = self
            .get(&key, MAX_SEGMENT_BYTES)
            .await?
            .ok_or(BucketError::BadSegment)?;
        if !name.is_of(&bytes) {
            return Err(BucketError::BadSegment);
        }
        Ok(bytes)
    }

    /// All segments under a space's prefix, by writer and name. What isn't a
    /// segment of a store writer is left out.
    pub async fn list_segments(
        &self,
        space: &ContentId,
    ) -> Result<Vec<ListedSegment>, BucketError> {
        let prefix = self.path(&keys::space(space));
        let found: Vec<ObjectMeta> = self.list(&keys::space(space)).try_collect().await?;
        let segments = found.iter().filter_map(|object| read_key(&prefix, object));
        let mut segments: Vec<ListedSegment> = segments.collect();
        segments.sort_by_key(|segment| (segment.writer, segment.name.to_string()));
        Ok(segments)
    }

    /// Notes, before its first segment, that a store writer is the host's own (08
    /// §14.4). `at` in seconds since 1970.
    pub async fn put_writer_record(
        &self,
        space: &ContentId,
        writer: &[u8; 16],
        at: u64,
    ) -> Result<(), BucketError> {
        let mut record = Object::new();
        record.insert("v", whole(DOCUMENT_FORMAT));
        record.insert("at", whole(at));
        self.put(&keys::writer_record(space, writer), record.canonical())
            .await
    }

    /// Whether there is nothing in the bucket but what a probe may have left.
    pub async fn is_empty(&self) -> Result<bool, BucketError> {
        let probes = self.path(keys::PROBE);
        let mut objects = self.store.list(Some(&self.prefix));
        while let Some(object) = objects.next().await {
            let object = object.map_err(|error| BucketError::of(error, &self.prefix))?;
            if !object.location.prefix_matches(&probes) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(crate) fn store(&self) -> &dyn ObjectStore {
        &self.store
    }

    /// A key of ours as a path of the store. They are of plain characters only, so
    /// nothing in them is escaped.
    pub(crate) fn path(&self, key: &str) -> Path {
        key.split('/')
            .map(PathPart::from)
            .fold(self.prefix.clone(), Path::join)
    }

    pub(crate) async fn put(&self, key: &str, bytes: impl Into<Bytes>) -> Result<(), BucketError> {
        let path = self.path(key);
        let payload = PutPayload::from_bytes(bytes.into());
        let put = self.store.put(&path, payload).await;
        put.map(drop).map_err(|error| BucketError::of(error, &path))
    }

    /// An object's bytes; `None` if there are more than `at_most`.
    pub(crate) async fn get(&self, key: &str, at_most: u64) -> Result<Option<Bytes>, BucketError> {
        let path = self.path(key);
        let found = self
            .store
            .get(&path)
            .await
            .map_err(|error| BucketError::of(error, &path))?;
        if found.meta.size > at_most {
            return Ok(None);
        }
        let bytes = found
            .bytes()
            .await
            .map_err(|error| BucketError::of(error, &path))?;
        Ok(Some(bytes))
    }

    /// Deletes an object; one that isn't there is no error.
    pub(crate) async fn delete(&self, key: &str) -> Result<(), BucketError> {
        let path = self.path(key);
        match self.store.delete(&path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(BucketError::of(error, &path)),
        }
    }

    pub(crate) fn list(&self, key: &str) -> BoxStream<'static, Result<ObjectMeta, BucketError>> {
        let path = self.path(key);
        let listed = self.store.list(Some(&path));
        listed
            .map_err(move |error| BucketError::of(error, &path))
            .boxed()
    }
}

/// A whole number as our documents hold it.
pub(crate) fn whole(number: u64) -> Value {
    Value::from(number)
}

fn read_key(prefix: &Path, object: &ObjectMeta) -> Option<ListedSegment> {
    let mut parts = object.location.prefix_match(prefix)?;
    let (writer, name) = (parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let id: WriterId = hex::decode_exact(writer.as_ref())?;
    Some(ListedSegment {
        writer: id,
        name: SegmentName::parse(name.as_ref())?,
        bytes: object.size,
    })
}
