//! When a space is to be flushed. Pure: time is an argument.

use std::time::{Duration, Instant};

/// How long, and how much, a space may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlushPolicy {
    /// How long what was taken in may wait.
    pub after: Duration,
    /// How many bytes may wait.
    pub bytes: u64,
}

impl Default for FlushPolicy {
    fn default() -> Self {
        Self {
            after: Duration::from_secs(300),
            bytes: 1024 * 1024,
        }
    }
}

/// What of one space isn't in the bucket yet, as far as this process knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unflushed {
    /// Since when the oldest of it waits; `None` when nothing does.
    oldest: Option<Instant>,
    bytes: u64,
}

impl Unflushed {
    /// Notes that a commit wrote `bytes`.
    pub fn committed(&mut self, bytes: u64, now: Instant) {
        self.oldest.get_or_insert(now);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// When the space is due: at once (`now` or before) where too much waits,
    /// `None` where nothing does.
    pub fn due_at(&self, policy: &FlushPolicy, now: Instant) -> Option<Instant> {
        let oldest = self.oldest?;
        if self.bytes >= policy.bytes {
            return Some(now);
        }
        Some(oldest + policy.after)
    }

    /// Whether the space is to be flushed now.
    pub fn is_due(&self, policy: &FlushPolicy, now: Instant) -> bool {
        self.due_at(policy, now).is_some_and(|at| at <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const POLICY: FlushPolicy = FlushPolicy {
        after: Duration::from_secs(10),
        bytes: 100,
    };

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[test]
    fn nothing_taken_in_is_never_due() {
        let start = Instant::now();
        let space = Unflushed::default();
        assert_eq!(space.due_at(&POLICY, start), None);
        assert!(!space.is_due(&POLICY, start + seconds(1_000_000)));
    }

    #[test]
    fn the_oldest_counts_and_not_the_newest() {
        let start = Instant::now();
        let mut space = Unflushed::default();
        space.committed(1, start);
        space.committed(1, start + seconds(9));
        assert!(!space.is_due(&POLICY, start + seconds(9)));
        assert!(space.is_due(&POLICY, start + seconds(10)));
        assert_eq!(space.due_at(&POLICY, start), Some(start + seconds(10)));
    }

    #[test]
    fn enough_bytes_are_due_at_once() {
        let start = Instant::now();
        let mut space = Unflushed::default();
        space.committed(99, start);
        assert!(!space.is_due(&POLICY, start));
        space.committed(1, start);
        assert!(space.is_due(&POLICY, start));
    }

    #[test]
    fn a_commit_of_no_bytes_waits_too() {
        let start = Instant::now();
        let mut space = Unflushed::default();
        space.committed(0, start);
        assert!(space.is_due(&POLICY, start + seconds(10)));
    }

    proptest! {
        #[test]
        fn it_is_due_as_a_list_of_all_commits_says(
            commits in prop::collection::vec((0..60u64, 0..20u64), 0..12),
            at in 0..100u64,
        ) {
            let start = Instant::now();
            let mut space = Unflushed::default();
            for (bytes, second) in &commits {
                space.committed(*bytes, start + seconds(*second));
            }
            // The list counts from the first that was noted, as a process sees it.
            let total: u64 = commits.iter().map(|(bytes, _)| bytes).sum();
            let is_old = commits.first().is_some_and(|(_, second)| second + 10 <= at);
            let is_due = !commits.is_empty() && (total >= 100 || is_old);
            prop_assert_eq!(space.is_due(&POLICY, start + seconds(at)), is_due);
        }
    }
}
