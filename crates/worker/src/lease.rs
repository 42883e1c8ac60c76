//! Holding the lease of the shards this worker writes.
//!
//! Renewed at a third of its time. Who can't renew it stops writing before it
//! runs out: the lease is withdrawn here, commits fail, and engines give up.

use std::sync::Arc;

use store::{Holder, Lease, Shard, Store, StoreError, TakeLease};
use tokio::sync::watch;
use tokio::time::{Duration, Instant, sleep, timeout};

/// Takes the lease, waiting while another has it.
///
/// # Errors
/// The store's.
pub(crate) async fn take(
    store: &Arc<dyn Store>,
    shard: Shard,
    holder: Holder,
    lasts: Duration,
) -> Result<Lease, StoreError> {
    loop {
        match store.take_lease(shard, holder, lasts).await? {
            TakeLease::Taken(lease) => return Ok(lease),
            TakeLease::HeldByOther { runs_out_in } => {
                tracing::info!(
                    seconds = runs_out_in.as_secs(),
                    "another process holds the lease: waiting for it to run out"
                );
                sleep(runs_out_in.min(lasts).max(Duration::from_millis(50))).await;
            }
        }
    }
}

/// Renews a lease until it is told to stop or the lease is lost. `current` is
/// what commits are made under.
pub(crate) async fn keep(
    store: Arc<dyn Store>,
    lease: Lease,
    lasts: Duration,
    current: watch::Sender<Option<Lease>>,
    mut stop: watch::Receiver<bool>,
) {
    let mut runs_out = Instant::now() + lasts;
    loop {
        tokio::select! {
            () = sleep(lasts / 3) => {}
            _ = stop.wait_for(|stop| *stop) => break,
        }
        let asked = Instant::now();
        // A store that doesn't answer is one that can't renew it.
        let renewed = timeout(lasts / 3, store.renew_lease(&lease, lasts)).await;
        let no_answer = |_| Err(StoreError::Unavailable("no answer".to_owned()));
        match renewed.unwrap_or_else(no_answer) {
            Ok(()) => {
                runs_out = asked + lasts;
                current.send_if_modified(|current| current.replace(lease).is_none());
            }
            Err(StoreError::Fenced) => {
                tracing::error!("the lease was taken over by another process");
                current.send_replace(None);
                return;
            }
            Err(error) => {
                tracing::error!(%error, "the lease could not be renewed");
                if Instant::now() + lasts / 3 > runs_out {
                    current.send_replace(None);
                }
            }
        }
    }
    current.send_replace(None);
    if let Err(error) = store.release_lease(&lease).await {
        tracing::warn!(%error, "the lease could not be given back; it runs out by itself");
    }
}
