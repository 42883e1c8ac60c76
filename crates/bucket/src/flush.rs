//! Bringing into the bucket what the store has and the bucket hasn't (05 §16.4 "Push").

use engine::rows::StoredVersion;
use minca_record::content_id::ContentId;
use store::{Lease, SegmentRow, Store, StoreError, StoreWriter};

use crate::bucket::Bucket;
use crate::error::BucketError;
use crate::segmenter::{PackedSegment, Segmenter};

/// What one flush brought into the bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flushed {
    /// Segments written: one, or none where nothing waited.
    pub segments: u64,
    /// Versions in them.
    pub versions: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Whether there is more to write, taken in meanwhile or too much for one flush.
    pub more: bool,
}

/// Why a flush ended early. What it wrote before stays written; the next goes on.
#[derive(Debug, thiserror::Error)]
pub enum FlushError {
    /// The store did not answer, or the lease is over.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The bucket did not take it.
    #[error(transparent)]
    Bucket(#[from] BucketError),
}

/// What is flushed, and by which right.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    lease: &'a Lease,
    space: &'a ContentId,
}

/// Writes versions of a space that no segment holds yet into the bucket: one
/// segment of at most `segment_bytes` (or of one version), as the store writer of
/// the lease's term. Called again while there is [`Flushed::more`], it writes all.
///
/// `fresh` is the store writer's id if the term has none yet: 16 random bytes.
/// `now` is in seconds since 1970.
///
/// A segment is recorded in the store after it is in the bucket, so a crash in
/// between loses nothing: the versions are written again, under the same name
/// if they are the same and the term is, else beside (the duplicates are
/// harmless, and compaction's to remove).
pub async fn flush_space(
    store: &dyn Store,
    bucket: &Bucket,
    lease: &Lease,
    space: &ContentId,
    fresh: [u8; 16],
    now: u64,
    segment_bytes: usize,
) -> Result<Flushed, FlushError> {
    let versions = store.unsegmented(space, segment_bytes).await?;
    if versions.is_empty() {
        return Ok(Flushed::default());
    }
    let place = Place { lease, space };
    let writer = announced_writer(store, bucket, place, fresh, now).await?;

    let mut flushed = Flushed::default();
    if let Some(segment) = first_segment(&versions, segment_bytes) {
        write(store, bucket, place, &writer, segment, &mut flushed).await?;
    }
    flushed.more = !store.unsegmented(space, 1).await?.is_empty();
    Ok(flushed)
}

/// As much as one segment takes. What is left over waits for the next, so that
/// a backlog makes no small segments but the last.
fn first_segment(versions: &[StoredVersion], segment_bytes: usize) -> Option<PackedSegment> {
    let mut segmenter = Segmenter::new(segment_bytes);
    for version in versions {
        if let Some(full) = segmenter.push(version) {
            return Some(full);
        }
    }
    segmenter.finish()
}

/// The store writer of the lease's term, marked in the bucket as the host's own.
async fn announced_writer(
    store: &dyn Store,
    bucket: &Bucket,
    place: Place<'_>,
    fresh: [u8; 16],
    now: u64,
) -> Result<StoreWriter, FlushError> {
    let writer = store.store_writer(place.lease, place.space, fresh).await?;
    if !writer.announced {
        bucket
            .put_writer_record(place.space, &writer.id, now)
            .await?;
        store
            .mark_writer_announced(place.lease, place.space, writer.id)
            .await?;
    }
    Ok(writer)
}

async fn write(
    store: &dyn Store,
    bucket: &Bucket,
    place: Place<'_>,
    writer: &StoreWriter,
    segment: PackedSegment,
    flushed: &mut Flushed,
) -> Result<(), FlushError> {
    let counter = writer.last_counter + 1;
    let bytes = segment.bytes.len() as u64;
    let name = bucket
        .put_segment(place.space, &writer.id, counter, segment.bytes)
        .await?;
    let row = SegmentRow {
        writer: writer.id,
        counter,
        name: name.to_string(),
        bytes,
        versions: segment.versions,
    };
    store.record_segment(place.lease, place.space, &row).await?;
    flushed.segments += 1;
    flushed.versions += row.versions.len() as u64;
    flushed.bytes += bytes;
    Ok(())
}
