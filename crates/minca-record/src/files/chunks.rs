//! Chunks, chunk lists and the ids of files (05 §16.6).

use crate::hash::{sha256, sha256_of_parts};
use crate::hex;

/// The size of a chunk, and of a sealed record: 256 KiB.
pub const CHUNK: u64 = 262_144;

/// The largest file, in bytes as stored.
pub const MAX_FILE_SIZE: u64 = 1 << 31;

/// The chunks of the largest file.
pub const MAX_FILE_CHUNKS: u64 = MAX_FILE_SIZE / CHUNK;

const DIGEST: usize = 32;

/// A file's id: the SHA-256 of its size and its chunk list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId([u8; DIGEST]);

impl FileId {
    /// Reads 64 lower-case hex characters.
    pub fn parse(text: &str) -> Option<FileId> {
        hex::decode_exact::<DIGEST>(text).map(FileId)
    }

    /// An id from its bytes.
    pub fn from_bytes(bytes: [u8; DIGEST]) -> FileId {
        FileId(bytes)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; DIGEST] {
        &self.0
    }

    fn of(size: u64, list: &[u8]) -> FileId {
        FileId(sha256_of_parts(&[&size.to_be_bytes(), list]))
    }

    /// Whether `chunk` is the whole of this file, of `size` bytes: a file of
    /// one chunk can be checked without its list.
    pub fn is_of_one_chunk(&self, size: u64, chunk: &[u8]) -> bool {
        chunk_count(size) == Some(1)
            && chunk.len() as u64 == size
            && FileId::of(size, &sha256(chunk)) == *self
    }
}

impl std::fmt::Display for FileId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl std::fmt::Debug for FileId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FileId({self})")
    }
}

/// How many chunks a file of `size` bytes has; `None` when no file has that
/// size.
pub fn chunk_count(size: u64) -> Option<u64> {
    (1..=MAX_FILE_SIZE)
        .contains(&size)
        .then(|| size.div_ceil(CHUNK))
}

/// How many bytes chunk `index` of a file of `size` bytes has; `None` when it
/// has no such chunk.
pub fn chunk_len(size: u64, index: u64) -> Option<u64> {
    let count = chunk_count(size)?;
    if index >= count {
        return None;
    }
    Some(if index == count - 1 {
        size - index * CHUNK
    } else {
        CHUNK
    })
}

/// The chunk list of a file: the SHA-256 of each chunk, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkList {
    size: u64,
    digests: Vec<u8>,
}

impl ChunkList {
    /// The chunk list of the file with these bytes, as stored; `None` when no
    /// file has so many, or none.
    pub fn of_file(stored: &[u8]) -> Option<ChunkList> {
        let size = u64::try_from(stored.len()).ok()?;
        chunk_count(size)?;
        let digests = stored.chunks(CHUNK as usize).flat_map(sha256).collect();
        Some(ChunkList { size, digests })
    }

    /// Reads the chunk list of the file `id` of `size` bytes, checking that it
    /// is that file's.
    ///
    /// # Errors
    /// What is wrong with it: nobody can tell whose fault it is, so it is
    /// asked for elsewhere.
    pub fn read(id: &FileId, size: u64, list: &[u8]) -> Result<ChunkList, BadList> {
        let count = chunk_count(size).ok_or(BadList::Size(size))?;
        if list.len() as u64 != count * DIGEST as u64 {
            return Err(BadList::Length {
                chunks: count,
                bytes: list.len(),
            });
        }
        if FileId::of(size, list) != *id {
            return Err(BadList::OtherFile);
        }
        Ok(ChunkList {
            size,
            digests: list.to_vec(),
        })
    }

    /// The id of its file.
    pub fn id(&self) -> FileId {
        FileId::of(self.size, &self.digests)
    }

    /// The size of its file in bytes, as stored.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The list itself: 32 bytes for each chunk.
    pub fn as_bytes(&self) -> &[u8] {
        &self.digests
    }

    /// How many chunks its file has.
    pub fn chunk_count(&self) -> u64 {
        self.size.div_ceil(CHUNK)
    }

    /// Whether `chunk` is the chunk at `index`, by its length and its hash.
    pub fn is_chunk(&self, index: u64, chunk: &[u8]) -> bool {
        let has_length = chunk_len(self.size, index) == Some(chunk.len() as u64);
        let digest = usize::try_from(index)
            .ok()
            .and_then(|i| self.digests.chunks(DIGEST).nth(i));
        has_length && digest == Some(&sha256(chunk))
    }
}

/// Why bytes are no chunk list of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadList {
    /// No file has that size.
    #[error("a file has 1 to {MAX_FILE_SIZE} bytes, not {0}")]
    Size(u64),
    /// It is no hash for each chunk.
    #[error("the list of {chunks} chunks has 32 bytes for each, not {bytes} in all")]
    Length {
        /// How many chunks a file of the size has.
        chunks: u64,
        /// How many bytes came.
        bytes: usize,
    },
    /// It is another file's.
    #[error("the list gives another file's id")]
    OtherFile,
}
