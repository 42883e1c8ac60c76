//! Sockets: upgrade, handshake, framing, byte and rate counting, heartbeats, drain.
//!
//! A front-end takes connections, speaks part 04 with them and carries messages between
//! them and a worker, over a [`link`]. It holds nothing of a space; it can go at any
//! time, and devices dial again.
//!
//! One task owns each connection, from its first byte to its last: first as HTTP, then,
//! where that asked for `/peer`, as a WebSocket. Others reach it by its mailbox and never
//! wait for it. What is decided by time or by counting is in small structs of their own
//! that take the time as an argument.

mod address;
mod arrival;
mod checks;
mod closing;
mod config;
mod counted;
mod door;
mod frame;
mod front;
mod handshake;
mod heartbeat;
mod http_port;
mod mailbox;
mod memory;
mod metrics;
mod open;
mod peer;
mod places;
mod rate;
mod router;
mod shared;
mod socket;
mod upgrade;

pub use address::TrustedProxy;
pub use config::{FrontConfig, HostIdentity, Limits, Waits};
pub use front::{Front, FrontHandle, tcp};
pub use http_port::RouteLabel;
pub use metrics::FrontMetrics;
pub use rate::Rate;
