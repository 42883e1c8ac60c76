//! SHA-256, the protocol's only hash, and the names made of it.

use aws_lc_rs::digest;

use crate::hex;

/// The SHA-256 of `bytes`.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    sha256_of_parts(&[bytes])
}

/// The SHA-256 of `parts`, one after the other.
pub fn sha256_of_parts(parts: &[&[u8]]) -> [u8; 32] {
    let mut context = digest::Context::new(&digest::SHA256);
    for part in parts {
        context.update(part);
    }
    let mut hash = [0; 32];
    for (to, from) in hash.iter_mut().zip(context.finish().as_ref()) {
        *to = *from;
    }
    hash
}

/// `hex40` of 03 §3.1: the first 20 bytes of the SHA-256 of `text`, as 40 lower-case hex
/// characters. What names an account in a record key.
pub fn hex40(text: &str) -> String {
    hex::encode(&sha256(text.as_bytes())[..20])
}
