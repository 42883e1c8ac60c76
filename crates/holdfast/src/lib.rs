//! The parts of the binary: configuration, host key, logs, metrics, the host as a
//! whole, what its operator asks of it.

pub mod admin;
pub mod admin_client;
mod bucket_writer;
pub mod carry;
pub mod config;
pub mod database;
pub mod explain;
pub mod host;
pub mod host_key;
pub mod load;
pub mod metrics_server;
pub mod pretty_json;
mod private_file;
pub mod replay;
pub mod space_file;
pub mod telemetry;
