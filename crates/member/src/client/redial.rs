//! When to dial again (04 §8).

use std::time::Duration;

const FIRST_DELAY: Duration = Duration::from_secs(1);
const LONGEST_DELAY: Duration = Duration::from_secs(30);

/// How a connection, or the try to make one, ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The host closed with this code.
    Closed(u16),
    /// The upgrade was answered with this status.
    Refused {
        /// The HTTP status.
        status: u16,
        /// What `Retry-After` says.
        retry_after: Option<Duration>,
    },
    /// This client refused the node: not the pinned one, or a handshake that doesn't hold.
    NodeRefused,
    /// Anything else: no connection, or one that broke.
    Lost,
}

/// The delays of one wish to be connected.
#[derive(Clone, Debug, Default)]
pub struct Redial {
    attempts: u32,
}

impl Redial {
    /// No attempt was made yet.
    pub fn new() -> Redial {
        Redial::default()
    }

    /// A welcome came: delays begin anew.
    pub fn welcomed(&mut self) {
        self.attempts = 0;
    }

    /// How long to wait after `ended`. `draw` is a random number from 0 to 1 (both taken).
    ///
    /// A client that learned another key of the space may dial again at once after a `4003`.
    pub fn wait(&mut self, ended: Ended, draw: f64) -> Duration {
        let doubled = FIRST_DELAY.saturating_mul(1 << self.attempts.min(16));
        self.attempts = self.attempts.saturating_add(1);
        let full = doubled.min(LONGEST_DELAY);
        let draw = if draw.is_finite() {
            draw.clamp(0.0, 1.0)
        } else {
            1.0
        };
        let drawn = full / 2 + (full / 2).mul_f64(draw);
        drawn.max(least(ended))
    }
}

/// The least to wait, by what happened.
fn least(ended: Ended) -> Duration {
    let seconds = match ended {
        Ended::Refused {
            status: 429 | 503,
            retry_after,
        } => {
            return retry_after.unwrap_or(Duration::from_secs(30));
        }
        Ended::Closed(4003 | 1013) => 30,
        Ended::Closed(4009) => 10,
        Ended::Closed(4000 | 4002) | Ended::NodeRefused => 60,
        Ended::Closed(_) | Ended::Refused { .. } | Ended::Lost => 0,
    };
    Duration::from_secs(seconds)
}

/// Whether less is to be sent per message from now on.
pub fn sends_less_after(ended: Ended) -> bool {
    ended == Ended::Closed(1009)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn seconds(ended: Ended) -> f64 {
        Redial::new().wait(ended, 0.0).as_secs_f64()
    }

    #[test]
    fn delays_double_from_1_to_30_seconds_and_a_welcome_begins_them_anew() {
        let mut redial = Redial::new();
        let mut wait = |draw| redial.wait(Ended::Lost, draw).as_secs_f64();
        let delays: Vec<f64> = (0..7).map(|_| wait(1.0)).collect();
        assert_eq!(delays, [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]);
        assert_eq!(wait(0.0), 15.0);
        redial.welcomed();
        assert_eq!(redial.wait(Ended::Lost, 0.0).as_secs_f64(), 0.5);
    }

    #[test]
    fn each_way_to_end_has_its_least_wait() {
        assert_eq!(seconds(Ended::Closed(4003)), 30.0);
        assert_eq!(seconds(Ended::Closed(4009)), 10.0);
        assert_eq!(seconds(Ended::Closed(1013)), 30.0);
        assert_eq!(seconds(Ended::Closed(4000)), 60.0);
        assert_eq!(seconds(Ended::Closed(4002)), 60.0);
        assert_eq!(seconds(Ended::NodeRefused), 60.0);
        assert_eq!(seconds(Ended::Closed(1001)), 0.5);
        let refused = |status, seconds: Option<u64>| Ended::Refused {
            status,
            retry_after: seconds.map(Duration::from_secs),
        };
        assert_eq!(seconds(refused(503, None)), 30.0);
        assert_eq!(seconds(refused(429, Some(7))), 7.0);
        assert_eq!(seconds(refused(404, Some(7))), 0.5);
    }

    #[test]
    fn only_a_message_too_big_has_less_sent() {
        assert!(sends_less_after(Ended::Closed(1009)));
        assert!(!sends_less_after(Ended::Closed(1008)));
    }

    proptest! {
        #[test]
        fn a_delay_is_drawn_between_half_and_all(attempts in 0u32..40, draw in 0.0f64..=1.0) {
            let mut redial = Redial { attempts };
            let waited = redial.wait(Ended::Lost, draw).as_secs_f64();
            let full = f64::from(1u32 << attempts.min(16)).min(30.0);
            prop_assert!((full / 2.0..=full).contains(&waited));
        }
    }
}
