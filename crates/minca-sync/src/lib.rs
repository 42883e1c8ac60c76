//! Part 05 §2–§8 and the texts of part 04.

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
pub mod url;
pub mod who;
