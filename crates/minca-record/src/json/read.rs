//! Reading JSON from bytes, without recursion and to a stated depth.

use thiserror::Error;

use super::number::read_number;
use super::scan::plain_run;
use super::text::TextBuilder;
use super::{Object, Text, Value};

/// How deep a message may be nested (04 §2).
pub const MESSAGE_DEPTH: usize = 128;

/// No reader goes deeper, whatever it is asked for: values are dropped, compared and written by
/// recursion, which this keeps well inside any thread's stack.
pub const GREATEST_DEPTH: usize = 1024;

/// Why a text is no JSON of this protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{kind} (at byte {at})")]
pub struct ReadError {
    /// What is wrong.
    pub kind: ReadErrorKind,
    /// Where, in bytes from the start.
    pub at: usize,
}

/// What is wrong with a text that is no JSON of this protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReadErrorKind {
    /// Not UTF-8 (a surrogate written as bytes isn't either).
    #[error("not UTF-8")]
    NotUtf8,
    /// The text ends inside a value, or holds none.
    #[error("the text ends inside a value")]
    End,
    /// A byte that can't be there.
    #[error("expected {expected}, found byte {found:#04x}")]
    Unexpected {
        /// What could be there.
        expected: &'static str,
        /// The byte that is there.
        found: u8,
    },
    /// A number too large for binary64 (02 §1).
    #[error("a number too large for binary64")]
    NumberOverflow,
    /// Arrays and objects nested deeper than allowed.
    #[error("nested deeper than {allowed}")]
    TooDeep {
        /// How deep is allowed.
        allowed: usize,
    },
    /// Something other than white space after the value.
    #[error("something follows the value")]
    Trailing,
}

/// Reads one JSON value, nested at most `max_depth` deep ([`Value::depth`]; never more than
/// [`GREATEST_DEPTH`]). Of equal names the last value counts (02 §1).
///
/// Takes time in proportion to the text (n log n for an object's unsorted names), and memory: the
/// value up to 16 bytes, and while reading up to 48, for each byte of a text made to be so, such as
/// `[0,0,0…]`. Messages as members write them take 2 to 4. Whoever reads many at once counts that.
pub fn read(text: &[u8], max_depth: usize) -> Result<Value, ReadError> {
    let text = std::str::from_utf8(text).map_err(|error| ReadError {
        kind: ReadErrorKind::NotUtf8,
        at: error.valid_up_to(),
    })?;
    let reader = Reader {
        text,
        bytes: text.as_bytes(),
        at: 0,
        max_depth: max_depth.min(GREATEST_DEPTH),
        open: Vec::new(),
        elements: Vec::new(),
        members: Vec::new(),
    };
    reader.read()
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    max_depth: usize,
    /// The arrays and objects begun and not yet ended, outermost first.
    open: Vec<Open>,
    /// What the open arrays hold so far, one array's elements after another's.
    elements: Vec<Value>,
    /// What the open objects hold so far, one object's members after another's.
    members: Vec<(Text, Value)>,
}

enum Open {
    Array { first_element: usize },
    Object { first_member: usize, name: Text },
}

/// What comes next in the text.
enum Next {
    /// A value is to be read.
    Value,
    /// A value was read: whoever holds it is next.
    Done(Value),
}

impl<'a> Reader<'a> {
    fn read(mut self) -> Result<Value, ReadError> {
        self.skip_space();
        let mut next = Next::Value;
        loop {
            next = match next {
                Next::Value => self.begin_value()?,
                Next::Done(value) => match self.open.pop() {
                    None => return self.end(value),
                    Some(holder) => self.after_value(holder, value)?,
                },
            };
        }
    }

    fn end(mut self, value: Value) -> Result<Value, ReadError> {
        self.skip_space();
        match self.at == self.bytes.len() {
            true => Ok(value),
            false => Err(self.error(ReadErrorKind::Trailing)),
        }
    }

    fn begin_value(&mut self) -> Result<Next, ReadError> {
        let value = match self.peek()? {
            b'"' => Value::String(self.read_text()?),
            b'{' => return self.begin_object(),
            b'[' => return self.begin_array(),
            b'-' | b'0'..=b'9' => self.read_number()?,
            b't' => self.read_word("true", Value::Bool(true))?,
            b'f' => self.read_word("false", Value::Bool(false))?,
            b'n' => self.read_word("null", Value::Null)?,
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Next::Done(value))
    }

    fn begin_array(&mut self) -> Result<Next, ReadError> {
        self.go_deeper()?;
        if self.peek()? == b']' {
            self.at += 1;
            return Ok(Next::Done(Value::Array(Vec::new())));
        }
        self.open.push(Open::Array {
            first_element: self.elements.len(),
        });
        Ok(Next::Value)
    }

