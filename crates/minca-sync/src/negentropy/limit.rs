//! The frame limit of a reconciler (05 §3.4).

/// The least limit there may be (05 §3.4).
pub const LEAST_FRAME_LIMIT: usize = 4096;

/// Bytes below the limit at which output stops (05 §3.4).
const HEADROOM: usize = 200;

/// How long a message a reconciler writes may get (05 §3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameLimit(Option<usize>);

impl FrameLimit {
    /// No limit: 0 in the text.
    pub const NONE: Self = Self(None);

    /// The limit of sync messages: 32,000 bytes before base64url (05 §6.3).
    pub const SYNC: Self = Self(Some(32_000));

    /// A limit in bytes; `None` where it is under [`LEAST_FRAME_LIMIT`].
    pub fn new(bytes: usize) -> Option<Self> {
        (bytes >= LEAST_FRAME_LIMIT).then_some(Self(Some(bytes)))
    }

    /// Whether a message of `length` bytes is past where output stops.
    pub(super) fn stops_at(self, length: usize) -> bool {
        self.0.is_some_and(|limit| length > limit - HEADROOM)
    }

    /// How many ids of 32 bytes are listed before output stops, in a message
    /// of `length` bytes so far: each goes in as long as what is before it
    /// isn't past the limit. The head of the list isn't counted.
    pub(super) fn ids_from(self, length: usize) -> usize {
        match self.0 {
            None => usize::MAX,
            Some(limit) => match (limit - HEADROOM).checked_sub(length) {
                None => 0,
                Some(room) => room / 32 + 1,
            },
        }
    }
}
