//! What the tasks of one worker have in common.

use std::sync::Arc;
use std::time::Duration;

use engine::Millis;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use store::{Lease, Store};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::committer::Committer;
use crate::config::WorkerConfig;
use crate::due::DueSpaces;
use crate::lease::Leases;
use crate::metrics::WorkerMetrics;
use crate::verify_pool::VerifyPool;

/// Shared by all tasks of a worker; none of it is written to but through itself.
pub(crate) struct Shared {
    pub(crate) config: WorkerConfig,
    /// The host's DID.
    pub(crate) node: Did,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) committer: Committer,
    pub(crate) pool: VerifyPool,
    /// The leases of the moment.
    pub(crate) held: watch::Receiver<Leases>,
    /// What the bucket lacks.
    pub(crate) due: Arc<DueSpaces>,
    pub(crate) metrics: WorkerMetrics,
    /// Where engines' clocks begin.
    pub(crate) started: Instant,
}

impl Shared {
    /// What a space is written under now; `None` where its shard isn't held here.
    pub(crate) fn lease_for(&self, space: &ContentId) -> Option<Lease> {
        self.held.borrow().lease_of(self.store.shard_of(space))
    }

    /// The engines' clock.
    pub(crate) fn now(&self) -> Millis {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(Millis::MAX)
    }

    /// When the engines' clock shows `millis`.
    pub(crate) fn instant_of(&self, millis: Millis) -> Instant {
        self.started + Duration::from_millis(millis)
    }
}
