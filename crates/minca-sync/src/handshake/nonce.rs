//! Nonces (04 §2).

use minca_record::base64url;

/// 16 bytes from the system's secure source, used once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nonce(pub [u8; 16]);

impl Nonce {
    /// Reads 22 characters of base64url; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        base64url::decode_exact(text).ok().map(Self)
    }
}

impl std::fmt::Display for Nonce {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&base64url::encode(&self.0))
    }
}
