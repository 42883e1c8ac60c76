//! `want`: a peer asks for versions (05 §4).

use std::collections::HashSet;

use minca_record::{
    content_id::ContentId,
    json::{Object, Value},
};

use super::{NotTaken, RequestId, request_id};

/// `MAX_IDS_PER_REQUEST`: ids in a `want`, versions in a `versions` (05 §4).
pub const MAX_IDS: usize = 200;

/// A peer asks for versions. It is always answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Want {
    /// The request, echoed in the answer.
    pub id: RequestId,
    /// The version ids among the first [`MAX_IDS`] entries, each once, in the
    /// order they came.
    pub ids: Vec<ContentId>,
}

impl Want {
    pub(super) fn read(object: &Object) -> Result<Self, NotTaken> {
        let id = request_id(object)?;
        let entries = object.get("ids").and_then(Value::as_array);
        let mut seen = HashSet::new();
        let ids = entries
            .unwrap_or_default()
            .iter()
            .take(MAX_IDS)
            .filter_map(|entry| ContentId::parse(entry.as_str()?).ok())
            .filter(|id| seen.insert(*id))
            .collect();
        Ok(Self { id, ids })
    }
}
