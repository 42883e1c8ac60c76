//! Opening a space: what the store has of it, and the engine over that.

use std::sync::Arc;

use engine::Judge;
use link::ToFront;
use link::channel::LinkSender;
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{self, Value};
use minca_sync::close::Close;
use minca_sync::sum::Sum;
use prometheus::IntGauge;
use store::Lease;
use tokio::sync::mpsc;

use crate::shared::Shared;
use crate::space::{Input, SpaceTask};

/// Waits for someone to come, opens the space and runs it. Where it can't be opened
/// whoever waits is refused. Ends when nobody needs the space; whoever comes in the
/// last moment is in the receiver.
pub(crate) async fn open_and_run(
    shared: Arc<Shared>,
    space: ContentId,
    mut inputs: mpsc::Receiver<Input>,
    to_front: LinkSender<ToFront>,
) -> mpsc::Receiver<Input> {
    loop {
        let next = tokio::time::timeout(shared.config.idle_close, inputs.recv()).await;
        let Ok(Some(input)) = next else {
            return inputs;
        };
        let connection = match input {
            Input::Join { connection, .. } => connection,
            Input::LetGo { done, .. } => {
                let _ = done.send(());
                continue;
            }
            // Of connections that were let go.
            Input::Message { .. } | Input::Room { .. } | Input::Leave { .. } => continue,
        };
        let refusal = match open(&shared, space).await {
            Ok(opened) => {
                let _open = CountedOpen::new(&shared);
                let task = SpaceTask::new(Arc::clone(&shared), space, opened, inputs, to_front);
                return Box::pin(task.run(input)).await;
            }
            Err(refusal) => refusal,
        };
        let code = refusal.code();
        let _ = to_front.send(ToFront::Refused { connection, code }).await;
    }
}

/// Counts a space as open for as long as it lives.
struct CountedOpen(IntGauge);

impl CountedOpen {
    fn new(shared: &Shared) -> CountedOpen {
        let open = shared.metrics.spaces.with_label_values(&["open"]);
        open.inc();
        CountedOpen(open)
    }
}

impl Drop for CountedOpen {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// What a space's task begins with.
pub(crate) struct Opened {
    /// What it is written under: held before anything was read of the space, so that
    /// nobody else has written since, unless it is lost.
    pub(crate) lease: Lease,
    /// Count and sum of every collection with at least one version.
    pub(crate) sums: Vec<(String, Sum)>,
    /// Who may write what, by the access versions stored.
    pub(crate) judge: Judge,
    /// What readers of a private space prove.
    pub(crate) read_key: Option<Did>,
}

/// Opens a space, or says what whoever waits for it is refused with.
async fn open(shared: &Shared, space: ContentId) -> Result<Opened, Close> {
    let Some(lease) = shared.lease_for(&space) else {
        // Another worker serves it, or will.
        return Err(Close::TryAgainLater);
    };
    let settled = shared.committer.settle(lease.shard).await;
    settled.map_err(|_| Close::CouldNotOpen)?;
    let failed = |error: store::StoreError| {
        tracing::error!(%error, "a space could not be opened");
        Close::CouldNotOpen
    };
    let door = shared.store.door(&space).await.map_err(failed)?;
    let door = door.ok_or(Close::NotAReader)?;
    let opened = shared.store.open(&space).await.map_err(failed)?;
    let opened = opened.ok_or(Close::NotAReader)?;
    let constitution = read_constitution(space, &opened.constitution).ok_or_else(|| {
        tracing::error!("a space's stored constitution does not check out");
        Close::CouldNotOpen
    })?;
    // Replaying a long history takes too long for a thread that serves.
    let access = opened.access;
    let judge = tokio::task::spawn_blocking(move || Judge::open(constitution, &access));
    let judge = judge.await.map_err(|error| {
        tracing::error!(%error, "a space's history could not be replayed");
        Close::CouldNotOpen
    })?;
    let judge = judge.map_err(|error| {
        tracing::error!(%error, "a space could not be opened");
        Close::CouldNotOpen
    })?;
    Ok(Opened {
        lease,
        sums: opened.sums,
        judge,
        read_key: door.read_key,
    })
}

/// The constitution as it is stored: without its id, which is the space's.
fn read_constitution(space: ContentId, canonical: &[u8]) -> Option<Constitution> {
    let Ok(Value::Object(mut object)) = json::read(canonical, json::MESSAGE_DEPTH) else {
        return None;
    };
    object.insert("id", space.to_string());
    Constitution::check(Value::Object(object)).ok()
}
