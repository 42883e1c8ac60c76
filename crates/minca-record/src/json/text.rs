//! A JSON string: Unicode text that may hold lone surrogates (02 §1), kept as WTF-8.

use std::cmp::Ordering;
use std::fmt;

/// A JSON string, as ECMAScript has them: any sequence of UTF-16 code units.
///
/// Kept as WTF-8: UTF-8, and a lone surrogate as the three bytes its number would take. A high
/// surrogate followed by a low one is always the one character they make, so equal strings are
/// equal bytes. Ordered by UTF-16 code unit, as members of a canonical object are.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Text(Kept);

/// `Surrogates` always holds at least one lone surrogate, so no string has two forms.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Kept {
    Utf8(Box<str>),
    Surrogates(Box<[u8]>),
}

impl Text {
    /// The string, unless it holds a lone surrogate.
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Kept::Utf8(text) => Some(text),
            Kept::Surrogates(_) => None,
        }
    }

    /// The string as WTF-8; plain UTF-8 unless it holds a lone surrogate.
    pub fn as_wtf8(&self) -> &[u8] {
        match &self.0 {
            Kept::Utf8(text) => text.as_bytes(),
            Kept::Surrogates(bytes) => bytes,
        }
    }

    /// Length in UTF-16 code units, as ECMAScript's `length`; the protocol counts strings so.
    pub fn utf16_len(&self) -> usize {
        self.as_wtf8()
            .iter()
            .map(|&byte| match byte {
                0x80..=0xBF => 0,
                0xF0.. => 2,
                _ => 1,
            })
            .sum()
    }

    /// Length in Unicode code points; a lone surrogate is one.
    pub fn code_points(&self) -> usize {
        // Every code point has one byte that continues no other.
        self.as_wtf8()
            .iter()
            .filter(|&&byte| !matches!(byte, 0x80..=0xBF))
            .count()
    }

    /// Whether the string has no characters.
    pub fn is_empty(&self) -> bool {
        self.as_wtf8().is_empty()
    }

    /// The string that `units` spell, pairs joined.
    pub fn from_utf16(units: &[u16]) -> Text {
        let mut builder = TextBuilder::default();
        for &unit in units {
            builder.push_unit(unit);
        }
        builder.finish()
    }

    /// The UTF-16 code units of the string, in order.
    pub fn utf16_units(&self) -> impl Iterator<Item = u16> + '_ {
        Utf16Units::new(self.as_wtf8())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(Kept::Utf8(text.into()))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(Kept::Utf8(text.into_boxed_str()))
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_wtf8() == other.as_bytes()
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Text) -> Ordering {
        cmp_utf16(self.as_wtf8(), other.as_wtf8())
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Text) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::new();
        super::write::write_text(self, &mut out);
        f.write_str(&String::from_utf8_lossy(&out))
    }
}

/// Compares two WTF-8 strings by UTF-16 code unit.
///
/// That is the order of the bytes, but where a character above U+FFFF (two surrogates) meets
/// another unit from U+D800 up.
pub(super) fn cmp_utf16(a: &[u8], b: &[u8]) -> Ordering {
    let Some(at) = a.iter().zip(b).position(|(x, y)| x != y) else {
        return a.len().cmp(&b.len());
    };
    let (x, y) = (a[at], b[at]);
    // Continuation bytes lie below 0xED, so here both bytes begin a character.
    let pair_meets_late_unit = (x >= 0xF0) != (y >= 0xF0) && x.min(y) >= 0xED;
    if !pair_meets_late_unit {
        return x.cmp(&y);
    }
    Utf16Units::new(&a[at..]).cmp(Utf16Units::new(&b[at..]))
}

/// Puts a string together from pieces and code units, joining surrogates into characters.
#[derive(Default)]
pub(super) struct TextBuilder {
    bytes: Vec<u8>,
    /// A high surrogate that nothing has followed yet.
    high: Option<u16>,
    has_lone: bool,
}

