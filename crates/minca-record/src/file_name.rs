//! File names and other percent-encodings of store keys (05 §10, §14.2).

/// Encodes a key or path segment as a file name: every byte of its UTF-8 not in
/// `a-z 0-9 . _ -` becomes `%` and two upper-case hex digits (05 §14.2).
pub fn encode_file_name(key: &str) -> String {
    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-');
    percent_encode(key, is_plain)
}

/// Decodes what [`encode_file_name`] encoded. `None` when it decodes to no
/// UTF-8, or a `%` isn't followed by two hex digits.
///
/// Other spellings than the encoder's decode too (05 §14.2: a reader decodes).
/// What comes out is a key and never a path: it may hold `/` or be `..`.
pub fn decode_file_name(name: &str) -> Option<String> {
    let mut bytes = name.bytes();
    let mut out = Vec::with_capacity(name.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let high = hex_digit(bytes.next()?)?;
        let low = hex_digit(bytes.next()?)?;
        out.push(high << 4 | low);
    }
    String::from_utf8(out).ok()
}

/// Encodes as ECMAScript's `encodeURIComponent` does, which leaves
/// `A-Z a-z 0-9 - _ . ! ~ * ' ( )` (05 §10, `i/` entries).
pub(crate) fn encode_uri_component(text: &str) -> String {
    let is_plain = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(
                byte,
                b'-' | b'_' | b'.' | b'!' | b'~' | b'*' | b'\'' | b'(' | b')'
            )
    };
    percent_encode(text, is_plain)
}

fn percent_encode(text: &str, is_plain: impl Fn(u8) -> bool) -> String {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 0xF)]));
        }
    }
    out
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_encoding_decodes_to_nothing() {
        for name in ["%", "%4", "%4g", "%FF", "a%"] {
            assert_eq!(decode_file_name(name), None, "{name}");
        }
        assert_eq!(decode_file_name("%41%2f").as_deref(), Some("A/"));
    }

    proptest! {
        #[test]
        fn any_key_comes_back_from_its_file_name(key in ".*") {
            let name = encode_file_name(&key);
            prop_assert_eq!(decode_file_name(&name), Some(key));
            prop_assert!(name.bytes().all(|byte| byte == b'%' || byte.is_ascii_uppercase()
                || matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-')));
        }
    }
}
