//! One space at one host: events in, effects out.
//!
//! An [`Engine`] holds what a host keeps in memory of one space in use: its
//! peers, its collections' item sets, what waits, and the rows that are placed
//! and not yet committed. It does no I/O, reads no clock and draws no random
//! number. Whoever drives it (a task per open space in the server, a loop in a
//! test) hands it events and carries out the effects it answers with:
//!
//! ```text
//!   PeerJoined, Message, Room, Verified, Found, …, Committed, Tick
//!        │
//!        ▼                 ┌ Verify   a pool checks shapes, signatures and notes
//!     Engine::handle ──────┤ Read     the store says what is held of what a batch names
//!        ▲                 ├ Commit   the store writes a batch, whole or not at all
//!        │                 ├ Send     bytes to a peer
//!        └── answers ◀─────┘ …
//! ```
//!
//! A version goes through these stations (`intake`): its message is taken
//! apart; `Verify` (02 §9 steps 1–6); `Read` of the rows it names; judged on an
//! overlay of rows placed and not yet committed (steps 7 and 8) and placed
//! (05 §10.1); `Commit`; and only once the commit landed it is summed,
//! acknowledged (`stored`) and passed on. At most one read and one commit are
//! under way: what arrives meanwhile goes with the next.

mod answer;
mod backoff;
mod collections;
mod config;
mod conversation;
mod engine;
mod event;
mod gatekeeper;
mod intake;
mod judging;
mod landing;
mod offer;
mod peer;
mod pending;
mod rate;
mod refusals;
mod remembered;
pub mod rows;
mod session;
mod standing;
mod vetting;
mod waiting;

pub use config::{EngineConfig, WaitingLimit};
pub use engine::Engine;
pub use event::{Answer, Count, Effect, Event, JobId, Millis, PeerId, PeerMessage, StoreFailure};
pub use minca_access::Space;
pub use standing::{CorruptAccess, Judge};
pub use vetting::{Vetted, Vetter};
