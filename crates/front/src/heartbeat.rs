//! When a socket is pinged, and when it is taken for dead (04 §7.3).
//!
//! Bytes count, not frames: one long frame holds a pong up.

use std::time::Duration;
use tokio::time::Instant;

/// What to do about a socket's silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beat {
    /// Nothing yet.
    Wait,
    /// Send a ping.
    Ping,
    /// Not a byte came since the ping before last: end it.
    Dead,
}

/// A socket's pings and the last sign of life.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heartbeat {
    next: Instant,
    last: Option<Instant>,
    before_last: Option<Instant>,
    heard: Instant,
}

impl Heartbeat {
    /// For a socket that opened `now`.
    pub(crate) fn new(now: Instant, interval: Duration) -> Self {
        Self {
            next: now + interval,
            last: None,
            before_last: None,
            heard: now,
        }
    }

    /// A byte came; or nobody was reading, so that none could.
    pub(crate) fn heard(&mut self, now: Instant) {
        self.heard = now;
    }

    /// When [`tick`](Self::tick) has something to say next.
    pub(crate) fn due(&self) -> Instant {
        self.next
    }

    /// What is to be done now.
    pub(crate) fn tick(&mut self, now: Instant, interval: Duration) -> Beat {
        if now < self.next {
            return Beat::Wait;
        }
        if self.before_last.is_some_and(|ping| self.heard < ping) {
            return Beat::Dead;
        }
        self.before_last = self.last;
        self.last = Some(now);
        self.next = now + interval;
        Beat::Ping
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_secs(20);

    fn at(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn a_silent_socket_is_dead_once_two_pings_went_unanswered() {
        let start = Instant::now();
        let mut heartbeat = Heartbeat::new(start, INTERVAL);
        assert_eq!(heartbeat.tick(at(start, 19), INTERVAL), Beat::Wait);
        assert_eq!(heartbeat.tick(at(start, 20), INTERVAL), Beat::Ping);
        assert_eq!(heartbeat.tick(at(start, 40), INTERVAL), Beat::Ping);
        assert_eq!(heartbeat.tick(at(start, 59), INTERVAL), Beat::Wait);
        assert_eq!(heartbeat.tick(at(start, 60), INTERVAL), Beat::Dead);
    }

    #[test]
    fn a_byte_after_the_ping_before_last_keeps_it_alive() {
        let start = Instant::now();
        let mut heartbeat = Heartbeat::new(start, INTERVAL);
        assert_eq!(heartbeat.tick(at(start, 20), INTERVAL), Beat::Ping);
        assert_eq!(heartbeat.tick(at(start, 40), INTERVAL), Beat::Ping);
        heartbeat.heard(at(start, 41));
        for ping in [60, 80] {
            assert_eq!(heartbeat.tick(at(start, ping), INTERVAL), Beat::Ping);
        }
        assert_eq!(heartbeat.tick(at(start, 100), INTERVAL), Beat::Dead);
    }

    #[test]
    fn a_byte_in_every_two_intervals_keeps_it_alive_for_ever() {
        let start = Instant::now();
        let mut heartbeat = Heartbeat::new(start, INTERVAL);
        for ping in 1..100 {
            assert_eq!(heartbeat.tick(at(start, ping * 20), INTERVAL), Beat::Ping);
            if ping % 2 == 0 {
                heartbeat.heard(at(start, ping * 20 + 1));
            }
        }
    }
}
