//! The threads that check signatures (design line 6).
//!
//! A message's versions are cut into pieces that any thread may take, live ones
//! before bulk. What may wait is bounded: whoever submits over the bound waits
//! for room, and with it the socket the versions came from.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use engine::{Space, Vetted, Vetter};
use minca_record::json::Value;
use minca_record::version::Refusal;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Versions one thread checks before it looks for something more urgent.
const PIECE: usize = 8;

/// Pieces of live versions after which one of bulk goes first, so that it is slowed and
/// not stopped by a flood of live ones.
const LIVE_IN_A_ROW: u32 = 8;

/// Versions that may wait in the pool or be checked in it.
const VERSIONS_WAITING: usize = 4_096;

/// What checking a version gives.
pub(crate) type Outcome = Result<Vetted, Refusal>;

/// How a version is checked (02 §9 steps 1–6).
type Check = fn(&mut Vetter, Value, Space) -> Outcome;

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
    live_in_a_row: u32,
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
    space: Space,
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
        VerifyPool::checking(threads, Vetter::vet)
    }

    fn checking(threads: usize, check: Check) -> std::io::Result<VerifyPool> {
        let queue = Arc::new(Queue::default());
        let threads = (0..threads.max(1))
            .map(|number| {
                let queue = Arc::clone(&queue);
                std::thread::Builder::new()
                    .name(format!("verify-{number}"))
                    .spawn(move || queue.work(check))
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
        space: Space,
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
            if let Some(piece) = lanes.next() {
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

    fn work(&self, check: Check) {
        let mut vetter = Vetter::default();
        while let Some(Piece { versions, at, job }) = self.next() {
            let space = job.space;
            let checked = catch_unwind(AssertUnwindSafe(|| {
                versions
                    .into_iter()
                    .map(|version| check(&mut vetter, version, space))
                    .collect()
            }));
            match checked {
                Ok(outcomes) => job.finish(at, outcomes),
                // The panic itself was reported; the thread goes on with what others sent,
                // and without what may have been left half remembered.
                Err(_) => {
                    vetter = Vetter::default();
                    job.fail();
                }
            }
        }
    }
}

impl Lanes {
    fn next(&mut self) -> Option<Piece> {
        if self.live_in_a_row < LIVE_IN_A_ROW
            && let Some(live) = self.live.pop_front()
        {
            self.live_in_a_row += 1;
            return Some(live);
        }
        self.live_in_a_row = 0;
        self.bulk.pop_front().or_else(|| self.live.pop_front())
    }
}

impl Job {
    /// Tells whoever waits that nothing comes of it.
    fn fail(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done = None;
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use minca_record::content_id::ContentId;
    use minca_record::hash::sha256;

    fn panics_on_null(vetter: &mut Vetter, version: Value, space: Space) -> Outcome {
        assert!(version != Value::Null, "a check that panics");
        vetter.vet(version, space)
    }

    fn space() -> Space {
        Space {
            id: ContentId::from_digest(sha256(b"a space")),
            is_private: false,
        }
    }

    #[tokio::test]
    async fn a_check_that_panics_fails_its_message_and_no_other() {
        let pool = VerifyPool::checking(1, panics_on_null).unwrap();
        for bad_at in [0, 7, 8, 20] {
            let mut versions = vec![Value::from("no version"); 21];
            versions[bad_at] = Value::Null;
            let failed = pool.check(space(), versions, bad_at % 2 == 0).await;
            assert!(failed.is_err(), "whoever waits is told");
            let good = vec![Value::from("no version"); 30];
            let outcomes = pool.check(space(), good, false).await.unwrap();
            assert_eq!(outcomes.len(), 30);
            assert!(outcomes.iter().all(Result::is_err));
        }
        let all = u32::try_from(VERSIONS_WAITING).unwrap();
        drop(pool.room.acquire_many(all).await.unwrap());
    }

    #[test]
    fn bulk_is_slowed_by_live_and_not_stopped() {
        let queue = Queue::default();
        let (done, _outcomes) = oneshot::channel();
        let room = Arc::new(Semaphore::new(1));
        let state = JobState {
            outcomes: Vec::new(),
            left: 0,
            done: Some(done),
            _room: Arc::clone(&room).try_acquire_owned().unwrap(),
        };
        let job = Arc::new(Job {
            space: space(),
            state: Mutex::new(state),
        });
        queue.put(vec![Value::from("bulk"); PIECE], &job, false);
        queue.put(vec![Value::from("live"); PIECE * 100], &job, true);
        let order: Vec<bool> = (0..101)
            .map(|_| queue.next().unwrap().versions[0] == Value::from("bulk"))
            .collect();
        let at = order.iter().position(|is_bulk| *is_bulk).unwrap();
        assert_eq!(at, LIVE_IN_A_ROW as usize);
    }
}