    fn begin_object(&mut self) -> Result<Next, ReadError> {
        self.go_deeper()?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Ok(Next::Done(Value::Object(Object::new())));
        }
        self.begin_member(self.members.len())
    }

    fn begin_member(&mut self, first_member: usize) -> Result<Next, ReadError> {
        if self.peek()? != b'"' {
            return Err(self.unexpected("a name in double quotes"));
        }
        let name = self.read_text()?;
        self.skip_space();
        if self.peek()? != b':' {
            return Err(self.unexpected("':'"));
        }
        self.at += 1;
        self.skip_space();
        self.open.push(Open::Object { first_member, name });
        Ok(Next::Value)
    }

    fn after_value(&mut self, holder: Open, value: Value) -> Result<Next, ReadError> {
        self.skip_space();
        let byte = self.peek()?;
        match holder {
            Open::Array { first_element } => {
                self.elements.push(value);
                match byte {
                    b',' => {
                        self.at += 1;
                        self.skip_space();
                        self.open.push(Open::Array { first_element });
                        Ok(Next::Value)
                    }
                    b']' => {
                        self.at += 1;
                        Ok(Next::Done(Value::Array(
                            self.elements.split_off(first_element),
                        )))
                    }
                    _ => Err(self.unexpected("',' or ']'")),
                }
            }
            Open::Object { first_member, name } => {
                self.members.push((name, value));
                match byte {
                    b',' => {
                        self.at += 1;
                        self.skip_space();
                        self.begin_member(first_member)
                    }
                    b'}' => {
                        self.at += 1;
                        let members = self.members.split_off(first_member);
                        Ok(Next::Done(Value::Object(Object::from_members(members))))
                    }
                    _ => Err(self.unexpected("',' or '}'")),
                }
            }
        }
    }

    /// Steps over the byte that opens an array or object, and the white space after it.
    fn go_deeper(&mut self) -> Result<(), ReadError> {
        if self.open.len() >= self.max_depth {
            return Err(self.error(ReadErrorKind::TooDeep {
                allowed: self.max_depth,
            }));
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    fn read_word(&mut self, word: &'static str, value: Value) -> Result<Value, ReadError> {
        for expected in word.bytes() {
            if self.peek()? != expected {
                return Err(self.unexpected(word));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn read_number(&mut self) -> Result<Value, ReadError> {
        match read_number(&self.text[self.at..]) {
            Ok((number, length)) => {
                self.at += length;
                Ok(Value::Number(number))
            }
            Err((offset, kind)) => Err(ReadError {
                kind,
                at: self.at + offset,
            }),
        }
    }

    /// Reads a string; the reader stands at its first quote.
    fn read_text(&mut self) -> Result<Text, ReadError> {
        self.at += 1;
        let first_run = self.read_run();
        if self.peek()? == b'"' {
            self.at += 1;
            return Ok(Text::from(first_run));
        }
        let mut builder = TextBuilder::default();
        builder.push_str(first_run);
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Ok(builder.finish());
                }
                b'\\' => {
                    self.at += 1;
                    let unit = self.read_escape()?;
                    builder.push_unit(unit);
                }
                _ => return Err(self.unexpected("no bare control character")),
            }
            builder.push_str(self.read_run());
        }
    }

    fn read_run(&mut self) -> &'a str {
        let start = self.at;
        self.at += plain_run(&self.bytes[start..]);
        &self.text[start..self.at]
    }

    /// Reads what follows a backslash.
    fn read_escape(&mut self) -> Result<u16, ReadError> {
        let unit = match self.peek()? {
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'b' => 0x08,
            b't' => 0x09,
            b'n' => 0x0A,
            b'f' => 0x0C,
            b'r' => 0x0D,
            b'u' => {
                self.at += 1;
                return self.read_hex_unit();
            }
            _ => return Err(self.unexpected("one of \" \\ / b t n f r u after a backslash")),
        };
        self.at += 1;
        Ok(u16::from(unit))
    }

    fn read_hex_unit(&mut self) -> Result<u16, ReadError> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = match self.peek()? {
                byte @ b'0'..=b'9' => byte - b'0',
                byte @ b'a'..=b'f' => byte - b'a' + 10,
                byte @ b'A'..=b'F' => byte - b'A' + 10,
                _ => return Err(self.unexpected("a hex digit")),
            };
            unit = unit << 4 | u16::from(digit);
            self.at += 1;
        }
        Ok(unit)
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Result<u8, ReadError> {
        self.bytes
            .get(self.at)
            .copied()
            .ok_or_else(|| self.error(ReadErrorKind::End))
    }

    fn unexpected(&self, expected: &'static str) -> ReadError {
        match self.bytes.get(self.at) {
            Some(&found) => self.error(ReadErrorKind::Unexpected { expected, found }),
            None => self.error(ReadErrorKind::End),
        }
    }

    fn error(&self, kind: ReadErrorKind) -> ReadError {
        ReadError { kind, at: self.at }
    }
}
