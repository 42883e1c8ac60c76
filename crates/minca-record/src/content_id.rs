//! Content ids: `b` and the base32 of a SHA-256, in one spelling (02 §2).

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use data_encoding::BASE32_NOPAD;
use thiserror::Error;

use crate::hash::sha256;

/// Characters of a content id.
pub const CONTENT_ID_LENGTH: usize = 53;

const BASE32_LENGTH: usize = CONTENT_ID_LENGTH - 1;

/// A text is no content id: it is not `b`, 51 of `a–z 2–7` and `a` or `q`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected a content id: b, then 51 of a-z 2-7, then a or q")]
pub struct ContentIdError;

/// A content id. Ordered as the strings are (which is not the order of the digests, since `2–7`
/// sort before `a–z`).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentId([u8; 32]);

impl ContentId {
    /// The id of `bytes`, which are usually a canonical form.
    pub fn of(bytes: &[u8]) -> ContentId {
        ContentId(sha256(bytes))
    }

    /// The id in its one spelling.
    pub fn parse(text: &str) -> Result<ContentId, ContentIdError> {
        let base32 = text.strip_prefix('b').ok_or(ContentIdError)?;
        let mut characters: [u8; BASE32_LENGTH] =
            base32.as_bytes().try_into().map_err(|_| ContentIdError)?;
        if characters.iter().any(u8::is_ascii_uppercase) {
            return Err(ContentIdError);
        }
        characters.make_ascii_uppercase();
        let mut digest = [0; 32];
        BASE32_NOPAD
            .decode_mut(&characters, &mut digest)
            .map_err(|_| ContentIdError)?;
        Ok(ContentId(digest))
    }

    /// The id around a SHA-256; the item id of 05 §2 is that digest.
    pub const fn from_digest(digest: [u8; 32]) -> ContentId {
        ContentId(digest)
    }

    /// The SHA-256 inside.
    pub const fn digest(&self) -> &[u8; 32] {
        &self.0
    }

    /// Place in the order of the alphabet's characters of the base32 character number `place`.
    fn rank_of_character(&self, place: usize) -> u8 {
        let bit = place * 5;
        let byte = |index: usize| u16::from(self.0.get(index).copied().unwrap_or(0));
        let two_bytes = byte(bit / 8) << 8 | byte(bit / 8 + 1);
        let value = (two_bytes >> (11 - bit % 8)) as u8 & 0x1F;
        // Values 26 to 31 are written 2 to 7, which come first.
        (value + 6) % 32
    }
}

impl Ord for ContentId {
    fn cmp(&self, other: &ContentId) -> Ordering {
        let Some(byte) = self.0.iter().zip(&other.0).position(|(a, b)| a != b) else {
            return Ordering::Equal;
        };
        let bit = byte * 8 + (self.0[byte] ^ other.0[byte]).leading_zeros() as usize;
        let place = bit / 5;
        self.rank_of_character(place)
            .cmp(&other.rank_of_character(place))
    }
}

impl PartialOrd for ContentId {
    fn partial_cmp(&self, other: &ContentId) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut characters = [0; BASE32_LENGTH];
        BASE32_NOPAD.encode_mut(&self.0, &mut characters);
        characters.make_ascii_lowercase();
        f.write_str("b")?;
        f.write_str(std::str::from_utf8(&characters).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ContentId {
    type Err = ContentIdError;

    fn from_str(text: &str) -> Result<ContentId, ContentIdError> {
        ContentId::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn digests() -> impl Strategy<Value = [u8; 32]> {
        prop_oneof![
            any::<[u8; 32]>(),
            (0usize..32, any::<u8>()).prop_map(|(place, byte)| {
                let mut digest = [0xA5; 32];
                digest[place] = byte;
                digest
            }),
        ]
    }

    proptest! {
        #[test]
        fn an_id_comes_back_from_its_string(digest in digests()) {
            let id = ContentId::from_digest(digest);
            let text = id.to_string();
            prop_assert_eq!(text.len(), CONTENT_ID_LENGTH);
            prop_assert_eq!(ContentId::parse(&text), Ok(id));
        }

        #[test]
        fn order_is_that_of_the_strings(a in digests(), b in digests()) {
            let (a, b) = (ContentId::from_digest(a), ContentId::from_digest(b));
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
        }

        #[test]
        fn what_parses_is_written_the_same(text in "b[a-z2-7]{51}[a-z2-7]|b?[A-Za-z2-8=]{50,54}") {
            if let Ok(id) = ContentId::parse(&text) {
                prop_assert_eq!(id.to_string(), text);
            }
        }
    }
}
