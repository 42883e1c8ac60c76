//! A second canonical form of JSON (02 §1), written to be plainly right and never fast: over
//! serde_json's values, with a number's digits from Rust's own formatting.

use serde_json::Value;

/// The canonical form of `value`.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => {
            let number = number.as_f64().expect("without arbitrary_precision");
            canonical_number(number)
        }
        Value::String(text) => canonical_text(text),
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(canonical).collect();
            format!("[{}]", elements.join(","))
        }
        Value::Object(object) => {
            let mut members: Vec<(&String, &Value)> = object.iter().collect();
            members.sort_by_key(|(name, _)| name.encode_utf16().collect::<Vec<u16>>());
            let members: Vec<String> = members
                .into_iter()
                .map(|(name, value)| format!("{}:{}", canonical_text(name), canonical(value)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
    }
}

/// ECMAScript's `Number::toString` (ECMA-262 §6.1.6.1.20), step by step.
fn canonical_number(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    if number < 0.0 {
        return format!("-{}", canonical_number(-number));
    }
    let scientific = shortest(number);
    let (digits, exponent) = scientific.split_once('e').expect("always has one");
    let digits = digits.replace('.', "");
    let k = digits.len() as i32;
    // The number is 0.digits times ten to the n.
    let n = exponent.parse::<i32>().expect("an integer") + 1;
    if k <= n && n <= 21 {
        return digits + &"0".repeat((n - k) as usize);
    }
    if 0 < n && n <= 21 {
        let (whole, fraction) = digits.split_at(n as usize);
        return format!("{whole}.{fraction}");
    }
    if -6 < n && n <= 0 {
        return format!("0.{}{digits}", "0".repeat(-n as usize));
    }
    let sign = if n > 0 { '+' } else { '-' };
    let exponent = (n - 1).abs();
    match digits.split_at(1) {
        (first, "") => format!("{first}e{sign}{exponent}"),
        (first, rest) => format!("{first}.{rest}e{sign}{exponent}"),
    }
}

/// As few digits as read back: `d.ddde±x`. Of several the closest, and of two as close the even one,
/// where Rust's own shortest form takes the greater.
fn shortest(number: f64) -> String {
    let shortest = format!("{number:e}");
    let (digits, _) = shortest.split_once('e').expect("always has one");
    let places = digits.replace('.', "").len() - 1;
    // With a precision it is the exact value that is rounded, half to even.
    let rounded = format!("{number:.places$e}");
    match rounded.parse() == Ok(number) {
        true => rounded,
        false => shortest,
    }
}

/// ECMAScript's `QuoteJSONString` (ECMA-262 §25.5.2.3).
fn canonical_text(text: &str) -> String {
    let mut out = String::from('"');
    for character in text.chars() {
        match character {
            '\u{8}' => out += "\\b",
            '\t' => out += "\\t",
            '\n' => out += "\\n",
            '\u{c}' => out += "\\f",
            '\r' => out += "\\r",
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            control if control < ' ' => out += &format!("\\u{:04x}", u32::from(control)),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
