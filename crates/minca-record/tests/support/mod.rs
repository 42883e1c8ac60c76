//! What the vector tests share.

use serde_json::Value;

/// A section of a vector file.
#[allow(dead_code, reason = "not every test binary uses it")]
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

/// A vector's JSON value as this crate reads it.
#[allow(dead_code, reason = "not every test binary uses it")]
pub(crate) fn read(value: &Value) -> minca_record::json::Value {
    let text = serde_json::to_vec(value).expect("a JSON text");
    minca_record::json::read(&text, minca_record::json::MESSAGE_DEPTH).expect("a JSON value")
}

/// A member that is a content id.
#[allow(dead_code, reason = "not every test binary uses it")]
pub(crate) fn id(of: &Value, name: &str) -> minca_record::content_id::ContentId {
    string(of, name).parse().expect("a content id")
}

/// A vector's JSON object as this crate reads it.
#[allow(dead_code, reason = "not every test binary uses it")]
pub(crate) fn our_object(value: &Value) -> minca_record::json::Object {
    read(value)
        .into_object()
        .unwrap_or_else(|| panic!("no object: {value}"))
}
