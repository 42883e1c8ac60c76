//! What all tasks of a front-end share.

use crate::address::TrustedProxy;
use crate::checks::SignatureChecks;
use crate::config::{FrontConfig, HostIdentity, Limits, Waits};
use crate::counted::PerAddress;
use crate::memory::MessageMemory;
use crate::metrics::FrontMetrics;
use crate::places::Places;
use link::ToWorker;
use link::channel::LinkSender;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};

/// How far along a front-end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// It takes sockets.
    Serving,
    /// The link is down: whoever asks is told that nothing works here.
    Cut,
    /// It shuts down: no upgrade is taken, sockets are being closed.
    Draining,
    /// What is left is ended.
    Over,
}

pub(crate) struct Shared {
    pub(crate) limits: Limits,
    pub(crate) waits: Waits,
    pub(crate) trusted_proxy: Option<TrustedProxy>,
    pub(crate) identity: HostIdentity,
    pub(crate) link: LinkSender<ToWorker>,
    pub(crate) metrics: FrontMetrics,
    pub(crate) places: Arc<Places>,
    pub(crate) memory: Arc<MessageMemory>,
    pub(crate) checks: SignatureChecks,
    /// One for each connection that speaks HTTP.
    pub(crate) http_connections: Arc<Semaphore>,
    pub(crate) http_per_address: Arc<PerAddress>,
    pub(crate) phase: watch::Sender<Phase>,
}

impl Shared {
    pub(crate) fn new(
        config: &FrontConfig,
        identity: HostIdentity,
        link: LinkSender<ToWorker>,
        metrics: FrontMetrics,
    ) -> Self {
        let limits = config.limits;
        Self {
            limits,
            waits: config.waits,
            trusted_proxy: config.trusted_proxy.clone(),
            identity,
            link,
            places: Arc::new(Places::new(limits, metrics.clone())),
            memory: Arc::new(MessageMemory::new(
                limits.message_memory,
                limits.message_memory_per_address,
                metrics.clone(),
            )),
            checks: SignatureChecks::new(limits.signature_threads, limits.signature_queue),
            http_connections: Arc::new(Semaphore::new(limits.http_connections)),
            http_per_address: Arc::default(),
            phase: watch::Sender::new(Phase::Serving),
            metrics,
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    /// Goes on to a later phase; never back.
    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.send_if_modified(|now| {
            let later = phase > *now;
            if later {
                *now = phase;
            }
            later
        });
    }

    /// Waits until that phase, or a later one, has begun.
    pub(crate) async fn reached(&self, phase: Phase) {
        // The sender is in here, so it can't be gone.
        let _ = self.phase.subscribe().wait_for(|now| *now >= phase).await;
    }
}
