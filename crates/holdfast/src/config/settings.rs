//! The settings, but for the limits.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::limits::LimitsConfig;
use super::store::StoreConfig;

/// All settings of `holdfast serve`.
///
/// A relative path is relative to the folder the program is started in, in the
/// file too.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Folder for the database, and for whatever below has no path of its own.
    /// Made if it is missing
    #[arg(
        id = "data",
        long = "data",
        value_name = "FOLDER",
        default_value = "./holdfast-data"
    )]
    pub data: PathBuf,

    /// Address and port that devices connect to
    #[arg(
        id = "listen",
        long = "listen",
        value_name = "ADDRESS",
        default_value = "127.0.0.1:4440"
    )]
    pub listen: SocketAddr,

    /// Address and port of metrics and health, for the operator only
    #[arg(
        id = "metrics-listen",
        long = "metrics-listen",
        value_name = "ADDRESS",
        default_value = "127.0.0.1:4441"
    )]
    pub metrics_listen: SocketAddr,

    /// File with the seed of the host key. Its key is the host: keep a copy of it
    /// apart from database and bucket [default: host.key in the data folder]
    #[arg(id = "host-key", long = "host-key", value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) host_key: Option<PathBuf>,

    /// Seconds a space without peers stays open
    #[arg(
        id = "space-idle-seconds",
        long = "space-idle-seconds",
        value_name = "SECONDS",
        default_value_t = 60
    )]
    pub space_idle_seconds: u32,

    /// Seconds a lease on a shard lasts, at least 5. It is renewed at a third of
    /// that, and a worker that died is replaced after all of it
    #[arg(
        id = "lease-seconds",
        long = "lease-seconds",
        value_name = "SECONDS",
        default_value_t = 15
    )]
    pub lease_seconds: u32,

    /// Threads that check signatures [default: one for each core]
    #[arg(id = "verify-threads", long = "verify-threads", value_name = "THREADS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verify_threads: Option<u32>,

    /// The table `[store]`.
    #[command(flatten)]
    pub store: StoreConfig,

    /// The table `[bucket]`.
    #[command(flatten)]
    pub bucket: BucketConfig,

    /// The table `[proxy]`.
    #[command(flatten)]
    pub proxy: ProxyConfig,

    /// The table `[log]`.
    #[command(flatten)]
    pub log: LogConfig,

    /// The table `[limits]`.
    #[command(flatten)]
    pub limits: LimitsConfig,
}

/// Where spaces are backed up, and when.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BucketConfig {
    /// Folder that serves as the bucket [default: bucket in the data folder]
    #[arg(id = "bucket.folder", long = "bucket-folder", value_name = "FOLDER")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) folder: Option<PathBuf>,

    /// Seconds after which what a space took in is in the bucket
    #[arg(
        id = "bucket.flush-after-seconds",
        long = "bucket-flush-after-seconds",
        value_name = "SECONDS",
        default_value_t = 300
    )]
    pub flush_after_seconds: u32,

    /// Bytes a segment is filled to. A space that took in as much is brought to the
    /// bucket without waiting: 4096 to 67108864
    #[arg(
        id = "bucket.segment-bytes",
        long = "bucket-segment-bytes",
        value_name = "BYTES",
        default_value_t = 1_048_576
    )]
    pub segment_bytes: u32,
}

/// The proxy in front of the host, if there is one.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProxyConfig {
    /// Addresses the proxy dials from, separated by commas. Only from these is the
    /// header believed [default: none, so no proxy]
    #[arg(
        id = "proxy.addresses",
        long = "proxy-addresses",
        value_name = "ADDRESSES",
        value_delimiter = ','
    )]
    #[serde(default)]
    pub addresses: Vec<IpAddr>,

    /// Header the proxy appends the client's address to
    #[arg(
        id = "proxy.header",
        long = "proxy-header",
        value_name = "HEADER",
        default_value = "x-forwarded-for"
    )]
    pub header: String,
}

/// What is logged, and how.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LogConfig {
    /// Form of the log lines on standard error
    #[arg(id = "log.format", long = "log-format", value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub format: LogFormat,

    /// What is logged, as tracing's filters have it: `info`, `warn,worker=debug`
    #[arg(
        id = "log.filter",
        long = "log-filter",
        value_name = "FILTER",
        default_value = "info"
    )]
    pub filter: String,
}

/// Form of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl Config {
    /// The file with the host key's seed.
    pub fn host_key_file(&self) -> PathBuf {
        self.host_key
            .clone()
            .unwrap_or_else(|| self.data.join("host.key"))
    }

    /// The folder that serves as the bucket.
    pub fn bucket_folder(&self) -> PathBuf {
        let own = self.bucket.folder.clone();
        own.unwrap_or_else(|| self.data.join("bucket"))
    }

    /// Threads that check signatures, at least 1.
    pub fn verify_threads(&self) -> u32 {
        self.verify_threads.unwrap_or_else(cores)
    }

    /// The same settings with nothing left to be worked out.
    pub(super) fn spelled_out(&self) -> Self {
        let mut spelled_out = self.clone();
        spelled_out.host_key = Some(self.host_key_file());
        spelled_out.bucket.folder = Some(self.bucket_folder());
        spelled_out.verify_threads = Some(self.verify_threads());
        spelled_out
    }
}

fn cores() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    u32::try_from(cores).unwrap_or(1)
}
