//! Group commit: what comes in while a commit is landing lands with the next.
//!
//! One transaction is under one lease, so each shard has a task of its own; a few of
//! them commit at once.

use std::sync::Arc;

use engine::StoreFailure;
use engine::rows::{Batch, VersionRow};
use minca_record::content_id::ContentId;
use store::{BatchError, Lease, Shard, SpaceBatch, Store, StoreError};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

use crate::due::DueSpaces;
use crate::lease::Leases;

/// Batches of a shard that may wait for a commit. An engine has at most one.
const BATCHES_WAITING: usize = 1_024;
/// Batches that one transaction may take, so that it ends.
const BATCHES_PER_COMMIT: usize = 64;

/// Hands batches to the tasks that commit them.
#[derive(Clone, Debug)]
pub(crate) struct Committer {
    /// By the shard's number.
    shards: Vec<mpsc::Sender<Order>>,
}

#[derive(Debug)]
enum Order {
    Commit {
        /// What the batch's space was opened under.
        lease: Lease,
        batch: SpaceBatch,
        done: oneshot::Sender<Result<(), StoreFailure>>,
    },
    /// Say when everything before it has been answered.
    Settle { done: oneshot::Sender<()> },
}

impl Committer {
    /// Starts the tasks, one a shard of the store; `at_once` of them commit at a time.
    /// They end when the last handle is gone and everything handed to them is answered.
    pub(crate) fn start(
        store: &Arc<dyn Store>,
        held: &watch::Receiver<Leases>,
        due: &Arc<DueSpaces>,
        at_once: usize,
    ) -> Committer {
        let turns = Arc::new(Semaphore::new(at_once.max(1)));
        let start = |shard| {
            let (orders, waiting) = mpsc::channel(BATCHES_WAITING);
            let task = Task {
                store: Arc::clone(store),
                shard: Shard(shard),
                held: held.clone(),
                due: Arc::clone(due),
                turns: Arc::clone(&turns),
            };
            tokio::spawn(task.run(waiting));
            orders
        };
        let shards = (0..store.shards()).map(start).collect();
        Committer { shards }
    }

    /// Waits until every batch of a shard handed over so far has landed or failed. A
    /// space is opened only after that: what an earlier task of it left here would
    /// change what was just read.
    pub(crate) async fn settle(&self, shard: Shard) -> Result<(), StoreFailure> {
        let (done, settled) = oneshot::channel();
        self.hand_over(shard, Order::Settle { done }).await?;
        settled.await.map_err(|_| StoreFailure::Lost)
    }

    /// As [`Committer::settle`], for all shards.
    pub(crate) async fn settle_all(&self) -> Result<(), StoreFailure> {
        for shard in (0..).map(Shard).take(self.shards.len()) {
            self.settle(shard).await?;
        }
        Ok(())
    }

    async fn hand_over(&self, shard: Shard, order: Order) -> Result<(), StoreFailure> {
        let place = usize::try_from(shard.0).unwrap_or(usize::MAX);
        let orders = self.shards.get(place).ok_or(StoreFailure::Lost)?;
        let sent = orders.send(order).await;
        sent.map_err(|_| StoreFailure::Lost)
    }

    /// Commits a batch of a space that was opened under `lease`, together with whatever
    /// else is waiting in its shard. [`StoreFailure::Lost`] where that lease is not the
    /// one held any more: another may have written meanwhile what the engine doesn't know.
    pub(crate) async fn commit(
        &self,
        lease: Lease,
        space: ContentId,
        batch: Arc<Batch>,
    ) -> Result<(), StoreFailure> {
        let (done, outcome) = oneshot::channel();
        let order = Order::Commit {
            lease,
            batch: SpaceBatch { space, batch },
            done,
        };
        self.hand_over(lease.shard, order).await?;
        outcome.await.map_err(|_| StoreFailure::Lost)?
    }
}

/// Commits the batches of one shard.
struct Task {
    store: Arc<dyn Store>,
    shard: Shard,
    held: watch::Receiver<Leases>,
    due: Arc<DueSpaces>,
    /// A permit for each commit that may be landing.
    turns: Arc<Semaphore>,
}

