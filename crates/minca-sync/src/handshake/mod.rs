//! The handshake: its messages, what is signed, and who is admitted (04 §5,
//! §6).

mod client;
mod hello;
mod host;
mod label;
mod nonce;
mod write;

pub use client::{Challenge, ClientView, check_welcome, read_challenge};
pub use hello::{Hello, MAX_HANDSHAKE_BYTES, read_hello};
pub use host::{Admitted, Held, HostView, Proof, SignatureCheck, proof};
pub use label::{PEER_LABEL, hello_label, welcome_label};
pub use nonce::Nonce;
pub use write::{write_challenge, write_hello, write_welcome};

use minca_record::json::{MESSAGE_DEPTH, Object, Value, read};

use crate::frame::Frame;

/// Older read keys a client proves and a host looks at (04 §6.1, §7.1).
pub const MAX_EARLIER_READ_KEYS: usize = 4;

/// Milliseconds a host waits for the hello, counted from the challenge, and a
/// client for the challenge and for the welcome (04 §5.2, §7.1).
pub const HELLO_WAIT_MS: u64 = 10_000;

/// The object a handshake message is: text, JSON, of this `type`.
fn object(message: Frame<'_>, kind: &str) -> Option<Object> {
    let Frame::Text(text) = message else {
        return None;
    };
    let object = read(text, MESSAGE_DEPTH).ok()?.into_object()?;
    (object.get("type").and_then(Value::as_str) == Some(kind)).then_some(object)
}
