//! The JSON reader takes any bytes; what it reads, the canonical form holds whole, in one spelling,
//! and never deeper than asked for.

use minca_record::json::{GREATEST_DEPTH, MESSAGE_DEPTH, ReadErrorKind, read};

/// Depths to ask for, each more than the one before.
const DEPTHS: [usize; 6] = [0, 1, 3, MESSAGE_DEPTH, GREATEST_DEPTH, usize::MAX];

/// One run.
pub fn run(data: &[u8]) {
    let deepest = read(data, usize::MAX);
    for max_depth in DEPTHS {
        match read(data, max_depth) {
            Ok(value) => {
                assert!(value.depth() <= max_depth.min(GREATEST_DEPTH));
                assert_eq!(
                    Ok(&value),
                    deepest.as_ref(),
                    "read at every greater depth too"
                );
            }
            Err(error) => {
                assert!(error.at <= data.len());
                match error.kind {
                    ReadErrorKind::TooDeep { allowed } => {
                        assert_eq!(allowed, max_depth.min(GREATEST_DEPTH));
                        // What it refuses as too deep is too deep, if it reads at all.
                        if let Ok(value) = &deepest {
                            assert!(value.depth() > max_depth || hides_depth(data));
                        }
                    }
                    _ => assert_eq!(Err(error), deepest, "the same at every greater depth"),
                }
            }
        }
    }
    let Ok(value) = deepest else { return };
    let canonical = value.canonical();
    assert!(std::str::from_utf8(&canonical).is_ok());
    let again = read(&canonical, usize::MAX).expect("a canonical form reads");
    assert_eq!(again, value);
    assert_eq!(again.canonical(), canonical, "a fixed point");
    assert_eq!(again.depth(), value.depth());
}

/// Of equal names the last value counts, so a deep one may be gone from the value: only a text with
/// a name in it can be deeper than what it reads as.
fn hides_depth(data: &[u8]) -> bool {
    data.contains(&b':')
}
