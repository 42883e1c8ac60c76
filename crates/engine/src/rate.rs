//! How often a peer may ask for something (08 §17.2): so many a minute, all of them
//! at once if it likes.

use crate::event::Millis;

const MINUTE: Millis = 60_000;

/// One allowance.
#[derive(Debug)]
pub(crate) struct Rate {
    /// What one costs, in time.
    cost: Millis,
    /// When all that was taken is paid for.
    paid_at: Millis,
}

impl Rate {
    pub(crate) fn per_minute(count: u64) -> Rate {
        Rate {
            cost: (MINUTE / count.max(1)).max(1),
            paid_at: 0,
        }
    }

    /// When one more may be taken; a time gone by, if now.
    pub(crate) fn free_at(&self) -> Millis {
        self.paid_at.saturating_sub(MINUTE - self.cost)
    }

    pub(crate) fn take(&mut self, now: Millis) {
        self.paid_at = self.paid_at.max(now).saturating_add(self.cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minutes_worth_goes_at_once_and_then_one_at_a_time() {
        let mut rate = Rate::per_minute(30);
        let now = 1_000_000;
        for _ in 0..30 {
            assert!(rate.free_at() <= now);
            rate.take(now);
        }
        assert_eq!(rate.free_at(), now + 2_000);
        rate.take(now + 2_000);
        assert_eq!(rate.free_at(), now + 4_000);
        assert!(rate.free_at() <= now + 600_000);
    }
}
