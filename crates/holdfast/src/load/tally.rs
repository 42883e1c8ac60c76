//! What was sent, what came back, and how long it took.

use std::time::Duration;

use serde::Serialize;

use super::signing::Kind;

/// What happened so far, live pushes and bulk apart.
#[derive(Debug)]
pub struct Tally {
    /// Single pushes.
    pub live: KindTally,
    /// Batches.
    pub bulk: KindTally,
}

impl Tally {
    /// A tally of so many versions that are to be sent, with the room they need.
    pub fn new(live: u64, bulk: u64) -> Tally {
        Tally {
            live: KindTally::new(live),
            bulk: KindTally::new(bulk),
        }
    }

    /// That of one kind.
    pub fn of(&mut self, kind: Kind) -> &mut KindTally {
        match kind {
            Kind::Live => &mut self.live,
            Kind::Bulk => &mut self.bulk,
        }
    }
}

/// What happened to one kind of push.
///
/// Every wait is kept, in 4 bytes: there are no more of them than of versions signed
/// beforehand, and so percentiles are exact.
#[derive(Debug)]
pub struct KindTally {
    planned: u64,
    so_far: Counts,
    /// Microseconds from the intended sending to `stored`, as they came.
    waits: Vec<u32>,
    /// Where things stood when a second was told last.
    told: Counts,
    /// When the last `stored` came, after the start.
    last_stored: Duration,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent: u64,
    bytes: u64,
    stored: u64,
    latest_send: Duration,
}

impl KindTally {
    fn new(planned: u64) -> KindTally {
        KindTally {
            planned,
            so_far: Counts::default(),
            waits: Vec::with_capacity(usize::try_from(planned).unwrap_or_default()),
            told: Counts::default(),
            last_stored: Duration::ZERO,
        }
    }

    /// A message goes out, `late` after it was meant to.
    pub fn sent(&mut self, versions: u64, bytes: u64, late: Duration) {
        self.so_far.sent += versions;
        self.so_far.bytes += bytes;
        self.so_far.latest_send = self.so_far.latest_send.max(late);
        self.told.latest_send = self.told.latest_send.max(late);
    }

    /// A version was acknowledged at `at` after the start; it was meant to go out at `due`.
    pub fn stored(&mut self, due: Duration, at: Duration) {
        let wait = at.saturating_sub(due).as_micros();
        self.waits.push(u32::try_from(wait).unwrap_or(u32::MAX));
        self.so_far.stored += 1;
        self.last_stored = self.last_stored.max(at);
    }

    /// Whether any is to be sent.
    pub fn is_used(&self) -> bool {
        self.planned > 0
    }

    /// Versions sent and not acknowledged.
    pub fn unacknowledged(&self) -> u64 {
        self.so_far.sent - self.so_far.stored.min(self.so_far.sent)
    }

    /// Versions not sent.
    pub fn unsent(&self) -> u64 {
        self.planned.saturating_sub(self.so_far.sent)
    }

    /// The figures since this was called last; `passed` is the time since then.
    pub fn since_told(&mut self, passed: Duration) -> Figures {
        let before = self.told;
        self.told = Counts {
            latest_send: Duration::ZERO,
            ..self.so_far
        };
        let from = usize::try_from(before.stored).unwrap_or(usize::MAX);
        let waits = self.waits.get(from..).unwrap_or_default().to_vec();
        let counts = Counts {
            sent: self.so_far.sent - before.sent,
            bytes: self.so_far.bytes - before.bytes,
            stored: self.so_far.stored - before.stored,
            latest_send: before.latest_send,
        };
        self.figures(counts, waits, passed, passed)
    }

    /// The figures of the whole run, in which sending took `sending` so far.
    pub fn in_all(&self, sending: Duration) -> Figures {
        let storing = self.last_stored.max(sending);
        self.figures(self.so_far, self.waits.clone(), sending, storing)
    }

