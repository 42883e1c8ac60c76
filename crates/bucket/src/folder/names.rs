//! Key parts as file names, and back (05 §14.2, §14.4).

use minca_record::file_name::{decode_file_name, encode_file_name};

/// Names with this ending are a writer's work in progress and no objects (05 §14.3).
pub(super) const UNFINISHED: &str = ".tmp";

/// The most parts a key has. Ours have five below the bucket's prefix; without a
/// bound, a tree somebody planted would use up the files a process may have open.
pub(super) const MAX_PARTS: usize = 64;

/// A key that can't be kept in a folder. Says nothing of the key itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// There is nothing to name a file by.
    #[error("expected a key of at least one part, got an empty one")]
    Empty,
    /// A part would name no file in its directory, or one elsewhere (05 §14.4).
    #[error("a part of the key is empty, `.` or `..`, or holds `/`, `\\` or NUL")]
    Unsafe,
    /// Names ending so are ignored by every reader (05 §14.3).
    #[error("a part of the key ends in `.tmp`, as only unfinished files may")]
    Unfinished,
    /// The directories would lie too deep.
    #[error("expected a key of at most {MAX_PARTS} parts, got more")]
    TooDeep,
}

/// The file name of one part of a key.
pub(super) fn file_name(part: &str) -> Result<String, KeyError> {
    if is_unsafe(part) {
        return Err(KeyError::Unsafe);
    }
    let name = encode_file_name(part);
    if name.ends_with(UNFINISHED) {
        return Err(KeyError::Unfinished);
    }
    Ok(name)
}

/// The part of a key that a name found in the folder stands for; `None` for what
/// no writer following 05 §14 would have named so.
pub(super) fn key_part(name: &[u8]) -> Option<String> {
    let part = decode_file_name(std::str::from_utf8(name).ok()?)?;
    let is_the_one_spelling = file_name(&part).is_ok_and(|spelled| spelled.as_bytes() == name);
    is_the_one_spelling.then_some(part)
}

fn is_unsafe(part: &str) -> bool {
    matches!(part, "" | "." | "..") || part.contains(['/', '\\', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parts_that_reach_elsewhere_are_refused() {
        for part in ["", ".", "..", "a/b", "/", "a\\b", "\\", "a\0b", "\0"] {
            assert_eq!(file_name(part), Err(KeyError::Unsafe), "{part:?}");
        }
    }

    #[test]
    fn parts_that_look_unfinished_are_refused() {
        assert_eq!(file_name("a.tmp"), Err(KeyError::Unfinished));
        assert_eq!(file_name(".tmp"), Err(KeyError::Unfinished));
        assert_eq!(file_name("a.TMP").as_deref(), Ok("a.%54%4D%50"));
        assert_eq!(file_name("a.tmp.seg").as_deref(), Ok("a.tmp.seg"));
    }

    #[test]
    fn dots_that_are_only_a_part_of_a_name_stay() {
        assert_eq!(file_name("...").as_deref(), Ok("..."));
        assert_eq!(file_name("..a").as_deref(), Ok("..a"));
    }

    #[test]
    fn names_in_another_spelling_stand_for_nothing() {
        let names: [&[u8]; 11] = [
            b"", b".", b"..", b"Abc", b"%2f", b"%2F", b"%5C", b"%00", b"%zz", b"a%61", b"\xff",
        ];
        for name in names {
            assert_eq!(key_part(name), None, "{name:?}");
        }
        assert_eq!(key_part(b"a.tmp"), None);
    }

    proptest! {
        #[test]
        fn a_name_decodes_to_the_part_it_was_made_from(part in "\\PC{0,24}") {
            if let Ok(name) = file_name(&part) {
                prop_assert!(name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-' | b'%' | b'A'..=b'F')));
                prop_assert_eq!(key_part(name.as_bytes()), Some(part));
            }
        }

        #[test]
        fn a_name_that_is_read_is_spelled_as_it_would_be_written(name in prop::collection::vec(any::<u8>(), 0..12)) {
            if let Some(part) = key_part(&name) {
                prop_assert_eq!(file_name(&part).unwrap().into_bytes(), name);
            }
        }
    }
}
