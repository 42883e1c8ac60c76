//! Opening a space: what the store has of it, and the engine over that.

use std::sync::Arc;

use engine::ConstitutionJudge;
use engine::rows::OpenedSpace;
use link::ToFront;
use link::channel::LinkSender;
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::json::{self, Value};
use minca_sync::close::Close;
use prometheus::IntGauge;
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
            Ok(Some((opened, constitution, read_key))) => {
                let _open = CountedOpen::new(&shared);
                let judge = Box::new(ConstitutionJudge::new(constitution));
                let task = SpaceTask::new(
                    Arc::clone(&shared),
                    space,
                    opened,
                    judge,
                    read_key,
                    inputs,
                    to_front,
                );
                return Box::pin(task.run(input)).await;
            }
            Ok(None) => Close::NotAReader,
            Err(()) => Close::CouldNotOpen,
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

type Opened = (OpenedSpace, Constitution, Option<minca_record::did::Did>);

async fn open(shared: &Shared, space: ContentId) -> Result<Option<Opened>, ()> {
    if shared.lease.borrow().is_none() {
        tracing::warn!("a space is not opened while the lease is lost");
        return Err(());
    }
    shared.committer.settle().await.map_err(|_| ())?;
    let failed = |error: store::StoreError| tracing::error!(%error, "a space could not be opened");
    let Some(door) = shared.store.door(&space).await.map_err(failed)? else {
        return Ok(None);
    };
    let Some(opened) = shared.store.open(&space).await.map_err(failed)? else {
        return Ok(None);
    };
    let constitution = read_constitution(space, &opened.constitution).ok_or_else(|| {
        tracing::error!("a space's stored constitution does not check out");
    })?;
    Ok(Some((opened, constitution, door.read_key)))
}

/// The constitution as it is stored: without its id, which is the space's.
fn read_constitution(space: ContentId, canonical: &[u8]) -> Option<Constitution> {
    let Ok(Value::Object(mut object)) = json::read(canonical, json::MESSAGE_DEPTH) else {
        return None;
    };
    object.insert("id", space.to_string());
    Constitution::check(Value::Object(object)).ok()
}
