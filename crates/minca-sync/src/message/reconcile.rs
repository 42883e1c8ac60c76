//! `reconcile` and `reconciled`: the rounds of a session (05 §4, §6).

use minca_record::{
    base64url,
    json::{Object, Value},
};

use super::{NotTaken, RequestId, request_id};

/// Bytes of a Negentropy message, before base64url (05 §4).
pub const MAX_NEGENTROPY_BYTES: usize = 32_000;

/// One round of a session the peer initiates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconcile {
    /// The session, echoed in the answer.
    pub id: RequestId,
    /// The collection; `None` where the name holds lone surrogates, as no
    /// collection's does: it isn't held. Whether it is comes before anything
    /// else.
    pub collection: Option<Box<str>>,
    /// The Negentropy message; `None` where there is none that could be read:
    /// it is answered [so](super::write_unreadable).
    pub message: Option<Vec<u8>>,
}

/// A peer's answer to a round of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconciled {
    /// The session.
    pub id: RequestId,
    /// The answer.
    pub says: Says,
}

/// What a `reconciled` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Says {
    /// The peer doesn't hold the collection: the session ends.
    NotHeld,
    /// The peer's Negentropy message. An empty one fails to parse, as it
    /// should: the peer couldn't read ours.
    Message(Vec<u8>),
    /// No message that could be read: the session fails.
    Unreadable,
}

impl Reconcile {
    pub(super) fn read(object: &Object) -> Result<Self, NotTaken> {
        let id = request_id(object)?;
        let collection = object.get("collection").and_then(Value::as_text);
        let collection = collection.ok_or(NotTaken::Collection)?;
        Ok(Self {
            id,
            collection: collection.as_str().map(Box::from),
            message: message(object),
        })
    }
}

impl Reconciled {
    pub(super) fn read(object: &Object) -> Result<Self, NotTaken> {
        let id = request_id(object)?;
        let says = if object.get("held").and_then(Value::as_bool) == Some(false) {
            Says::NotHeld
        } else {
            message(object).map_or(Says::Unreadable, Says::Message)
        };
        Ok(Self { id, says })
    }
}

fn message(object: &Object) -> Option<Vec<u8>> {
    let text = object.get("message")?.as_str()?;
    if text.len() > (MAX_NEGENTROPY_BYTES * 4).div_ceil(3) {
        return None;
    }
    base64url::decode(text).ok()
}
