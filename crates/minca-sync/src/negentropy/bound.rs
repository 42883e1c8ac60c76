//! Bounds: where one range of items ends and the next begins (05 §3.2).

use crate::item::Item;

/// The timestamp that stands for infinity: past every real one.
const INFINITY: u64 = u64::MAX;

/// A place between items: a timestamp and the first 0 to 32 bytes of an id.
/// An item is before it if it is before it by timestamp, then prefix, where a
/// shorter prefix sorts first (05 §3.2).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    timestamp: u64,
    /// Zeros behind the prefix: no id sorts between the prefix and itself with
    /// zeros behind it, so comparing the whole gives the order of prefixes.
    id: [u8; 32],
    length: u8,
}

impl Bound {
    /// Before every item.
    pub const START: Self = Self {
        timestamp: 0,
        id: [0; 32],
        length: 0,
    };

    /// After every item.
    pub const END: Self = Self {
        timestamp: INFINITY,
        id: [0; 32],
        length: 0,
    };

    /// A bound from its parts; `None` where the prefix is over 32 bytes.
    /// `u64::MAX` as a timestamp is infinity.
    pub fn new(timestamp: u64, prefix: &[u8]) -> Option<Self> {
        let mut id = [0; 32];
        id.get_mut(..prefix.len())?.copy_from_slice(prefix);
        Some(Self {
            timestamp,
            id,
            length: prefix.len() as u8,
        })
    }

    /// Just before `item`.
    pub fn before(item: &Item) -> Self {
        Self {
            timestamp: item.timestamp,
            id: item.id,
            length: 32,
        }
    }

    /// The shortest bound after `last` and not after `next`, its neighbour
    /// (05 §3.2).
    pub fn between(last: &Item, next: &Item) -> Self {
        if last.timestamp != next.timestamp {
            return Self {
                timestamp: next.timestamp,
                ..Self::START
            };
        }
        let shared = last
            .id
            .iter()
            .zip(&next.id)
            .take_while(|(ours, theirs)| ours == theirs)
            .count();
        let length = (shared + 1).min(32);
        let mut id = [0; 32];
        id[..length].copy_from_slice(&next.id[..length]);
        Self {
            timestamp: next.timestamp,
            id,
            length: length as u8,
        }
    }

    /// The timestamp, in seconds; `u64::MAX` is infinity.
    pub fn timestamp(&self) -> u64 {
        self.timestamp
    }

    /// Whether it is at infinity.
    pub fn is_infinite(&self) -> bool {
        self.timestamp == INFINITY
    }

    /// The id prefix.
    pub fn prefix(&self) -> &[u8] {
        &self.id[..usize::from(self.length)]
    }

    /// Whether `item` is before this bound.
    pub fn is_after(&self, item: &Item) -> bool {
        (item.timestamp, &item.id) < (self.timestamp, &self.id)
    }
}

impl std::fmt::Debug for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bound")
            .field("timestamp", &self.timestamp)
            .field("prefix", &self.prefix())
            .finish()
    }
}
