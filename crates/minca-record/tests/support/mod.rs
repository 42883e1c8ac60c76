//! What the vector tests share.

use serde_json::Value;

/// A section of a vector file.
pub(crate) fn section(file: &str, name: &str) -> Value {
    let mut file = vectors(file);
    match file.get_mut(name) {
        Some(section) => section.take(),
        None => panic!("no section {name}"),
    }
}

/// A whole vector file.
pub(crate) fn vectors(file: &str) -> Value {
    let path = format!("{}/../../tests/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read(&path).expect("the vector file");
    serde_json::from_slice(&text).expect("a JSON file")
}

/// A member that is a list.
#[allow(dead_code, reason = "not every test binary uses it")]
pub(crate) fn list<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of[name]
        .as_array()
        .unwrap_or_else(|| panic!("{name} is no list in {of}"))
}

/// A member that is a string.
#[allow(dead_code, reason = "not every test binary uses it")]
pub(crate) fn string<'a>(of: &'a Value, name: &str) -> &'a str {
    of[name]
        .as_str()
        .unwrap_or_else(|| panic!("{name} is no string in {of}"))
}
