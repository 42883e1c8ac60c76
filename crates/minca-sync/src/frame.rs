//! A whole WebSocket message, whatever frames it came in.

/// A whole WebSocket message. The handshake is text, everything after it
/// binary (04 §4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A text message; UTF-8, or the socket is closed before it gets here.
    Text(&'a [u8]),
    /// A binary message.
    Binary(&'a [u8]),
}
