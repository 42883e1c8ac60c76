//! `want-file`, `file` and `file-done`: files travel by chunks (05 §16.6).

use std::ops::RangeInclusive;

use minca_record::{
    base64url,
    files::{FileId, MAX_FILE_CHUNKS},
    json::{Object, Value},
};

use super::{NotTaken, RequestId, request_id};

/// Chunks one `want-file` may ask for (05 §16.6).
pub const MAX_CHUNKS_ASKED: u32 = 64;

/// Bytes of one `file` message, before base64url (05 §16.6).
pub const MAX_FILE_BYTES: usize = 24_000;

/// A part of a file that travels: a chunk, or its chunk list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The chunk with this index.
    Chunk(u32),
    /// The chunk list.
    List,
}

/// What a `want-file` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// Chunks, both ends included: at most [`MAX_CHUNKS_ASKED`].
    Chunks(RangeInclusive<u32>),
    /// The chunk list.
    List,
}

/// A peer asks for parts of a file. It is always answered, with a `file-done`
/// at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantFile {
    /// The request, echoed in every answer.
    pub id: RequestId,
    /// The file.
    pub file: FileId,
    /// What of it.
    pub asked: Asked,
}

/// Some bytes of a part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileBytes {
    /// The `want-file` it answers.
    pub id: RequestId,
    /// The file.
    pub file: FileId,
    /// The part.
    pub part: Part,
    /// Where in the part the bytes begin.
    pub at: u64,
    /// At most [`MAX_FILE_BYTES`].
    pub bytes: Vec<u8>,
}

/// The last answer to a `want-file`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDone {
    /// The `want-file` it answers.
    pub id: RequestId,
    /// The file.
    pub file: FileId,
    /// What was asked for and not sent; other entries are left out, as are any
    /// past as many as can be asked for.
    pub missing: Vec<Part>,
}

impl Asked {
    /// The parts asked for.
    pub fn parts(&self) -> impl Iterator<Item = Part> + use<> {
        let (chunks, list) = match self {
            Self::Chunks(range) => (Some(range.clone()), None),
            Self::List => (None, Some(Part::List)),
        };
        chunks.into_iter().flatten().map(Part::Chunk).chain(list)
    }

    /// Whether `part` was asked for.
    pub fn includes(&self, part: Part) -> bool {
        match (self, part) {
            (Self::Chunks(range), Part::Chunk(index)) => range.contains(&index),
            (Self::List, Part::List) => true,
            _ => false,
        }
    }

    /// `chunks` counts where there is one, and must then be right.
    fn read(object: &Object) -> Option<Self> {
        let Some(chunks) = object.get("chunks") else {
            let list = object.get("list").and_then(Value::as_bool);
            return (list == Some(true)).then_some(Self::List);
        };
        let [from, to] = chunks.as_array()? else {
            return None;
        };
        let (from, to) = (index(from)?, index(to)?);
        (from <= to && to - from < MAX_CHUNKS_ASKED).then_some(Self::Chunks(from..=to))
    }
}

impl WantFile {
    pub(super) fn read(object: &Object) -> Result<Self, NotTaken> {
        Ok(Self {
            id: request_id(object)?,
            file: file(object)?,
            asked: Asked::read(object).ok_or(NotTaken::Chunks)?,
        })
    }
}

impl FileBytes {
    pub(super) fn read(object: &Object) -> Result<Self, NotTaken> {
        let at = object.get("at").and_then(Value::whole_number);
        Ok(Self {
            id: request_id(object)?,
            file: file(object)?,
            part: object.get("chunk").and_then(part).ok_or(NotTaken::Chunks)?,
            at: at.ok_or(NotTaken::At)?,
            bytes: bytes(object).ok_or(NotTaken::Bytes)?,
        })
    }
}

impl FileDone {
    pub(super) fn read(object: &Object) -> Result<Self, NotTaken> {
        let missing = object.get("missing").and_then(Value::as_array);
        Ok(Self {
            id: request_id(object)?,
            file: file(object)?,
            missing: missing
                .unwrap_or_default()
                .iter()
                .filter_map(part)
                .take(MAX_CHUNKS_ASKED as usize)
                .collect(),
        })
    }
}

fn file(object: &Object) -> Result<FileId, NotTaken> {
    let hash = object.get("hash").and_then(Value::as_str);
    hash.and_then(FileId::parse).ok_or(NotTaken::Hash)
}

fn part(value: &Value) -> Option<Part> {
    if value.as_str() == Some("list") {
        return Some(Part::List);
    }
    index(value).map(Part::Chunk)
}

/// An index some file could have.
fn index(value: &Value) -> Option<u32> {
    let index = value
        .whole_number()
        .filter(|index| *index < MAX_FILE_CHUNKS)?;
    u32::try_from(index).ok()
}

fn bytes(object: &Object) -> Option<Vec<u8>> {
    let text = object.get("bytes")?.as_str()?;
    if text.len() > MAX_FILE_BYTES * 4 / 3 {
        return None;
    }
    base64url::decode(text).ok()
}
