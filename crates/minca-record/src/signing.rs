//! Signing with a P-256 key: what members, tests and a host proving its own key do (01 §6).

use std::fmt;

use p256::ecdsa::signature::Signer;
use p256::elliptic_curve::sec1::ToSec1Point;
use thiserror::Error;

use crate::did::Did;
use crate::scalar::scalar_from;
use crate::signature::Signature;

/// Bytes are no private scalar: not from 1 to n − 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected a scalar from 1 to n - 1")]
pub struct ScalarError;

/// A private key that signs. Its memory is overwritten when it is dropped.
#[derive(Clone)]
pub struct SigningKey {
    key: p256::ecdsa::SigningKey,
}

impl SigningKey {
    /// The key whose private scalar is `scalar`, big-endian.
    pub fn from_scalar(scalar: &[u8; 32]) -> Result<SigningKey, ScalarError> {
        let key = p256::ecdsa::SigningKey::from_slice(scalar).map_err(|_| ScalarError)?;
        Ok(SigningKey { key })
    }

    /// The key that 48 bytes, uniformly random or derived, stand for (01 §3.1).
    pub fn from_uniform(okm: &[u8; 48]) -> SigningKey {
        SigningKey {
            key: scalar_from(okm).into(),
        }
    }

    /// The private scalar, big-endian.
    pub fn scalar(&self) -> [u8; 32] {
        self.key.to_bytes().into()
    }

    /// The DID of its public key.
    pub fn did(&self) -> Did {
        let point = self.key.verifying_key().as_affine().to_sec1_point(true);
        let mut compressed = [0; 33];
        compressed.copy_from_slice(point.as_bytes());
        Did::of_checked_point(compressed)
    }

    /// Signs with RFC 6979's nonce, so the same every time; `s` as it comes (01 §6).
    pub fn sign(&self, message: &[u8]) -> Signature {
        let signature: p256::ecdsa::Signature = self.key.sign(message);
        signature.to_bytes().into()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(..)")
    }
}
