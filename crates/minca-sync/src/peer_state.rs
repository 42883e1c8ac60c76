//! How long a peer stays admitted, and what it may be sent (04 §6.3).

use minca_record::did::Did;

/// Milliseconds a peer's `who` is waited for (04 §7.1).
pub const WHO_WAIT_MS: u64 = 10_000;

/// What may be sent to a peer of a private space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PeerState {
    /// Everything.
    Open,
    /// Nothing until its `who` comes or its time is over.
    Held,
    /// Nothing; what it pushes is taken in.
    Silent,
    /// It is closed [`NotAReader`](crate::close::Close::NotAReader).
    Gone,
}

/// What a host remembers of a peer of a private space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its session DID.
    pub session: Did,
    /// The read key it was admitted on.
    pub admitted_on: Did,
    /// When it was admitted, in the host's milliseconds.
    pub admitted_at_ms: u64,
    /// What its `who` showed; `None` while none has come.
    pub who: Option<Shown>,
}

/// What a peer's `who` showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// No account.
    Nothing,
    /// The account of a good note.
    Account {
        /// The account.
        account: Did,
        /// Whether the note lets its key read here, and the account hasn't
        /// revoked that key. Otherwise the account is no reader on this socket,
        /// though it may be known for a former member.
        reads: bool,
    },
}

/// What the access history says now.
pub trait Membership {
    /// The current read key.
    fn current_read_key(&self) -> Did;

    /// Whether a key change is due (03 §9.2).
    fn key_due(&self) -> bool;

    /// Whether the account is a reader now.
    fn is_reader(&self, account: &Did) -> bool;

    /// Whether the account had a place once and is no reader now.
    fn is_former_member(&self, account: &Did) -> bool;
}

/// What may be sent to `peer` now. It is looked at whenever the access history
/// changes, when a peer is admitted, when a `who` is taken, and
/// [`WHO_WAIT_MS`] after a peer was admitted.
pub fn peer_state(space: &impl Membership, peer: &Peer, now_ms: u64) -> PeerState {
    let (account, reads) = match peer.who {
        Some(Shown::Account { account, reads }) => (account, reads),
        Some(Shown::Nothing) | None => (peer.session, true),
    };
    let is_reader = reads && space.is_reader(&account);
    let waits = peer.who.is_none() && now_ms.saturating_sub(peer.admitted_at_ms) < WHO_WAIT_MS;
    if peer.admitted_on != space.current_read_key() {
        return match (is_reader, waits) {
            (true, _) => PeerState::Open,
            (false, true) => PeerState::Held,
            (false, false) => PeerState::Gone,
        };
    }
    if !space.key_due() {
        return PeerState::Open;
    }
    if space.is_former_member(&account) {
        return PeerState::Silent;
    }
    if !is_reader && waits {
        PeerState::Held
    } else {
        PeerState::Open
    }
}
