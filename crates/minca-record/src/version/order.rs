//! Which of two versions of a record wins (02 §4.3).

use crate::content_id::ContentId;

/// Whether version `a` supersedes version `b` of the same key: a higher `seq`
/// wins, and at the same `seq` the id that is lower as a string.
pub fn supersedes(a_seq: u64, a_id: ContentId, b_seq: u64, b_id: ContentId) -> bool {
    a_seq > b_seq || (a_seq == b_seq && a_id < b_id)
}
