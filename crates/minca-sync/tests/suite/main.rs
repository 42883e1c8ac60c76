//! All tests that read vectors, play against another implementation or try
//! properties.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod file_vectors;
mod handshake_vectors;
mod lazy_items;
mod message_properties;
mod message_vectors;
mod negentropy_against_the_crate;
mod negentropy_vectors;
mod network_properties;
mod network_vectors;
mod sums;
mod vectors;
