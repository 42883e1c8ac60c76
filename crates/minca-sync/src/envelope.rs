//! The envelope of every data message (04 §9).

use minca_record::{
    did::Did,
    json::{MESSAGE_DEPTH, ReadError, Text, Value, read},
};

use crate::frame::Frame;

/// The largest data message (04 §7.1). Whoever reads the socket keeps it.
pub const MAX_MESSAGE_BYTES: usize = 16_777_216;

/// A data message. It is from the peer its socket proved: its `from` is not
/// looked at (04 §9).
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    /// Its `type`.
    pub kind: Kind,
    /// Its `payload`; `null` where it has none.
    pub payload: Value,
}

/// The type of a data message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Part 05.
    Sync,
    /// Who the peer is (04 §6.4).
    Who,
    /// A live message: a host drops it.
    Live,
    /// Anything else: ignored.
    Other(Text),
}

/// Why a data message is dropped, and counted (04 §7.2, §9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MalformedEnvelope {
    /// Not UTF-8, not JSON, or nested too deep.
    #[error("expected JSON: {0}")]
    Json(#[from] ReadError),
    /// No object.
    #[error("expected an object")]
    NotAnObject,
    /// `type` is no string.
    #[error("expected a type that is a string")]
    NoType,
}

impl Envelope {
    /// Reads a data message. `None`: a text message, which means nothing.
    ///
    /// # Errors
    /// [`MalformedEnvelope`].
    pub fn read(message: Frame<'_>) -> Result<Option<Self>, MalformedEnvelope> {
        let Frame::Binary(bytes) = message else {
            return Ok(None);
        };
        let value = read(bytes, MESSAGE_DEPTH)?;
        let mut object = value.into_object().ok_or(MalformedEnvelope::NotAnObject)?;
        let Some(Value::String(kind)) = object.remove("type") else {
            return Err(MalformedEnvelope::NoType);
        };
        Ok(Some(Self {
            kind: Kind::of(kind),
            payload: object.remove("payload").unwrap_or(Value::Null),
        }))
    }
}

impl Kind {
    fn of(kind: Text) -> Self {
        match kind.as_str() {
            Some("sync") => Self::Sync,
            Some("who") => Self::Who,
            Some("live") => Self::Live,
            _ => Self::Other(kind),
        }
    }
}

/// A `sync` message; `payload` writes one of
/// [`message`](crate::message)'s.
pub fn write_sync(from: &Did, payload: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    write("sync", from, payload)
}

/// A `who` message: with a client's note, or, as a host sends it, without.
pub fn write_who(from: &Did, note: Option<&Value>) -> Vec<u8> {
    write("who", from, |out| {
        out.push(b'{');
        if let Some(note) = note {
            out.extend_from_slice(b"\"note\":");
            note.write_canonical(out);
        }
        out.push(b'}');
    })
}

/// A `live` message, as peers other than hosts send.
pub fn write_live(from: &Did, payload: &Value) -> Vec<u8> {
    write("live", from, |out| payload.write_canonical(out))
}

fn write(kind: &str, from: &Did, payload: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = format!("{{\"type\":\"{kind}\",\"from\":\"{from}\",\"payload\":").into_bytes();
    payload(&mut out);
    out.push(b'}');
    out
}
