//! Sealing to a key agreement key: HPKE (RFC 9180), base mode, one message (01 §9.2).
//!
//! The suite is ours, for members among themselves: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256,
//! AES-256-GCM.

use hkdf::Hkdf;
use sha2::Sha256;

use crate::agreement::{AgreementKey, AgreementPublic};
use crate::envelope::{OpenError, SealError, VERSION, additional_data, open_gcm, seal_gcm};
use crate::json::Object;

/// The label of boxes (03 §9.4).
pub const SPACE_KEY_BOX: &str = "minca/space-key-box/v1";

/// An uncompressed point.
const ENCAPSULATED_LENGTH: usize = 65;
const KEM_SUITE: &[u8] = b"KEM\x00\x10";
const SUITE: &[u8] = b"HPKE\x00\x10\x00\x01\x00\x02";

/// Seals `plaintext` to `recipient`. `ephemeral` must be random, and never used twice.
pub fn seal(
    recipient: &AgreementPublic,
    label: &str,
    bound: &Object,
    plaintext: &[u8],
    ephemeral: &AgreementKey,
) -> Result<Vec<u8>, SealError> {
    let encapsulated = ephemeral.public().uncompressed();
    let shared = shared_secret(&ephemeral.agree(recipient), &encapsulated, recipient);
    let (key, nonce) = schedule(&shared, &additional_data(label, bound));
    let mut sealed = vec![VERSION];
    sealed.extend_from_slice(&encapsulated);
    sealed.extend_from_slice(&seal_gcm(&key, nonce, &[], plaintext)?);
    Ok(sealed)
}

/// Opens what was sealed to `recipient` with the same label and bound.
pub fn open(
    recipient: &AgreementKey,
    label: &str,
    bound: &Object,
    sealed: &[u8],
) -> Result<Vec<u8>, OpenError> {
    let Some((&[VERSION], rest)) = sealed.split_first_chunk::<1>() else {
        return Err(OpenError);
    };
    let Some((encapsulated, ciphertext)) = rest.split_first_chunk::<ENCAPSULATED_LENGTH>() else {
        return Err(OpenError);
    };
    let ephemeral = AgreementPublic::from_sec1(encapsulated).map_err(|_| OpenError)?;
    let shared = shared_secret(
        &recipient.agree(&ephemeral),
        encapsulated,
        &recipient.public(),
    );
    let (key, nonce) = schedule(&shared, &additional_data(label, bound));
    open_gcm(&key, nonce, &[], ciphertext)
}

/// `ExtractAndExpand` of RFC 9180 §4.1.
fn shared_secret(agreed: &[u8; 32], encapsulated: &[u8], recipient: &AgreementPublic) -> [u8; 32] {
    let (_, extracted) = labeled_extract(KEM_SUITE, &[], b"eae_prk", agreed);
    let context = [encapsulated, &recipient.uncompressed()].concat();
    labeled_expand(KEM_SUITE, &extracted, b"shared_secret", &context)
}

/// `KeySchedule` of RFC 9180 §5.1 in base mode: the key and the first message's nonce.
fn schedule(shared: &[u8; 32], info: &[u8]) -> ([u8; 32], [u8; 12]) {
    const MODE_BASE: u8 = 0x00;
    let (psk_id_hash, _) = labeled_extract(SUITE, &[], b"psk_id_hash", &[]);
    let (info_hash, _) = labeled_extract(SUITE, &[], b"info_hash", info);
    let context = [[MODE_BASE].as_slice(), &psk_id_hash, &info_hash].concat();
    let (_, secret) = labeled_extract(SUITE, shared, b"secret", &[]);
    let key = labeled_expand(SUITE, &secret, b"key", &context);
    let nonce = labeled_expand(SUITE, &secret, b"base_nonce", &context);
    (key, nonce)
}

fn labeled_extract(
    suite: &[u8],
    salt: &[u8],
    label: &[u8],
    ikm: &[u8],
) -> ([u8; 32], Hkdf<Sha256>) {
    let labeled = [b"HPKE-v1", suite, label, ikm].concat();
    let (bytes, extracted) = Hkdf::<Sha256>::extract(Some(salt), &labeled);
    (bytes.into(), extracted)
}

fn labeled_expand<const LENGTH: usize>(
    suite: &[u8],
    extracted: &Hkdf<Sha256>,
    label: &[u8],
    info: &[u8],
) -> [u8; LENGTH] {
    // So short an output is never refused.
    const { assert!(LENGTH <= 255 * 32) };
    let length = (LENGTH as u16).to_be_bytes();
    let labeled = [length.as_slice(), b"HPKE-v1", suite, label, info].concat();
    let mut okm = [0; LENGTH];
    let _ = extracted.expand(&labeled, &mut okm);
    okm
}
