//! The binary: configuration, HTTP, metrics, commands.
fn main() {}
