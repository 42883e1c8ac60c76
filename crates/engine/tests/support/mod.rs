//! What the engine's tests share.
#![allow(dead_code, unreachable_pub, clippy::expect_used, clippy::unwrap_used)]

pub mod host;
pub mod pen;
pub mod rows;
