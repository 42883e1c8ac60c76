//! The byte form of the messages.
//!
//! ```text
//! frame    length of what follows (4 bytes) | version (1) | tag (1) | fields
//! number   8 bytes (connections, asks), 4 (room), 2 (close codes), big-endian
//! space    the 32 bytes its id stands for
//! DID      its 57 characters
//! bytes    all that is left of the frame: a peer's message
//! ```
//!
//! The reader is strict: another version, an unknown tag, a field that is no DID,
//! a byte too many or too few are errors, after which the link is of no more use.

use crate::MAX_MESSAGE_BYTES;
use crate::message::{ConnectionId, DoorAnswer, ToFront, ToWorker};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use minca_record::content_id::ContentId;
use minca_record::did::{DID_LENGTH, Did};

/// The version both ends speak. An end that meets another one drops the link.
pub const WIRE_VERSION: u8 = 1;

/// Bytes of a frame before what its length counts.
pub const LENGTH_BYTES: usize = 4;

/// The most a frame's length may say: the largest message and what stands before it.
pub const MAX_FRAME_BYTES: usize = MAX_MESSAGE_BYTES + 64;

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// A frame's length is over [`MAX_FRAME_BYTES`].
    #[error("a frame of {0} bytes, at most {MAX_FRAME_BYTES} expected")]
    TooLong(usize),
    /// The other end speaks another version.
    #[error("link version {0}, expected {WIRE_VERSION}")]
    Version(u8),
    /// No message of this direction has this tag.
    #[error("unknown message tag {0}")]
    Tag(u8),
    /// The frame ends within a field.
    #[error("a frame ends within its {0}")]
    Short(&'static str),
    /// The frame goes on after its last field.
    #[error("{0} bytes after the last field")]
    Long(usize),
    /// A field holds what it can't hold.
    #[error("a {0} that is none")]
    Field(&'static str),
}

/// A message that has a byte form.
pub trait Wire: Sized {
    /// Appends the message's frame, its length included.
    fn write(&self, out: &mut BytesMut);

    /// Reads what stands in a frame after its length.
    fn read(frame: Bytes) -> Result<Self, WireError>;
}

mod tag {
    pub(super) const ASK: u8 = 1;
    pub(super) const ADMIT: u8 = 2;
    pub(super) const MESSAGE: u8 = 3;
    pub(super) const ROOM_FOR_WORKER: u8 = 4;
    pub(super) const GONE: u8 = 5;

    pub(super) const DOOR: u8 = 65;
    pub(super) const ADMITTED: u8 = 66;
    pub(super) const REFUSED: u8 = 67;
    pub(super) const SEND: u8 = 68;
    pub(super) const ROOM_FOR_FRONT: u8 = 69;
    pub(super) const CLOSE: u8 = 70;

    pub(super) const NOT_HELD: u8 = 0;
    pub(super) const PUBLIC: u8 = 1;
    pub(super) const PRIVATE: u8 = 2;

    pub(super) const ABSENT: u8 = 0;
    pub(super) const PRESENT: u8 = 1;
}

impl Wire for ToWorker {
    fn write(&self, out: &mut BytesMut) {
        framed(out, |out| match self {
            Self::Ask { ask, space } => {
                out.put_u8(tag::ASK);
                out.put_u64(*ask);
                out.put_slice(space.digest());
            }
            Self::Admit {
                connection,
                space,
                peer,
                read_key,
            } => {
                out.put_u8(tag::ADMIT);
                out.put_u64(connection.0);
                out.put_slice(space.digest());
                put_did(out, peer);
                match read_key {
                    None => out.put_u8(tag::ABSENT),
                    Some(read_key) => {
                        out.put_u8(tag::PRESENT);
                        put_did(out, read_key);
                    }
                }
            }
            Self::Message { connection, bytes } => {
                put_message(out, tag::MESSAGE, *connection, bytes)
            }
            Self::Room { connection, bytes } => {
                put_room(out, tag::ROOM_FOR_WORKER, *connection, *bytes);
            }
            Self::Gone { connection } => {
                out.put_u8(tag::GONE);
                out.put_u64(connection.0);
            }
        });
    }

    fn read(frame: Bytes) -> Result<Self, WireError> {
        let mut fields = Fields::open(frame)?;
        let message = match fields.byte("tag")? {
            tag::ASK => Self::Ask {
                ask: fields.number("ask")?,
                space: fields.space()?,
            },
            tag::ADMIT => Self::Admit {
                connection: fields.connection()?,
                space: fields.space()?,
                peer: fields.did("peer")?,
                read_key: match fields.byte("read key")? {
                    tag::ABSENT => None,
                    tag::PRESENT => Some(fields.did("read key")?),
                    _ => return Err(WireError::Field("read key")),
                },
            },
            tag::MESSAGE => Self::Message {
                connection: fields.connection()?,
                bytes: fields.rest()?,
            },
            tag::ROOM_FOR_WORKER => Self::Room {
                connection: fields.connection()?,
                bytes: fields.room()?,
            },
            tag::GONE => Self::Gone {
                connection: fields.connection()?,
            },
            other => return Err(WireError::Tag(other)),
        };
        fields.end()?;
        Ok(message)
    }
}

impl Wire for ToFront {
    fn write(&self, out: &mut BytesMut) {
        framed(out, |out| match self {
            Self::Door { ask, door } => {
                out.put_u8(tag::DOOR);
                out.put_u64(*ask);
                match door {
                    DoorAnswer::NotHeld => out.put_u8(tag::NOT_HELD),
                    DoorAnswer::Public => out.put_u8(tag::PUBLIC),
                    DoorAnswer::Private { read_key } => {
                        out.put_u8(tag::PRIVATE);
                        put_did(out, read_key);
                    }
                }
            }
            Self::Admitted { connection } => {
                out.put_u8(tag::ADMITTED);
                out.put_u64(connection.0);
            }
            Self::Refused { connection, code } => put_code(out, tag::REFUSED, *connection, *code),
            Self::Send { connection, bytes } => put_message(out, tag::SEND, *connection, bytes),
            Self::Room { connection, bytes } => {
                put_room(out, tag::ROOM_FOR_FRONT, *connection, *bytes);
            }
            Self::Close { connection, code } => put_code(out, tag::CLOSE, *connection, *code),
        });
    }

    fn read(frame: Bytes) -> Result<Self, WireError> {
        let mut fields = Fields::open(frame)?;
        let message = match fields.byte("tag")? {
            tag::DOOR => Self::Door {
                ask: fields.number("ask")?,
                door: match fields.byte("door")? {
                    tag::NOT_HELD => DoorAnswer::NotHeld,
                    tag::PUBLIC => DoorAnswer::Public,
                    tag::PRIVATE => DoorAnswer::Private {
                        read_key: fields.did("read key")?,
                    },
                    _ => return Err(WireError::Field("door")),
                },
            },
            tag::ADMITTED => Self::Admitted {
                connection: fields.connection()?,
            },
            tag::REFUSED => Self::Refused {
                connection: fields.connection()?,
                code: fields.code()?,
            },
            tag::SEND => Self::Send {
                connection: fields.connection()?,
                bytes: fields.rest()?,
            },
            tag::ROOM_FOR_FRONT => Self::Room {
                connection: fields.connection()?,
                bytes: fields.room()?,
            },
            tag::CLOSE => Self::Close {
                connection: fields.connection()?,
                code: fields.code()?,
            },
            other => return Err(WireError::Tag(other)),
        };
        fields.end()?;
        Ok(message)
    }
}

/// The length a frame's first bytes give.
pub fn frame_length(prefix: [u8; LENGTH_BYTES]) -> Result<usize, WireError> {
    let length = u32::from_be_bytes(prefix) as usize;
    if length > MAX_FRAME_BYTES {
        return Err(WireError::TooLong(length));
    }
    Ok(length)
}

fn framed(out: &mut BytesMut, fields: impl FnOnce(&mut BytesMut)) {
    let start = out.len();
    out.put_u32(0);
    out.put_u8(WIRE_VERSION);
    fields(out);
    let length = (out.len() - start - LENGTH_BYTES) as u32;
    out[start..start + LENGTH_BYTES].copy_from_slice(&length.to_be_bytes());
}

fn put_did(out: &mut BytesMut, did: &Did) {
    out.put_slice(did.to_string().as_bytes());
}

fn put_message(out: &mut BytesMut, tag: u8, connection: ConnectionId, bytes: &[u8]) {
    out.put_u8(tag);
    out.put_u64(connection.0);
    out.put_slice(bytes);
}

fn put_room(out: &mut BytesMut, tag: u8, connection: ConnectionId, bytes: u32) {
    out.put_u8(tag);
    out.put_u64(connection.0);
    out.put_u32(bytes);
}

fn put_code(out: &mut BytesMut, tag: u8, connection: ConnectionId, code: u16) {
    out.put_u8(tag);
    out.put_u64(connection.0);
    out.put_u16(code);
}

/// A frame's fields, taken off its front one by one.
struct Fields(Bytes);

impl Fields {
    fn open(frame: Bytes) -> Result<Self, WireError> {
        let mut fields = Self(frame);
        match fields.byte("version")? {
            WIRE_VERSION => Ok(fields),
            other => Err(WireError::Version(other)),
        }
    }

    fn need(&self, bytes: usize, field: &'static str) -> Result<(), WireError> {
        if self.0.len() < bytes {
            return Err(WireError::Short(field));
        }
        Ok(())
    }

    fn byte(&mut self, field: &'static str) -> Result<u8, WireError> {
        self.need(1, field)?;
        Ok(self.0.get_u8())
    }

    fn number(&mut self, field: &'static str) -> Result<u64, WireError> {
        self.need(8, field)?;
        Ok(self.0.get_u64())
    }

    fn connection(&mut self) -> Result<ConnectionId, WireError> {
        Ok(ConnectionId(self.number("connection")?))
    }

    fn room(&mut self) -> Result<u32, WireError> {
        self.need(4, "room")?;
        Ok(self.0.get_u32())
    }

    fn code(&mut self) -> Result<u16, WireError> {
        self.need(2, "close code")?;
        Ok(self.0.get_u16())
    }

    fn did(&mut self, field: &'static str) -> Result<Did, WireError> {
        self.need(DID_LENGTH, field)?;
        let bytes = self.0.split_to(DID_LENGTH);
        std::str::from_utf8(&bytes)
            .ok()
            .and_then(|text| Did::parse(text).ok())
            .ok_or(WireError::Field(field))
    }

    fn space(&mut self) -> Result<ContentId, WireError> {
        let mut digest = [0; 32];
        self.need(digest.len(), "space")?;
        self.0.copy_to_slice(&mut digest);
        Ok(ContentId::from_digest(digest))
    }

    fn rest(&mut self) -> Result<Bytes, WireError> {
        if self.0.len() > MAX_MESSAGE_BYTES {
            return Err(WireError::TooLong(self.0.len()));
        }
        Ok(std::mem::take(&mut self.0))
    }

    fn end(self) -> Result<(), WireError> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(WireError::Long(self.0.len()))
    }
}
