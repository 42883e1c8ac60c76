//! Key agreement keys, which never sign (01 §10).

use std::fmt;

use p256::NonZeroScalar;
use p256::elliptic_curve::ecdh::diffie_hellman;
use p256::elliptic_curve::sec1::ToSec1Point;
use thiserror::Error;

use crate::base64url;
use crate::scalar::scalar_from;
use crate::signing::ScalarError;

/// A text is no public half of a key agreement key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected base64url of a compressed point on P-256, 44 characters")]
pub struct AgreementPublicError;

/// The public half of a key agreement key: a contact or member key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgreementPublic {
    key: p256::PublicKey,
}

impl AgreementPublic {
    /// Reads the public half as JSON has it: base64url of the compressed point, 44 characters.
    pub fn parse(text: &str) -> Result<AgreementPublic, AgreementPublicError> {
        let point: [u8; 33] = base64url::decode_exact(text).map_err(|_| AgreementPublicError)?;
        AgreementPublic::from_sec1(&point)
    }

    /// Reads a point as SEC 1 writes it, compressed or not.
    pub(crate) fn from_sec1(point: &[u8]) -> Result<AgreementPublic, AgreementPublicError> {
        let key = p256::PublicKey::from_sec1_bytes(point).map_err(|_| AgreementPublicError)?;
        Ok(AgreementPublic { key })
    }

    /// The point without compression, 65 bytes.
    pub(crate) fn uncompressed(&self) -> Vec<u8> {
        self.key.to_sec1_point(false).as_bytes().to_vec()
    }
}

impl fmt::Display for AgreementPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&base64url::encode(self.key.to_sec1_point(true).as_bytes()))
    }
}

/// The private half of a key agreement key.
#[derive(Clone)]
pub struct AgreementKey {
    scalar: NonZeroScalar,
}

impl AgreementKey {
    /// The key whose private scalar is `scalar`, big-endian.
    pub fn from_scalar(scalar: &[u8; 32]) -> Result<AgreementKey, ScalarError> {
        let key = p256::SecretKey::from_slice(scalar).map_err(|_| ScalarError)?;
        Ok(AgreementKey {
            scalar: key.to_nonzero_scalar(),
        })
    }

    /// The key that 48 bytes, uniformly random or derived, stand for (01 §3.1).
    pub fn from_uniform(okm: &[u8; 48]) -> AgreementKey {
        AgreementKey {
            scalar: scalar_from(okm),
        }
    }

    /// The private scalar, big-endian.
    pub fn scalar(&self) -> [u8; 32] {
        p256::SecretKey::from(self.scalar).to_bytes().into()
    }

    /// The public half.
    pub fn public(&self) -> AgreementPublic {
        AgreementPublic {
            key: p256::SecretKey::from(self.scalar).public_key(),
        }
    }

    /// The x of the point both sides come to.
    pub(crate) fn agree(&self, with: &AgreementPublic) -> [u8; 32] {
        let secret = diffie_hellman(self.scalar, with.key.as_affine());
        (*secret.raw_secret_bytes()).into()
    }
}

impl fmt::Debug for AgreementKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AgreementKey(..)")
    }
}
