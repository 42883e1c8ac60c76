//! JSON for people's eyes: a line for each member and element, in canonical order.

use minca_record::json::{Text, Value};

const INDENT: &str = "  ";

/// The value over several lines, and a line break at the end.
pub fn pretty(value: &Value) -> String {
    let mut out = String::new();
    write(value, 0, &mut out);
    out.push('\n');
    out
}

/// The canonical form on one line, and a line break at the end.
pub fn compact(value: &Value) -> String {
    let mut out = canonical(value);
    out.push('\n');
    out
}

/// As deep as the value, which whoever read or built it bounded.
fn write(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Array(elements) if !elements.is_empty() => {
            let lines = elements.iter().map(|element| (None, element));
            write_lines(('[', ']'), lines, depth, out);
        }
        Value::Object(object) if !object.is_empty() => {
            let lines = object.iter().map(|(name, value)| (Some(name), value));
            write_lines(('{', '}'), lines, depth, out);
        }
        other => out.push_str(&canonical(other)),
    }
}

fn write_lines<'a>(
    (open, close): (char, char),
    lines: impl Iterator<Item = (Option<&'a Text>, &'a Value)>,
    depth: usize,
    out: &mut String,
) {
    out.push(open);
    for (place, (name, value)) in lines.enumerate() {
        if place > 0 {
            out.push(',');
        }
        begin_line(depth + 1, out);
        if let Some(name) = name {
            out.push_str(&canonical(&Value::from(name.clone())));
            out.push_str(": ");
        }
        write(value, depth + 1, out);
    }
    begin_line(depth, out);
    out.push(close);
}

fn begin_line(depth: usize, out: &mut String) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str(INDENT);
    }
}

/// A canonical form is always UTF-8 (02 §1).
fn canonical(value: &Value) -> String {
    String::from_utf8_lossy(&value.canonical()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use minca_record::json::{MESSAGE_DEPTH, read};

    #[test]
    fn members_and_elements_have_lines_of_their_own_and_empty_ones_none() {
        let text = r#"{"b":[1,{"x":null}],"a":{},"c":[],"\ud800":"\n"}"#;
        let value = read(text.as_bytes(), MESSAGE_DEPTH).unwrap();
        let pretty = pretty(&value);
        let expected = "{\n  \"a\": {},\n  \"b\": [\n    1,\n    {\n      \"x\": null\n    }\n  ],\n  \"c\": [],\n  \"\\ud800\": \"\\n\"\n}\n";
        assert_eq!(pretty, expected);
        assert_eq!(read(pretty.as_bytes(), MESSAGE_DEPTH).unwrap(), value);
        assert_eq!(
            read(compact(&value).as_bytes(), MESSAGE_DEPTH).unwrap(),
            value
        );
    }
}
