//! Front-end to worker and back.
//!
//! A front-end holds sockets, a worker holds engines; between them go these
//! messages and nothing else. Each has a byte form ([`wire`]), so that the two
//! can be one process ([`channel`]) or two ([`encoded`]) without either knowing.
//!
//! **Credits.** Both ways a connection has a window in bytes. A side sends a
//! message when nothing of that connection is outstanding, or when it fits in
//! what is left of the window; the other gives the bytes back with `Room` once
//! it is done with them ([`Window`] keeps the count). So a queue between the two
//! is never longer than the window and one message.
//!
//! **Order.** What one side sends arrives in the order it was sent. What a side
//! says of a connection after [`ToWorker::Gone`] means nothing and is passed over:
//! the two cross on the way.
//!
//! **When the link drops**, `recv` gives what had arrived and then `None` at both
//! ends, and nothing can be sent any more.

pub mod channel;
pub mod encoded;
pub mod message;
pub mod window;
pub mod wire;

pub use channel::{FrontEnd, FrontReceiver, LinkDown, WorkerEnd, WorkerReceiver, pair};
pub use message::{ConnectionId, DoorAnswer, ToFront, ToWorker};
pub use window::Window;

/// What a front-end may have outstanding with the worker per connection.
pub const INBOUND_WINDOW: usize = 1 << 20;

/// What a worker may have outstanding with the front-end per connection: what waits to
/// be sent to one peer (04 §7.2).
pub const OUTBOUND_WINDOW: usize = 8 << 20;

/// The largest message of a peer or to one (04 §7.1).
pub const MAX_MESSAGE_BYTES: usize = 16 << 20;
