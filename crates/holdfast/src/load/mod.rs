//! `holdfast load`: pushes at a steady rate, and what a host makes of them.
//!
//! Open loop: what is sent when is fixed beforehand, and a host that is slow is sent no less for
//! it. Every wait counts from the moment a version was meant to be sent, so that a host that
//! stops for a while shows in all that should have been sent meanwhile.

mod command;
pub mod pacing;
pub mod running;
pub mod signing;
pub mod tally;
pub mod told;

pub use command::{LoadArgs, run};
