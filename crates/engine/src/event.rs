//! What goes into an engine and what comes out of it.

use std::sync::Arc;

use bytes::Bytes;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::Value;
use minca_record::version::Refusal;
use minca_sync::item::Item;
use minca_sync::message::Message;

use crate::rows::{Batch, Found, StoredVersion, Wanted};
use crate::vetting::Vetted;

/// Milliseconds on a clock that never goes back. Where it starts is the driver's.
pub type Millis = u64;

/// A connected peer: one socket, numbered by the driver and never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeerId(pub u64);

/// Something asked of the driver, answered by the event that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId(pub u64);

/// What happened.
#[derive(Debug)]
pub enum Event {
    /// A peer proved itself and was admitted (04 §5.3 step 9).
    PeerJoined { peer: PeerId, did: Did },
    /// Its socket is gone; everything with it is forgotten (05 §6.1).
    PeerLeft { peer: PeerId },
    /// It said this. `bytes` is the message's length, given back by [`Effect::Handled`].
    Message {
        peer: PeerId,
        message: PeerMessage,
        bytes: usize,
    },
    /// Its socket took this many bytes of what [`Effect::Send`] gave it.
    Room { peer: PeerId, bytes: usize },
    /// The answer to [`Effect::Verify`], one outcome a version, in their order.
    Verified {
        job: JobId,
        outcomes: Vec<Result<Vetted, Refusal>>,
    },
    /// The answer to [`Effect::Read`].
    Found {
        job: JobId,
        found: Result<Found, StoreFailure>,
    },
    /// The answer to [`Effect::ReadItems`].
    Items {
        job: JobId,
        items: Result<Vec<Item>, StoreFailure>,
    },
    /// The answer to [`Effect::ReadVersions`].
    Versions {
        job: JobId,
        versions: Result<Vec<StoredVersion>, StoreFailure>,
    },
    /// The answer to [`Effect::Commit`].
    Committed {
        job: JobId,
        outcome: Result<(), StoreFailure>,
    },
    /// Time went by: [`crate::Engine::next_wake`] has come.
    Tick,
}

/// A peer's message, taken out of its envelope (04 §9).
#[derive(Debug)]
pub enum PeerMessage {
    /// A sync message that passed its checks (05 §4).
    Sync(Message),
    /// `who`, with its payload (04 §6.4).
    Who(Value),
    /// A live message: dropped (04 §9.2).
    Live,
    /// A well-formed message that means nothing here.
    Ignored,
    /// Not a well-formed data message: dropped and counted (04 §7.2).
    Malformed,
}

/// Why the store did not do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreFailure {
    /// It can't now; worth trying again.
    Unavailable,
    /// The batch contradicts what is stored; nothing of it was written.
    DoesNotFit,
    /// This host no longer owns the space, or no longer holds it.
    Lost,
}

/// What the driver is to do.
#[derive(Debug)]
pub enum Effect {
    /// Check these (02 §9 steps 1–6) off this thread. Live ones go before bulk.
    Verify {
        job: JobId,
        versions: Vec<Value>,
        live: bool,
    },
    /// Read what is held of what a batch names.
    Read { job: JobId, wanted: Wanted },
    /// Read a page of a collection's items.
    ReadItems {
        job: JobId,
        collection: String,
        after: Option<Item>,
        limit: usize,
    },
    /// Read versions, in the order asked, up to `max_bytes` (at least one that is held).
    ReadVersions {
        job: JobId,
        ids: Vec<ContentId>,
        max_bytes: usize,
    },
    /// Write this, whole or not at all.
    Commit { job: JobId, batch: Arc<Batch> },
    /// Send this to a peer: a whole data message.
    Send { peer: PeerId, message: Bytes },
    /// The engine is done with so many bytes of what the peer sent.
    Handled { peer: PeerId, bytes: usize },
    /// Close the peer's socket with this code (04 §4).
    Close { peer: PeerId, code: u16 },
    /// Count this.
    Count(Count),
    /// Readers of this private space prove this key from now on (04 §6.3).
    ReadKey(Did),
    /// This host lost the space: close every peer and drop the engine.
    Abandon,
}

/// Something to count; never names what it was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// A version was judged.
    Answer(Answer),
    /// A version was refused for this reason (02 §9).
    Refused(&'static str),
    /// From a version's message to its `stored`, in milliseconds.
    Acknowledged(Millis),
    /// Something a peer sent went over a limit of that name.
    Limited(&'static str),
    /// A commit failed and what it held is judged again.
    CommitFailed,
    /// A version could not be stored though it was judged well, and was dropped.
    Unplaceable,
}

/// The four answers of 02 §9.5, and what is taken in without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Stands,
    Withdrawn,
    /// A stub stored as its record's history, which only its body can settle.
    Unsettled,
    Later,
    Refused,
    Held,
}
