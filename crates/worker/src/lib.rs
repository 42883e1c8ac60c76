//! Engines and what drives them.
//!
//! A worker hears front-ends over a link. One task hears the link and knows
//! which connection is in which space (`router`); a task per connection parses
//! what its peer sends; a task per open space drives an engine; a task per shard
//! commits what they hand it; threads of their own check signatures; one task
//! writes to the bucket; one keeps the leases. Each hands on over a bounded
//! channel and waits where that is full, so that a slow part slows what feeds
//! it, down to the socket, and nothing else.

mod committer;
mod config;
mod connection;
mod due;
mod flush;
mod lease;
mod metrics;
mod opening;
mod router;
mod shared;
mod sockets;
mod space;
mod verify_pool;
mod worker;

pub use config::WorkerConfig;
pub use metrics::WorkerMetrics;
pub use worker::{CarryError, StartError, Worker};
