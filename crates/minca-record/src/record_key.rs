//! Record keys: their grammar and the owner part (02 §4.1).

use crate::hash::hex40;

/// The longest record key, in characters (02 §10).
pub const MAX_RECORD_KEY: usize = 128;

/// How many characters of an owned key name its owner.
const OWNER_LEN: usize = 40;

/// Whether `key` is a record key: `^[a-z0-9:._-]{1,128}$` (02 §4.1).
pub fn is_record_key(key: &str) -> bool {
    (1..=MAX_RECORD_KEY).contains(&key.len()) && key.bytes().all(is_key_byte)
}

/// The owner part of an owned key, `^[0-9a-f]{40}:.+$`, or `None` for a key of
/// another kind (02 §4.1).
///
/// How an owned key looks is a guess of ours (02 §16.1): this function and
/// [`owned_key`] are the only places that know it.
pub fn owner_part(key: &str) -> Option<&str> {
    let (owner, rest) = key.split_at_checked(OWNER_LEN)?;
    let name = rest.strip_prefix(':')?;
    let is_hex = owner
        .bytes()
        .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    (is_hex && !name.is_empty()).then_some(owner)
}

/// The owned key of the account `root` (a DID) with this `name` (02 §4.1).
pub fn owned_key(root: &str, name: &str) -> String {
    format!("{}:{name}", hex40(root))
}

fn is_key_byte(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b':' | b'.' | b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_128_characters_is_one_and_of_129_is_none() {
        assert!(is_record_key(&"a".repeat(128)));
        assert!(!is_record_key(&"a".repeat(129)));
        assert!(!is_record_key(""));
    }

    #[test]
    fn an_owner_part_in_a_multibyte_key_does_not_panic() {
        let key = format!("{}é:x", "a".repeat(39));
        assert_eq!(owner_part(&key), None);
    }

    #[test]
    fn an_owned_key_has_its_owner() {
        let key = owned_key(
            "did:key:zDnaed8DYZ8Hx21hjLc7fE9TXMkDUV65S3ys8HtLrnPC1piwd",
            "x",
        );
        assert_eq!(
            owner_part(&key),
            Some("6f84748d0060d75ec4767c101275af7b2e7c4ab1")
        );
    }
}
