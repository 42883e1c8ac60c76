//! Segments, the immutable files a space's versions are kept in (05 §16.2,
//! §16.3).

use crate::hash::sha256;
use crate::hex;
use crate::json::{self, Value};

/// The format of segments this peer writes, and the only one it reads.
pub const SEGMENT_FORMAT: u64 = 8;

const START: &[u8] = b"{\"v\":8,\"versions\":[";
const END: &[u8] = b"]}";
const EXTENSION: &str = ".seg";
const MIN_COUNTER_DIGITS: usize = 6;
const HASH_BYTES: usize = 8;

/// Puts a segment together, version by version.
#[derive(Clone, Debug)]
pub struct SegmentWriter {
    bytes: Vec<u8>,
    count: usize,
}

impl Default for SegmentWriter {
    fn default() -> SegmentWriter {
        SegmentWriter::new()
    }
}

impl SegmentWriter {
    /// A segment of no versions.
    pub fn new() -> SegmentWriter {
        SegmentWriter {
            bytes: START.to_vec(),
            count: 0,
        }
    }

    /// Adds a version, as the JSON it has on the wire.
    pub fn push(&mut self, version_json: &[u8]) {
        if self.count > 0 {
            self.bytes.push(b',');
        }
        self.bytes.extend_from_slice(version_json);
        self.count += 1;
    }

    /// How many versions it holds.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many bytes the finished segment has.
    pub fn len(&self) -> usize {
        self.bytes.len() + END.len()
    }

    /// Whether it holds no versions.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The segment's bytes.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.extend_from_slice(END);
        self.bytes
    }
}

/// The versions a segment holds, not yet judged: its entries that are objects
/// with a string `id`. Bytes that are no segment of this format hold nothing
/// (05 §16.3).
pub fn read_segment(bytes: &[u8]) -> Vec<Value> {
    let Ok(Value::Object(mut segment)) = json::read(bytes, json::GREATEST_DEPTH) else {
        return Vec::new();
    };
    if segment.get("v").and_then(Value::whole_number) != Some(SEGMENT_FORMAT) {
        return Vec::new();
    }
    let Some(Value::Array(mut versions)) = segment.remove("versions") else {
        return Vec::new();
    };
    versions.retain(|version| {
        let id = version.as_object().and_then(|object| object.get("id"));
        id.is_some_and(|id| id.as_text().is_some())
    });
    versions
}

/// The name of a segment: the store writer's counter and the start of the hash
/// of its bytes (05 §16.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentName {
    /// The counter, from 1.
    pub counter: u64,
    hash: [u8; HASH_BYTES],
}

impl SegmentName {
    /// The name of a segment with these bytes.
    pub fn of(counter: u64, bytes: &[u8]) -> SegmentName {
        SegmentName {
            counter,
            hash: hash_start(bytes),
        }
    }

    /// Reads a name. `None` for a file that is no segment, or whose bytes no
    /// name like this could vouch for.
    pub fn parse(name: &str) -> Option<SegmentName> {
        let (digits, hash) = name.strip_suffix(EXTENSION)?.split_once('-')?;
        let is_counter =
            digits.len() >= MIN_COUNTER_DIGITS && digits.bytes().all(|b| b.is_ascii_digit());
        if !is_counter {
            return None;
        }
        let counter = digits.parse().ok()?;
        let hash = hex::decode_exact::<HASH_BYTES>(hash)?;
        let read = SegmentName { counter, hash };
        // One spelling: no zeros beyond the padding, no upper case.
        (read.to_string() == name).then_some(read)
    }

    /// Whether `bytes` are the whole segment: a reader takes no others, since
    /// they may still be being written (05 §16.4).
    pub fn is_of(&self, bytes: &[u8]) -> bool {
        self.hash == hash_start(bytes)
    }
}

impl std::fmt::Display for SegmentName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:06}-{}{EXTENSION}",
            self.counter,
            hex::encode(&self.hash)
        )
    }
}

fn hash_start(bytes: &[u8]) -> [u8; HASH_BYTES] {
    let mut start = [0; HASH_BYTES];
    for (to, from) in start.iter_mut().zip(sha256(bytes)) {
        *to = from;
    }
    start
}
