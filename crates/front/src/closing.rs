//! How a socket ends so that its close arrives.

use crate::peer::{End, Peer};
use minca_sync::close::Close;
use std::future::poll_fn;
use std::io;
use std::task::{Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

/// The closes a host sends; of two with one code, the one whose reason goes with a bare
/// code.
const CLOSES: [Close; 14] = [
    Close::Normal,
    Close::ShuttingDown,
    Close::Framing,
    Close::NotUtf8,
    Close::Malformed,
    Close::TooBig,
    Close::InternalError,
    Close::CouldNotOpen,
    Close::TryAgainLater,
    Close::MissingSpace,
    Close::ExpectedHello,
    Close::NotAReader,
    Close::NoHello,
    Close::Replaced,
];

fn known(code: u16) -> Option<Close> {
    CLOSES.into_iter().find(|close| close.code() == code)
}

/// Sends the close and waits for the other side's, or answers it. Ends at the latest once
/// a peer took nothing, or did not answer, for as long as each may last.
pub(crate) async fn close<S>(peer: &mut Peer<S>, end: End)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let closes = peer.shared.metrics.closes.clone();
    let awaits_answer = match end {
        End::Ended(_) => {
            closes.with_label_values(&["ended"]).inc();
            return;
        }
        End::ByPeer(code) => {
            closes.with_label_values(&["peer"]).inc();
            peer.place.mailbox.forget_outgoing();
            peer.socket.forget_output();
            peer.socket.queue_close(code.map(|code| (code, "")));
            false
        }
        End::Close { code, after_output } => {
            let known = known(code);
            let label = known.map_or("other".to_owned(), |_| code.to_string());
            closes.with_label_values(&[&label]).inc();
            if !after_output {
                peer.place.mailbox.forget_outgoing();
                peer.socket.forget_output();
            }
            let reason = known.map_or("", Close::reason);
            peer.socket.queue_close(Some((code, reason)));
            true
        }
    };
    // What still comes is thrown away, so that the stream can be ended without a reset
    // that would overtake the close.
    peer.socket.decoder.discard();
    peer.weigh_closing();
    let mut answered = !awaits_answer;
    let patience = match end {
        End::Close {
            after_output: true, ..
        } => peer.shared.waits.stalled,
        _ => peer.shared.waits.close,
    };
    let sent = timeout(patience, send_rest(peer, &mut answered)).await;
    if !matches!(sent, Ok(Ok(()))) {
        return;
    }
    let _ = timeout(peer.shared.waits.close, async {
        if peer.socket.is_faulted() {
            // Its answer can't be told from what was broken: it hears at once that
            // nothing more comes, and ends the stream itself.
            poll_fn(|cx| peer.socket.poll_shutdown(cx)).await?;
        }
        while !answered {
            answered = poll_fn(|cx| peer.socket.poll_discard(cx)).await?;
        }
        poll_fn(|cx| peer.socket.poll_shutdown(cx)).await
    })
    .await;
}

/// Writes until nothing is left, and throws away what comes meanwhile.
async fn send_rest<S>(peer: &mut Peer<S>, answered: &mut bool) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let socket = &mut peer.socket;
    let mailbox = &peer.place.mailbox;
    while socket.has_output() || mailbox.waiting() > 0 {
        let sent = poll_fn(|cx| {
            if let Poll::Ready(sent) = socket.poll_send(cx, mailbox) {
                return Poll::Ready(sent.map(Some));
            }
            if !socket.has_output() {
                // The last of it was flushed just now.
                return Poll::Ready(Ok(None));
            }
            while !*answered {
                *answered = ready!(socket.poll_discard(cx))?;
            }
            Poll::Pending
        })
        .await?;
        if let Some(bytes) = sent.and_then(|sent| sent.message) {
            mailbox.written(bytes);
        }
    }
    Ok(())
}
