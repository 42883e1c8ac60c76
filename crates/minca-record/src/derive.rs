//! Keys derived from secrets (01 §3, §5, §10, §11). A host needs none of it but for the carry
//! spaces shared with it; the rest is for members.

use std::fmt;

use hkdf::Hkdf;
use sha2::Sha256;

use crate::agreement::AgreementKey;
use crate::base64url;
use crate::hash::sha256;
use crate::signing::SigningKey;

const IDENTITY_KEY: &str = "minca/p256-identity-key/v1";
const CONTACT_KEY: &str = "minca/p256-contact-key/v1";
const MEMBER_KEY: &str = "minca/p256-member-key/v1|";
const SPACE_SEAL: &str = "minca/space-seal/v1";
const SPACE_KEY_ID: &str = "minca/space-key-id/v1";
const SPACE_READ: &str = "minca/space-read/v1";
const SPACE_INVITE: &str = "minca/space-invite/v1";
const INVITE_LINK_SECRET: &str = "minca/invite-link/v1|secret";
const INVITE_LINK_SEAL: &str = "minca/invite-link/v1|seal";
const INVITE_TOPIC: &str = "minca/invite-topic/v1|";
/// Ours: part 01's own label isn't known (01 §11.1).
const ACCOUNT_KEY: &str = "minca/account-key/v1";
/// Ours, as [`ACCOUNT_KEY`].
const LOCAL_KEY: &str = "minca/local-key/v1";

/// HKDF-SHA256 of `ikm` with an empty salt, `label` its info (01 §1).
pub fn hkdf<const LENGTH: usize>(ikm: &[u8], label: &str) -> [u8; LENGTH] {
    // So short an output is never refused.
    const { assert!(LENGTH <= 255 * 32) };
    let mut okm = [0; LENGTH];
    let _ = Hkdf::<Sha256>::new(None, ikm).expand(label.as_bytes(), &mut okm);
    okm
}

/// `deriveKeyPairFromSeed` (01 §3.2): the root key of an account from its 16-byte seed, and what
/// read and invite keys are made by.
pub fn identity_key(seed: &[u8]) -> SigningKey {
    SigningKey::from_uniform(&hkdf(seed, IDENTITY_KEY))
}

/// The key of an invite whose secret is `secret` (03 §7.1).
pub fn invite_key(secret: &[u8; 32]) -> SigningKey {
    identity_key(&hkdf::<32>(secret, SPACE_INVITE))
}

/// The invite secret a short link's `S` stands for (03 §7.7).
pub fn invite_link_secret(link: &[u8]) -> [u8; 32] {
    hkdf(link, INVITE_LINK_SECRET)
}

/// The key that seals what a short link's `S` leads to (03 §7.7).
pub fn invite_link_seal_key(link: &[u8]) -> [u8; 32] {
    hkdf(link, INVITE_LINK_SEAL)
}

/// The mailbox topic of a short link with this pin (03 §7.7).
pub fn invite_topic(pin: &[u8]) -> [u8; 32] {
    sha256(format!("{INVITE_TOPIC}{}", base64url::encode(pin)).as_bytes())
}

/// The contact key of an account by its seed (01 §10.1).
pub fn contact_key(seed: &[u8; 16]) -> AgreementKey {
    AgreementKey::from_uniform(&hkdf(seed, CONTACT_KEY))
}

/// The account key by the account's seed (01 §11.1).
pub fn account_key(seed: &[u8; 16]) -> [u8; 32] {
    hkdf(seed, ACCOUNT_KEY)
}

/// The local key by the account's seed (01 §11.1).
pub fn local_key(seed: &[u8; 16]) -> [u8; 32] {
    hkdf(seed, LOCAL_KEY)
}

/// The member key of an account in the space of this id (01 §10.2).
pub fn member_key(account_key: &[u8; 32], space: &str) -> AgreementKey {
    AgreementKey::from_uniform(&hkdf(account_key, &format!("{MEMBER_KEY}{space}")))
}

/// The key of a private space: never a key itself, only what others are derived from (01 §5).
#[derive(Clone, PartialEq, Eq)]
pub struct SpaceKey([u8; 32]);

impl SpaceKey {
    /// The key with these bytes.
    pub fn new(bytes: [u8; 32]) -> SpaceKey {
        SpaceKey(bytes)
    }

    /// Its bytes, as another derivation's input.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The AES-256-GCM key of the space's envelopes.
    pub fn seal_key(&self) -> [u8; 32] {
        hkdf(&self.0, SPACE_SEAL)
    }

    /// What names the key in records: base64url of 16 bytes.
    pub fn key_id(&self) -> String {
        base64url::encode(&hkdf::<16>(&self.0, SPACE_KEY_ID))
    }

    /// The key that proves one may read the space (03 §8.4).
    pub fn read_key(&self) -> SigningKey {
        identity_key(&hkdf::<32>(&self.0, SPACE_READ))
    }
}

impl fmt::Debug for SpaceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SpaceKey(..)")
    }
}
