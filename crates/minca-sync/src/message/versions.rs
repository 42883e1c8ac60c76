//! `versions` and `push-update`: versions come in (05 §4, §8).

use minca_record::json::{Object, Value};

use super::{Holds, MAX_IDS, NotTaken, RequestId, request_id};

/// Versions a peer sends.
#[derive(Debug, Clone, PartialEq)]
pub struct Versions {
    /// The `want` they answer: they count only if it is in flight, and of them
    /// only what it asked for. `None`: what the peer found lacking here.
    pub id: Option<RequestId>,
    /// The entries, anything at all; without an id the first [`MAX_IDS`].
    pub versions: Vec<Value>,
}

/// A version a peer just wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct PushUpdate {
    /// The version: an object with a `collection` that is a string.
    pub version: Object,
}

impl Versions {
    pub(super) fn read(object: &mut Object) -> Result<Self, NotTaken> {
        let id = match object.contains("id") {
            true => Some(request_id(object)?),
            false => None,
        };
        let Some(Value::Array(mut versions)) = object.remove("versions") else {
            return Err(NotTaken::Versions);
        };
        if id.is_none() {
            versions.truncate(MAX_IDS);
        }
        Ok(Self { id, versions })
    }
}

impl PushUpdate {
    pub(super) fn read(object: &mut Object) -> Result<Self, NotTaken> {
        let version = object.remove("version").and_then(Value::into_object);
        let version = version.ok_or(NotTaken::Versions)?;
        match collection(&version) {
            Some(_) => Ok(Self { version }),
            None => Err(NotTaken::Versions),
        }
    }
}

/// The entries of a batch that are tried, in the order they are tried in (05
/// §8, steps 1 to 3): objects with a string `collection` that is held, those
/// of `sys.collection` first, then by `seq`. One without a number there comes
/// last.
pub fn arrange(versions: Vec<Value>, holds: &Holds) -> Vec<Object> {
    let mut taken: Vec<Object> = versions
        .into_iter()
        .filter_map(Value::into_object)
        .filter(|version| collection(version).is_some_and(|name| holds.includes(name)))
        .collect();
    taken.sort_by(|a, b| {
        let first = |version| collection(version) != Some("sys.collection");
        first(a)
            .cmp(&first(b))
            .then_with(|| seq(a).total_cmp(&seq(b)))
    });
    taken
}

fn collection(version: &Object) -> Option<&str> {
    version.get("collection")?.as_str()
}

fn seq(version: &Object) -> f64 {
    let seq = version.get("seq").and_then(Value::as_f64);
    seq.map_or(f64::INFINITY, |seq| seq + 0.0)
}
