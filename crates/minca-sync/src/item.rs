//! Items: what sync compares (05 §2).

use minca_record::{content_id::ContentId, time::item_timestamp};

/// One kept version as sync sees it (05 §2). Items are ordered by `timestamp`,
/// then by the bytes of `id`; two with both equal are one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Item {
    /// Whole seconds since 1970 by the version's own `createdAt`; 0 where that
    /// can't be read or is not positive. It only orders.
    pub timestamp: u64,
    /// The digest inside the version's content id.
    pub id: [u8; 32],
}

impl Item {
    /// The item of the version with this `createdAt` and id.
    pub fn of_version(created_at: &str, id: &ContentId) -> Self {
        Self {
            timestamp: item_timestamp(created_at),
            id: *id.digest(),
        }
    }
}
