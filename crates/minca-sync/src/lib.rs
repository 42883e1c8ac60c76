//! Part 05 §2–§8 and the texts of part 04.
//!
//! What two peers say to each other, and how each side judges it: the
//! [handshake], the [envelope] of what comes after it, the sync
//! [messages](message), [Negentropy](negentropy) over sets of [items](item)
//! with their [sums](sum), and [files] by chunks. All of it decides without a
//! socket, a clock or a random source.

pub mod allowance;
pub mod close;
pub mod envelope;
pub mod files;
pub mod frame;
pub mod handshake;
pub mod item;
pub mod message;
pub mod negentropy;
pub mod peer_state;
pub mod relay;
pub mod request;
pub mod sum;
pub mod who;
