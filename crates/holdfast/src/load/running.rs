//! The run: every socket sends what is due when it is due, and hears what was stored.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use member::client::ConnectionError;
use member::client::pushing::{Answers, Pusher};
use minca_record::content_id::ContentId;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

use super::signing::{Kind, Part, Signed};
use super::tally::Tally;
use super::told::{Line, Total, second};

/// From the last preparations to the start, so that every socket is ready by then.
const BEFORE_START: Duration = Duration::from_millis(200);

/// A socket with what goes over it.
pub struct Ready {
    /// The half that sends.
    pub pusher: Pusher,
    /// The half that hears.
    pub answers: Answers,
    /// What is sent.
    pub part: Part,
}

/// How long a run is.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Sending.
    pub seconds: Duration,
    /// Waiting for answers after that.
    pub grace: Duration,
}

/// Runs it. `tell` is given a line for every second; the total is what comes back. It ends early
/// where `interrupted` does, or where every socket is done or lost.
///
/// # Errors
/// Those of `tell`.
pub async fn run(
    ready: Vec<Ready>,
    planned: (u64, u64),
    times: Times,
    interrupted: impl Future<Output = ()>,
    mut tell: impl FnMut(Line) -> anyhow::Result<()>,
) -> anyhow::Result<Total> {
    let tally = Arc::new(Mutex::new(Tally::new(planned.0, planned.1)));
    let start = Instant::now() + BEFORE_START;
    let mut sockets = JoinSet::new();
    for ready in ready {
        sockets.spawn(push(ready, start, tally.clone()));
    }
    let mut seconds = tokio::time::interval_at(start, Duration::from_secs(1));
    seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick is the start.
    seconds.tick().await;
    let deadline = tokio::time::sleep_until(start + times.seconds + times.grace);
    tokio::pin!(deadline, interrupted);
    let mut lost = Vec::new();
    let mut was_interrupted = false;
    let mut at = 0;
    loop {
        tokio::select! {
            ended = sockets.join_next() => match ended {
                None => break,
                Some(Ok(None)) => {}
                Some(Ok(Some(error))) => lost.push(error.to_string()),
                Some(Err(error)) => lost.push(error.to_string()),
            },
            _ = seconds.tick() => {
                at += 1;
                let line = second(&mut locked(&tally), at);
                tell(line)?;
            }
            () = &mut deadline => break,
            () = &mut interrupted => {
                was_interrupted = true;
                break;
            }
        }
    }
    let passed = start.elapsed();
    sockets.shutdown().await;
    let tally = locked(&tally);
    let sending = passed.min(times.seconds);
    Ok(Total {
        seconds: passed.as_secs_f64(),
        live: tally.live.is_used().then(|| tally.live.in_all(sending)),
        bulk: tally.bulk.is_used().then(|| tally.bulk.in_all(sending)),
        unsent: tally.live.unsent() + tally.bulk.unsent(),
        lost,
        interrupted: was_interrupted,
    })
}

/// One socket's part. `None` once everything is acknowledged; else how the socket was lost.
async fn push(ready: Ready, start: Instant, tally: Arc<Mutex<Tally>>) -> Option<ConnectionError> {
    let Part { kind, messages, .. } = ready.part;
    let due_by_id: HashMap<ContentId, Duration> = messages
        .iter()
        .flat_map(|signed| signed.ids.iter().map(|id| (*id, signed.due)))
        .collect();
    // Sending never waits for hearing, and hearing goes on while sending waits for room.
    tokio::select! {
        error = send_all(ready.pusher, messages, kind, start, &tally) => Some(error),
        heard = hear_all(ready.answers, due_by_id, kind, start, &tally) => heard.err(),
    }
}

/// Sends everything when it is due, and then holds the socket open; comes back only with an
/// error.
async fn send_all(
    mut pusher: Pusher,
    messages: Vec<Signed>,
    kind: Kind,
    start: Instant,
    tally: &Mutex<Tally>,
) -> ConnectionError {
    for signed in messages {
        let due = start + signed.due;
        tokio::time::sleep_until(due).await;
        let (versions, bytes) = (signed.ids.len() as u64, signed.message.len() as u64);
        let late = due.elapsed();
        // Before it goes out: its answer may be here before this goes on.
        locked(tally).of(kind).sent(versions, bytes, late);
        if let Err(error) = pusher.send(signed.message).await {
            return error;
        }
    }
    std::future::pending().await
}

/// Hears until everything is acknowledged.
async fn hear_all(
    mut answers: Answers,
    mut due_by_id: HashMap<ContentId, Duration>,
    kind: Kind,
    start: Instant,
    tally: &Mutex<Tally>,
) -> Result<(), ConnectionError> {
    while !due_by_id.is_empty() {
        let ids = answers.stored().await?;
        let at = start.elapsed();
        let mut tally = locked(tally);
        for id in ids {
            // What is named twice was stored once.
            if let Some(due) = due_by_id.remove(&id) {
                tally.of(kind).stored(due, at);
            }
        }
    }
    Ok(())
}

/// Whoever held it and panicked left numbers behind that are whole.
fn locked(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}