    fn figures(
        &self,
        counts: Counts,
        mut waits: Vec<u32>,
        sending: Duration,
        storing: Duration,
    ) -> Figures {
        waits.sort_unstable();
        let wait = |per_cent| percentile(&waits, per_cent).map(|wait| f64::from(wait) / 1000.0);
        Figures {
            sent: counts.sent,
            stored: counts.stored,
            unacknowledged: self.unacknowledged(),
            bytes: counts.bytes,
            sent_per_second: rate(counts.sent, sending),
            stored_per_second: rate(counts.stored, storing),
            p50_ms: wait(50),
            p90_ms: wait(90),
            p99_ms: wait(99),
            max_ms: wait(100),
            latest_send_ms: counts.latest_send.as_secs_f64() * 1000.0,
        }
    }
}

/// Figures of a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Versions sent in it.
    pub sent: u64,
    /// Versions acknowledged in it.
    pub stored: u64,
    /// Versions sent and not acknowledged, at its end.
    pub unacknowledged: u64,
    /// Bytes of the messages sent in it.
    pub bytes: u64,
    /// Versions sent a second.
    pub sent_per_second: f64,
    /// Versions acknowledged a second.
    pub stored_per_second: f64,
    /// Milliseconds from the intended sending to `stored` of those acknowledged in it, median;
    /// `None` where none was.
    pub p50_ms: Option<f64>,
    /// The same, 90 in 100 took no longer.
    pub p90_ms: Option<f64>,
    /// The same, 99 in 100 took no longer.
    pub p99_ms: Option<f64>,
    /// The same, the longest.
    pub max_ms: Option<f64>,
    /// By how many milliseconds the latest message began to go out after it was meant to: what
    /// this program, or a host that reads nothing, added to the waits.
    pub latest_send_ms: f64,
}

/// The least value that `per_cent` of the sorted values are no greater than.
fn percentile(sorted: &[u32], per_cent: usize) -> Option<u32> {
    let rank = (sorted.len() * per_cent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}

fn rate(count: u64, time: Duration) -> f64 {
    match time.is_zero() {
        true => 0.0,
        false => count as f64 / time.as_secs_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: Duration = Duration::from_secs(1);

    proptest! {
        #[test]
        fn a_percentile_is_the_least_value_that_enough_are_no_greater_than(
            mut values in proptest::collection::vec(0u32..50, 1..300),
            per_cent in 1usize..=100,
        ) {
            values.sort_unstable();
            let enough = |value: u32| {
                let within = values.iter().filter(|other| **other <= value).count();
                within * 100 >= per_cent * values.len()
            };
            let least = values.iter().copied().find(|value| enough(*value));
            prop_assert_eq!(percentile(&values, per_cent), least);
        }
    }

    #[test]
    fn nothing_has_no_percentile() {
        assert_eq!(percentile(&[], 50), None);
    }

    #[test]
    fn a_second_tells_what_is_new_and_the_end_tells_all() {
        let ms = Duration::from_millis;
        let mut tally = Tally::new(5, 0);
        assert!(tally.live.is_used() && !tally.bulk.is_used());
        let live = tally.of(Kind::Live);
        live.sent(1, 100, ms(3));
        live.sent(1, 100, ms(1));
        live.stored(ms(0), ms(40));
        let first = live.since_told(SECOND);
        assert_eq!((first.sent, first.stored, first.bytes), (2, 1, 200));
        assert_eq!((first.unacknowledged, first.max_ms), (1, Some(40.0)));
        assert_eq!(first.latest_send_ms, 3.0);

        live.sent(1, 100, ms(2));
        live.stored(ms(500), ms(1_200));
        let second = live.since_told(SECOND);
        assert_eq!((second.sent, second.stored), (1, 1));
        assert_eq!(second.p50_ms, Some(700.0), "from when it was meant to go");
        assert_eq!(second.latest_send_ms, 2.0);

        let all = live.in_all(ms(1_500));
        assert_eq!((all.sent, all.stored, all.unacknowledged), (3, 2, 1));
        assert_eq!((all.p50_ms, all.max_ms), (Some(40.0), Some(700.0)));
        assert_eq!((all.sent_per_second, all.latest_send_ms), (2.0, 3.0));
        assert_eq!(live.unsent(), 2);
    }
}
