//! Token buckets, with time as an argument.

use std::time::Duration;
use tokio::time::Instant;

/// A steady rate and what may come at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// What is given back each second.
    pub per_second: u32,
    /// What a bucket that has been left alone holds.
    pub burst: u32,
}

/// What is left of a [`Rate`]. May be overdrawn: what came is counted after it came, and
/// the next is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    level: f64,
    at: Instant,
}

impl Bucket {
    /// A full bucket.
    pub(crate) fn full(rate: Rate, now: Instant) -> Self {
        Self {
            level: f64::from(rate.burst),
            at: now,
        }
    }

    fn refill(&mut self, rate: Rate, now: Instant) {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.level = (self.level + passed * f64::from(rate.per_second)).min(f64::from(rate.burst));
        self.at = self.at.max(now);
    }

    /// Counts `amount`, whether or not it is there.
    pub(crate) fn spend(&mut self, rate: Rate, now: Instant, amount: usize) {
        self.refill(rate, now);
        self.level -= amount as f64;
    }

    /// Counts one, if it is there.
    pub(crate) fn try_take(&mut self, rate: Rate, now: Instant) -> bool {
        self.refill(rate, now);
        if self.level < 1.0 {
            return false;
        }
        self.level -= 1.0;
        true
    }

    /// How long until the bucket is no longer overdrawn; `None` when it isn't.
    pub(crate) fn wait(&self, rate: Rate, now: Instant) -> Option<Duration> {
        let mut then = *self;
        then.refill(rate, now);
        if then.level >= 0.0 {
            return None;
        }
        // A rate of nothing gives nothing back, but the wait has to be a duration.
        let seconds = -then.level / f64::from(rate.per_second.max(1));
        // A little over, so that it isn't overdrawn by a rounding error then.
        Some(Duration::from_secs_f64(seconds) + Duration::from_millis(1))
    }

    /// Whether it holds all it can: nothing is lost by forgetting it.
    pub(crate) fn is_full(&self, rate: Rate, now: Instant) -> bool {
        let mut then = *self;
        then.refill(rate, now);
        then.level >= f64::from(rate.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RATE: Rate = Rate {
        per_second: 10,
        burst: 100,
    };

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let start = Instant::now();
        let mut bucket = Bucket::full(RATE, start);
        for _ in 0..100 {
            assert!(bucket.try_take(RATE, start));
        }
        assert!(!bucket.try_take(RATE, start));
        let later = start + Duration::from_millis(250);
        assert!(bucket.try_take(RATE, later));
        assert!(bucket.try_take(RATE, later));
        assert!(!bucket.try_take(RATE, later));
    }

    #[test]
    fn an_overdrawn_bucket_says_how_long() {
        let start = Instant::now();
        let mut bucket = Bucket::full(RATE, start);
        bucket.spend(RATE, start, 100);
        assert_eq!(bucket.wait(RATE, start), None);
        bucket.spend(RATE, start, 20);
        let wait = bucket.wait(RATE, start).unwrap();
        assert!(wait >= Duration::from_secs(2) && wait < Duration::from_millis(2010));
        assert_eq!(bucket.wait(RATE, start + wait), None);
    }

    #[test]
    fn a_bucket_left_alone_is_full_again() {
        let start = Instant::now();
        let mut bucket = Bucket::full(RATE, start);
        bucket.spend(RATE, start, 50);
        assert!(!bucket.is_full(RATE, start + Duration::from_secs(4)));
        assert!(bucket.is_full(RATE, start + Duration::from_secs(6)));
    }

    proptest! {
        #[test]
        fn no_more_is_taken_than_burst_and_rate_give(
            steps in prop::collection::vec((0u64..500, 1usize..30), 1..200),
        ) {
            let start = Instant::now();
            let mut bucket = Bucket::full(RATE, start);
            let mut passed = 0;
            let mut taken = 0;
            for (wait, tries) in steps {
                passed += wait;
                let now = start + Duration::from_millis(passed);
                for _ in 0..tries {
                    taken += u64::from(bucket.try_take(RATE, now));
                }
                prop_assert!(taken <= 100 + passed / 100 + 1);
            }
        }
    }
}
