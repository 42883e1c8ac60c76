//! What the handshake's signatures are over (04 §6.1).

use minca_record::did::Did;

use super::Nonce;

/// The label: the earlier protocol's, renamed. The first thing to change if
/// no handshake with other software succeeds (04 §13).
pub const PEER_LABEL: &str = "minca-peer/v3";

/// H: what a hello's `sig` and `read` are over. `space` is the id in the
/// request, as it was decoded; `nonce` is the node's.
pub fn hello_label(space: &str, client: &Did, node: &Did, nonce: &Nonce) -> Vec<u8> {
    format!("{PEER_LABEL}|client|{space}|{client}|{node}|{nonce}").into_bytes()
}

/// W: what a welcome's `sig` is over. `nonce` is the client's.
pub fn welcome_label(space: &str, node: &Did, nonce: &Nonce) -> Vec<u8> {
    format!("{PEER_LABEL}|server|{space}|{node}|{nonce}").into_bytes()
}
