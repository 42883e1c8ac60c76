//! A socket the space admitted: its messages go to the worker, the worker's to it.

use crate::frame::Incoming;
use crate::peer::{End, Peer, Turn};
use bytes::Bytes;
use link::channel::LinkSender;
use link::{INBOUND_WINDOW, OUTBOUND_WINDOW, ToWorker, Window};
use minca_sync::close::Close;
use tokio::io::{AsyncRead, AsyncWrite};

/// Carries messages both ways until the socket ends.
///
/// Reads at most one message ahead of what the worker has room for, and none while more
/// waits to be sent to the peer than its window (04 §7.2).
pub(crate) async fn carry<S>(peer: &mut Peer<S>, link: &LinkSender<ToWorker>) -> End
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let connection = peer.place.connection;
    let mut window = Window::new(INBOUND_WINDOW);
    let mut ahead: Option<Bytes> = None;
    loop {
        window.returned(peer.place.mailbox.take_returned());
        let reading = ahead.is_none() && peer.place.mailbox.waiting() <= OUTBOUND_WINDOW;
        let held = window.outstanding() + ahead.as_ref().map_or(0, Bytes::len);
        let may_go = ahead
            .as_ref()
            .is_some_and(|message| window.may_send(message.len()));
        let wanted = (may_go || peer.room > 0).then_some(link);
        match peer.turn(reading, held, wanted, None).await {
            Err(end) => return end,
            Ok(Turn::Woken) => {}
            Ok(Turn::LinkDown) => {
                return End::Close {
                    code: Close::InternalError.code(),
                    after_output: true,
                };
            }
            Ok(Turn::Message(Incoming::Binary(message))) => {
                let metrics = &peer.shared.metrics;
                metrics.messages.with_label_values(&["binary"]).inc();
                metrics.bytes_in.inc_by(message.len() as u64);
                ahead = Some(message);
            }
            Ok(Turn::Message(_)) => {
                let metrics = &peer.shared.metrics;
                metrics.messages.with_label_values(&["text"]).inc();
            }
            Ok(Turn::Slot(slot)) if peer.room > 0 => {
                let bytes = u32::try_from(peer.room).unwrap_or(u32::MAX);
                peer.room -= bytes as usize;
                slot.send(ToWorker::Room { connection, bytes });
            }
            Ok(Turn::Slot(slot)) => {
                if let Some(bytes) = ahead.take() {
                    window.sent(bytes.len());
                    slot.send(ToWorker::Message { connection, bytes });
                }
            }
        }
    }
}
