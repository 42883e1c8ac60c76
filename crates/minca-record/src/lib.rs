//! Parts 01 and 02 of the protocol, and the formats of 05 §16.

pub mod base64url;
pub mod command;
pub mod constitution;
pub mod content_id;
pub mod did;
pub mod file_name;
pub mod files;
pub mod fork;
pub mod hash;
pub mod hex;
pub mod json;
pub mod line;
pub mod links;
pub mod loose;
pub mod note;
pub mod placement;
pub mod policy;
pub mod record_key;
pub mod required;
pub mod segment;
pub mod signature;
pub mod signing;
pub mod store_key;
pub mod time;
pub mod version;
