//! Verifying ECDSA over P-256 with SHA-256 (01 §6).

use std::fmt;

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ParsedPublicKey};

use crate::base64url::{self, Base64UrlError};
use crate::did::{Did, DidError};

/// A signature: `r ‖ s`, 32 bytes each (IEEE P1363).
pub type Signature = [u8; 64];

/// Reads a signature as JSON has it: base64url, 86 characters.
pub fn parse_signature(text: &str) -> Result<Signature, Base64UrlError> {
    base64url::decode_exact(text)
}

/// A key, ready to verify any number of signatures with. Cheap to clone, and worth keeping:
/// making one takes a square root, about a third of a verify.
#[derive(Clone)]
pub struct PublicKey {
    did: Did,
    /// `None` when the library refuses the point, which it never does for one that is on the
    /// curve. Nothing verifies then.
    parsed: Option<ParsedPublicKey>,
}

impl PublicKey {
    /// Reads a DID in its one spelling (01 §4) and makes its key ready.
    pub fn parse(did: &str) -> Result<PublicKey, DidError> {
        let key = PublicKey::of(Did::parse_unchecked(did)?);
        match key.parsed {
            Some(_) => Ok(key),
            None => Err(DidError::Point),
        }
    }

    pub(crate) fn of(did: Did) -> PublicKey {
        let parsed = ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, did.point()).ok();
        PublicKey { did, parsed }
    }

    /// The DID that names the key.
    pub fn did(&self) -> Did {
        self.did
    }

    /// Whether `signature` is the key's over `message`: `1 ≤ r, s ≤ n − 1` and ECDSA verifies.
    /// Both halves of `s` are taken.
    pub fn verify(&self, message: &[u8], signature: &Signature) -> bool {
        self.parsed
            .as_ref()
            .is_some_and(|key| key.verify_sig(message, signature).is_ok())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PublicKey").field(&self.did).finish()
    }
}
