//! Sealing files and reading them: the records of RFC 8188 §2 without its
//! header (05 §16.6). Only members do; a host never opens a file.

use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use hkdf::Hkdf;
use sha2::Sha256;

use super::chunks::CHUNK;

const TAG: usize = 16;

/// What a record holds besides the file's bytes: a delimiter and the tag.
const OVERHEAD: usize = 1 + TAG;

/// How many bytes of the file a record holds, but for the last.
pub const RECORD_CONTENT: usize = CHUNK as usize - OVERHEAD;

/// The delimiter of a record that another follows, and of the last.
const MORE: u8 = 1;
const LAST: u8 = 2;

/// The key and salt a body carries for one file. They seal one file only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FileKey {
    /// The input keying material, random.
    pub key: [u8; 16],
    /// The salt, random.
    pub salt: [u8; 16],
}

/// The bytes are no file sealed under this key; which part of them isn't is
/// not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are no file sealed with this key and salt")]
pub struct NotOpened;

/// A part of a file is too long for one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a record holds at most {RECORD_CONTENT} bytes of a file, not {0}")]
pub struct TooLong(pub usize);

/// How many bytes a file of `length` bytes has once sealed: 17 more for each
/// record, and at least one record.
pub fn sealed_size(length: u64) -> u64 {
    let records = length.div_ceil(RECORD_CONTENT as u64).max(1);
    length.saturating_add(records.saturating_mul(OVERHEAD as u64))
}

/// Seals a file. Its chunks are its records.
///
/// # Errors
/// [`TooLong`] never comes of it: the file is cut into records here.
pub fn seal_file(key: &FileKey, content: &[u8]) -> Result<Vec<u8>, TooLong> {
    let derived = Derived::of(key);
    let count = content.len().div_ceil(RECORD_CONTENT).max(1);
    let mut stored = Vec::with_capacity(content.len() + count * OVERHEAD);
    // An empty file is one record of nothing.
    let mut parts = content.chunks(RECORD_CONTENT);
    for index in 0..count {
        let part = parts.next().unwrap_or_default();
        stored.append(&mut derived.seal(index as u64, index + 1 == count, part)?);
    }
    Ok(stored)
}

/// Seals one record of a file, the chunk at `index`; `is_last` says whether it
/// is the file's last. All but the last hold [`RECORD_CONTENT`] bytes.
///
/// # Errors
/// [`TooLong`] with more bytes than a record holds.
pub fn seal_record(
    key: &FileKey,
    index: u64,
    is_last: bool,
    part: &[u8],
) -> Result<Vec<u8>, TooLong> {
    Derived::of(key).seal(index, is_last, part)
}

/// Opens a whole file.
///
/// # Errors
/// [`NotOpened`] when a record doesn't authenticate, or isn't in its place.
pub fn open_file(key: &FileKey, stored: &[u8]) -> Result<Vec<u8>, NotOpened> {
    let derived = Derived::of(key);
    let count = stored.len().div_ceil(CHUNK as usize);
    let mut content = Vec::with_capacity(stored.len());
    for (index, record) in stored.chunks(CHUNK as usize).enumerate() {
        content.append(&mut derived.open(index as u64, index + 1 == count, record)?);
    }
    // Not even an empty file has no record.
    if count == 0 {
        Err(NotOpened)
    } else {
        Ok(content)
    }
}

/// Opens one record, the chunk at `index` of a file; `is_last` says whether it
/// is the file's last chunk.
///
/// # Errors
/// As [`open_file`].
pub fn open_record(
    key: &FileKey,
    index: u64,
    is_last: bool,
    record: &[u8],
) -> Result<Vec<u8>, NotOpened> {
    Derived::of(key).open(index, is_last, record)
}

/// What RFC 8188 §2.2 and §2.3 derive from a key and salt.
struct Derived {
    content_key: [u8; 16],
    nonce_base: [u8; 12],
}

impl Derived {
    fn of(key: &FileKey) -> Derived {
        let hkdf = Hkdf::<Sha256>::new(Some(&key.salt), &key.key);
        let mut derived = Derived {
            content_key: [0; 16],
            nonce_base: [0; 12],
        };
        // So short an output is never refused.
        let _ = hkdf.expand(b"Content-Encoding: aes128gcm\0", &mut derived.content_key);
        let _ = hkdf.expand(b"Content-Encoding: nonce\0", &mut derived.nonce_base);
        derived
    }

    fn cipher(&self) -> Option<LessSafeKey> {
        UnboundKey::new(&AES_128_GCM, &self.content_key)
            .ok()
            .map(LessSafeKey::new)
    }

    /// The nonce of record `index`: the base with the number added by XOR.
    fn nonce(&self, index: u64) -> Nonce {
        let mut nonce = self.nonce_base;
        for (byte, own) in nonce.iter_mut().skip(4).zip(index.to_be_bytes()) {
            *byte ^= own;
        }
        Nonce::assume_unique_for_key(nonce)
    }

    fn seal(&self, index: u64, is_last: bool, part: &[u8]) -> Result<Vec<u8>, TooLong> {
        let too_long = TooLong(part.len());
        if part.len() > RECORD_CONTENT {
            return Err(too_long);
        }
        let mut record = Vec::with_capacity(part.len() + OVERHEAD);
        record.extend_from_slice(part);
        record.push(if is_last { LAST } else { MORE });
        // The cipher refuses nothing but a length far over a record's.
        let cipher = self.cipher().ok_or(too_long)?;
        cipher
            .seal_in_place_append_tag(self.nonce(index), Aad::empty(), &mut record)
            .map_err(|_| too_long)?;
        Ok(record)
    }

    fn open(&self, index: u64, is_last: bool, record: &[u8]) -> Result<Vec<u8>, NotOpened> {
        let mut plain = record.to_vec();
        let cipher = self.cipher().ok_or(NotOpened)?;
        let opened = cipher
            .open_in_place(self.nonce(index), Aad::empty(), &mut plain)
            .map_err(|_| NotOpened)?;
        // A reader accepts zeros after the delimiter; a writer writes none.
        let delimiter = opened
            .iter()
            .rposition(|byte| *byte != 0)
            .ok_or(NotOpened)?;
        let expected = if is_last { LAST } else { MORE };
        if opened.get(delimiter) != Some(&expected) {
            return Err(NotOpened);
        }
        plain.truncate(delimiter);
        Ok(plain)
    }
}
