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
    Ask { ask: u64, space: ContentId },
    /// A peer proved itself (04 §5.3 steps 4–6). Answered with `Admitted` or `Refused`.
    Admit {
        connection: ConnectionId,
        space: ContentId,
        /// The session DID.
        peer: Did,
        /// The read key its proof holds under; `None` in a public space.
        read_key: Option<Did>,
    },
    /// A whole binary message of an admitted peer, as it came.
    Message {
        connection: ConnectionId,
        bytes: Bytes,
    },
    /// The socket took this many bytes of what [`ToFront::Send`] carried.
    Room {
        connection: ConnectionId,
        bytes: u32,
    },
    /// The socket is gone; nothing more is to be sent to it.
    Gone { connection: ConnectionId },
}

/// What a worker says to a front-end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToFront {
    /// The answer to [`ToWorker::Ask`].
    Door { ask: u64, door: DoorAnswer },
    /// The peer is in: the welcome may go out, and it is a session the space admitted
    /// (04 §5.3 step 9).
    Admitted { connection: ConnectionId },
    /// It is not; close the socket with this code.
    Refused { connection: ConnectionId, code: u16 },
    /// A whole binary message for the peer.
    Send {
        connection: ConnectionId,
        bytes: Bytes,
    },
    /// The worker is done with this many bytes of what [`ToWorker::Message`] carried.
    Room {
        connection: ConnectionId,
        bytes: u32,
    },
    /// Close the socket with this code, once what was sent before has gone out.
    Close { connection: ConnectionId, code: u16 },
}

/// What a front-end judges a proof against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoorAnswer {
    /// The space is not held here, or the worker couldn't tell.
    NotHeld,
    Public,
    Private {
        read_key: Did,
    },
}
