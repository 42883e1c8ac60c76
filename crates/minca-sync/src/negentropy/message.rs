//! Negentropy messages: read range by range, and written (05 §3.2).

use super::{Bound, varint};
use crate::sum::FINGERPRINT_BYTES;

/// The version byte: protocol version 1.
pub const VERSION: u8 = 0x61;

const ID_BYTES: usize = 32;
const SKIP: u64 = 0;
const FINGERPRINT: u64 = 1;
const ID_LIST: u64 = 2;

/// Why a message can't be read (05 §3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// It ends where more must come.
    #[error("the message ends early")]
    EndsEarly,
    /// Its first byte is outside `0x60..=0x6f`.
    #[error("expected a first byte of 0x60 to 0x6f, got {0:#04x}")]
    NotNegentropy(u8),
    /// An initiator was answered in another protocol version.
    #[error("expected version 0x61, got {0:#04x}")]
    OtherVersion(u8),
    /// A mode other than 0, 1 and 2.
    #[error("expected mode 0, 1 or 2, got {0}")]
    UnknownMode(u64),
    /// An id prefix of more than 32 bytes.
    #[error("expected an id prefix of at most 32 bytes, got {0}")]
    PrefixTooLong(u64),
    /// A varint over 2^53 − 1.
    #[error("a varint is over 2^53 - 1")]
    VarintTooLarge,
}

/// What a message says of one range of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says<'a> {
    Skip,
    Fingerprint(&'a [u8]),
    Ids(&'a [u8]),
}

/// One range of a message: up to `bound`, from where the range before ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WireRange<'a> {
    pub(super) bound: Bound,
    pub(super) says: Says<'a>,
}

/// The version a message is in: its first byte.
pub(super) fn version(message: &[u8]) -> Result<u8, Malformed> {
    match message.first() {
        None => Err(Malformed::EndsEarly),
        Some(byte @ 0x60..=0x6f) => Ok(*byte),
        Some(byte) => Err(Malformed::NotNegentropy(*byte)),
    }
}

/// Where reading has come to: the first range begins behind the version byte.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader {
    offset: usize,
    /// Bounds' timestamps are given as differences.
    timestamp: u64,
}

impl Reader {
    pub(super) fn new() -> Self {
        Self {
            offset: 1,
            timestamp: 0,
        }
    }

    /// The next range, or `None` at the end. Nothing is copied.
    pub(super) fn next<'a>(
        &mut self,
        message: &'a [u8],
    ) -> Result<Option<WireRange<'a>>, Malformed> {
        if self.offset >= message.len() {
            return Ok(None);
        }
        let bound = self.bound(message)?;
        let says = match varint::read(message, &mut self.offset)? {
            SKIP => Says::Skip,
            FINGERPRINT => Says::Fingerprint(self.take(message, FINGERPRINT_BYTES as u64)?),
            ID_LIST => {
                let count = varint::read(message, &mut self.offset)?;
                // A count is at most 2^53 − 1, so this can't overflow.
                Says::Ids(self.take(message, count * ID_BYTES as u64)?)
            }
            other => return Err(Malformed::UnknownMode(other)),
        };
        Ok(Some(WireRange { bound, says }))
    }

    fn bound(&mut self, message: &[u8]) -> Result<Bound, Malformed> {
        let encoded = varint::read(message, &mut self.offset)?;
        let ahead = if encoded == 0 { u64::MAX } else { encoded - 1 };
        self.timestamp = self.timestamp.saturating_add(ahead);
        let length = varint::read(message, &mut self.offset)?;
        if length > ID_BYTES as u64 {
            return Err(Malformed::PrefixTooLong(length));
        }
        let prefix = self.take(message, length)?;
        Bound::new(self.timestamp, prefix).ok_or(Malformed::PrefixTooLong(length))
    }

    fn take<'a>(&mut self, message: &'a [u8], length: u64) -> Result<&'a [u8], Malformed> {
        let rest = message.get(self.offset..).ok_or(Malformed::EndsEarly)?;
        let length = usize::try_from(length).map_err(|_| Malformed::EndsEarly)?;
        let taken = rest.get(..length).ok_or(Malformed::EndsEarly)?;
        self.offset += length;
        Ok(taken)
    }
}

/// Reads a message to its end, so that what is wrong with it is known before
/// any work is done for it.
pub(super) fn check(message: &[u8]) -> Result<(), Malformed> {
    let mut reader = Reader::new();
    while reader.next(message)?.is_some() {}
    Ok(())
}

/// The 32-byte ids of an id list.
pub(super) fn ids(list: &[u8]) -> impl Iterator<Item = [u8; 32]> + '_ {
    list.chunks_exact(ID_BYTES).map(|bytes| {
        let mut id = [0; ID_BYTES];
        id.copy_from_slice(bytes);
        id
    })
}

/// A message being written.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    /// The last timestamp written.
    timestamp: u64,
}

/// A place in a message being written, to go back to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    length: usize,
    timestamp: u64,
}

impl Writer {
    pub(super) fn new() -> Self {
        Self {
            bytes: vec![VERSION],
            timestamp: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            length: self.bytes.len(),
            timestamp: self.timestamp,
        }
    }

    /// Whether anything was written behind `mark`.
    pub(super) fn is_past(&self, mark: Mark) -> bool {
        self.bytes.len() > mark.length
    }

    pub(super) fn back_to(&mut self, mark: Mark) {
        self.bytes.truncate(mark.length);
        self.timestamp = mark.timestamp;
    }

    pub(super) fn skip(&mut self, bound: &Bound) {
        self.range(bound, SKIP);
    }

    pub(super) fn fingerprint(&mut self, bound: &Bound, fingerprint: [u8; FINGERPRINT_BYTES]) {
        self.range(bound, FINGERPRINT);
        self.bytes.extend_from_slice(&fingerprint);
    }

    /// Begins an id list; `count` calls of [`id`](Self::id) must follow.
    pub(super) fn id_list(&mut self, bound: &Bound, count: usize) {
        self.range(bound, ID_LIST);
        varint::write(&mut self.bytes, count as u64);
        self.bytes.reserve(count * ID_BYTES);
    }

    pub(super) fn id(&mut self, id: &[u8; 32]) {
        self.bytes.extend_from_slice(id);
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn range(&mut self, bound: &Bound, mode: u64) {
        let encoded = if bound.is_infinite() {
            0
        } else {
            let ahead = bound.timestamp().saturating_sub(self.timestamp);
            ahead.saturating_add(1)
        };
        self.timestamp = bound.timestamp();
        varint::write(&mut self.bytes, encoded);
        varint::write(&mut self.bytes, bound.prefix().len() as u64);
        self.bytes.extend_from_slice(bound.prefix());
        varint::write(&mut self.bytes, mode);
    }
}
