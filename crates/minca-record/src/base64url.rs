//! base64url without padding, one spelling per byte string (01 §1).

use data_encoding::BASE64URL_NOPAD;
use thiserror::Error;

/// Why a text is no base64url.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Base64UrlError {
    /// A character outside `A–Z a–z 0–9 - _`, an impossible length, or unused bits that aren't 0.
    #[error("expected unpadded base64url in its one spelling")]
    Malformed,
    /// It decodes to another number of bytes.
    #[error("expected {expected} bytes in base64url, found {found}")]
    Length {
        /// How many bytes there must be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
}

/// The base64url of `bytes`, without padding.
pub fn encode(bytes: &[u8]) -> String {
    BASE64URL_NOPAD.encode(bytes)
}

/// The bytes `text` stands for, when it is their one spelling.
pub fn decode(text: &str) -> Result<Vec<u8>, Base64UrlError> {
    BASE64URL_NOPAD
        .decode(text.as_bytes())
        .map_err(|_| Base64UrlError::Malformed)
}

/// Whether `text` is `characters` characters of base64url's alphabet. Some such texts decode to
/// nothing: where the protocol counts characters, it doesn't decode.
pub fn is_base64url(text: &str, characters: usize) -> bool {
    text.len() == characters
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// As [`decode`], for a text of exactly `LENGTH` bytes.
pub fn decode_exact<const LENGTH: usize>(text: &str) -> Result<[u8; LENGTH], Base64UrlError> {
    let found = BASE64URL_NOPAD
        .decode_len(text.len())
        .map_err(|_| Base64UrlError::Malformed)?;
    if found != LENGTH {
        return Err(Base64UrlError::Length {
            expected: LENGTH,
            found,
        });
    }
    let mut bytes = [0; LENGTH];
    match BASE64URL_NOPAD.decode_mut(text.as_bytes(), &mut bytes) {
        Ok(_) => Ok(bytes),
        Err(_) => Err(Base64UrlError::Malformed),
    }
}
