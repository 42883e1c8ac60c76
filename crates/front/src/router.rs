//! From the link to the connections. Never waits for one of them.

use crate::mailbox::{Order, Verdict};
use crate::shared::{Phase, Shared};
use link::{ConnectionId, FrontReceiver, ToFront};
use minca_sync::close::Close;
use std::sync::Arc;

/// Hands out what the worker says until the link drops. Then every socket is closed.
pub(crate) async fn route(shared: Arc<Shared>, mut link: FrontReceiver) {
    while let Some(message) = link.recv().await {
        hand_out(&shared, message);
    }
    shared.enter(Phase::Cut);
    tracing::warn!("the link to the worker is down; closing every socket");
    shared
        .places
        .order_all(Order::CloseAfter(Close::InternalError.code()));
}

fn hand_out(shared: &Shared, message: ToFront) {
    let connection = match &message {
        ToFront::Door { ask, .. } => ConnectionId(*ask),
        ToFront::Admitted { connection }
        | ToFront::Refused { connection, .. }
        | ToFront::Send { connection, .. }
        | ToFront::Room { connection, .. }
        | ToFront::Close { connection, .. } => *connection,
    };
    // The connection may have gone while this was on its way.
    let Some(mailbox) = shared.places.mailbox(connection) else {
        return;
    };
    match message {
        ToFront::Door { door, .. } => mailbox.answer_door(door),
        ToFront::Admitted { .. } => mailbox.decide(Verdict::Admitted),
        ToFront::Refused { code, .. } => mailbox.decide(Verdict::Refused(code)),
        ToFront::Send { bytes, .. } => {
            if !mailbox.send(bytes) {
                tracing::error!("the worker sent more than a connection's window");
                mailbox.order(Order::CloseNow(Close::InternalError.code()));
            }
        }
        ToFront::Room { bytes, .. } => mailbox.give_back(bytes as usize),
        ToFront::Close { code, .. } => mailbox.order(Order::CloseAfter(code)),
    }
}
