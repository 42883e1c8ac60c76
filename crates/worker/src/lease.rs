//! Holding the leases of the shards this worker writes.
//!
//! It takes every shard that nobody holds, at the start and whenever it renews its own,
//! at a third of a lease. What can't be renewed is withdrawn here before it runs out:
//! commits under it fail, and its spaces are let go.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream;
use prometheus::IntGauge;
use store::{Holder, Lease, Shard, Store, StoreError, TakeLease};
use tokio::sync::watch;
use tokio::time::{Duration, Instant, sleep, sleep_until, timeout_at};

/// Leases asked for at once. Commits and reads use the same connections.
const ASKED_AT_ONCE: usize = 4;
/// Shortest wait for a lease that is another's.
const SHORTEST_WAIT: Duration = Duration::from_millis(50);

/// The leases of one moment, by shard.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Leases(BTreeMap<Shard, Lease>);

impl Leases {
    /// What a shard is written under; `None` where it isn't held here.
    pub(crate) fn lease_of(&self, shard: Shard) -> Option<Lease> {
        self.0.get(&shard).copied()
    }

    /// Whether this very lease, of this term, is held.
    pub(crate) fn has(&self, lease: &Lease) -> bool {
        self.0.get(&lease.shard) == Some(lease)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn shards(&self) -> impl Iterator<Item = Shard> + '_ {
        self.0.keys().copied()
    }
}

/// Waits until a lease is held no more.
pub(crate) async fn lost(held: &mut watch::Receiver<Leases>, lease: &Lease) {
    // Where nobody keeps leases any more, all are lost.
    let _ = held.wait_for(|held| !held.has(lease)).await;
}

/// A lease as it is kept.
#[derive(Debug)]
struct Kept {
    lease: Lease,
    /// By this process' clock, counted from before it was asked for.
    runs_out: Instant,
    /// False where it could not be renewed in time. It may be yet, as long as nobody
    /// took it over.
    is_usable: bool,
}

/// What came of asking for a shard once.
enum Asked {
    Renewed,
    Taken(Lease),
    HeldByOther { runs_out_in: Duration },
    TakenOver,
    Failed(StoreError),
}

/// Takes and keeps the leases of a store's shards.
pub(crate) struct Keeper {
    store: Arc<dyn Store>,
    holder: Holder,
    lasts: Duration,
    kept: BTreeMap<Shard, Kept>,
    /// After how long there is to be asked again: when the first of the others' leases runs
    /// out, as it was seen last, if that is before the time to renew.
    again_in: Duration,
    held: watch::Sender<Leases>,
    count: IntGauge,
}

