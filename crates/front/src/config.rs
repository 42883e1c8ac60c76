//! What an operator may change, with the defaults of 04 §7.

use crate::address::TrustedProxy;
use crate::rate::Rate;
use minca_record::did::Did;
use minca_record::signing::SigningKey;
use std::time::Duration;

/// The host's own key: what the challenge names and the welcome is signed with (04 §2).
#[derive(Clone, Debug)]
pub struct HostIdentity {
    /// The node's DID.
    pub did: Did,
    /// The key it names.
    pub signing_key: SigningKey,
}

impl HostIdentity {
    /// The identity of a key.
    pub fn of(signing_key: SigningKey) -> Self {
        Self {
            did: signing_key.did(),
            signing_key,
        }
    }
}

/// How a front-end treats its sockets. `default()` is 04 §7's tables.
#[derive(Clone, Debug, Default)]
pub struct FrontConfig {
    /// Paths besides `/health` and `/peer`, each answered by its own handler. The router
    /// has no fallback of its own; a response may carry a [`RouteLabel`](crate::RouteLabel).
    pub extra_routes: Option<axum::Router>,
    /// The proxy in front, if there is one.
    pub trusted_proxy: Option<TrustedProxy>,
    /// What sockets may cost.
    pub limits: Limits,
    /// What sockets may wait for.
    pub waits: Waits,
}

/// How much of anything there may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections that speak plain HTTP or haven't asked for anything yet; one more is
    /// dropped unanswered.
    pub http_connections: usize,
    /// Those of one TCP address, a trusted proxy's excepted; one more is dropped
    /// unanswered.
    pub http_connections_per_address: usize,
    /// Open sockets, all; over it upgrades get `503`.
    pub sockets: usize,
    /// Sockets not yet admitted, all; over it the oldest of them is closed `4008`.
    pub unadmitted: usize,
    /// Open sockets of one address; over it upgrades get `429`.
    pub sockets_per_address: usize,
    /// Sockets not yet admitted of one address; over it upgrades get `429`.
    pub unadmitted_per_address: usize,
    /// New sockets of one address; over it upgrades get `429`.
    pub new_per_address: Rate,
    /// Bytes read from one socket; over it the socket is not read.
    pub read_bytes: Rate,
    /// Messages and control frames read from one socket; over it the socket is not read.
    pub read_messages: Rate,
    /// The largest message before admission; a bigger one closes `1009`.
    pub handshake_message: usize,
    /// The largest message after it; a bigger one closes `1009`. At most
    /// [`link::MAX_MESSAGE_BYTES`].
    pub message: usize,
    /// All messages in memory, in and out. Over it sockets are not read, upgrades get
    /// `503`, and the socket with the oldest unfinished message is ended.
    pub message_memory: usize,
    /// The same for the sockets of one address; an eighth of it.
    pub message_memory_per_address: usize,
    /// Handshakes whose signatures are checked at once.
    pub signature_threads: usize,
    /// Handshakes that may wait for that; over it upgrades get `503`.
    pub signature_queue: usize,
}

/// How long anything may take.
#[derive(Clone, Copy, Debug)]
pub struct Waits {
    /// For a request's headers; then `408`.
    pub headers: Duration,
    /// For a connection to go on speaking HTTP; then it finishes the request it is at, and
    /// after as long again it is ended.
    pub http: Duration,
    /// For the hello, from the challenge on; then `4008`.
    pub hello: Duration,
    /// For the worker to say what a proof is judged against; then it counts as not held.
    pub door: Duration,
    /// For the worker to admit or refuse; then `1011`.
    pub verdict: Duration,
    /// Between two pings.
    pub ping: Duration,
    /// For one message to be whole, and a second more for each 64 KiB that came; then the
    /// connection is ended.
    pub arrival: Duration,
    /// For a peer to take anything while something waits; then the connection is ended.
    pub stalled: Duration,
    /// For the other side's close.
    pub close: Duration,
    /// For everything to end when shutting down.
    pub drain: Duration,
    /// What `Retry-After` says with `503` and `429`.
    pub retry_after: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            http_connections: 4096,
            http_connections_per_address: 256,
            sockets: 20_000,
            unadmitted: 4096,
            sockets_per_address: 2048,
            unadmitted_per_address: 256,
            new_per_address: Rate {
                per_second: 50,
                burst: 256,
            },
            read_bytes: Rate {
                per_second: 4 << 20,
                burst: 32 << 20,
            },
            read_messages: Rate {
                per_second: 200,
                burst: 1000,
            },
            handshake_message: 65_536,
            message: link::MAX_MESSAGE_BYTES,
            message_memory: 1 << 30,
            message_memory_per_address: 128 << 20,
            signature_threads: 2,
            signature_queue: 1024,
        }
    }
}

impl Default for Waits {
    fn default() -> Self {
        Self {
            headers: Duration::from_secs(10),
            http: Duration::from_secs(120),
            hello: Duration::from_secs(10),
            door: Duration::from_secs(10),
            verdict: Duration::from_secs(60),
            ping: Duration::from_secs(20),
            arrival: Duration::from_secs(120),
            stalled: Duration::from_secs(60),
            close: Duration::from_secs(5),
            drain: Duration::from_secs(10),
            retry_after: Duration::from_secs(30),
        }
    }
}
