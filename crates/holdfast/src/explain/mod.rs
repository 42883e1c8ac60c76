//! `holdfast explain`: why a version of a space counts, or doesn't.
//!
//! [`Held`] is a space's constitution and access versions, replayed; it tells of the
//! space ([`Overview`]) and of one version ([`Told`]). It is pure: where versions come
//! from is [`source`]'s, and [`as_text`](Told::as_text) and `as_json` put what is told
//! into words. Ids and accounts are told, never a body.

mod about;
mod change;
mod command;
mod facts;
mod held;
mod overview;
mod record;
mod rules;
pub mod source;
mod step;
mod write_json;
mod write_text;

pub use command::{ExplainArgs, run};
pub use facts::{
    AskedFacts, BodyFacts, ChangeFacts, DefinitionFacts, Mention, PlaceFacts, RecordFacts,
    StrikeFacts, Told, VersionFacts,
};
pub use held::{Held, id_of, is_access, named_by};
pub use overview::{Member, NotApplied, Overview};
pub use step::{Verdict, WhichStep};
