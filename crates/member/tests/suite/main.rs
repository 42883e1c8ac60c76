//! What needs a socket or a folder.

#![allow(clippy::unwrap_used, reason = "a test that finds an error fails")]

mod access_commands;
mod access_mistakes;
mod changing_access;
mod club;
mod commands;
mod judging;
mod over_a_socket;
mod over_tls;
mod people;
mod running;
mod support;
mod trying_out;
