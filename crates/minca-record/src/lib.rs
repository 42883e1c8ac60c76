//! Parts 01 and 02 of the protocol, and the formats of 05 §16.

pub mod base64url;
pub mod content_id;
pub mod did;
pub mod hash;
pub mod hex;
pub mod json;
pub mod signature;
pub mod signing;
