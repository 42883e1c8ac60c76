//! When what is to be sent: fixed before the run, whatever the host does.

use std::time::Duration;

const NANOS: u128 = 1_000_000_000;

/// Versions at a steady rate for a time, so many to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Versions a second; 0 for none at all.
    pub rate: u32,
    /// Versions in a message, at least 1; the last message may have fewer.
    pub each: u32,
    /// How long, in seconds.
    pub seconds: u32,
}

impl Pace {
    /// Versions altogether.
    pub fn versions(&self) -> u64 {
        u64::from(self.rate) * u64::from(self.seconds)
    }

    /// Messages altogether.
    pub fn messages(&self) -> u64 {
        self.versions().div_ceil(u64::from(self.each.max(1)))
    }

    /// Versions in the message `number`, which counts from 0.
    pub fn versions_in(&self, number: u64) -> u64 {
        let each = u64::from(self.each.max(1));
        self.versions()
            .saturating_sub(number.saturating_mul(each))
            .min(each)
    }

    /// How long after the start the message `number` is meant to go out: when the first of its
    /// versions is due.
    pub fn due(&self, number: u64) -> Duration {
        let before = u128::from(number) * u128::from(self.each.max(1));
        let nanos = before * NANOS / u128::from(self.rate.max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// The messages that go over the socket `socket` of `sockets`: they take turns.
    pub fn messages_of(&self, socket: u32, sockets: u32) -> impl Iterator<Item = u64> + use<> {
        let step = usize::try_from(sockets.max(1)).unwrap_or(usize::MAX);
        (u64::from(socket)..self.messages()).step_by(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pace() -> impl Strategy<Value = Pace> {
        (0u32..3000, 1u32..=200, 1u32..20).prop_map(|(rate, each, seconds)| Pace {
            rate,
            each,
            seconds,
        })
    }

    proptest! {
        #[test]
        fn at_any_moment_what_is_due_is_the_rate_times_the_time_within_a_message(
            pace in pace(),
            milliseconds in 0u64..20_000,
        ) {
            let at = Duration::from_millis(milliseconds);
            let due: u64 = (0..pace.messages())
                .take_while(|number| pace.due(*number) <= at)
                .map(|number| pace.versions_in(number))
                .sum();
            let steady = (u64::from(pace.rate) * milliseconds / 1000).min(pace.versions());
            prop_assert!(due >= steady && due <= steady + u64::from(pace.each));
        }

        #[test]
        fn every_version_goes_out_once_within_the_time_over_one_socket(
            pace in pace(),
            sockets in 1u32..9,
        ) {
            let mut numbers: Vec<u64> = (0..sockets)
                .flat_map(|socket| pace.messages_of(socket, sockets))
                .collect();
            numbers.sort_unstable();
            prop_assert_eq!(&numbers, &(0..pace.messages()).collect::<Vec<_>>());
            let versions: u64 = numbers.iter().map(|number| pace.versions_in(*number)).sum();
            prop_assert_eq!(versions, pace.versions());
            let end = Duration::from_secs(pace.seconds.into());
            prop_assert!(numbers.iter().all(|number| pace.due(*number) < end));
        }
    }

    #[test]
    fn a_rate_of_three_a_second_has_no_drift() {
        let pace = Pace {
            rate: 3,
            each: 1,
            seconds: 3000,
        };
        assert_eq!(pace.due(0), Duration::ZERO);
        assert_eq!(pace.due(1), Duration::from_nanos(333_333_333));
        assert_eq!(pace.due(3 * 2999), Duration::from_secs(2999));
    }

    #[test]
    fn the_last_batch_has_what_is_left() {
        let pace = Pace {
            rate: 250,
            each: 200,
            seconds: 3,
        };
        let counts: Vec<u64> = (0..pace.messages()).map(|n| pace.versions_in(n)).collect();
        assert_eq!(counts, [200, 200, 200, 150]);
        assert_eq!(pace.due(1), Duration::from_millis(800));
        assert_eq!(pace.versions_in(4), 0);
    }
}