impl TextBuilder {
    pub(super) fn push_str(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.settle();
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub(super) fn push_unit(&mut self, unit: u16) {
        if let Some(high) = self.high
            && let 0xDC00..=0xDFFF = unit
        {
            self.high = None;
            let code = 0x10000 + ((u32::from(high) - 0xD800) << 10) + (u32::from(unit) - 0xDC00);
            self.push_code(code);
            return;
        }
        self.settle();
        match unit {
            0xD800..=0xDBFF => self.high = Some(unit),
            0xDC00..=0xDFFF => self.push_lone(unit),
            _ => self.push_code(u32::from(unit)),
        }
    }

    pub(super) fn finish(mut self) -> Text {
        self.settle();
        if self.has_lone {
            return Text(Kept::Surrogates(self.bytes.into_boxed_slice()));
        }
        match String::from_utf8(self.bytes) {
            Ok(text) => Text::from(text),
            // Only lone surrogates make the bytes anything but UTF-8, and `has_lone` says so.
            Err(error) => Text(Kept::Surrogates(error.into_bytes().into_boxed_slice())),
        }
    }

    fn settle(&mut self) {
        if let Some(high) = self.high.take() {
            self.push_lone(high);
        }
    }

    fn push_lone(&mut self, unit: u16) {
        self.has_lone = true;
        let [_, low] = unit.to_be_bytes();
        let middle = 0x80 | ((unit >> 6) & 0x3F) as u8;
        self.bytes
            .extend_from_slice(&[0xED, middle, 0x80 | (low & 0x3F)]);
    }

    fn push_code(&mut self, code: u32) {
        if let Some(character) = char::from_u32(code) {
            self.bytes
                .extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
}

/// The UTF-16 code units of a WTF-8 string.
struct Utf16Units<'a> {
    rest: &'a [u8],
    low: Option<u16>,
}

impl<'a> Utf16Units<'a> {
    fn new(wtf8: &'a [u8]) -> Utf16Units<'a> {
        Utf16Units {
            rest: wtf8,
            low: None,
        }
    }
}

impl Iterator for Utf16Units<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        if let Some(low) = self.low.take() {
            return Some(low);
        }
        let tail = |byte: u8| u32::from(byte & 0x3F);
        let (code, rest) = match *self.rest {
            [a, b, c, d, ref rest @ ..] if a >= 0xF0 => (
                u32::from(a & 0x07) << 18 | tail(b) << 12 | tail(c) << 6 | tail(d),
                rest,
            ),
            [a, b, c, ref rest @ ..] if (0xE0..0xF0).contains(&a) => {
                (u32::from(a & 0x0F) << 12 | tail(b) << 6 | tail(c), rest)
            }
            [a, b, ref rest @ ..] if (0xC0..0xE0).contains(&a) => {
                (u32::from(a & 0x1F) << 6 | tail(b), rest)
            }
            [a, ref rest @ ..] => (u32::from(a), rest),
            [] => return None,
        };
        self.rest = rest;
        if code < 0x10000 {
            return Some(code as u16);
        }
        self.low = Some(0xDC00 + ((code - 0x10000) & 0x3FF) as u16);
        Some(0xD800 + ((code - 0x10000) >> 10) as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Code units with surrogates and the last of the BMP far more often than chance gives them.
    fn units() -> impl Strategy<Value = Vec<u16>> {
        let unit = prop_oneof![
            0x00u16..0x80,
            0x80u16..0x900,
            0xD7F0u16..0xD810,
            0xD800u16..0xDC00,
            0xDBF0u16..0xDC10,
            0xDC00u16..0xE000,
            0xDFF0u16..0xE010,
            0xFFF0u16..=0xFFFF,
            any::<u16>(),
        ];
        proptest::collection::vec(unit, 0..6)
    }

    #[test]
    fn a_pair_is_one_character_and_a_lone_half_none() {
        assert_eq!(Text::from_utf16(&[0xD83D, 0xDE00]), Text::from("😀"));
        assert_eq!(Text::from("😀").utf16_len(), 2);
        let lone = Text::from_utf16(&[0xDE00, 0xD83D]);
        assert_eq!(lone.as_str(), None);
        assert_eq!(lone.as_wtf8(), [0xED, 0xB8, 0x80, 0xED, 0xA0, 0xBD]);
        assert_eq!(lone.utf16_len(), 2);
        assert_eq!(lone.code_points(), 2);
        assert_eq!(Text::from("😀é").code_points(), 2);
    }

    proptest! {
        #[test]
        fn any_code_units_come_back(units in units()) {
            let text = Text::from_utf16(&units);
            prop_assert_eq!(text.utf16_units().collect::<Vec<_>>(), units.clone());
            prop_assert_eq!(text.utf16_len(), units.len());
            prop_assert_eq!(text.as_str().map(str::to_owned), String::from_utf16(&units).ok());
        }

        #[test]
        fn order_is_that_of_the_code_units(a in units(), b in units()) {
            prop_assert_eq!(Text::from_utf16(&a).cmp(&Text::from_utf16(&b)), a.cmp(&b));
        }

        #[test]
        fn order_after_a_common_start_is_that_of_the_code_units(start in units(), a in units(), b in units()) {
            let (a, b) = ([start.clone(), a].concat(), [start, b].concat());
            prop_assert_eq!(Text::from_utf16(&a).cmp(&Text::from_utf16(&b)), a.cmp(&b));
            prop_assert_eq!(Text::from_utf16(&a) == Text::from_utf16(&b), a == b);
        }
    }
}
