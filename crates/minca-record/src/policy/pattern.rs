//! Patterns of `like` (01 §7.4).

use memchr::memmem;

use crate::json::Text;

/// A pattern: `*` stands for any characters, none included; `\*` is an asterisk; anything else,
/// a backslash before another character included, is itself.
///
/// Matching takes time in proportion to pattern and text together, since patterns and texts come
/// from strangers.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// What is written before the first `*`.
    start: Vec<u8>,
    /// What follows each `*`. The last of them ends the text; none of the others is empty, so
    /// that each costs some of the text.
    after_stars: Vec<Vec<u8>>,
}

impl Pattern {
    /// Takes any text for a pattern.
    pub fn new(pattern: &Text) -> Pattern {
        let mut pieces = vec![Vec::new()];
        let mut rest = pattern.as_wtf8();
        loop {
            let (next, after) = match rest {
                [b'\\', b'*', after @ ..] => (Some(b'*'), after),
                [b'*', after @ ..] => (None, after),
                [byte, after @ ..] => (Some(*byte), after),
                [] => break,
            };
            match (next, pieces.last_mut()) {
                (Some(byte), Some(piece)) => piece.push(byte),
                _ => pieces.push(Vec::new()),
            }
            rest = after;
        }
        let mut after_stars = pieces.split_off(1);
        let end = after_stars.pop();
        after_stars.retain(|piece| !piece.is_empty());
        after_stars.extend(end);
        Pattern {
            start: pieces.concat(),
            after_stars,
        }
    }

    /// Whether the pattern matches the whole of `text`.
    pub fn matches(&self, text: &Text) -> bool {
        let Some(rest) = text.as_wtf8().strip_prefix(self.start.as_slice()) else {
            return false;
        };
        let Some((end, middle)) = self.after_stars.split_last() else {
            return rest.is_empty();
        };
        let Some(mut rest) = rest.strip_suffix(end.as_slice()) else {
            return false;
        };
        for piece in middle {
            // Finding takes time for the piece too, which may be far longer than the text.
            if piece.len() > rest.len() {
                return false;
            }
            // Where a piece first fits leaves the most for those after it.
            let Some(place) = memmem::find(rest, piece) else {
                return false;
            };
            rest = &rest[place + piece.len()..];
        }
        true
    }
}
