//! The task that writes to the bucket: segments after a delay and at the stop,
//! and the list of spaces held.
//!
//! No commit and no peer waits for it. What fails is made again in the next
//! round; nothing is marked as written before it is there.
//!
//! Only what belongs to the shards held here is written. Of a shard that comes to be
//! held, what its last holder left is looked for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bucket::{Bucket, BucketError, Carried, flush_space};
use futures::StreamExt;
use minca_record::content_id::ContentId;
use store::{CarriedSpace, Shard};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Duration, Instant, sleep_until};

use crate::shared::Shared;

/// Spaces looked at in one go.
const SPACES_AT_ONCE: usize = 256;
/// What could not be written is tried again after so long.
const RETRY: Duration = Duration::from_secs(30);
/// What may be asked of the task at once.
const COMMANDS_WAITING: usize = 16;

/// Handle to the task.
pub(crate) struct Flusher {
    commands: mpsc::Sender<Command>,
}

enum Command {
    /// The space is held, or its row changed.
    Changed(Carried),
    /// It is held no more.
    Dropped(ContentId),
    /// Write everything now; told whether all of it is there.
    Flush {
        done: oneshot::Sender<bool>,
        stop: bool,
    },
}

impl Flusher {
    pub(crate) fn start(shared: Arc<Shared>, bucket: Bucket) -> Flusher {
        let (commands, waiting) = mpsc::channel(COMMANDS_WAITING);
        let task = Task {
            shared,
            bucket,
            changed: BTreeMap::new(),
            dropped: BTreeSet::new(),
        };
        tokio::spawn(task.run(waiting));
        Flusher { commands }
    }

    pub(crate) async fn space_changed(&self, carried: &CarriedSpace) {
        self.tell(Command::Changed(Carried::from(carried))).await;
    }

    pub(crate) async fn space_dropped(&self, space: ContentId) {
        self.tell(Command::Dropped(space)).await;
    }

    pub(crate) async fn flush(&self) -> bool {
        self.flush_and(false).await
    }

    /// Writes everything and ends the task.
    pub(crate) async fn stop(&self) -> bool {
        self.flush_and(true).await
    }

    async fn flush_and(&self, stop: bool) -> bool {
        let (done, flushed) = oneshot::channel();
        self.tell(Command::Flush { done, stop }).await;
        flushed.await.unwrap_or(false)
    }

    async fn tell(&self, command: Command) {
        if self.commands.send(command).await.is_err() {
            tracing::error!("the task that writes to the bucket is gone");
        }
    }
}

struct Task {
    shared: Arc<Shared>,
    bucket: Bucket,
    /// Spaces whose `host/carried/…` is to be written or taken away.
    changed: BTreeMap<ContentId, Carried>,
    dropped: BTreeSet<ContentId>,
}

