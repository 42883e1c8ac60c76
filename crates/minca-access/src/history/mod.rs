//! The replay of a space's access history, `strong-remove/1` (03 §4), and the
//! judgement of records against it (03 §5).
//!
//! [`History`] takes events in whatever order they come and answers as if it had
//! replayed them whole. How it gets there without doing so:
//!
//! - **What an event saw** is a set of earlier events, `bit_set`, whose copies
//!   share their chunks. "Saw" is a bit test, the closure of a `seen` a union.
//! - **A state** is what is latest on each record key, `latest`, a map whose
//!   versions share all but the path that changed. An event's own view is its widest
//!   head's with what it lacks taken in: for a change made on top of the last, one
//!   key. Roles, assignments, invites, definitions and keys are read off that map
//!   by a `view`.
//! - **Own views** depend on what an event saw alone, so they are worked out once, as
//!   it is placed, and so is whether it is allowed.
//! - **Strikes** are bit sets from each reduction, and back, between allowed events.
//!   Which events are unstruck comes of the strongly connected components, found by
//!   two searches that look for what isn't reached word by word (`strikes`): the
//!   cost is that of the sets, however many strikes there are.
//! - **Valid** events are worked out in `validity`. An event all of whose allowed
//!   ancestors are valid sees the same state among the valid ones as on its own, so it
//!   is valid unless struck, and nothing is kept for it twice. One that strikes nothing
//!   placed before changes nothing placed before. When something struck before does
//!   change, only what saw it is looked at again.
//! - **`seenAs(seen)`** is a replay of its own, among what `seen` leads to. Nothing
//!   outside strikes into it as a rule, and then it is `at(seen)`; else it starts from
//!   what is known of the whole history, or of the last such set, and goes through
//!   what differs (`seen`). Views are remembered up to a budget of bytes.
//! - **`may`** asks about each role definition's author once for a question, with a
//!   stack of its own (`may`). Invocations that the same grants fit are one question.
//!   The answers are remembered: in own views they never change, among valid events
//!   until what is valid does.
//!
//! Everything is metered ([`History::spent`]), and a replay can be left off when it has
//! spent enough and gone on with later ([`History::advance`]).

mod admission;
mod arena;
mod ask;
mod bit_set;
mod explain;
mod judge;
mod key_due;
mod latest;
mod may;
mod names;
mod refusal;
mod replay;
mod seen;
mod snapshot;
mod state;
mod status;
mod strikes;
mod validity;
mod view;
mod work;

/// An event's place in one replay: after all it saw.
type Index = u32;
/// A record key, numbered in one replay.
type Key = u32;

pub use admission::Admission;
pub use explain::{Asked, HeldRole, JudgedIn, Place, Strike};
pub use judge::{Body, Judgement, Record, RecordInvocation, Step, Verdict};
pub use refusal::{COMMANDS, Refusal};
pub use replay::History;
pub use snapshot::{DefinitionInForce, Invite, RoleState, SpaceKey, State};
pub use status::Status;
