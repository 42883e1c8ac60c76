//! The worker's half of one connection: what a peer sends is parsed here, in
//! order, and handed to its space's task.
//!
//! How much may wait here is bounded by the link's window; while the space's
//! task is busy this waits for it, no bytes are given back to the front-end, and
//! the socket is not read. The task that hears the link never waits for any of it.

use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use engine::PeerMessage;
use link::channel::LinkSender;
use link::{ConnectionId, ToFront};
use minca_record::did::Did;
use minca_sync::close::Close;
use minca_sync::envelope::{Envelope, Kind};
use minca_sync::frame::Frame;
use minca_sync::message::Message;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, Semaphore, mpsc};

use crate::space::Input;

/// A message over this is parsed on a thread that serves no socket.
const PARSED_ASIDE: usize = 32 << 10;
/// A message over this is parsed only a few at once: it takes many times its size.
const BIG: usize = 1 << 20;
/// How many of those at once (04 §7.2).
pub(crate) const BIG_AT_ONCE: usize = 4;
/// Messages that may wait for a connection's task. The link's window bounds their bytes.
const MESSAGES_WAITING: usize = 4_096;

/// What the task that hears the link keeps of a connection.
#[derive(Debug)]
pub(crate) struct Connection {
    messages: mpsc::Sender<Bytes>,
    room: Arc<Room>,
}

/// Bytes the socket took that the engine has not been told of.
#[derive(Debug, Default)]
struct Room {
    bytes: AtomicUsize,
    came: Notify,
}

/// A peer that proved itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proven {
    pub(crate) connection: ConnectionId,
    pub(crate) did: Did,
    pub(crate) read_key: Option<Did>,
}

impl Connection {
    /// Starts a connection's task, which first has its peer join.
    pub(crate) fn start(
        proven: Proven,
        space: mpsc::Sender<Input>,
        to_front: LinkSender<ToFront>,
        big: Arc<Semaphore>,
    ) -> Connection {
        let (messages, waiting) = mpsc::channel(MESSAGES_WAITING);
        let room = Arc::new(Room::default());
        let room_came = Arc::clone(&room);
        tokio::spawn(async move {
            let connection = proven.connection;
            if run(proven, waiting, room_came, space, big).await == Ended::ByHost {
                // Nobody else would ever tell the peer.
                let code = Close::InternalError.code();
                let _ = to_front.send(ToFront::Close { connection, code }).await;
            }
        });
        Connection { messages, room }
    }

    /// Takes a message; false where more wait than the window allows.
    pub(crate) fn message(&self, bytes: Bytes) -> bool {
        // A task that is gone closes its connection itself.
        !matches!(self.messages.try_send(bytes), Err(TrySendError::Full(_)))
    }

    /// The socket took so many bytes.
    pub(crate) fn took(&self, bytes: usize) {
        self.room.bytes.fetch_add(bytes, Ordering::AcqRel);
        self.room.came.notify_one();
    }
}

/// Why a connection's task is over.
#[derive(PartialEq, Eq)]
enum Ended {
    /// The socket is gone.
    ByPeer,
    /// The space's task is gone, or a message could not be parsed.
    ByHost,
}

async fn run(
    proven: Proven,
    mut messages: mpsc::Receiver<Bytes>,
    room: Arc<Room>,
    space: mpsc::Sender<Input>,
    big: Arc<Semaphore>,
) -> Ended {
    let Proven {
        connection,
        did,
        read_key,
    } = proven;
    let mut input = Input::Join {
        connection,
        did,
        read_key,
    };
    let ended = loop {
        if space.send(input).await.is_err() {
            return Ended::ByHost;
        }
        input = tokio::select! {
            biased;
            () = space.closed() => return Ended::ByHost,
            () = room.came.notified() => {
                Input::Room { connection, bytes: room.bytes.swap(0, Ordering::AcqRel) }
            }
            bytes = messages.recv() => {
                let Some(bytes) = bytes else {
                    break Ended::ByPeer;
                };
                let length = bytes.len();
                match parse(bytes, &big).await {
                    Some(message) => Input::Message { connection, message, bytes: length },
                    None => break Ended::ByHost,
                }
            }
        };
    };
    // The space's task may be gone, and everyone of it with it.
    let _ = space.send(Input::Leave { connection }).await;
    ended
}

async fn parse(bytes: Bytes, big: &Semaphore) -> Option<PeerMessage> {
    if bytes.len() <= PARSED_ASIDE {
        return catch_unwind(|| read(&bytes)).ok();
    }
    let _place = match bytes.len() > BIG {
        true => Some(big.acquire().await.ok()?),
        false => None,
    };
    match tokio::task::spawn_blocking(move || read(&bytes)).await {
        Ok(message) => Some(message),
        Err(error) => {
            tracing::error!(panicked = error.is_panic(), "a message could not be parsed");
            None
        }
    }
}

/// A data message, taken out of its envelope (04 §9) and checked (05 §4).
fn read(bytes: &[u8]) -> PeerMessage {
    let envelope = match Envelope::read(Frame::Binary(bytes)) {
        Ok(Some(envelope)) => envelope,
        Ok(None) => return PeerMessage::Ignored,
        Err(_) => return PeerMessage::Malformed,
    };
    match envelope.kind {
        Kind::Sync => match Message::read(envelope.payload) {
            Ok(message) => PeerMessage::Sync(message),
            // Dropped and never answered: it is no part of this version's sync.
            Err(_) => PeerMessage::Ignored,
        },
        Kind::Who => PeerMessage::Who(envelope.payload),
        Kind::Live => PeerMessage::Live,
        Kind::Other(_) => PeerMessage::Ignored,
    }
}
