//! Sealing files and reading them: the records of RFC 8188 §2 without its
//! header (05 §16.6). Only members do; a host never opens a file.

use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};

use super::chunks::CHUNK;

const TAG: usize = 16;

/// What a record holds besides the file's bytes: a delimiter and the tag.
const OVERHEAD: usize = 1 + TAG;

/// How many bytes of the file a record holds, but for the last.
const CONTENT: usize = CHUNK as usize - OVERHEAD;

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

/// What RFC 8188 §2.2 and §2.3 derive from a key and salt.
struct Derived {
    content_key: LessSafeKey,
    nonce_base: [u8; 12],
}

/// How many bytes a file of `length` bytes has once sealed: 17 more for each
/// record, and at least one record.
pub fn sealed_size(length: u64) -> u64 {
    let records = length.div_ceil(CONTENT as u64).max(1);
    length.saturating_add(records.saturating_mul(OVERHEAD as u64))
}

/// Seals a file. Its chunks are its records.
///
/// # Errors
/// Never with a file under 2^36 bytes or so; the cipher's own limit.
pub fn seal_file(key: &FileKey, content: &[u8]) -> Result<Vec<u8>, NotOpened> {
    let derived = key.derive()?;
    let records: Vec<&[u8]> = if content.is_empty() {
        vec![content]
    } else {
        content.chunks(CONTENT).collect()
    };
    let mut stored = Vec::with_capacity(content.len() + records.len() * OVERHEAD);
    for (index, part) in records.iter().enumerate() {
        let mut record = Vec::with_capacity(part.len() + OVERHEAD);
        record.extend_from_slice(part);
        record.push(if index + 1 == records.len() {
            LAST
        } else {
            MORE
        });
        let nonce = derived.nonce(index as u64);
        derived
            .content_key
            .seal_in_place_append_tag(nonce, Aad::empty(), &mut record)
            .map_err(|_| NotOpened)?;
        stored.append(&mut record);
    }
    Ok(stored)
}

/// Opens a whole file.
///
/// # Errors
/// [`NotOpened`] when a record doesn't authenticate, or isn't in its place.
pub fn open_file(key: &FileKey, stored: &[u8]) -> Result<Vec<u8>, NotOpened> {
    let derived = key.derive()?;
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
    key.derive()?.open(index, is_last, record)
}

impl FileKey {
    fn derive(&self) -> Result<Derived, NotOpened> {
        let prk = Salt::new(HKDF_SHA256, &self.salt).extract(&self.key);
        let mut content_key = [0; 16];
        let mut nonce_base = [0; 12];
        let fill = |info: &[u8], out: &mut [u8]| {
            let info = [info];
            let okm = prk
                .expand(&info, Length(out.len()))
                .map_err(|_| NotOpened)?;
            okm.fill(out).map_err(|_| NotOpened)
        };
        fill(b"Content-Encoding: aes128gcm\0", &mut content_key)?;
        fill(b"Content-Encoding: nonce\0", &mut nonce_base)?;
        let content_key = UnboundKey::new(&AES_128_GCM, &content_key).map_err(|_| NotOpened)?;
        Ok(Derived {
            content_key: LessSafeKey::new(content_key),
            nonce_base,
        })
    }
}

/// A length for HKDF, which its crate wants as a type of the caller's.
struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

impl Derived {
    /// The nonce of record `index`: the base with the number added by XOR.
    fn nonce(&self, index: u64) -> Nonce {
        let mut nonce = self.nonce_base;
        for (byte, own) in nonce.iter_mut().skip(4).zip(index.to_be_bytes()) {
            *byte ^= own;
        }
        Nonce::assume_unique_for_key(nonce)
    }

    fn open(&self, index: u64, is_last: bool, record: &[u8]) -> Result<Vec<u8>, NotOpened> {
        let mut plain = record.to_vec();
        let opened = self
            .content_key
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
