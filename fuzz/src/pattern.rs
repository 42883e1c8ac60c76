//! Patterns of `like` against a dumb matcher.

use arbitrary::{Arbitrary, Unstructured};
use minca_record::json::Text;
use minca_record::policy::Pattern;

#[derive(Debug, Arbitrary)]
struct Input {
    pattern: Vec<Unit>,
    text: Vec<Unit>,
}

/// So few that patterns and texts meet, with both halves of a pair of surrogates.
#[derive(Debug, Clone, Copy, Arbitrary)]
enum Unit {
    Star,
    Backslash,
    A,
    B,
    Accented,
    High,
    Low,
}

/// The longest pattern and text tried: the dumb matcher is slow.
const LONGEST: usize = 64;

/// One run.
pub fn run(data: &[u8]) {
    let Ok(mut input) = Input::arbitrary_take_rest(Unstructured::new(data)) else {
        return;
    };
    input.pattern.truncate(LONGEST);
    input.text.truncate(LONGEST);
    let (pattern, text) = (text_of(&input.pattern), text_of(&input.text));
    assert_eq!(
        Pattern::new(&pattern).matches(&text),
        matches(&symbols(&pattern), &characters(&text)),
        "{pattern:?} on {text:?}"
    );
}

fn text_of(units: &[Unit]) -> Text {
    let units: Vec<u16> = units
        .iter()
        .map(|unit| match unit {
            Unit::Star => u16::from(b'*'),
            Unit::Backslash => u16::from(b'\\'),
            Unit::A => u16::from(b'a'),
            Unit::B => u16::from(b'b'),
            Unit::Accented => 0xE9,
            Unit::High => 0xD83D,
            Unit::Low => 0xDE00,
        })
        .collect();
    Text::from_utf16(&units)
}

/// Code points, a lone surrogate one of its own.
fn characters(text: &Text) -> Vec<u32> {
    let units: Vec<u16> = text.utf16_units().collect();
    char::decode_utf16(units)
        .map(|decoded| match decoded {
            Ok(character) => u32::from(character),
            Err(lone) => u32::from(lone.unpaired_surrogate()),
        })
        .collect()
}

/// A pattern's symbols: `None` for any characters, or one character.
fn symbols(pattern: &Text) -> Vec<Option<u32>> {
    let characters = characters(pattern);
    let mut symbols = Vec::new();
    let mut at = 0;
    while let Some(&character) = characters.get(at) {
        let star = u32::from(b'*');
        if character == u32::from(b'\\') && characters.get(at + 1) == Some(&star) {
            symbols.push(Some(star));
            at += 2;
            continue;
        }
        symbols.push((character != star).then_some(character));
        at += 1;
    }
    symbols
}

/// Whether each beginning of the pattern matches each beginning of the text, one after another.
fn matches(pattern: &[Option<u32>], text: &[u32]) -> bool {
    let mut row = vec![false; text.len() + 1];
    row[0] = true;
    for symbol in pattern {
        let before = row.clone();
        for end in 0..=text.len() {
            row[end] = match symbol {
                None => before[..=end].contains(&true),
                Some(symbol) => end > 0 && before[end - 1] && text[end - 1] == *symbol,
            };
        }
    }
    row[text.len()]
}
