//! Reading and writing numbers (02 §1): binary64, nearest even, ECMAScript's `Number::toString`.

use super::read::ReadErrorKind;

/// A number of this many digits or fewer is exact in binary64 without rounding.
const EXACT_DIGITS: usize = 15;

/// Reads the number at the start of `rest`: its value and how many bytes it takes. On an error,
/// the offset of the byte it is about.
pub(super) fn read_number(rest: &str) -> Result<(f64, usize), (usize, ReadErrorKind)> {
    let bytes = rest.as_bytes();
    let digits_from = |start: usize| {
        let run = &bytes[start..];
        start
            + run
                .iter()
                .position(|byte| !byte.is_ascii_digit())
                .unwrap_or(run.len())
    };
    let some_digits_from = |start: usize| match digits_from(start) {
        end if end == start => Err((start, expected_digit(bytes.get(start)))),
        end => Ok(end),
    };

    let negative = bytes.first() == Some(&b'-');
    let start = usize::from(negative);
    let mut end = match bytes.get(start) {
        Some(b'0') => start + 1,
        _ => some_digits_from(start)?,
    };
    let whole = &bytes[start..end];
    let mut is_whole = true;
    if bytes.get(end) == Some(&b'.') {
        is_whole = false;
        end = some_digits_from(end + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        is_whole = false;
        let signed = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
        end = some_digits_from(end + 1 + usize::from(signed))?;
    }

    if is_whole && whole.len() <= EXACT_DIGITS {
        let value = whole
            .iter()
            .fold(0u64, |value, digit| value * 10 + u64::from(digit - b'0'))
            as f64;
        return Ok((if negative { -value } else { value }, end));
    }
    // What the grammar above lets through always parses; too large a number becomes infinite.
    let value: f64 = rest[..end]
        .parse()
        .map_err(|_| (0, ReadErrorKind::NumberOverflow))?;
    if !value.is_finite() {
        return Err((0, ReadErrorKind::NumberOverflow));
    }
    Ok((value, end))
}

/// Writes the number as ECMAScript does; `null` for one that isn't finite.
pub(super) fn write_number(number: f64, out: &mut Vec<u8>) {
    if !number.is_finite() {
        out.extend_from_slice(b"null");
        return;
    }
    out.extend_from_slice(ryu_js::Buffer::new().format_finite(number).as_bytes());
}

fn expected_digit(found: Option<&u8>) -> ReadErrorKind {
    match found {
        Some(&found) => ReadErrorKind::Unexpected {
            expected: "a digit",
            found,
        },
        None => ReadErrorKind::End,
    }
}
