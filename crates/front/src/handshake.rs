//! From the `101` to the welcome, the host's part (04 §5.3). What decides is `minca-sync`'s;
//! here is the order of the steps.

use crate::door::{Claim, Proven, fresh_nonce, space_to_ask};
use crate::frame::Incoming;
use crate::mailbox::Verdict;
use crate::peer::{End, Peer, Turn, Why};
use link::channel::LinkSender;
use link::{DoorAnswer, ToWorker};
use minca_record::content_id::ContentId;
use minca_sync::close::Close;
use minca_sync::frame::Frame;
use minca_sync::handshake::{read_hello, write_challenge};
use minca_sync::request::Target;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

/// Takes the socket through the handshake. When this ends well the peer is admitted and
/// its welcome is queued.
pub(crate) async fn admit<S>(
    peer: &mut Peer<S>,
    link: &LinkSender<ToWorker>,
    target: &str,
) -> Result<(), End>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (space, proof) = prove(peer, link, target).await.map_err(|end| match end {
        // Before the proof held the host's own failures look like any refusal.
        End::Close { code, .. } if code == Close::InternalError.code() => {
            End::close(Close::NotAReader)
        }
        other => other,
    })?;
    let waits = peer.shared.waits;
    let connection = peer.place.connection;

    // Steps 7 to 9 are the worker's.
    let admit = ToWorker::Admit {
        connection,
        space,
        peer: proof.peer,
        read_key: proof.read_key,
    };
    let deadline = Instant::now() + waits.verdict;
    if !say(peer, link, admit, deadline).await? {
        return Err(End::close(Close::InternalError));
    }
    peer.worker_knows = true;
    match until(peer, deadline, |peer| peer.place.mailbox.take_verdict()).await? {
        Some(Verdict::Admitted) => {}
        Some(Verdict::Refused(code)) => {
            return Err(End::Close {
                code,
                after_output: false,
            });
        }
        None => return Err(End::close(Close::InternalError)),
    }
    peer.place.admitted();
    peer.socket.decoder.admitted(peer.shared.limits.message);
    peer.socket.queue_text(proof.welcome);
    Ok(())
}

/// Steps 1 to 6: what the peer proved, and the space it asked for.
async fn prove<S>(
    peer: &mut Peer<S>,
    link: &LinkSender<ToWorker>,
    target: &str,
) -> Result<(ContentId, Proven), End>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let waits = peer.shared.waits;
    let node = peer.shared.identity.did;

    // Steps 1 and 2.
    let Target::Peer { space } = Target::read(target) else {
        return Err(End::close(Close::MissingSpace));
    };
    let nonce = fresh_nonce().ok_or(End::close(Close::InternalError))?;
    let challenge = write_challenge(&node, &nonce);
    peer.socket.queue_text(challenge);

    // Steps 3 and 4.
    let message = first_message(peer, waits.hello).await?;
    let hello = match &message {
        Incoming::Text(text) => read_hello(Frame::Text(text)),
        _ => Err(Close::ExpectedHello),
    };
    let hello = hello.map_err(End::close)?;
    drop(message);

    // Steps 5 and 6. What is no space is asked about like one.
    let asked = space_to_ask(&space);
    let ask = ToWorker::Ask {
        ask: peer.place.connection.0,
        space: asked,
    };
    let deadline = Instant::now() + waits.door;
    let mut answer = None;
    if say(peer, link, ask, deadline).await? {
        answer = until(peer, deadline, |peer| peer.place.mailbox.take_door()).await?;
    }
    let answer = answer.unwrap_or_else(|| {
        tracing::error!("the worker did not say what a proof is judged against");
        DoorAnswer::NotHeld
    });
    let claim = Claim {
        hello,
        space,
        nonce,
        answer,
    };
    let proof = check(peer, claim).await?;
    Ok((asked, proof))
}

/// The first whole message; [`Close::NoHello`] if none comes in time.
async fn first_message<S>(peer: &mut Peer<S>, wait: Duration) -> Result<Incoming, End>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let deadline = Instant::now() + wait;
    loop {
        if let Turn::Message(message) = peer.turn(true, 0, None, Some(deadline)).await? {
            return Ok(message);
        }
        if Instant::now() >= deadline {
            return Err(End::close(Close::NoHello));
        }
    }
}

/// Waits, without reading, until `ready` gives something or the time is over.
async fn until<S, T>(
    peer: &mut Peer<S>,
    deadline: Instant,
    mut ready: impl FnMut(&mut Peer<S>) -> Option<T>,
) -> Result<Option<T>, End>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        if let Some(value) = ready(peer) {
            return Ok(Some(value));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        peer.turn(false, 0, None, Some(deadline)).await?;
    }
}

/// Says `message` to the worker, once there is room. Whether that was in time, and the
/// link was there.
async fn say<S>(
    peer: &mut Peer<S>,
    link: &LinkSender<ToWorker>,
    message: ToWorker,
    deadline: Instant,
) -> Result<bool, End>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        match peer.turn(false, 0, Some(link), Some(deadline)).await? {
            Turn::Slot(slot) => {
                slot.send(message);
                return Ok(true);
            }
            Turn::LinkDown => return Ok(false),
            Turn::Message(_) | Turn::Woken => {}
        }
        if Instant::now() >= deadline {
            return Ok(false);
        }
    }
}

/// Checks the claim in the pool, while the socket's pings go on.
async fn check<S>(peer: &mut Peer<S>, claim: Claim) -> Result<Proven, End>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let shared = Arc::clone(&peer.shared);
    let host = Arc::clone(&shared);
    let mut checking = pin!(shared.checks.run(move || claim.check(&host.identity)));
    loop {
        tokio::select! {
            proven = &mut checking => {
                // `None`: the check could not run.
                let proven = proven.unwrap_or(Err(Close::InternalError));
                return proven.map_err(End::close);
            }
            turn = peer.turn(false, 0, None, None) => { turn?; }
        }
    }
}

/// What `minca_host_handshakes_total` calls a handshake that ended so.
pub(crate) fn result_of(end: Option<End>, worker_knew: bool) -> &'static str {
    let code = match end {
        None => return "admitted",
        Some(End::ByPeer(_) | End::Ended(Why::Left)) => return "left",
        Some(End::Ended(_)) => return "failed",
        Some(End::Close { .. }) if worker_knew => return "by_worker",
        Some(End::Close { code, .. }) => code,
    };
    let results = [
        (Close::MissingSpace, "no_space"),
        (Close::ExpectedHello, "malformed"),
        (Close::NotAReader, "refused"),
        (Close::NoHello, "no_hello"),
        (Close::TooBig, "too_big"),
        (Close::Framing, "framing"),
        (Close::NotUtf8, "framing"),
        (Close::ShuttingDown, "shutdown"),
    ];
    let result = results.into_iter().find(|(close, _)| close.code() == code);
    result.map_or("failed", |(_, result)| result)
}
