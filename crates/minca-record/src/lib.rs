//! Parts 01 and 02 of the protocol, and the formats of 05 §16.

pub mod json;
