//! Group commit: what comes in while a commit is landing lands with the next.

use std::sync::Arc;

use engine::StoreFailure;
use engine::rows::{Batch, VersionRow};
use minca_record::content_id::ContentId;
use store::{BatchError, Lease, SpaceBatch, Store, StoreError};
use tokio::sync::{mpsc, oneshot, watch};

use crate::due::DueSpaces;

/// Batches that may wait for a commit. An engine has at most one.
const BATCHES_WAITING: usize = 1_024;
/// Batches that one transaction may take, so that it ends.
const BATCHES_PER_COMMIT: usize = 64;

/// Hands batches to the task that commits them.
#[derive(Clone, Debug)]
pub(crate) struct Committer {
    orders: mpsc::Sender<Order>,
}

#[derive(Debug)]
enum Order {
    Commit {
        batch: SpaceBatch,
        done: oneshot::Sender<Result<(), StoreFailure>>,
    },
    /// Say when everything before it has been answered.
    Settle { done: oneshot::Sender<()> },
}

impl Committer {
    /// Starts the task. It commits under the lease of the moment, and ends when
    /// the last handle is gone and everything handed to it is answered.
    pub(crate) fn start(
        store: Arc<dyn Store>,
        lease: watch::Receiver<Option<Lease>>,
        due: Arc<DueSpaces>,
    ) -> Committer {
        let (orders, waiting) = mpsc::channel(BATCHES_WAITING);
        tokio::spawn(run(store, lease, due, waiting));
        Committer { orders }
    }

    /// Waits until every batch handed over so far has landed or failed. A space is
    /// opened only after that: what an earlier task of it left here would change
    /// what was just read.
    pub(crate) async fn settle(&self) -> Result<(), StoreFailure> {
        let (done, settled) = oneshot::channel();
        let order = Order::Settle { done };
        self.orders
            .send(order)
            .await
            .map_err(|_| StoreFailure::Lost)?;
        settled.await.map_err(|_| StoreFailure::Lost)
    }

    /// Commits one space's batch, together with whatever else is waiting.
    pub(crate) async fn commit(
        &self,
        space: ContentId,
        batch: Arc<Batch>,
    ) -> Result<(), StoreFailure> {
        let (done, outcome) = oneshot::channel();
        let order = Order::Commit {
            batch: SpaceBatch { space, batch },
            done,
        };
        self.orders
            .send(order)
            .await
            .map_err(|_| StoreFailure::Lost)?;
        outcome.await.map_err(|_| StoreFailure::Lost)?
    }
}

async fn run(
    store: Arc<dyn Store>,
    lease: watch::Receiver<Option<Lease>>,
    due: Arc<DueSpaces>,
    mut waiting: mpsc::Receiver<Order>,
) {
    let mut group = Vec::new();
    while waiting.recv_many(&mut group, BATCHES_PER_COMMIT).await > 0 {
        let mut batches = Vec::new();
        let mut committed = Vec::new();
        let mut settled = Vec::new();
        for order in group.drain(..) {
            match order {
                Order::Commit { batch, done } => {
                    batches.push(batch);
                    committed.push(done);
                }
                Order::Settle { done } => settled.push(done),
            }
        }
        let lease = *lease.borrow();
        let outcomes = commit(&store, lease, &batches, &due).await;
        for (done, outcome) in committed.into_iter().zip(outcomes) {
            // An engine that was dropped meanwhile reads what is stored when it opens again.
            let _ = done.send(outcome);
        }
        for done in settled {
            let _ = done.send(());
        }
    }
}

/// Commits and notes what the bucket lacks, whether or not anyone waits for it any more.
async fn commit(
    store: &Arc<dyn Store>,
    lease: Option<Lease>,
    batches: &[SpaceBatch],
    due: &DueSpaces,
) -> Vec<Result<(), StoreFailure>> {
    if batches.is_empty() {
        return Vec::new();
    }
    let outcome = match lease {
        Some(lease) => {
            let (store, batches) = (Arc::clone(store), batches.to_vec());
            // In a task of its own: one commit that panics must not end all others.
            tokio::spawn(async move { store.commit(&lease, &batches).await })
                .await
                .unwrap_or_else(|_| Err(StoreError::Unavailable("the commit panicked".to_owned())))
        }
        None => Err(StoreError::Fenced),
    };
    match outcome {
        Ok(outcomes) => {
            for (batch, outcome) in batches.iter().zip(&outcomes) {
                if outcome.is_ok() {
                    due.committed(batch.space, bytes_of(&batch.batch));
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
                    due.committed(batch.space, bytes_of(&batch.batch));
                }
            }
            vec![Err(failure); batches.len()]
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
