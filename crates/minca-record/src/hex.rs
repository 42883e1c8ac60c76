//! Lower-case hex.

use data_encoding::HEXLOWER;

/// The lower-case hex of `bytes`.
pub fn encode(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// The bytes `text` stands for; `None` unless it is an even number of `0–9 a–f`.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    HEXLOWER.decode(text.as_bytes()).ok()
}

/// As [`decode`], for a text of exactly `LENGTH` bytes.
pub fn decode_exact<const LENGTH: usize>(text: &str) -> Option<[u8; LENGTH]> {
    if text.len() != 2 * LENGTH {
        return None;
    }
    let mut bytes = [0; LENGTH];
    HEXLOWER.decode_mut(text.as_bytes(), &mut bytes).ok()?;
    Some(bytes)
}

/// Whether `text` is `characters` characters of `0–9 a–f`.
pub fn is_hex(text: &str, characters: usize) -> bool {
    text.len() == characters
        && text
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
