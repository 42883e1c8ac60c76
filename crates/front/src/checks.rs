//! Where signatures are checked: off the threads that serve sockets (04 §7.2).

use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Semaphore;

/// A bounded number of checks at once, and a bounded number that wait.
#[derive(Debug)]
pub(crate) struct SignatureChecks {
    running: Semaphore,
    waiting: AtomicUsize,
    queue: usize,
}

struct Waits<'a>(&'a AtomicUsize);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl SignatureChecks {
    pub(crate) fn new(threads: usize, queue: usize) -> Self {
        Self {
            running: Semaphore::new(threads.max(1)),
            waiting: AtomicUsize::new(0),
            queue,
        }
    }

    /// Whether so many wait that no new socket should be taken. Those that were taken
    /// still get their turn; unadmitted sockets are bounded themselves.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) >= self.queue
    }

    /// Runs `check` in its turn. `None` if it panicked or the runtime is going down.
    pub(crate) async fn run<T, F>(&self, check: F) -> Option<T>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let turn = {
            self.waiting.fetch_add(1, Ordering::Relaxed);
            let _waits = Waits(&self.waiting);
            self.running.acquire().await.ok()?
        };
        let result = tokio::task::spawn_blocking(check).await.ok();
        drop(turn);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::mpsc::sync_channel;

    #[tokio::test]
    async fn checks_wait_their_turn_and_a_full_queue_shows() {
        let checks = Arc::new(SignatureChecks::new(1, 1));
        let (go, wait) = sync_channel::<()>(0);
        let (began, begun) = sync_channel::<()>(1);
        let running = tokio::spawn({
            let checks = Arc::clone(&checks);
            async move {
                checks
                    .run(move || {
                        began.send(()).unwrap();
                        wait.recv().unwrap();
                        1
                    })
                    .await
            }
        });
        tokio::task::spawn_blocking(move || begun.recv().unwrap())
            .await
            .unwrap();
        assert!(!checks.is_full());
        let queued = tokio::spawn({
            let checks = Arc::clone(&checks);
            async move { checks.run(|| 2).await }
        });
        while !checks.is_full() {
            tokio::task::yield_now().await;
        }
        go.send(()).unwrap();
        assert_eq!(running.await.unwrap(), Some(1));
        assert_eq!(queued.await.unwrap(), Some(2));
        assert!(!checks.is_full());
    }
}
