//! The canonical form (02 §1): what every hash of, and signature over, a JSON value is over.

use super::number::write_number;
use super::scan::plain_run;
use super::{Object, Text, Value};

impl Value {
    /// Adds the canonical form, which is always UTF-8, to `out`.
    pub fn write_canonical(&self, out: &mut Vec<u8>) {
        match self {
            Value::Null => out.extend_from_slice(b"null"),
            Value::Bool(true) => out.extend_from_slice(b"true"),
            Value::Bool(false) => out.extend_from_slice(b"false"),
            Value::Number(number) => write_number(*number, out),
            Value::String(text) => write_text(text, out),
            Value::Array(elements) => {
                out.push(b'[');
                for (place, element) in elements.iter().enumerate() {
                    if place > 0 {
                        out.push(b',');
                    }
                    element.write_canonical(out);
                }
                out.push(b']');
            }
            Value::Object(object) => object.write_canonical(out),
        }
    }

    /// The canonical form, which is always UTF-8.
    pub fn canonical(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_canonical(&mut out);
        out
    }
}

impl Object {
    /// Adds the canonical form to `out`.
    pub fn write_canonical(&self, out: &mut Vec<u8>) {
        self.write_canonical_without(&[], out);
    }

    /// Adds to `out` the canonical form of the object as it would be without the members called
    /// `names`: the signed part of a version (02 §3.2) or of a note (01 §7.2).
    pub fn write_canonical_without(&self, names: &[&str], out: &mut Vec<u8>) {
        out.push(b'{');
        let mut first = true;
        for (name, value) in self.iter() {
            if names.iter().any(|left_out| name == left_out) {
                continue;
            }
            if !first {
                out.push(b',');
            }
            first = false;
            write_text(name, out);
            out.push(b':');
            value.write_canonical(out);
        }
        out.push(b'}');
    }

    /// The canonical form, which is always UTF-8.
    pub fn canonical(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_canonical(&mut out);
        out
    }
}

/// Adds the string as ECMAScript's `JSON.stringify` writes it.
pub(super) fn write_text(text: &Text, out: &mut Vec<u8>) {
    out.push(b'"');
    match text.as_str() {
        Some(text) => write_escaped(text.as_bytes(), out),
        None => write_with_surrogates(text.as_wtf8(), out),
    }
    out.push(b'"');
}

fn write_escaped(mut rest: &[u8], out: &mut Vec<u8>) {
    loop {
        let (plain, special) = rest.split_at(plain_run(rest));
        out.extend_from_slice(plain);
        let Some((&byte, after)) = special.split_first() else {
            return;
        };
        write_special(byte, out);
        rest = after;
    }
}

fn write_special(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        0x08 => b'b',
        0x09 => b't',
        0x0A => b'n',
        0x0C => b'f',
        0x0D => b'r',
        _ => return write_unit(u16::from(byte), out),
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// In WTF-8 exactly the lone surrogates begin `ED A0` to `ED BF`.
fn write_with_surrogates(mut rest: &[u8], out: &mut Vec<u8>) {
    loop {
        let surrogate = rest
            .windows(3)
            .position(|window| window[0] == 0xED && window[1] >= 0xA0);
        let Some(place) = surrogate else {
            return write_escaped(rest, out);
        };
        write_escaped(&rest[..place], out);
        let unit =
            0xD000 | u16::from(rest[place + 1] & 0x3F) << 6 | u16::from(rest[place + 2] & 0x3F);
        write_unit(unit, out);
        rest = &rest[place + 3..];
    }
}

fn write_unit(unit: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        out.push(b"0123456789abcdef"[usize::from(unit >> shift & 0xF)]);
    }
}
