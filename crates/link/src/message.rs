//! The messages themselves.

use bytes::Bytes;
use minca_record::content_id::ContentId;
use minca_record::did::Did;

/// A socket at a front-end, numbered by it and never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

/// What a front-end says to a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToWorker {
    /// What a proof for this space is to be judged against. Answered with [`ToFront::Door`].
    Ask {
        /// The question's number, which the answer repeats.
        ask: u64,
        /// The space asked about. It may be one that never was: asking costs the same.
        space: ContentId,
    },
    /// A peer proved itself (04 §5.3 steps 4–6). Answered with `Admitted` or `Refused`.
    Admit {
        /// The socket.
        connection: ConnectionId,
        /// The space it asked for.
        space: ContentId,
        /// The session DID.
        peer: Did,
        /// The read key its proof holds under; `None` in a public space.
        read_key: Option<Did>,
    },
    /// A whole binary message of an admitted peer, as it came.
    Message {
        /// The socket it came from.
        connection: ConnectionId,
        /// The message.
        bytes: Bytes,
    },
    /// The socket took this many bytes of what [`ToFront::Send`] carried.
    Room {
        /// The socket.
        connection: ConnectionId,
        /// Bytes of messages, framing not counted.
        bytes: u32,
    },
    /// The socket is gone; nothing more is to be sent to it. Said once of every connection
    /// that an `Admit` was said of, and nothing of that connection after.
    Gone {
        /// The socket that was.
        connection: ConnectionId,
    },
}

/// What a worker says to a front-end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToFront {
    /// The answer to [`ToWorker::Ask`].
    Door {
        /// The question's number.
        ask: u64,
        /// What to judge against.
        door: DoorAnswer,
    },
    /// The peer is in: the welcome may go out, and it is a session the space admitted
    /// (04 §5.3 step 9). Said before the first `Send` to it.
    Admitted {
        /// The socket.
        connection: ConnectionId,
    },
    /// It is not; close the socket with this code.
    Refused {
        /// The socket.
        connection: ConnectionId,
        /// The close code (04 §4).
        code: u16,
    },
    /// A whole binary message for the peer.
    Send {
        /// The socket.
        connection: ConnectionId,
        /// The message.
        bytes: Bytes,
    },
    /// The worker is done with this many bytes of what [`ToWorker::Message`] carried.
    Room {
        /// The socket.
        connection: ConnectionId,
        /// Bytes of messages.
        bytes: u32,
    },
    /// Close the socket with this code, once what was sent before has gone out. Answered
    /// with `Gone` once it is closed; what the peer sent meanwhile may still arrive.
    Close {
        /// The socket.
        connection: ConnectionId,
        /// The close code (04 §4).
        code: u16,
    },
}

/// What a front-end judges a proof against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoorAnswer {
    /// The space is not held here, or the worker couldn't tell.
    NotHeld,
    /// A public space: whoever proves their key may come in.
    Public,
    /// A private space: a proof by its read key is asked for.
    Private {
        /// The current read key (04 §6.3).
        read_key: Did,
    },
}
