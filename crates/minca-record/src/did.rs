//! `did:key` of a P-256 key, in one spelling per key (01 §4).

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::signature::PublicKey;

/// Characters of a P-256 DID.
pub const DID_LENGTH: usize = 57;

const START: &str = "did:key:z";
const BASE58_LENGTH: usize = DID_LENGTH - START.len();
/// The varint of multicodec `p256-pub`, 0x1200.
const P256_PUB: [u8; 2] = [0x80, 0x24];

/// Why a text is no P-256 DID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DidError {
    /// It isn't 57 characters that start `did:key:z`.
    #[error("expected 57 characters starting did:key:z")]
    Form,
    /// The rest isn't 35 bytes in base58btc.
    #[error("expected base58btc of 35 bytes")]
    Base58,
    /// The bytes don't start `80 24`.
    #[error("expected a key of multicodec p256-pub")]
    Codec,
    /// The point isn't compressed, its x isn't below the field prime, or x isn't on the curve.
    #[error("expected a compressed point on P-256")]
    Point,
}

/// A P-256 key by its DID: a compressed point that was checked to be on the curve. Ordered as the
/// strings are. One key has one `Did`, and one string.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Did {
    // base58btc's alphabet ascends and all DIDs are equally long, so the order of the points'
    // bytes is that of the strings.
    point: [u8; 33],
}

impl Did {
    /// The DID in its one spelling.
    ///
    /// Checking the point costs a square root. Whoever verifies with the key too takes
    /// [`PublicKey::parse`], which does both at once.
    pub fn parse(text: &str) -> Result<Did, DidError> {
        Ok(PublicKey::parse(text)?.did())
    }

    /// The key's compressed point (SEC 1, 33 bytes).
    pub fn point(&self) -> &[u8; 33] {
        &self.point
    }

    /// The key, ready to verify with. Costs a square root: keep it when it is used again.
    pub fn public_key(&self) -> PublicKey {
        PublicKey::of(*self)
    }

    /// The point that a text in a DID's one spelling gives, on the curve or not: something to look
    /// a [`Did`] up by, at a fraction of what checking it takes.
    pub fn point_spelled(text: &str) -> Option<[u8; 33]> {
        Some(Did::parse_unchecked(text).ok()?.point)
    }

    /// Reads everything but whether the point is on the curve, which the caller checks.
    pub(crate) fn parse_unchecked(text: &str) -> Result<Did, DidError> {
        let base58 = text.strip_prefix(START).ok_or(DidError::Form)?;
        if base58.len() != BASE58_LENGTH {
            return Err(DidError::Form);
        }
        let mut bytes = [0; 35];
        match bs58::decode(base58).onto(&mut bytes) {
            Ok(35) => {}
            _ => return Err(DidError::Base58),
        }
        let [first, second, point @ ..] = bytes;
        if [first, second] != P256_PUB {
            return Err(DidError::Codec);
        }
        if !matches!(point, [0x02 | 0x03, ..]) {
            return Err(DidError::Point);
        }
        Ok(Did { point })
    }

    /// Names a point the caller knows to be on the curve.
    pub(crate) fn of_checked_point(point: [u8; 33]) -> Did {
        Did { point }
    }
}

/// DIDs read in one go, each checked once however often it is named.
#[derive(Clone, Debug, Default)]
pub struct Dids(HashMap<Box<str>, Did>);

impl Dids {
    /// The DID in its one spelling.
    ///
    /// # Errors
    /// As [`Did::parse`].
    pub fn parse(&mut self, text: &str) -> Result<Did, DidError> {
        if let Some(known) = self.0.get(text) {
            return Ok(*known);
        }
        let did = Did::parse(text)?;
        self.0.insert(text.into(), did);
        Ok(did)
    }
}

impl fmt::Display for Did {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = [0; 35];
        bytes[..2].copy_from_slice(&P256_PUB);
        bytes[2..].copy_from_slice(&self.point);
        let mut characters = [0; BASE58_LENGTH];
        let length = bs58::encode(bytes)
            .onto(characters.as_mut_slice())
            .map_err(|_| fmt::Error)?;
        f.write_str(START)?;
        f.write_str(std::str::from_utf8(&characters[..length]).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Did {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Did {
    type Err = DidError;

    fn from_str(text: &str) -> Result<Did, DidError> {
        Did::parse(text)
    }
}
