//! Front-end to worker and back.
//!
//! A front-end holds sockets, a worker holds engines; between them go these
//! messages and nothing else. Each has a byte form (the crate's `wire` module), so that the two
//! can be one process (a channel) or two (a connection) without either knowing.
//!
//! **Credits.** Both ways a connection has a window in bytes. A side sends a
//! message when nothing of that connection is outstanding, or when it fits in
//! what is left of the window; the other gives the bytes back with `Room` once
//! it is done with them. So a queue between the two is never longer than the
//! window and one message.

pub mod message;

pub use message::{ConnectionId, ToFront, ToWorker};

/// What a front-end may have outstanding with the worker per connection.
pub const INBOUND_WINDOW: usize = 1 << 20;
