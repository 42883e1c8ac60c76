//! Selectors: which part of the arguments a statement is about (01 §7.4).

use thiserror::Error;

use crate::json::{self, GREATEST_WHOLE_NUMBER, Object, Text, Value};

/// A text is no selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected {expected} (at byte {at} of the selector)")]
pub struct SelectorError {
    /// What should be there.
    pub expected: &'static str,
    /// Where, in bytes.
    pub at: usize,
}

/// A selector: `.`, or steps from the arguments inwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Selector {
    segments: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq)]
struct Segment {
    step: Step,
    /// Written with `?`: `null` where there would be no data.
    or_null: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Member(Text),
    Element(i64),
    Slice { from: Option<i64>, to: Option<i64> },
    Elements,
}

/// What a selector found.
#[derive(Clone, Debug)]
pub(super) enum Found<'a> {
    Scalar(&'a Value),
    Object(&'a Object),
    Array(&'a [Value]),
    /// An array that isn't in the data: the values of an object.
    Values(Vec<&'a Value>),
}

static NULL: Value = Value::Null;

impl Selector {
    /// Reads a selector.
    pub fn read(text: &str) -> Result<Selector, SelectorError> {
        Reader { text, at: 0 }.read()
    }

    /// What the selector finds in `arguments`, or no data.
    pub fn select(&self, arguments: &Object) -> Option<Value> {
        self.find(Found::Object(arguments))
            .map(|found| found.to_value())
    }

    pub(super) fn find<'a>(&self, start: Found<'a>) -> Option<Found<'a>> {
        let mut found = start;
        for segment in &self.segments {
            found = match step(found, &segment.step) {
                Some(next) => next,
                None if segment.or_null => Found::Scalar(&NULL),
                None => return None,
            };
        }
        Some(found)
    }

    /// How many steps it takes.
    pub(super) fn steps(&self) -> usize {
        self.segments.len()
    }

    /// Whether it reads the argument `name`, or the whole of the arguments.
    pub(super) fn reads(&self, name: &str) -> bool {
        match self.segments.first() {
            None => true,
            Some(Segment {
                step: Step::Elements,
                ..
            }) => true,
            Some(Segment {
                step: Step::Member(own),
                ..
            }) => own == name,
            Some(_) => false,
        }
    }
}

fn step<'a>(found: Found<'a>, step: &Step) -> Option<Found<'a>> {
    match (step, found) {
        (Step::Member(name), Found::Object(object)) => {
            Some(object.get_text(name).unwrap_or(&NULL).into())
        }
        (Step::Element(index), Found::Array(elements)) => {
            let place = element_place(*index, elements.len())?;
            Some((&elements[place]).into())
        }
        (Step::Element(index), Found::Values(values)) => {
            let place = element_place(*index, values.len())?;
            Some(values[place].into())
        }
        (Step::Slice { from, to }, Found::Array(elements)) => {
            let range = slice_range(*from, *to, elements.len());
            Some(Found::Array(&elements[range]))
        }
        (Step::Slice { from, to }, Found::Values(values)) => {
            let range = slice_range(*from, *to, values.len());
            Some(Found::Values(values[range].to_vec()))
        }
        (Step::Elements, Found::Object(object)) => Some(Found::Values(
            object.iter().map(|(_, value)| value).collect(),
        )),
        (Step::Elements, found @ (Found::Array(_) | Found::Values(_))) => Some(found),
        _ => None,
    }
}

/// The place of element `index`, which counts from the end when negative.
fn element_place(index: i64, length: usize) -> Option<usize> {
    let from_end = usize::try_from(index.unsigned_abs()).ok()?;
    match index < 0 {
        true => length.checked_sub(from_end),
        false => (from_end < length).then_some(from_end),
    }
}

fn slice_range(from: Option<i64>, to: Option<i64>, length: usize) -> std::ops::Range<usize> {
    let clamped = |end: i64| {
        let distance = usize::try_from(end.unsigned_abs()).unwrap_or(usize::MAX);
        match end < 0 {
            true => length.saturating_sub(distance),
            false => distance.min(length),
        }
    };
    let from = from.map_or(0, clamped);
    let to = to.map_or(length, clamped);
    from..to.max(from)
}

impl<'a> From<&'a Value> for Found<'a> {
    fn from(value: &'a Value) -> Found<'a> {
        match value {
            Value::Object(object) => Found::Object(object),
            Value::Array(elements) => Found::Array(elements),
            scalar => Found::Scalar(scalar),
        }
    }
}

