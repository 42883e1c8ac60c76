//! Envelopes: AES-256-GCM bound to a label and to where they belong (01 §9.1).

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use thiserror::Error;

use crate::json::Object;

/// The label of a private space's bodies (03 §8.3).
pub const RECORD_BODY: &str = "minca/record-body/v1";
/// The label of a key change's `earlier` (03 §9.3).
pub const EARLIER_KEYS: &str = "minca/earlier-keys/v1";
/// The label of a registry entry at rest (05 §15).
pub const AT_REST: &str = "minca/at-rest/v1";

/// What every envelope starts with, and its additional data too.
pub(crate) const VERSION: u8 = 0x01;

const NONCE_LENGTH: usize = 12;
const TAG_LENGTH: usize = 16;
const LEAST_ENVELOPE: usize = 1 + NONCE_LENGTH + TAG_LENGTH;

/// An envelope doesn't open: it is too short, of another version, or was made with another key,
/// label or bound. Which of them is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the envelope doesn't open")]
pub struct OpenError;

/// More was to be sealed than AES-GCM takes at once (some 64 GiB).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("too long to seal")]
pub struct SealError;

/// Seals `plaintext`. `nonce` must be random, and never used twice with one key.
pub fn seal(
    key: &[u8; 32],
    label: &str,
    bound: &Object,
    plaintext: &[u8],
    nonce: [u8; NONCE_LENGTH],
) -> Result<Vec<u8>, SealError> {
    let sealed = seal_gcm(key, nonce, &additional_data(label, bound), plaintext)?;
    let mut envelope = Vec::with_capacity(LEAST_ENVELOPE + plaintext.len());
    envelope.push(VERSION);
    envelope.extend_from_slice(&nonce);
    envelope.extend_from_slice(&sealed);
    Ok(envelope)
}

/// Opens an envelope sealed with the same key, label and bound.
pub fn open(
    key: &[u8; 32],
    label: &str,
    bound: &Object,
    envelope: &[u8],
) -> Result<Vec<u8>, OpenError> {
    let Some((&[VERSION], rest)) = envelope.split_first_chunk::<1>() else {
        return Err(OpenError);
    };
    let Some((nonce, sealed)) = rest.split_first_chunk::<NONCE_LENGTH>() else {
        return Err(OpenError);
    };
    open_gcm(key, *nonce, &additional_data(label, bound), sealed)
}

/// Seals without a version byte, label or bound, as a sealed invite is (03 §7.7):
/// `nonce ‖ AES-256-GCM`. `key` is to be for this alone; `nonce` must be random.
pub fn seal_bare(
    key: &[u8; 32],
    plaintext: &[u8],
    nonce: [u8; NONCE_LENGTH],
) -> Result<Vec<u8>, SealError> {
    let mut sealed = nonce.to_vec();
    sealed.extend_from_slice(&seal_gcm(key, nonce, &[], plaintext)?);
    Ok(sealed)
}

/// Opens what [`seal_bare`] sealed under the same key.
pub fn open_bare(key: &[u8; 32], sealed: &[u8]) -> Result<Vec<u8>, OpenError> {
    let (nonce, sealed) = sealed
        .split_first_chunk::<NONCE_LENGTH>()
        .ok_or(OpenError)?;
    open_gcm(key, *nonce, &[], sealed)
}

/// What an envelope or a box is bound to: `0x01 ‖ label ‖ 0x00 ‖ canonical(bound)`.
pub fn additional_data(label: &str, bound: &Object) -> Vec<u8> {
    let mut data = vec![VERSION];
    data.extend_from_slice(label.as_bytes());
    data.push(0x00);
    bound.write_canonical(&mut data);
    data
}

/// AES-256-GCM: the ciphertext and its tag.
pub(crate) fn seal_gcm(
    key: &[u8; 32],
    nonce: [u8; NONCE_LENGTH],
    additional: &[u8],
    plaintext: &[u8],
) -> Result<Vec<u8>, SealError> {
    let key = UnboundKey::new(&AES_256_GCM, key).map_err(|_| SealError)?;
    let mut sealed = plaintext.to_vec();
    LessSafeKey::new(key)
        .seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(additional),
            &mut sealed,
        )
        .map_err(|_| SealError)?;
    Ok(sealed)
}

pub(crate) fn open_gcm(
    key: &[u8; 32],
    nonce: [u8; NONCE_LENGTH],
    additional: &[u8],
    sealed: &[u8],
) -> Result<Vec<u8>, OpenError> {
    let key = UnboundKey::new(&AES_256_GCM, key).map_err(|_| OpenError)?;
    let mut opened = sealed.to_vec();
    let length = LessSafeKey::new(key)
        .open_in_place(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(additional),
            &mut opened,
        )
        .map_err(|_| OpenError)?
        .len();
    opened.truncate(length);
    Ok(opened)
}
