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
use tokio::sync::mpsc;

use crate::shared::Shared;
use crate::space::{Input, SpaceTask};

/// Opens a space and runs it. Where it can't be opened whoever waits is refused.
pub(crate) async fn open_and_run(
    shared: Arc<Shared>,
    space: ContentId,
    inputs: mpsc::Receiver<Input>,
    to_front: LinkSender<ToFront>,
) -> mpsc::Receiver<Input> {
    let refusal = match open(&shared, space).await {
        Ok(Some((opened, constitution, read_key))) => {
            let judge = Box::new(ConstitutionJudge::new(constitution));
            return Box::pin(
                SpaceTask::new(shared, space, opened, judge, read_key, inputs, to_front).run(),
            )
            .await;
        }
        Ok(None) => Close::NotAReader,
        Err(()) => Close::CouldNotOpen,
    };
    // Whoever comes later opens it anew.
    refuse_all(inputs, to_front, refusal).await
}

/// Refuses whoever is on the way in by now.
pub(crate) async fn refuse_all(
    mut inputs: mpsc::Receiver<Input>,
    to_front: LinkSender<ToFront>,
    refusal: Close,
) -> mpsc::Receiver<Input> {
    while let Ok(input) = inputs.try_recv() {
        match input {
            Input::Join { connection, .. } => {
                let code = refusal.code();
                let _ = to_front.send(ToFront::Refused { connection, code }).await;
            }
            Input::Stop { done } => {
                let _ = done.send(());
            }
            Input::Message { .. } | Input::Room { .. } | Input::Leave { .. } => {}
        }
    }
    inputs
}

type Opened = (OpenedSpace, Constitution, Option<minca_record::did::Did>);

async fn open(shared: &Shared, space: ContentId) -> Result<Option<Opened>, ()> {
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
