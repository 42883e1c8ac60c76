//! What an operator may change of a worker.

use std::time::Duration;

/// A worker's settings.
#[derive(Clone, Debug)]
pub struct WorkerConfig {
    /// Threads that check signatures; at least one.
    pub verify_threads: usize,
    /// A space nobody is connected to is closed after so long.
    pub idle_close: Duration,
    /// How long a lease lasts. It is renewed at a third of that.
    pub lease: Duration,
    /// Commits of different shards that may be landing at once, at least 1. Each
    /// needs a connection of the store.
    pub commits_at_once: usize,
    /// What was written is in the bucket at the latest after so long.
    pub flush_after: Duration,
    /// What a space wrote is brought there at once when it is so much, in bytes; the
    /// size a segment is filled to.
    pub segment_bytes: usize,
}

impl Default for WorkerConfig {
    fn default() -> WorkerConfig {
        WorkerConfig {
            verify_threads: std::thread::available_parallelism().map_or(1, usize::from),
            idle_close: Duration::from_secs(60),
            lease: Duration::from_secs(15),
            commits_at_once: 4,
            flush_after: Duration::from_secs(300),
            segment_bytes: 1 << 20,
        }
    }
}
