//! `stored`: a peer took versions in (05 §4).

use minca_record::{
    content_id::ContentId,
    json::{Object, Value},
};

use super::NotTaken;

/// Entries of a `stored` that are considered (05 §4).
pub const MAX_STORED_IDS: usize = 2000;

/// The peer has these versions now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The version ids among the first [`MAX_STORED_IDS`] strings.
    pub ids: Vec<ContentId>,
}

impl Stored {
    pub(super) fn read(object: &Object) -> Result<Self, NotTaken> {
        let entries = object.get("ids").and_then(Value::as_array);
        Ok(Self {
            ids: entries
                .ok_or(NotTaken::Ids)?
                .iter()
                .filter_map(Value::as_text)
                .take(MAX_STORED_IDS)
                .filter_map(|text| ContentId::parse(text.as_str()?).ok())
                .collect(),
        })
    }
}
