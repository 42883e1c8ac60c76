//! Sync messages, written: the payload of a `sync` envelope, appended.

use minca_record::{base64url, content_id::ContentId, hex, json::Value};

use super::{Holds, RequestId, SYNC_VERSION};
use crate::sum::FINGERPRINT_BYTES;

/// A hello. `sums` are those of collections held of which anything is kept; at
/// most [`MAX_HELLO_COLLECTIONS`](super::MAX_HELLO_COLLECTIONS), or it is
/// ignored.
pub fn write_hello<'a>(
    out: &mut Vec<u8>,
    holds: &Holds,
    sums: impl IntoIterator<Item = (&'a str, [u8; FINGERPRINT_BYTES])>,
    reply: bool,
) {
    begin(out, "hello");
    out.extend_from_slice(b",\"holds\":");
    match holds {
        Holds::All => out.extend_from_slice(b"\"all\""),
        Holds::Only(held) => list(out, held, |out, name| string(out, name)),
    }
    out.extend_from_slice(b",\"sums\":{");
    for (place, (collection, fingerprint)) in sums.into_iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        string(out, collection);
        out.push(b':');
        string(out, &hex::encode(&fingerprint));
    }
    out.push(b'}');
    if reply {
        out.extend_from_slice(b",\"reply\":true");
    }
    out.push(b'}');
}

/// A round of a session we initiate.
pub fn write_reconcile(out: &mut Vec<u8>, id: RequestId, collection: &str, message: &[u8]) {
    begin(out, "reconcile");
    request(out, id);
    out.extend_from_slice(b",\"collection\":");
    string(out, collection);
    negentropy(out, message);
    out.push(b'}');
}

/// The answer to a round.
pub fn write_reconciled(out: &mut Vec<u8>, id: RequestId, message: &[u8]) {
    begin(out, "reconciled");
    request(out, id);
    negentropy(out, message);
    out.push(b'}');
}

/// The answer to a `reconcile` of a collection that isn't held.
pub fn write_not_held(out: &mut Vec<u8>, id: RequestId) {
    begin(out, "reconciled");
    request(out, id);
    negentropy(out, &[]);
    out.extend_from_slice(b",\"held\":false}");
}

/// The answer to a `reconcile` whose message can't be parsed: an empty one.
pub fn write_unreadable(out: &mut Vec<u8>, id: RequestId) {
    write_reconciled(out, id, &[]);
}

/// A request for versions, at most [`MAX_IDS`](super::MAX_IDS).
pub fn write_want<'a>(
    out: &mut Vec<u8>,
    id: RequestId,
    ids: impl IntoIterator<Item = &'a ContentId>,
) {
    begin(out, "want");
    request(out, id);
    content_ids(out, ids);
    out.push(b'}');
}

/// Versions, each the JSON it is stored as; with the `id` of the `want` they
/// answer. At most [`MAX_IDS`](super::MAX_IDS).
pub fn write_versions<'a>(
    out: &mut Vec<u8>,
    id: Option<RequestId>,
    versions: impl IntoIterator<Item = &'a [u8]>,
) {
    begin(out, "versions");
    if let Some(id) = id {
        request(out, id);
    }
    out.extend_from_slice(b",\"versions\":");
    list(out, versions, Vec::extend_from_slice);
    out.push(b'}');
}

/// A version just taken in, the JSON it is stored as.
pub fn write_push_update(out: &mut Vec<u8>, version: &[u8]) {
    begin(out, "push-update");
    out.extend_from_slice(b",\"version\":");
    out.extend_from_slice(version);
    out.push(b'}');
}

/// Versions taken in, at most [`MAX_STORED_IDS`](super::MAX_STORED_IDS).
pub fn write_stored<'a>(out: &mut Vec<u8>, ids: impl IntoIterator<Item = &'a ContentId>) {
    begin(out, "stored");
    content_ids(out, ids);
    out.push(b'}');
}

pub(super) fn begin(out: &mut Vec<u8>, kind: &str) {
    let head = format!("{{\"v\":{SYNC_VERSION},\"type\":\"{kind}\"");
    out.extend_from_slice(head.as_bytes());
}

pub(super) fn request(out: &mut Vec<u8>, id: RequestId) {
    out.extend_from_slice(b",\"id\":");
    id.write(out);
}

pub(super) fn string(out: &mut Vec<u8>, text: &str) {
    Value::from(text).write_canonical(out);
}

pub(super) fn list<T>(
    out: &mut Vec<u8>,
    entries: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    out.push(b'[');
    for (place, entry) in entries.into_iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write(out, entry);
    }
    out.push(b']');
}

fn negentropy(out: &mut Vec<u8>, message: &[u8]) {
    out.extend_from_slice(b",\"message\":\"");
    out.extend_from_slice(base64url::encode(message).as_bytes());
    out.push(b'"');
}

fn content_ids<'a>(out: &mut Vec<u8>, ids: impl IntoIterator<Item = &'a ContentId>) {
    out.extend_from_slice(b",\"ids\":");
    list(out, ids, |out, id| string(out, &id.to_string()));
}
