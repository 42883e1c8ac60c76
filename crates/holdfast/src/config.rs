//! Configuration: a file, the environment and flags, the later ones stronger.
//!
//! A setting has one name, its key: `bucket.flush-after-seconds` is that key of
//! the TOML file's `[bucket]` table, the variable `HOLDFAST_BUCKET_FLUSH_AFTER_SECONDS`
//! and the flag `--bucket-flush-after-seconds`. What it means, its unit and its
//! default are said once, on its field of [`Config`] and what that holds.

mod check;
mod environment;
mod error;
mod file;
mod keys;
mod limits;
mod load;
mod parts;
mod settings;
mod store;

pub use environment::Environment;
pub use error::ConfigError;
pub use limits::LimitsConfig;
pub use load::{ConfigArgs, Loaded, Source};
pub use settings::{BucketConfig, Config, LogConfig, LogFormat, ProxyConfig};
pub use store::{StoreConfig, StoreConfigError, StoreUrl};