impl Task {
    async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        let mut held = self.shared.held.clone();
        let mut shards: BTreeSet<Shard> = held.borrow_and_update().shards().collect();
        self.list_carried().await;
        // What an earlier process left, and what could not be written: looked for in the store.
        let mut sweep = Some(Instant::now() + self.shared.config.flush_after);
        // After a failure nothing is tried until the sweep that makes it good, however
        // much is due meanwhile.
        let mut is_failing = false;
        loop {
            let (done, stop, all) = tokio::select! {
                command = commands.recv() => match command {
                    Some(Command::Flush { done, stop }) => (Some(done), stop, true),
                    Some(Command::Changed(record)) => {
                        self.dropped.remove(&record.space);
                        self.changed.insert(record.space, record);
                        (None, false, false)
                    }
                    Some(Command::Dropped(space)) => {
                        self.changed.remove(&space);
                        self.dropped.insert(space);
                        (None, false, false)
                    }
                    None => return,
                },
                // Where nobody keeps leases any more, none comes to be held.
                Ok(()) = held.changed() => {
                    let now: BTreeSet<Shard> = held.borrow_and_update().shards().collect();
                    let is_more = !now.is_subset(&shards);
                    shards = now;
                    if !is_more {
                        continue;
                    }
                    self.list_carried().await;
                    let soon = Instant::now() + self.shared.config.flush_after;
                    sweep = Some(sweep.map_or(soon, |sweep| sweep.min(soon)));
                    continue;
                }
                () = self.shared.due.wait(), if !is_failing => (None, false, false),
                () = sleep_until(sweep.unwrap_or_else(|| Instant::now() + RETRY)), if sweep.is_some() => (None, false, true),
            };
            let mut whole = self.write_carried().await;
            whole &= match (all, is_failing) {
                (true, _) => {
                    self.shared.due.take(true);
                    self.write_segments().await
                }
                (false, false) => {
                    let due = self.shared.due.take(false);
                    self.write_spaces(due).await
                }
                (false, true) => false,
            };
            if !whole && (all || !is_failing) {
                self.shared.metrics.flushes_failed.inc();
            }
            sweep = match (whole, all) {
                // What a command brought puts off nothing.
                (false, false) if is_failing => sweep,
                (false, _) => Some(Instant::now() + RETRY.min(self.shared.config.flush_after)),
                (true, true) => None,
                (true, false) => sweep,
            };
            is_failing = !whole;
            self.shared.metrics.flush_failing.set(i64::from(!whole));
            if let Some(done) = done {
                let _ = done.send(whole);
            }
            if stop {
                return;
            }
        }
    }

    /// Writes these spaces. False if any could not be written.
    async fn write_spaces(&self, spaces: Vec<ContentId>) -> bool {
        let mut whole = true;
        for space in spaces {
            whole &= self.write_space(space).await;
        }
        whole
    }

    /// Writes what no segment holds yet. False if any of it could not be written, or no
    /// shard is held.
    async fn write_segments(&self) -> bool {
        let shards: Vec<Shard> = self.shared.held.borrow().shards().collect();
        let mut whole = !shards.is_empty();
        for shard in shards {
            whole &= self.write_segments_of(shard).await;
        }
        whole
    }

    async fn write_segments_of(&self, shard: Shard) -> bool {
        let mut failed = BTreeSet::new();
        loop {
            if self.shared.held.borrow().lease_of(shard).is_none() {
                // Lost meanwhile, with what was yet to be written of it.
                return false;
            }
            let spaces = match self
                .shared
                .store
                .spaces_to_segment(shard, SPACES_AT_ONCE + failed.len())
                .await
            {
                Ok(spaces) => spaces,
                Err(error) => {
                    tracing::error!(%error, "the store could not say what the bucket lacks");
                    return false;
                }
            };
            let mut any = false;
            for space in spaces {
                if failed.contains(&space) {
                    continue;
                }
                any = true;
                if !self.write_space(space).await {
                    failed.insert(space);
                }
            }
            if !any {
                return failed.is_empty();
            }
        }
    }

    async fn write_space(&self, space: ContentId) -> bool {
        loop {
            let Some(lease) = self.shared.lease_for(&space) else {
                // Whoever comes to hold its shard looks for it.
                return true;
            };
            let mut fresh = [0; 16];
            if let Err(error) = getrandom::fill(&mut fresh) {
                tracing::error!(%error, "the system gave no random bytes");
                return false;
            }
            let segment_bytes = self.shared.config.segment_bytes;
            match flush_space(
                &*self.shared.store,
                &self.bucket,
                &lease,
                &space,
                fresh,
                seconds_since_1970(),
                segment_bytes,
            )
            .await
            {
                Ok(flushed) => {
                    self.shared.metrics.segments.inc_by(flushed.segments);
                    if !flushed.more {
                        return true;
                    }
                }
                Err(error) => {
                    tracing::error!(%error, "a space's versions could not be written to the bucket");
                    return false;
                }
            }
        }
    }

    /// After a start, and when a shard comes to be held: the spaces held here whose record
    /// in the bucket is not the store's.
    async fn list_carried(&mut self) {
        let mut unknown: BTreeMap<ContentId, u64> = BTreeMap::new();
        let mut there = self.bucket.list_carried();
        while let Some(record) = there.next().await {
            match record {
                Ok(record) => {
                    unknown.insert(record.space, record.revision);
                }
                // Written anew below if the space is held.
                Err(BucketError::BadDocument(what)) => {
                    tracing::warn!(what, "a record of a space held can't be read in the bucket");
                }
                Err(error) => {
                    tracing::error!(%error, "the bucket could not say which spaces it lists as held");
                    return;
                }
            }
        }
        drop(there);
        let mut after = None;
        loop {
            let page = match self.shared.store.carried(after, SPACES_AT_ONCE).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::error!(%error, "the store could not say which spaces are held");
                    return;
                }
            };
            after = page.last().map(|carried| carried.space);
            for carried in &page {
                let is_written = unknown.remove(&carried.space) == Some(carried.revision);
                if !is_written && self.shared.lease_for(&carried.space).is_some() {
                    self.changed.insert(carried.space, Carried::from(carried));
                }
            }
            if page.len() < SPACES_AT_ONCE {
                break;
            }
        }
        // They may be all that is left to restore from, so nothing of them is taken away.
        if !unknown.is_empty() {
            tracing::warn!(
                spaces = unknown.len(),
                "the bucket lists spaces as held that the database does not know"
            );
        }
        self.write_carried().await;
    }

    /// Writes and takes away `host/carried/…` records (08 §14.1).
    async fn write_carried(&mut self) -> bool {
        for space in std::mem::take(&mut self.dropped) {
            if let Err(error) = self.bucket.delete_carried(&space).await {
                tracing::error!(%error, "a space's record could not be taken from the bucket");
                self.dropped.insert(space);
            }
        }
        for (space, record) in std::mem::take(&mut self.changed) {
            if self.shared.lease_for(&space).is_none() {
                // Whoever comes to hold its shard writes it.
                continue;
            }
            if let Err(error) = self.bucket.put_carried(&record).await {
                tracing::error!(%error, "a space's record could not be written to the bucket");
                self.changed.insert(space, record);
            }
        }
        self.changed.is_empty() && self.dropped.is_empty()
    }
}

/// The time now, for documents that say when they were written.
fn seconds_since_1970() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
