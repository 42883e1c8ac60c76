//! A client that plays a device.

pub mod access;
pub mod client;
pub mod clock;
pub mod commands;
pub mod cutoff;
pub mod entry;
pub mod files;
pub mod folder;
pub mod forks;
pub mod gatekeeper;
pub mod holdings;
pub mod identity;
pub mod randomness;
pub mod raw;
pub mod replica;
pub mod space;
pub mod sync;
pub mod try_out;
pub mod try_out_told;
pub mod write;
