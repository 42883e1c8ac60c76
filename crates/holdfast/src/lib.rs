//! The parts of the binary: configuration, host key, logs, metrics.

pub mod config;
pub mod host_key;
pub mod metrics_server;
pub mod telemetry;
