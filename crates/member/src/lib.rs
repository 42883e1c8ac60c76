//! A client that plays a device.

pub mod clock;
pub mod identity;
pub mod randomness;
pub mod space;
pub mod write;
