//! What a sync machine asks for and tells.

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::files::FileId;
use minca_sync::message::NotTaken;

use crate::gatekeeper::Refusal;

/// What comes out of the machine, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Send the peer this sync message: the `payload` of a `sync` envelope (04 §9), as JSON.
    Send {
        /// The peer's session DID.
        to: Did,
        /// The payload.
        payload: Vec<u8>,
    },
    /// Something happened.
    Event(Event),
}

/// What happened, for whoever watches.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Versions were stored that weren't held, or not so whole, and are on disk.
    TookIn {
        /// Who sent them.
        from: Did,
        /// Their ids.
        ids: Vec<ContentId>,
    },
    /// A version that came was dropped.
    Refused {
        /// Who sent it.
        from: Did,
        /// The id it claims, where that is one.
        id: Option<ContentId>,
        /// Why.
        why: Refusal,
    },
    /// A peer stored versions this device sent it.
    Stored {
        /// Who says so.
        by: Did,
        /// Their ids.
        ids: Vec<ContentId>,
    },
    /// A collection is the same here and there, as far as it could be taken in.
    Level {
        /// The peer.
        peer: Did,
        /// The collection.
        collection: Box<str>,
    },
    /// A session or a request heard nothing for too long, or failed, and was given up. The next
    /// hello begins anew.
    GaveUp {
        /// The peer.
        peer: Did,
        /// The collection.
        collection: Box<str>,
    },
    /// A file was fetched and is held.
    FileFetched {
        /// Who sent it.
        from: Did,
        /// The file.
        file: FileId,
    },
    /// A peer didn't have a file, sent something else, or fell silent.
    FileMissing {
        /// Who was asked.
        from: Did,
        /// The file.
        file: FileId,
    },
    /// A message was dropped, unanswered.
    Dropped {
        /// Who sent it.
        from: Did,
        /// Why.
        why: NotTaken,
    },
    /// A version signed by this device's own key came that the device didn't hold: it doesn't
    /// know where its lines end, and must write under a fresh key (02 §4.10).
    OwnLineUnknown {
        /// The version.
        id: ContentId,
    },
}

/// Where a device stands with a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Not connected, or it hasn't said hello.
    Unheard,
    /// Sessions or requests are in flight, or a difference is known.
    Working,
    /// Nothing is in flight, but the peer didn't say that it stored so many versions sent to it.
    Unacknowledged(usize),
    /// Both hold the same, as far as is known, and all that was sent is stored there.
    Level,
}
