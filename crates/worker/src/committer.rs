//! Group commit: what comes in while a commit is landing lands with the next.

use std::sync::Arc;

use engine::StoreFailure;
use engine::rows::Batch;
use minca_record::content_id::ContentId;
use store::{BatchError, Lease, SpaceBatch, Store, StoreError};
use tokio::sync::{mpsc, oneshot, watch};

/// Batches that may wait for a commit. An engine has at most one.
const BATCHES_WAITING: usize = 1_024;
/// Batches that one transaction may take, so that it ends.
const BATCHES_PER_COMMIT: usize = 64;

/// Hands batches to the task that commits them.
#[derive(Clone, Debug)]
pub(crate) struct Committer {
    batches: mpsc::Sender<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    batch: SpaceBatch,
    done: oneshot::Sender<Result<(), StoreFailure>>,
}

impl Committer {
    /// Starts the task. It commits under the lease of the moment, and ends when
    /// the last handle is gone and everything handed to it is answered.
    pub(crate) fn start(
        store: Arc<dyn Store>,
        lease: watch::Receiver<Option<Lease>>,
    ) -> (Committer, tokio::task::JoinHandle<()>) {
        let (batches, waiting) = mpsc::channel(BATCHES_WAITING);
        (
            Committer { batches },
            tokio::spawn(run(store, lease, waiting)),
        )
    }

    /// Commits one space's batch, together with whatever else is waiting.
    pub(crate) async fn commit(
        &self,
        space: ContentId,
        batch: Arc<Batch>,
    ) -> Result<(), StoreFailure> {
        let (done, outcome) = oneshot::channel();
        let waiting = Waiting {
            batch: SpaceBatch { space, batch },
            done,
        };
        self.batches
            .send(waiting)
            .await
            .map_err(|_| StoreFailure::Lost)?;
        outcome.await.map_err(|_| StoreFailure::Lost)?
    }
}

async fn run(
    store: Arc<dyn Store>,
    lease: watch::Receiver<Option<Lease>>,
    mut waiting: mpsc::Receiver<Waiting>,
) {
    let mut group = Vec::new();
    while waiting.recv_many(&mut group, BATCHES_PER_COMMIT).await > 0 {
        let (batches, done): (Vec<SpaceBatch>, Vec<_>) =
            group.drain(..).map(|it| (it.batch, it.done)).unzip();
        let lease = *lease.borrow();
        let outcome = match lease {
            Some(lease) => store.commit(&lease, &batches).await,
            None => Err(StoreError::Fenced),
        };
        let outcomes: Vec<Result<(), StoreFailure>> = match outcome {
            Ok(outcomes) => outcomes
                .into_iter()
                .map(|one| one.map_err(of_batch))
                .collect(),
            Err(error) => {
                let failure = failure_of(&error);
                vec![Err(failure); batches.len()]
            }
        };
        for (done, outcome) in done.into_iter().zip(outcomes) {
            // An engine that was dropped meanwhile reads what is stored when it opens again.
            let _ = done.send(outcome);
        }
    }
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
