//! What the fuzz targets do with their bytes: one module per target, each with a `run` that panics
//! when something is wrong. They are a library so that ordinary tests can run the corpus as well.

#![forbid(unsafe_code)]

pub mod access_case;
pub mod did;
// Private to its crate, and of all code what strangers reach first.
#[allow(dead_code, unused_imports, reason = "only its reading half is fuzzed")]
#[path = "../../crates/front/src/frame/mod.rs"]
mod frame;
pub mod handshake;
pub mod history;
pub mod invite;
pub mod json_differential;
pub mod json_read;
pub mod link_wire;
// The naive model of the replay, as the crate's own tests have it.
#[path = "../../crates/minca-access/tests/support/model/mod.rs"]
mod model;
mod naive_json;
pub mod negentropy;
pub mod pattern;
pub mod policy;
pub mod readers;
pub mod sealed_invite;
pub mod segment;
pub mod short_link;
pub mod sync_message;
pub mod text;
pub mod url;
pub mod version;
pub mod web_socket;
