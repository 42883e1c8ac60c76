//! Negentropy range-based set reconciliation, protocol version 1 (05 §3).
//!
//! Its bytes are those of the `negentropy` crate 0.5.3. It parts from that
//! crate in being strict: a message that ends early or holds a varint over
//! 2^53 − 1 is [`Malformed`], wherever in it that stands.

mod answer;
mod bound;
mod found;
mod initiator;
mod limit;
mod listed;
mod message;
mod responder;
mod set;
mod sorted;
mod split;
pub mod varint;

pub use bound::Bound;
pub use found::Found;
pub use initiator::{Initiator, InitiatorStep, initiate};
pub use limit::{FrameLimit, LEAST_FRAME_LIMIT};
pub use message::{Malformed, VERSION};
pub use responder::{Responder, ResponderStep};
pub use set::{ItemSet, NotLoaded};
pub use sorted::SortedItems;
