//! Which spaces have something the bucket lacks, and when they are due.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use bucket::{FlushPolicy, Unflushed};
use minca_record::content_id::ContentId;
use tokio::sync::Notify;
use tokio::time::Instant;

/// What was committed and is not in the bucket yet, as far as this process wrote
/// it. What an earlier one left is found in the store.
#[derive(Debug)]
pub(crate) struct DueSpaces {
    policy: FlushPolicy,
    spaces: Mutex<HashMap<ContentId, Unflushed>>,
    came: Notify,
}

impl DueSpaces {
    pub(crate) fn new(policy: FlushPolicy) -> DueSpaces {
        DueSpaces {
            policy,
            spaces: Mutex::new(HashMap::new()),
            came: Notify::new(),
        }
    }

    /// Notes that a commit of a space wrote so many bytes.
    pub(crate) fn committed(&self, space: ContentId, bytes: u64) {
        let now = Instant::now().into_std();
        let mut spaces = self.spaces.lock().unwrap_or_else(PoisonError::into_inner);
        spaces.entry(space).or_default().committed(bytes, now);
        drop(spaces);
        self.came.notify_one();
    }

    /// Takes the spaces that are due out; all of them with `all`.
    pub(crate) fn take(&self, all: bool) -> Vec<ContentId> {
        let now = Instant::now().into_std();
        let mut spaces = self.spaces.lock().unwrap_or_else(PoisonError::into_inner);
        let due = |waits: &Unflushed| all || waits.is_due(&self.policy, now);
        spaces
            .extract_if(|_, waits| due(waits))
            .map(|(space, _)| space)
            .collect()
    }

    /// Waits until some space is due.
    pub(crate) async fn wait(&self) {
        loop {
            let next = self.next();
            match next {
                Some(at) if at <= Instant::now() => return,
                Some(at) => tokio::select! {
                    () = tokio::time::sleep_until(at) => {}
                    () = self.came.notified() => {}
                },
                None => self.came.notified().await,
            }
        }
    }

    fn next(&self) -> Option<Instant> {
        let now = Instant::now().into_std();
        let spaces = self.spaces.lock().unwrap_or_else(PoisonError::into_inner);
        spaces
            .values()
            .filter_map(|waits| waits.due_at(&self.policy, now))
            .min()
            .map(Instant::from_std)
    }
}
