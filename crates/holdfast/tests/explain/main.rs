//! What `holdfast explain` tells, on small histories.
#![allow(clippy::unwrap_used, clippy::expect_used, unreachable_pub)]

mod bundles;
mod changes;
mod records;
mod story;
