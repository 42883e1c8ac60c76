//! A run's figures, as lines for people or as JSON, one object a line.

use serde::Serialize;

use super::tally::{Figures, Tally};

/// A line of JSON: a second, or the whole run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// What a second brought.
    Second(Second),
    /// What the run came to.
    Total(Total),
}

/// What a second brought.
#[derive(Debug, Serialize)]
pub struct Second {
    /// Seconds since the start, at its end.
    pub at: u64,
    /// Of the single pushes; absent where there are none in the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<Figures>,
    /// Of the batches; absent where there are none in the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bulk: Option<Figures>,
}

/// What the run came to.
#[derive(Debug, Serialize)]
pub struct Total {
    /// Seconds it took, with the wait for what was acknowledged last.
    pub seconds: f64,
    /// Of the single pushes; absent where there are none in the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<Figures>,
    /// Of the batches; absent where there are none in the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bulk: Option<Figures>,
    /// Versions that were to be sent and weren't.
    pub unsent: u64,
    /// How sockets ended before everything sent over them was acknowledged.
    pub lost: Vec<String>,
    /// Whether it was interrupted before its end.
    pub interrupted: bool,
}

impl Total {
    /// Whether everything was acknowledged that was to be sent, or, in a run that was
    /// interrupted, that was sent.
    pub fn is_good(&self) -> bool {
        let used = [&self.live, &self.bulk].into_iter().flatten();
        let unacknowledged: u64 = used.map(|figures| figures.unacknowledged).sum();
        unacknowledged == 0 && self.lost.is_empty() && (self.unsent == 0 || self.interrupted)
    }
}

/// The second that ends now, `at` seconds after the start.
pub fn second(tally: &mut Tally, at: u64) -> Line {
    let passed = std::time::Duration::from_secs(1);
    let (live, bulk) = (tally.live.is_used(), tally.bulk.is_used());
    Line::Second(Second {
        at,
        live: live.then(|| tally.live.since_told(passed)),
        bulk: bulk.then(|| tally.bulk.since_told(passed)),
    })
}

/// The line as text.
pub fn as_text(line: &Line) -> String {
    match line {
        Line::Second(second) => kinds(&second.live, &second.bulk)
            .map(|(kind, figures)| format!("{:>4} s  {kind}  {}\n", second.at, short(figures)))
            .collect(),
        Line::Total(total) => {
            let mut text = format!("\nIn all, in {:.1} s:\n", total.seconds);
            for (kind, figures) in kinds(&total.live, &total.bulk) {
                text += &format!(
                    "  {kind}  {}\n        {} bytes; {:.1} sent/s, {:.1} stored/s; latest send {:.1} ms after its time\n",
                    short(figures),
                    figures.bytes,
                    figures.sent_per_second,
                    figures.stored_per_second,
                    figures.latest_send_ms,
                );
            }
            if total.unsent > 0 {
                text += &format!("  {} versions were not sent.\n", total.unsent);
            }
            for lost in &total.lost {
                text += &format!("  A socket was lost: {lost}.\n");
            }
            if total.interrupted {
                text += "  Interrupted before its end.\n";
            }
            text += match total.is_good() {
                true => "Everything sent was acknowledged.\n",
                false => "Not everything was acknowledged.\n",
            };
            text
        }
    }
}

/// The line as JSON.
///
/// # Errors
/// Those of the encoder; there is nothing in a line that it refuses.
pub fn as_json(line: &Line) -> serde_json::Result<String> {
    Ok(serde_json::to_string(line)? + "\n")
}

fn kinds<'a>(
    live: &'a Option<Figures>,
    bulk: &'a Option<Figures>,
) -> impl Iterator<Item = (&'static str, &'a Figures)> {
    let live = live.iter().map(|figures| ("live", figures));
    live.chain(bulk.iter().map(|figures| ("bulk", figures)))
}

fn short(figures: &Figures) -> String {
    let wait = |wait: Option<f64>| wait.map_or("-".to_owned(), |wait| format!("{wait:.1}"));
    format!(
        "sent {:>6}  stored {:>6}  unacknowledged {:>6}  p50 {} p90 {} p99 {} max {} ms",
        figures.sent,
        figures.stored,
        figures.unacknowledged,
        wait(figures.p50_ms),
        wait(figures.p90_ms),
        wait(figures.p99_ms),
        wait(figures.max_ms),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::signing::Kind;
    use std::time::Duration;

    fn total(sent: u64, stored: u64, interrupted: bool) -> Total {
        let mut tally = Tally::new(3, 0);
        let live = tally.of(Kind::Live);
        live.sent(sent, 1000, Duration::ZERO);
        for _ in 0..stored {
            live.stored(Duration::ZERO, Duration::from_millis(5));
        }
        Total {
            seconds: 1.0,
            live: Some(tally.live.in_all(Duration::from_secs(1))),
            bulk: None,
            unsent: tally.live.unsent(),
            lost: Vec::new(),
            interrupted,
        }
    }

    #[test]
    fn a_run_is_good_where_nothing_that_was_to_be_acknowledged_is_not() {
        assert!(total(3, 3, false).is_good());
        assert!(!total(3, 2, false).is_good());
        assert!(!total(2, 2, false).is_good(), "one was not sent");
        assert!(total(2, 2, true).is_good());
        assert!(!total(2, 1, true).is_good());
        let mut lost = total(3, 3, false);
        lost.lost.push("the host closed".to_owned());
        assert!(!lost.is_good());
    }

    #[test]
    fn a_line_names_only_what_the_run_has() {
        let mut tally = Tally::new(3, 0);
        tally.live.sent(1, 10, Duration::ZERO);
        let line = second(&mut tally, 1);
        assert!(!as_text(&line).contains("bulk"));
        let json: serde_json::Value = serde_json::from_str(&as_json(&line).unwrap()).unwrap();
        assert_eq!(json["second"]["live"]["sent"], 1);
        assert_eq!(
            json["second"]["live"]["p50_ms"],
            serde_json::Value::Null,
            "nothing was acknowledged"
        );
        assert!(json["second"].get("bulk").is_none());
        let end = as_text(&Line::Total(total(3, 1, false)));
        assert!(end.ends_with("Not everything was acknowledged.\n"), "{end}");
    }
}
