//! The vector files, and the formulas they are written with.

use minca_record::{base64url, hash::sha256, hex};
use minca_sync::item::Item;
use serde_json::Value;

pub(crate) fn file(name: &str) -> Value {
    let path = format!("{}/../../tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Fails where the file has a section that is in no list, or lacks one.
pub(crate) fn assert_sections(of: &Value, mut known: Vec<&str>) {
    let mut sections: Vec<&str> = of.as_object().unwrap().keys().map(String::as_str).collect();
    sections.sort_unstable();
    known.sort_unstable();
    assert_eq!(sections, known);
}

pub(crate) fn from_hex(text: &str) -> Vec<u8> {
    hex::decode(text).unwrap()
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Base64url, as the files write bytes.
pub(crate) fn bytes(value: &Value) -> Vec<u8> {
    base64url::decode(text(value)).unwrap()
}

pub(crate) fn id(value: &Value) -> [u8; 32] {
    bytes(value).try_into().unwrap()
}

/// The items a list of spans stands for (`formulas.spans` of sync.json).
pub(crate) fn items(spans: &Value) -> Vec<Item> {
    let mut items = Vec::new();
    for span in spans.as_array().unwrap() {
        let number = |name: &str| span[name].as_u64();
        let except = &span["except"];
        for i in number("from").unwrap()..=number("to").unwrap() {
            let listed = except["are"].as_array();
            if listed.is_some_and(|are| are.contains(&Value::from(i))) {
                continue;
            }
            if let Some(modulus) = except["mod"].as_u64()
                && i % modulus == except["is"].as_u64().unwrap()
            {
                continue;
            }
            let per = number("per").unwrap_or(1);
            let step = number("step").unwrap_or(1);
            items.push(Item {
                timestamp: number("t0").unwrap() + i / per * step,
                id: span_id(span, i),
            });
        }
    }
    items
}

fn span_id(span: &Value, i: u64) -> [u8; 32] {
    if let Some(first) = span["le"].as_u64() {
        let mut id = [0; 32];
        id[..8].copy_from_slice(&(first + i).to_le_bytes());
        return id;
    }
    let label = text(&span["label"]);
    let mut id = sha256(format!("{label}|{i}").as_bytes());
    if let Some(same) = span["same"].as_u64() {
        // The word itself, not its number.
        let shared = sha256(format!("{label}|same").as_bytes());
        id[..same as usize].copy_from_slice(&shared[..same as usize]);
    }
    id
}
