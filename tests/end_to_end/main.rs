//! Devices and a whole host: what needs more than one crate.
#![allow(clippy::unwrap_used, clippy::expect_used, unreachable_pub)]

mod explaining;
mod kills;
mod kit;
mod loading;
mod meeting;
mod members;
mod operator;
mod postgres;
#[path = "../postgres_server/mod.rs"]
mod postgres_server;
mod refusing;
mod segments;
