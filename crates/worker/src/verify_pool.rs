//! The threads that check signatures (design line 6).
//!
//! A message's versions are cut into pieces that any thread may take, live ones
//! before bulk. What may wait is bounded: whoever submits over the bound waits
//! for room, and with it the socket the versions came from.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use minca_record::content_id::ContentId;
use minca_record::json::Value;
use minca_record::version::{Checked, Refusal, check};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Versions one thread checks before it looks for something more urgent.
const PIECE: usize = 8;

/// Versions that may wait in the pool or be checked in it.
const VERSIONS_WAITING: usize = 4_096;

/// What checking a version gives.
pub(crate) type Outcome = Result<Checked, Refusal>;

/// A pool of threads of its own.
#[derive(Debug)]
pub(crate) struct VerifyPool {
    queue: Arc<Queue>,
    room: Arc<Semaphore>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Queue {
    lanes: Mutex<Lanes>,
    came: Condvar,
}

#[derive(Debug, Default)]
struct Lanes {
    live: VecDeque<Piece>,
    bulk: VecDeque<Piece>,
    closed: bool,
}

/// Some versions of one submission.
#[derive(Debug)]
struct Piece {
    versions: Vec<Value>,
    at: usize,
    job: Arc<Job>,
}

/// One submission: its outcomes, and who waits for them.
#[derive(Debug)]
struct Job {
    space: ContentId,
    state: Mutex<JobState>,
}

#[derive(Debug)]
struct JobState {
    outcomes: Vec<Option<Outcome>>,
    left: usize,
    done: Option<oneshot::Sender<Vec<Outcome>>>,
    _room: OwnedSemaphorePermit,
}

/// The pool is closed, or a thread of it died on what it was given.
#[derive(Debug, thiserror::Error)]
#[error("versions could not be checked")]
pub(crate) struct NotChecked;

impl VerifyPool {
    /// A pool of `threads` threads, at least one.
    pub(crate) fn start(threads: usize) -> std::io::Result<VerifyPool> {
        let queue = Arc::new(Queue::default());
        let threads = (0..threads.max(1))
            .map(|number| {
                let queue = Arc::clone(&queue);
                std::thread::Builder::new()
                    .name(format!("verify-{number}"))
                    .spawn(move || queue.work())
            })
            .collect::<std::io::Result<Vec<_>>>()?;
        Ok(VerifyPool {
            queue,
            room: Arc::new(Semaphore::new(VERSIONS_WAITING)),
            threads,
        })
    }

    /// Checks versions that arrived in a space (02 §9 steps 1–6); the outcomes are
    /// in their order. Waits for room first.
    pub(crate) async fn check(
        &self,
        space: ContentId,
        versions: Vec<Value>,
        live: bool,
    ) -> Result<Vec<Outcome>, NotChecked> {
        if versions.is_empty() {
            return Ok(Vec::new());
        }
        let count = versions.len();
        let permits = u32::try_from(count.min(VERSIONS_WAITING)).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room)
            .acquire_many_owned(permits)
            .await
            .map_err(|_| NotChecked)?;
        let (done, outcomes) = oneshot::channel();
        let state = JobState {
            outcomes: (0..count).map(|_| None).collect(),
            left: count,
            done: Some(done),
            _room: room,
        };
        let job = Arc::new(Job {
            space,
            state: Mutex::new(state),
        });
        self.queue.put(versions, &job, live);
        outcomes.await.map_err(|_| NotChecked)
    }
}

impl Drop for VerifyPool {
    fn drop(&mut self) {
        self.queue.lanes().closed = true;
        self.queue.came.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has said so itself.
            let _ = thread.join();
        }
    }
}

impl Queue {
    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, versions: Vec<Value>, job: &Arc<Job>, live: bool) {
        let mut versions = versions.into_iter();
        let mut at = 0;
        let mut lanes = self.lanes();
        loop {
            let piece: Vec<Value> = versions.by_ref().take(PIECE).collect();
            if piece.is_empty() {
                break;
            }
            let lane = if live {
                &mut lanes.live
            } else {
                &mut lanes.bulk
            };
            let count = piece.len();
            lane.push_back(Piece {
                versions: piece,
                at,
                job: Arc::clone(job),
            });
            at += count;
        }
        drop(lanes);
        self.came.notify_all();
    }

    fn next(&self) -> Option<Piece> {
        let mut lanes = self.lanes();
        loop {
            if let Some(piece) = lanes.live.pop_front().or_else(|| lanes.bulk.pop_front()) {
                return Some(piece);
            }
            if lanes.closed {
                return None;
            }
            lanes = self
                .came
                .wait(lanes)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn work(&self) {
        while let Some(piece) = self.next() {
            let outcomes = piece
                .versions
                .into_iter()
                .map(|version| check(version, piece.job.space))
                .collect();
            piece.job.finish(piece.at, outcomes);
        }
    }
}

impl Job {
    fn finish(&self, at: usize, outcomes: Vec<Outcome>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.left -= outcomes.len();
        for (slot, outcome) in state.outcomes[at..].iter_mut().zip(outcomes) {
            *slot = Some(outcome);
        }
        if state.left > 0 {
            return;
        }
        let outcomes = std::mem::take(&mut state.outcomes)
            .into_iter()
            .flatten()
            .collect();
        if let Some(done) = state.done.take() {
            // Whoever asked may be gone.
            let _ = done.send(outcomes);
        }
    }
}
