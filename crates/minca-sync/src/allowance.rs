//! The allowance of live messages per sender (04 §9.2).

use minca_record::json::Value;

/// Live messages a sender may send at once.
pub const LIVE_BURST: u64 = 60;

/// Live messages a second its allowance is refilled by.
pub const LIVE_PER_SECOND: u64 = 20;

/// The largest live message: UTF-16 code units of its payload as JSON.
pub const MAX_LIVE_UNITS: usize = 65_536;

/// A sender's allowance, in thousandths of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveAllowance {
    left: u64,
    /// When `left` was so, in the receiver's milliseconds.
    at_ms: u64,
}

impl LiveAllowance {
    /// A full allowance.
    pub fn new(now_ms: u64) -> Self {
        Self {
            left: LIVE_BURST * 1000,
            at_ms: now_ms,
        }
    }

    /// Whether a message that comes now is taken; if so it is counted. One that
    /// is dropped costs nothing. Time that goes back counts as none.
    pub fn take(&mut self, now_ms: u64) -> bool {
        let passed = now_ms.saturating_sub(self.at_ms);
        self.at_ms = self.at_ms.max(now_ms);
        let refilled = self
            .left
            .saturating_add(passed.saturating_mul(LIVE_PER_SECOND));
        self.left = refilled.min(LIVE_BURST * 1000);
        if self.left < 1000 {
            return false;
        }
        self.left -= 1000;
        true
    }
}

/// Whether a live message's payload is small enough to be taken.
pub fn is_small_enough(payload: &Value) -> bool {
    let json = payload.canonical();
    let units: usize = json
        .iter()
        .map(|byte| match byte {
            0x80..=0xBF => 0,
            0xF0.. => 2,
            _ => 1,
        })
        .sum();
    units <= MAX_LIVE_UNITS
}