impl Task {
    async fn run(self, mut waiting: mpsc::Receiver<Order>) {
        let mut group = Vec::new();
        while waiting.recv_many(&mut group, BATCHES_PER_COMMIT).await > 0 {
            // Never closed.
            let turn = self.turns.acquire().await;
            // What came while other shards had their turn lands with these.
            while group.len() < BATCHES_PER_COMMIT
                && let Ok(order) = waiting.try_recv()
            {
                group.push(order);
            }
            let mut batches = Vec::new();
            let mut committed = Vec::new();
            let mut settled = Vec::new();
            let held = self.held.borrow().lease_of(self.shard);
            for order in group.drain(..) {
                match order {
                    Order::Commit { lease, batch, done } if held == Some(lease) => {
                        batches.push(batch);
                        committed.push(done);
                    }
                    Order::Commit { done, .. } => {
                        let _ = done.send(Err(failure_of(&StoreError::Fenced)));
                    }
                    Order::Settle { done } => settled.push(done),
                }
            }
            if let Some(lease) = held {
                let outcomes = self.commit(lease, &batches).await;
                for (done, outcome) in committed.into_iter().zip(outcomes) {
                    // An engine that was dropped meanwhile reads what is stored when it
                    // opens again.
                    let _ = done.send(outcome);
                }
            }
            drop(turn);
            for done in settled {
                let _ = done.send(());
            }
        }
    }

    /// Commits and notes what the bucket lacks, whether or not anyone waits for it any more.
    async fn commit(&self, lease: Lease, batches: &[SpaceBatch]) -> Vec<Result<(), StoreFailure>> {
        if batches.is_empty() {
            return Vec::new();
        }
        let (store, to_commit) = (Arc::clone(&self.store), batches.to_vec());
        // In a task of its own: one commit that panics must not end all others.
        let outcome = tokio::spawn(async move { store.commit(&lease, &to_commit).await })
            .await
            .unwrap_or_else(|_| Err(StoreError::Unavailable("the commit panicked".to_owned())));
        match outcome {
            Ok(outcomes) => {
                for (batch, outcome) in batches.iter().zip(&outcomes) {
                    if outcome.is_ok() {
                        self.due.committed(batch.space, bytes_of(&batch.batch));
                    }
                }
                outcomes
                    .into_iter()
                    .map(|one| one.map_err(of_batch))
                    .collect()
            }
            Err(error) => {
                let failure = failure_of(&error);
                if failure == StoreFailure::Unavailable {
                    // It may have landed all the same. To look for nothing costs little.
                    for batch in batches {
                        self.due.committed(batch.space, bytes_of(&batch.batch));
                    }
                }
                vec![Err(failure); batches.len()]
            }
        }
    }
}

/// Bytes a batch brings that the bucket lacks.
fn bytes_of(batch: &Batch) -> u64 {
    let kept: u64 = batch.keep.iter().map(VersionRow::stored_bytes).sum();
    let filled: usize = batch.fill.iter().map(|(_, body)| body.len()).sum();
    kept + filled as u64
}

fn of_batch(error: BatchError) -> StoreFailure {
    match error {
        BatchError::NotHeld => StoreFailure::Lost,
        BatchError::DoesNotFit(what) => {
            tracing::error!(what, "a batch does not fit what is stored");
            StoreFailure::DoesNotFit
        }
    }
}

/// What a store's error means to an engine, said once in the log.
pub(crate) fn failure_of(error: &StoreError) -> StoreFailure {
    match error {
        StoreError::Fenced => {
            tracing::warn!("the lease was taken over: its spaces are given up");
            StoreFailure::Lost
        }
        StoreError::NotHeld => StoreFailure::Lost,
        StoreError::Unavailable(_) | StoreError::Corrupt(_) | StoreError::UnknownSchema { .. } => {
            tracing::error!(%error, "the store failed");
            StoreFailure::Unavailable
        }
    }
}