impl<'a> Found<'a> {
    pub(super) fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Found::Scalar(value), other) => *value == other,
            (Found::Object(object), Value::Object(other)) => *object == other,
            (Found::Array(elements), Value::Array(other)) => *elements == other.as_slice(),
            (Found::Values(values), Value::Array(other)) => {
                values.len() == other.len()
                    && values.iter().zip(other).all(|(own, other)| *own == other)
            }
            _ => false,
        }
    }

    pub(super) fn scalar(&self) -> Option<&'a Value> {
        match self {
            Found::Scalar(value) => Some(value),
            _ => None,
        }
    }

    /// The elements of an array or the values of an object; `None` for a scalar.
    pub(super) fn elements(&self) -> Option<Vec<&'a Value>> {
        match self {
            Found::Scalar(_) => None,
            Found::Object(object) => Some(object.iter().map(|(_, value)| value).collect()),
            Found::Array(elements) => Some(elements.iter().collect()),
            Found::Values(values) => Some(values.clone()),
        }
    }

    fn to_value(&self) -> Value {
        match self {
            Found::Scalar(value) => (*value).clone(),
            Found::Object(object) => Value::Object((*object).clone()),
            Found::Array(elements) => Value::Array(elements.to_vec()),
            Found::Values(values) => Value::Array(values.iter().copied().cloned().collect()),
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn read(mut self) -> Result<Selector, SelectorError> {
        self.expect(b'.', "'.'")?;
        let mut segments = Vec::new();
        if self.at == self.text.len() {
            return Ok(Selector { segments });
        }
        segments.push(match self.peek() {
            Some(b'[') => self.segment_in_brackets()?,
            _ => self.segment_by_name()?,
        });
        while let Some(byte) = self.peek() {
            segments.push(match byte {
                b'.' => {
                    self.at += 1;
                    self.segment_by_name()?
                }
                b'[' => self.segment_in_brackets()?,
                _ => return Err(self.error("'.', '[', '?' or the end")),
            });
        }
        Ok(Selector { segments })
    }

    fn segment_by_name(&mut self) -> Result<Segment, SelectorError> {
        let rest = &self.text.as_bytes()[self.at..];
        if !matches!(rest.first(), Some(b'A'..=b'Z' | b'a'..=b'z' | b'_')) {
            return Err(self.error("a letter or '_'"));
        }
        let in_name =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-');
        let length = rest
            .iter()
            .position(|byte| !in_name(byte))
            .unwrap_or(rest.len());
        let name = Text::from(&self.text[self.at..self.at + length]);
        self.at += length;
        Ok(self.with_question_marks(Step::Member(name)))
    }

    fn segment_in_brackets(&mut self) -> Result<Segment, SelectorError> {
        self.expect(b'[', "'['")?;
        let step = match self.peek() {
            Some(b']') => Step::Elements,
            Some(b'"') => Step::Member(self.json_string()?),
            Some(b':') => {
                self.at += 1;
                Step::Slice {
                    from: None,
                    to: Some(self.integer()?),
                }
            }
            _ => self.element_or_slice()?,
        };
        self.expect(b']', "']'")?;
        Ok(self.with_question_marks(step))
    }

    fn element_or_slice(&mut self) -> Result<Step, SelectorError> {
        let first = self.integer()?;
        if self.peek() != Some(b':') {
            return Ok(Step::Element(first));
        }
        self.at += 1;
        let to = match self.peek() {
            Some(b']') => None,
            _ => Some(self.integer()?),
        };
        Ok(Step::Slice {
            from: Some(first),
            to,
        })
    }

    fn integer(&mut self) -> Result<i64, SelectorError> {
        let start = self.at;
        let negative = self.peek() == Some(b'-');
        self.at += usize::from(negative);
        let digits_start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        let digits = &self.text[digits_start..self.at];
        let zero_is_right = digits == "0" && !negative;
        if digits.is_empty() || digits.starts_with('0') && !zero_is_right {
            self.at = start;
            return Err(self.error("an integer in its one spelling"));
        }
        let magnitude = digits
            .parse::<u64>()
            .ok()
            .filter(|&magnitude| magnitude <= GREATEST_WHOLE_NUMBER);
        match magnitude.and_then(|magnitude| i64::try_from(magnitude).ok()) {
            Some(magnitude) => Ok(if negative { -magnitude } else { magnitude }),
            None => {
                self.at = start;
                Err(self.error("an integer below 2^53"))
            }
        }
    }

    fn json_string(&mut self) -> Result<Text, SelectorError> {
        let rest = &self.text.as_bytes()[self.at..];
        let mut end = 1;
        loop {
            match rest.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
                None => return Err(self.error("a JSON string")),
            }
        }
        let text = match json::read(&rest[..=end], 0) {
            Ok(Value::String(text)) => text,
            _ => return Err(self.error("a JSON string")),
        };
        if text.as_str().is_none() {
            return Err(self.error("a string without lone surrogates"));
        }
        self.at += end + 1;
        Ok(text)
    }

    fn with_question_marks(&mut self, step: Step) -> Segment {
        let start = self.at;
        while self.peek() == Some(b'?') {
            self.at += 1;
        }
        Segment {
            step,
            or_null: self.at > start,
        }
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), SelectorError> {
        if self.peek() != Some(byte) {
            return Err(self.error(expected));
        }
        self.at += 1;
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn error(&self, expected: &'static str) -> SelectorError {
        SelectorError {
            expected,
            at: self.at,
        }
    }
}
