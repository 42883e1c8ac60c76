//! Files a device holds, in memory: sealed as they are stored, served by chunks (05 §16.6).

use std::collections::HashMap;
use std::ops::Range;

use minca_record::base64url;
use minca_record::files::{
    CHUNK, ChunkList, FileId, FileKey, NamedFile, NotOpened, TooLong, open_file, seal_file,
};
use minca_record::json::{Object, Value};
use minca_sync::files::part_len;
use minca_sync::message::Part;
use thiserror::Error;

use crate::randomness::{Randomness, RandomnessError, random_bytes};

/// Why a file can't be added.
#[derive(Debug, Error)]
pub enum FileError {
    /// It is longer than a file may be.
    #[error("expected at most 2^31 bytes, sealed")]
    TooLarge,
    /// It couldn't be sealed.
    #[error(transparent)]
    Seal(#[from] TooLong),
    /// There were no random bytes.
    #[error(transparent)]
    Randomness(#[from] RandomnessError),
}

/// A file sealed under a key of its own.
#[derive(Clone)]
pub struct SealedFile {
    /// What names it: for a version's `files`, and for whoever fetches it.
    pub named: NamedFile,
    /// What opens it: for the body of the version that names it.
    pub key: FileKey,
    /// The bytes as stored.
    pub stored: Vec<u8>,
}

impl SealedFile {
    /// Seals a file under a fresh key.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn seal(content: &[u8], randomness: &mut dyn Randomness) -> Result<SealedFile, FileError> {
        let key = FileKey {
            key: random_bytes(randomness)?,
            salt: random_bytes(randomness)?,
        };
        let stored = seal_file(&key, content)?;
        let list = ChunkList::of_file(&stored).ok_or(FileError::TooLarge)?;
        let named = NamedFile {
            id: list.id(),
            size: list.size(),
        };
        Ok(SealedFile { named, key, stored })
    }

    /// The entry of a version's `files` that names it.
    pub fn entry(&self) -> Value {
        entry(&self.named)
    }

    /// What a body says of it, so that readers can open it: `hash`, `size`, `key` and `salt`.
    pub fn in_body(&self) -> Value {
        Object::from([
            ("hash", Value::from(self.named.id.to_string())),
            ("size", Value::from(self.named.size)),
            ("key", base64url::encode(&self.key.key).into()),
            ("salt", base64url::encode(&self.key.salt).into()),
        ])
        .into()
    }

    /// Opens a file that was fetched.
    ///
    /// # Errors
    /// [`NotOpened`].
    pub fn open(key: &FileKey, stored: &[u8]) -> Result<Vec<u8>, NotOpened> {
        open_file(key, stored)
    }
}

/// The entry of a version's `files` that names a file.
pub fn entry(named: &NamedFile) -> Value {
    Object::from([
        ("hash", Value::from(named.id.to_string())),
        ("size", Value::from(named.size)),
    ])
    .into()
}

/// Files held whole.
#[derive(Debug, Default)]
pub struct Files {
    held: HashMap<FileId, (ChunkList, Vec<u8>)>,
}

impl Files {
    /// Holds a file by its stored bytes; `None` where no file has so many.
    pub fn add(&mut self, stored: Vec<u8>) -> Option<FileId> {
        let list = ChunkList::of_file(&stored)?;
        let id = list.id();
        self.held.insert(id, (list, stored));
        Some(id)
    }

    /// Holds a file no longer.
    pub fn remove(&mut self, id: &FileId) {
        self.held.remove(id);
    }

    /// The stored bytes of a file that is held.
    pub fn get(&self, id: &FileId) -> Option<&[u8]> {
        self.held.get(id).map(|(_, stored)| stored.as_slice())
    }

    /// The bytes of a part of a file that is held.
    pub(crate) fn part(&self, id: &FileId, part: Part) -> Option<&[u8]> {
        let (list, stored) = self.held.get(id)?;
        match part {
            Part::List => Some(list.as_bytes()),
            Part::Chunk(index) => stored.get(chunk_range(list.size(), index)?),
        }
    }
}

/// Where the chunk at `index` is in a file of `size` bytes.
fn chunk_range(size: u64, index: u32) -> Option<Range<usize>> {
    let length = usize::try_from(part_len(size, Part::Chunk(index))?).ok()?;
    let start = usize::try_from(u64::from(index) * CHUNK).ok()?;
    Some(start..start + length)
}
