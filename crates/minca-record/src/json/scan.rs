//! Finding the part of a JSON string that stands for itself, eight bytes at a time.

const LOW_BITS: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// How many bytes from the start of `bytes` are written in a JSON string as they are: everything
/// before the first `"`, `\` or byte below 0x20.
///
/// The same set ends a run when reading and must be escaped when writing.
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    let mut done = 0;
    while let Some(chunk) = bytes.get(done..).and_then(|rest| rest.first_chunk::<8>()) {
        let special = special_bytes(u64::from_le_bytes(*chunk));
        if special != 0 {
            return done + (special.trailing_zeros() / 8) as usize;
        }
        done += 8;
    }
    let rest = &bytes[done..];
    done + rest
        .iter()
        .position(|&byte| is_special(byte))
        .unwrap_or(rest.len())
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// The high bit of each special byte, right up to the first of them. (A borrow can set bits above
/// the first, never below it, and bytes from 0x80 are masked out.)
fn special_bytes(word: u64) -> u64 {
    let quote = word ^ (LOW_BITS * b'"' as u64);
    let backslash = word ^ (LOW_BITS * b'\\' as u64);
    let found = quote.wrapping_sub(LOW_BITS)
        | backslash.wrapping_sub(LOW_BITS)
        | word.wrapping_sub(LOW_BITS * 0x20);
    found & !word & HIGH_BITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_byte_at_every_place_is_classed_as_the_dumb_way_does() {
        for byte in 0..=255u8 {
            for place in 0..20 {
                let mut bytes = vec![b'a'; 20];
                bytes[place] = byte;
                let expected = if is_special(byte) { place } else { 20 };
                assert_eq!(plain_run(&bytes), expected, "byte {byte:#04x} at {place}");
            }
        }
    }

    proptest! {
        #[test]
        fn runs_end_where_the_first_special_byte_is(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let expected = bytes.iter().position(|&b| is_special(b)).unwrap_or(bytes.len());
            prop_assert_eq!(plain_run(&bytes), expected);
        }
    }
}
