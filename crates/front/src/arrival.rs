//! How long one message may take to arrive (04 §7.2).

use std::time::Duration;
use tokio::time::Instant;

/// Bytes that buy a message one more second.
const BYTES_PER_SECOND: u64 = 64 << 10;

/// A message that has begun to come and isn't whole yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    first_byte: Instant,
    bytes: u64,
}

impl Arrival {
    /// A message whose first byte came `now`.
    pub(crate) fn begun(now: Instant) -> Self {
        Self {
            first_byte: now,
            bytes: 0,
        }
    }

    /// More of it came.
    pub(crate) fn came(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    /// Nobody was reading for so long: that is not the peer's time.
    pub(crate) fn held_up(&mut self, time: Duration) {
        self.first_byte += time;
    }

    /// When it must be whole: `patience` after its first byte, and a second for each
    /// 64 KiB that has come.
    pub(crate) fn deadline(&self, patience: Duration) -> Instant {
        self.first_byte + patience + Duration::from_secs(self.bytes / BYTES_PER_SECOND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_buys_time_and_what_the_host_holds_up_costs_none() {
        let start = Instant::now();
        let patience = Duration::from_secs(120);
        let mut arrival = Arrival::begun(start);
        assert_eq!(arrival.deadline(patience), start + patience);
        arrival.came(65_535);
        assert_eq!(arrival.deadline(patience), start + patience);
        arrival.came(1);
        assert_eq!(
            arrival.deadline(patience),
            start + patience + Duration::from_secs(1)
        );
        arrival.held_up(Duration::from_secs(7));
        assert_eq!(
            arrival.deadline(patience),
            start + patience + Duration::from_secs(8)
        );
    }
}
