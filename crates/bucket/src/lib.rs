//! Part 05 §16 over object_store: segments out and in.
//!
//! [`Bucket`] knows keys and documents, [`FolderStore`] makes a folder a bucket,
//! [`Segmenter`] packs versions, [`flush_space`] brings what the store has and
//! the bucket hasn't into it, and [`Unflushed`] says when that is due.

mod bucket;
mod carried;
mod error;
mod flush;
mod folder;
mod keys;
mod probe;
mod segmenter;
mod unflushed;

pub use bucket::{Bucket, ListedSegment, MAX_SEGMENT_BYTES};
pub use carried::Carried;
pub use error::BucketError;
pub use flush::{FlushError, Flushed, flush_space};
pub use folder::{FolderStore, KeyError, OpenFolderError};
pub use probe::{ProbeError, ProbeStep};
pub use segmenter::{DEFAULT_SEGMENT_BYTES, PackedSegment, Segmenter};
pub use unflushed::{FlushPolicy, Unflushed};