impl Keeper {
    /// Takes all shards that nobody holds, and waits where that is none.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn start(
        store: Arc<dyn Store>,
        holder: Holder,
        lasts: Duration,
        count: IntGauge,
    ) -> Result<(Keeper, watch::Receiver<Leases>), StoreError> {
        let (held, leases) = watch::channel(Leases::default());
        let mut keeper = Keeper {
            store,
            holder,
            lasts,
            kept: BTreeMap::new(),
            again_in: lasts,
            held,
            count,
        };
        loop {
            let begun = Instant::now();
            keeper.again_in = lasts;
            let mut failed = None;
            for (shard, asked) in keeper.ask_for_all(begun + lasts).await {
                match asked {
                    Asked::Failed(error) => failed = Some(error),
                    asked => keeper.note(shard, asked, begun),
                }
            }
            if let Some(error) = failed {
                keeper.give_back().await;
                return Err(error);
            }
            if !keeper.kept.is_empty() {
                keeper.publish();
                return Ok((keeper, leases));
            }
            tracing::info!(
                seconds = keeper.again_in.as_secs(),
                "other processes hold all leases: waiting for one to run out"
            );
            sleep(keeper.again_in.max(SHORTEST_WAIT)).await;
        }
    }

    /// Renews what is held and takes what nobody holds, until it is told to stop or
    /// another process has taken over the last there was.
    pub(crate) async fn keep(mut self, mut stop: watch::Receiver<bool>) {
        let third = self.lasts / 3;
        let mut next = Instant::now() + self.again_in.max(SHORTEST_WAIT).min(third);
        loop {
            tokio::select! {
                () = sleep_until(next) => {}
                _ = stop.wait_for(|stop| *stop) => break,
            }
            let begun = Instant::now();
            self.again_in = third;
            let mut was_taken_over = false;
            // A store that doesn't answer in time is one that can't renew.
            for (shard, asked) in self.ask_for_all(begun + third).await {
                was_taken_over |= matches!(asked, Asked::TakenOver);
                self.note(shard, asked, begun);
            }
            self.publish();
            next = begun + self.again_in.max(SHORTEST_WAIT).min(third);
            if was_taken_over && self.kept.is_empty() {
                return;
            }
        }
        self.held.send_replace(Leases::default());
        self.give_back().await;
    }

    /// Asks for every shard once, those held first.
    async fn ask_for_all(&self, deadline: Instant) -> Vec<(Shard, Asked)> {
        let others = (0..self.store.shards()).map(Shard);
        let others = others.filter(|shard| !self.kept.contains_key(shard));
        let shards: Vec<Shard> = self.kept.keys().copied().chain(others).collect();
        let asked = stream::iter(shards).map(|shard| async move {
            let asked = timeout_at(deadline, self.ask_for(shard)).await;
            let no_answer = |_| Asked::Failed(StoreError::Unavailable("no answer".to_owned()));
            (shard, asked.unwrap_or_else(no_answer))
        });
        asked.buffer_unordered(ASKED_AT_ONCE).collect().await
    }

    async fn ask_for(&self, shard: Shard) -> Asked {
        let outcome = match self.kept.get(&shard) {
            Some(kept) => match self.store.renew_lease(&kept.lease, self.lasts).await {
                Ok(()) => Ok(Asked::Renewed),
                Err(StoreError::Fenced) => Ok(Asked::TakenOver),
                Err(error) => Err(error),
            },
            None => match self.store.take_lease(shard, self.holder, self.lasts).await {
                Ok(TakeLease::Taken(lease)) => Ok(Asked::Taken(lease)),
                Ok(TakeLease::HeldByOther { runs_out_in }) => {
                    Ok(Asked::HeldByOther { runs_out_in })
                }
                Err(error) => Err(error),
            },
        };
        outcome.unwrap_or_else(Asked::Failed)
    }

    /// Notes what came of asking for a shard at `begun`.
    fn note(&mut self, shard: Shard, asked: Asked, begun: Instant) {
        let runs_out = begun + self.lasts;
        match asked {
            Asked::Renewed => {
                if let Some(kept) = self.kept.get_mut(&shard) {
                    kept.runs_out = runs_out;
                    kept.is_usable = true;
                }
            }
            Asked::Taken(lease) => {
                let is_usable = true;
                let kept = Kept {
                    lease,
                    runs_out,
                    is_usable,
                };
                self.kept.insert(shard, kept);
            }
            // One that is alive renews it before.
            Asked::HeldByOther { runs_out_in } => self.again_in = self.again_in.min(runs_out_in),
            Asked::TakenOver => {
                tracing::error!(shard = shard.0, "a lease was taken over by another process");
                self.kept.remove(&shard);
            }
            Asked::Failed(error) => {
                let Some(kept) = self.kept.get_mut(&shard) else {
                    tracing::warn!(shard = shard.0, %error, "a lease could not be asked for");
                    return;
                };
                tracing::error!(shard = shard.0, %error, "a lease could not be renewed");
                // The next time would be too late.
                kept.is_usable &= Instant::now() + self.lasts / 3 <= kept.runs_out;
            }
        }
    }

    fn publish(&self) {
        let usable = self.kept.values().filter(|kept| kept.is_usable);
        let now = Leases(usable.map(|kept| (kept.lease.shard, kept.lease)).collect());
        self.count
            .set(i64::try_from(now.0.len()).unwrap_or(i64::MAX));
        self.held.send_if_modified(|held| {
            let differs = *held != now;
            *held = now;
            differs
        });
    }

    /// Gives all leases back, so that nobody has to wait for them.
    async fn give_back(&self) {
        self.count.set(0);
        let leases = stream::iter(self.kept.values());
        leases
            .for_each_concurrent(ASKED_AT_ONCE, |kept| async {
                if let Err(error) = self.store.release_lease(&kept.lease).await {
                    tracing::warn!(%error, "a lease could not be given back; it runs out by itself");
                }
            })
            .await;
    }
}
