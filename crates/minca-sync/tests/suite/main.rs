//! All tests that read vectors, play against another implementation or try
//! properties.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod lazy_items;
mod negentropy_against_the_crate;
mod negentropy_vectors;
mod sums;
mod vectors;
