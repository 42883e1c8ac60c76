//! The messages about files, written: payloads of a `sync` envelope, appended.

use minca_record::{base64url, files::FileId};

use super::{
    Asked, Part, RequestId,
    write::{begin, list, request},
};

/// A request for parts of a file.
pub fn write_want_file(out: &mut Vec<u8>, id: RequestId, file: &FileId, asked: &Asked) {
    head(out, "want-file", id, file);
    let asked = match asked {
        Asked::Chunks(range) => format!(",\"chunks\":[{},{}]}}", range.start(), range.end()),
        Asked::List => ",\"list\":true}".to_owned(),
    };
    out.extend_from_slice(asked.as_bytes());
}

/// Bytes of a part of a file, which begin at `at` in it; at most
/// [`MAX_FILE_BYTES`](super::MAX_FILE_BYTES).
pub fn write_file_bytes(
    out: &mut Vec<u8>,
    id: RequestId,
    file: &FileId,
    part: Part,
    at: u64,
    bytes: &[u8],
) {
    head(out, "file", id, file);
    out.extend_from_slice(b",\"chunk\":");
    write_part(out, part);
    out.extend_from_slice(format!(",\"at\":{at},\"bytes\":\"").as_bytes());
    out.extend_from_slice(base64url::encode(bytes).as_bytes());
    out.extend_from_slice(b"\"}");
}

/// The end of the answer to a `want-file`.
pub fn write_file_done(out: &mut Vec<u8>, id: RequestId, file: &FileId, missing: &[Part]) {
    head(out, "file-done", id, file);
    out.extend_from_slice(b",\"missing\":");
    list(out, missing, |out, part| write_part(out, *part));
    out.push(b'}');
}

fn head(out: &mut Vec<u8>, kind: &str, id: RequestId, file: &FileId) {
    begin(out, kind);
    request(out, id);
    out.extend_from_slice(format!(",\"hash\":\"{file}\"").as_bytes());
}

fn write_part(out: &mut Vec<u8>, part: Part) {
    let text = match part {
        Part::Chunk(index) => index.to_string(),
        Part::List => "\"list\"".to_owned(),
    };
    out.extend_from_slice(text.as_bytes());
}
