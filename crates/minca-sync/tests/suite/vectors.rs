//! The vector files, and the formulas they are written with.

use data_encoding::BASE64;
use minca_record::{base64url, content_id::ContentId, hash::sha256, hex};
use minca_sync::{frame::Frame, item::Item};
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

/// The JSON text that a value with formulas stands for (`formulas.messages` of
/// sync.json).
pub(crate) fn expand(value: &Value) -> String {
    expand_at(value, None)
}

/// `files.raw` of sync.json.
pub(crate) fn raw() -> Vec<u8> {
    content("raw", 300_000)
}

/// `content(label, n)` of sync.json.
pub(crate) fn content(label: &str, length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..length.div_ceil(32))
        .flat_map(|i| sha256(format!("{label}|{i}").as_bytes()))
        .collect();
    bytes.truncate(length);
    bytes
}

fn expand_at(value: &Value, i: Option<u64>) -> String {
    let fill = |text: &str| match i {
        Some(i) => text.replace("<i>", &i.to_string()),
        None => text.to_owned(),
    };
    let quote = |text: &str| Value::from(text).to_string();
    match value {
        Value::String(text) => quote(&fill(text)),
        Value::Array(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .flat_map(|entry| entries_of(entry, i))
                .collect();
            format!("[{}]", entries.join(","))
        }
        Value::Object(members) => {
            if let Some(json) = members.get("$json") {
                text(json).to_owned()
            } else if members.contains_key("$list") || members.contains_key("$ids") {
                format!("[{}]", entries_of(value, i).join(","))
            } else if let Some(count) = members.get("$object") {
                let members: Vec<String> = (0..count.as_u64().unwrap())
                    .map(|i| {
                        let name = text(&value["name"]).replace("<i>", &i.to_string());
                        format!("{}:{}", quote(&name), expand_at(&value["value"], Some(i)))
                    })
                    .collect();
                format!("{{{}}}", members.join(","))
            } else if let Some(length) = members.get("$base64url") {
                let mut bytes = from_hex(text(&value["start"]));
                bytes.resize(length.as_u64().unwrap() as usize, 0);
                quote(&base64url::encode(&bytes))
            } else if let Some(range) = members.get("$bytes") {
                let edge = |at: usize| range[at].as_u64().unwrap() as usize;
                quote(&base64url::encode(&raw()[edge(0)..edge(1)]))
            } else {
                let members: Vec<String> = members
                    .iter()
                    .map(|(name, value)| format!("{}:{}", quote(name), expand_at(value, i)))
                    .collect();
                format!("{{{}}}", members.join(","))
            }
        }
        other => other.to_string(),
    }
}

fn entries_of(entry: &Value, i: Option<u64>) -> Vec<String> {
    if let Some(count) = entry.get("$list") {
        let count = count.as_u64().unwrap();
        return (0..count)
            .map(|i| expand_at(&entry["item"], Some(i)))
            .collect();
    }
    if let Some(count) = entry.get("$ids") {
        let count = count.as_u64().unwrap();
        let of = text(&entry["of"]);
        return (0..count)
            .map(|i| {
                format!(
                    "\"{}\"",
                    ContentId::of(of.replace("<i>", &i.to_string()).as_bytes())
                )
            })
            .collect();
    }
    vec![expand_at(entry, i)]
}

/// The cases of a section, which must be so many.
pub(crate) fn cases(of: &Value, section: &str, count: usize) -> Vec<Value> {
    let cases = of[section].as_array().unwrap();
    assert_eq!(cases.len(), count, "{section}");
    cases.clone()
}

/// A WebSocket message as network.json gives one.
pub(crate) struct Message {
    is_text: bool,
    bytes: Vec<u8>,
}

impl Message {
    /// `{ "text" }` or `{ "binary" }`, and maybe `padTo`.
    pub(crate) fn of(message: &Value) -> Self {
        let Some(exactly) = message["text"].as_str() else {
            let binary = BASE64.decode(text(&message["binary"]).as_bytes());
            return Self {
                is_text: false,
                bytes: binary.unwrap(),
            };
        };
        let mut bytes = exactly.as_bytes().to_vec();
        if let Some(length) = message["padTo"].as_u64() {
            assert_eq!(bytes.pop(), Some(b'}'));
            bytes.extend_from_slice(b",\"pad\":\"");
            bytes.resize(length as usize - 2, b'x');
            bytes.extend_from_slice(b"\"}");
        }
        Self {
            is_text: true,
            bytes,
        }
    }

    pub(crate) fn frame(&self) -> Frame<'_> {
        match self.is_text {
            true => Frame::Text(&self.bytes),
            false => Frame::Binary(&self.bytes),
        }
    }
}
