//! Starting and stopping a worker, and what its operator asks of it.

use std::sync::Arc;

use bucket::{Bucket, FlushPolicy};
use link::channel::WorkerEnd;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use store::{CarriedSpace, Holder, Lease, NewSpace, Store, StoreError};
use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::committer::Committer;
use crate::config::WorkerConfig;
use crate::due::DueSpaces;
use crate::flush::Flusher;
use crate::lease::Keeper;
use crate::metrics::WorkerMetrics;
use crate::router::{Order, Router};
use crate::shared::Shared;
use crate::space::LetGo;
use crate::verify_pool::VerifyPool;

/// Orders that may wait for the router.
const ORDERS_WAITING: usize = 16;

/// Why a worker could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the leases could not be taken: {0}")]
    Store(#[from] StoreError),
    #[error("the threads that check signatures could not be started: {0}")]
    Threads(#[from] std::io::Error),
}

/// Why a space's row was not changed.
#[derive(Debug, thiserror::Error)]
pub enum CarryError {
    /// Another worker writes this space, or nobody does for the moment.
    #[error("this host does not hold the space's shard: ask the one that does, or try again")]
    NotHere,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A running worker. Dropping it leaves its tasks running; call [`Worker::stop`].
pub struct Worker {
    shared: Arc<Shared>,
    orders: mpsc::Sender<Order>,
    flusher: Flusher,
    /// Taken by whoever stops the worker.
    tasks: Mutex<Option<Tasks>>,
    stop_leases: watch::Sender<bool>,
}

/// What a stop waits for.
struct Tasks {
    router: JoinHandle<()>,
    leases: JoinHandle<()>,
}

impl Worker {
    /// Takes the leases that are free and starts all tasks. `node` is the host's DID, `holder`
    /// this process, `end` the link to the front-end.
    ///
    /// # Errors
    /// [`StartError`]. Waits where others hold all leases.
    pub async fn start(
        config: WorkerConfig,
        node: Did,
        holder: Holder,
        store: Arc<dyn Store>,
        bucket: Bucket,
        end: WorkerEnd,
        metrics: WorkerMetrics,
    ) -> Result<Worker, StartError> {
        let count = metrics.shards.clone();
        let keeper = Keeper::start(Arc::clone(&store), holder, config.lease, count);
        let (keeper, held) = keeper.await?;
        let (stop_leases, leases_stop) = watch::channel(false);
        let pool = VerifyPool::start(config.verify_threads)?;
        let due = Arc::new(DueSpaces::new(FlushPolicy {
            after: config.flush_after,
            bytes: config.segment_bytes as u64,
        }));
        let committer = Committer::start(&store, &held, &due, config.commits_at_once);
        let shared = Arc::new(Shared {
            due,
            config,
            node,
            store,
            committer,
            pool,
            held,
            metrics,
            started: Instant::now(),
        });
        let (to_front, from_front) = end.split();
        let (orders, waiting) = mpsc::channel(ORDERS_WAITING);
        let router = Router::new(Arc::clone(&shared), to_front).run(from_front, waiting);
        Ok(Worker {
            flusher: Flusher::start(Arc::clone(&shared), bucket),
            shared,
            orders,
            tasks: Mutex::new(Some(Tasks {
                router: tokio::spawn(router),
                leases: tokio::spawn(keeper.keep(leases_stop)),
            })),
            stop_leases,
        })
    }

    /// Whether it holds a shard at least.
    pub fn is_ready(&self) -> bool {
        !self.shared.held.borrow().is_empty()
    }

    /// Whether other processes took over the last lease it had: this one stores nothing
    /// any more, and is to be stopped.
    pub fn has_lost_its_leases(&self) -> bool {
        // The task that keeps leases ends where there is none left to keep.
        self.shared.held.has_changed().is_err()
    }

    /// Holds a space from now on, or changes its read key; peers let in on
    /// another are let go.
    ///
    /// # Errors
    /// [`CarryError`].
    pub async fn carry(&self, space: &NewSpace) -> Result<CarriedSpace, CarryError> {
        let lease = self.lease_for(&space.space)?;
        let carried = self.shared.store.carry(&lease, space).await?;
        // Nobody stays in on an older key for as long as a slow bucket takes.
        self.let_go(space.space, LetGo::AllButOn(carried.read_key))
            .await;
        self.flusher.space_changed(&carried).await;
        Ok(carried)
    }

    /// Holds a space no longer and lets its peers go. What is stored of it stays.
    /// False where it was not held.
    ///
    /// # Errors
    /// [`CarryError`].
    pub async fn stop_carrying(&self, space: ContentId) -> Result<bool, CarryError> {
        let lease = self.lease_for(&space)?;
        let was_held = self.shared.store.stop_carrying(&lease, &space).await?;
        self.let_go(space, LetGo::Everyone).await;
        self.flusher.space_dropped(space).await;
        Ok(was_held)
    }

    /// The spaces held after `after`, at most `limit`.
    ///
    /// # Errors
    /// The store's.
    pub async fn carried(
        &self,
        after: Option<ContentId>,
        limit: usize,
    ) -> Result<Vec<CarriedSpace>, StoreError> {
        self.shared.store.carried(after, limit).await
    }

    /// Writes what the bucket lacks now, and returns when it is there.
    pub async fn flush(&self) -> bool {
        self.flusher.flush().await
    }

    /// Stops, once the front-end is gone: open spaces come to rest, the bucket gets
    /// what it lacks, the leases are given back. True when the bucket has everything.
    pub async fn stop(&self) -> bool {
        let Some(tasks) = self.tasks.lock().await.take() else {
            return false;
        };
        if let Err(error) = tasks.router.await {
            tracing::error!(
                panicked = error.is_panic(),
                "the task that hears the link failed"
            );
        }
        if self.shared.committer.settle_all().await.is_err() {
            tracing::error!("a task that commits is gone");
        }
        let flushed = self.flusher.stop().await;
        self.stop_leases.send_replace(true);
        if let Err(error) = tasks.leases.await {
            tracing::error!(
                panicked = error.is_panic(),
                "the task that keeps the leases failed"
            );
        }
        flushed
    }

    fn lease_for(&self, space: &ContentId) -> Result<Lease, CarryError> {
        self.shared.lease_for(space).ok_or(CarryError::NotHere)
    }

    async fn let_go(&self, space: ContentId, who: LetGo) {
        let (done, gone) = oneshot::channel();
        if self
            .orders
            .send(Order::LetGo { space, who, done })
            .await
            .is_ok()
        {
            // The router may be gone, and everyone with it.
            let _ = gone.await;
        }
    }
}
