//! The files a version names (02 §12).

use super::chunks::{FileId, MAX_FILE_SIZE};
use crate::json::Value;
use crate::version::Version;

/// The most files taken of one version (02 §10).
pub const MAX_FILES: usize = 16;

/// A file as a version names it. Another version may name the same id with
/// another size; only one is ever the file (05 §16.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamedFile {
    /// The file's id.
    pub id: FileId,
    /// Its size in bytes, as stored: 1 to 2^31.
    pub size: u64,
}

impl NamedFile {
    /// Reads one entry of `files`; other members than `hash` and `size` are
    /// ignored.
    fn read(entry: &Value) -> Option<NamedFile> {
        let entry = entry.as_object()?;
        let id = FileId::parse(entry.get("hash")?.as_str()?)?;
        let size = entry.get("size")?.whole_number()?;
        (1..=MAX_FILE_SIZE)
            .contains(&size)
            .then_some(NamedFile { id, size })
    }
}

/// The entries of `files` that every peer takes: in order, without those that
/// are malformed or repeat an id, at most 16; none of a delete (02 §12).
/// Nothing in `files` refuses a version.
pub fn named_files(version: &Version) -> Vec<NamedFile> {
    if version.deleted() {
        return Vec::new();
    }
    take(version.member("files"))
}

/// As [`named_files`], of the member itself.
pub(super) fn take(files: Option<&Value>) -> Vec<NamedFile> {
    let mut taken: Vec<NamedFile> = Vec::new();
    let entries = files.and_then(Value::as_array).unwrap_or_default();
    for file in entries.iter().filter_map(NamedFile::read) {
        if taken.len() == MAX_FILES {
            break;
        }
        if taken.iter().all(|other| other.id != file.id) {
            taken.push(file);
        }
    }
    taken
}
