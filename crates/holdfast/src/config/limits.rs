//! What the host bounds for itself at its sockets (04 §7.2, §7.3, §7.4).

use serde::{Deserialize, Serialize};

/// The table `[limits]`. All are at least 1.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LimitsConfig {
    /// Connections that speak plain HTTP or have not asked for anything yet. Over it one
    /// more is dropped unanswered
    #[arg(
        id = "limits.http-connections",
        long = "limits-http-connections",
        value_name = "COUNT",
        default_value_t = 4_096
    )]
    pub http_connections: u32,

    /// Open sockets, all addresses together. Over it upgrades get `503`
    #[arg(
        id = "limits.sockets",
        long = "limits-sockets",
        value_name = "COUNT",
        default_value_t = 20_000
    )]
    pub sockets: u32,

    /// Sockets not yet admitted to a space, all together. Over it the oldest of them is
    /// closed with `4008`
    #[arg(
        id = "limits.unadmitted",
        long = "limits-unadmitted",
        value_name = "COUNT",
        default_value_t = 4_096
    )]
    pub unadmitted: u32,

    /// Open sockets of one address. Over it upgrades get `429`
    #[arg(
        id = "limits.sockets-per-address",
        long = "limits-sockets-per-address",
        value_name = "COUNT",
        default_value_t = 2_048
    )]
    pub sockets_per_address: u32,

    /// Sockets not yet admitted of one address. Over it upgrades get `429`
    #[arg(
        id = "limits.unadmitted-per-address",
        long = "limits-unadmitted-per-address",
        value_name = "COUNT",
        default_value_t = 256
    )]
    pub unadmitted_per_address: u32,

    /// New sockets a second of one address, in the long run. Over it upgrades get `429`
    #[arg(
        id = "limits.new-per-address-per-second",
        long = "limits-new-per-address-per-second",
        value_name = "COUNT",
        default_value_t = 50
    )]
    pub new_per_address_per_second: u32,

    /// New sockets of one address that may come at once
    #[arg(
        id = "limits.new-per-address-burst",
        long = "limits-new-per-address-burst",
        value_name = "COUNT",
        default_value_t = 256
    )]
    pub new_per_address_burst: u32,

    /// Bytes a second read from one socket, in the long run. Over it the socket is not read
    /// for a while
    #[arg(
        id = "limits.read-bytes-per-second",
        long = "limits-read-bytes-per-second",
        value_name = "BYTES",
        default_value_t = 4_194_304
    )]
    pub read_bytes_per_second: u32,

    /// Bytes of one socket that may be read at once
    #[arg(
        id = "limits.read-bytes-burst",
        long = "limits-read-bytes-burst",
        value_name = "BYTES",
        default_value_t = 33_554_432
    )]
    pub read_bytes_burst: u32,

    /// Messages a second read from one socket, in the long run. Over it the socket is not
    /// read for a while
    #[arg(
        id = "limits.read-messages-per-second",
        long = "limits-read-messages-per-second",
        value_name = "COUNT",
        default_value_t = 200
    )]
    pub read_messages_per_second: u32,

    /// Messages of one socket that may be read at once
    #[arg(
        id = "limits.read-messages-burst",
        long = "limits-read-messages-burst",
        value_name = "COUNT",
        default_value_t = 1_000
    )]
    pub read_messages_burst: u32,

    /// Bytes of all messages in memory, in and out. Over it sockets are not read, upgrades
    /// get `503`, and the socket with the oldest unfinished message is ended
    #[arg(id = "limits.message-memory-bytes", long = "limits-message-memory-bytes", value_name = "BYTES", default_value_t = 1_073_741_824, value_parser = clap::value_parser!(u64).range(..=GREATEST_INTEGER))]
    pub message_memory_bytes: u64,

    /// The same for the sockets of one address
    #[arg(id = "limits.message-memory-per-address-bytes", long = "limits-message-memory-per-address-bytes", value_name = "BYTES", default_value_t = 134_217_728, value_parser = clap::value_parser!(u64).range(..=GREATEST_INTEGER))]
    pub message_memory_per_address_bytes: u64,

    /// Threads that check handshakes' signatures
    #[arg(
        id = "limits.signature-threads",
        long = "limits-signature-threads",
        value_name = "THREADS",
        default_value_t = 2
    )]
    pub signature_threads: u32,

    /// Handshakes that may wait for that. Over it upgrades get `503`
    #[arg(
        id = "limits.signature-queue",
        long = "limits-signature-queue",
        value_name = "COUNT",
        default_value_t = 1_024
    )]
    pub signature_queue: u32,

    /// Seconds the headers of a request may take to arrive. Over it: `408`
    #[arg(
        id = "limits.header-seconds",
        long = "limits-header-seconds",
        value_name = "SECONDS",
        default_value_t = 10
    )]
    pub header_seconds: u32,

    /// Seconds from the challenge to the whole hello. Over it: closed with `4008`
    #[arg(
        id = "limits.hello-seconds",
        long = "limits-hello-seconds",
        value_name = "SECONDS",
        default_value_t = 10
    )]
    pub hello_seconds: u32,

    /// Seconds between two pings. A socket silent for two of them is ended
    #[arg(
        id = "limits.ping-seconds",
        long = "limits-ping-seconds",
        value_name = "SECONDS",
        default_value_t = 20
    )]
    pub ping_seconds: u32,

    /// Seconds a message may take to arrive, from its first byte; each 64 KiB that came
    /// adds one. Over it the connection is ended
    #[arg(
        id = "limits.arrival-seconds",
        long = "limits-arrival-seconds",
        value_name = "SECONDS",
        default_value_t = 120
    )]
    pub arrival_seconds: u32,

    /// Seconds a peer may take nothing while something waits for it. Over it the connection
    /// is ended
    #[arg(
        id = "limits.stalled-seconds",
        long = "limits-stalled-seconds",
        value_name = "SECONDS",
        default_value_t = 60
    )]
    pub stalled_seconds: u32,

    /// Seconds everything may take to end when the host stops
    #[arg(
        id = "limits.drain-seconds",
        long = "limits-drain-seconds",
        value_name = "SECONDS",
        default_value_t = 10
    )]
    pub drain_seconds: u32,
}

/// The greatest integer TOML has.
const GREATEST_INTEGER: u64 = i64::MAX as u64;
