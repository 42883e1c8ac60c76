//! The keys of a store's entries (05 §10), as other peers write them.

use crate::content_id::ContentId;
use crate::file_name::encode_uri_component;

/// The entry that names a record's current version.
pub fn current(record_key: &str) -> String {
    format!("r/{record_key}")
}

/// The entry that names an edited record's first version.
pub fn first(record_key: &str) -> String {
    format!("g/{record_key}")
}

/// The entry of a superseded version that is retained.
pub fn history(record_key: &str, seq: u64, id: ContentId) -> String {
    format!("h/{record_key}/{seq:015}/{id}")
}

/// The entry of a version that is kept: an item of sync, with its timestamp in
/// seconds since 1970.
pub fn item(collection: &str, timestamp: u64, id: ContentId) -> String {
    format!("i/{}/{timestamp}/{id}", encode_uri_component(collection))
}
