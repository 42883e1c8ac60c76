//! Where in the bucket everything is (05 §16.2, 08 §14.1).

use minca_record::content_id::ContentId;
use minca_record::hex;

/// A store writer's id, 128 random bits (05 §16.2).
pub(crate) type WriterId = [u8; 16];

/// What the host keeps for itself, outside any space.
const HOST: &str = "host";
const DOCUMENT: &str = ".json";

pub(crate) fn space(space: &ContentId) -> String {
    space.to_string()
}

pub(crate) fn segment(space: &ContentId, writer: &WriterId, name: &str) -> String {
    format!("{space}/{}/{name}", hex::encode(writer))
}

pub(crate) fn writer_record(space: &ContentId, writer: &WriterId) -> String {
    format!("{HOST}/writers/{space}/{}{DOCUMENT}", hex::encode(writer))
}

pub(crate) const CARRIED: &str = "host/carried";

pub(crate) fn carried(space: &ContentId) -> String {
    format!("{CARRIED}/{space}{DOCUMENT}")
}

/// The space a carried document's name stands for.
pub(crate) fn carried_space(name: &str) -> Option<ContentId> {
    ContentId::parse(name.strip_suffix(DOCUMENT)?).ok()
}

/// Where a bucket is tried out. Nothing there says anything about the host.
pub(crate) const PROBE: &str = "host/probe";

pub(crate) fn probe(nonce: &[u8]) -> String {
    format!("{PROBE}/{}", hex::encode(nonce))
}
