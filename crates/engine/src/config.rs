//! What an engine does when, and how much it takes on: every number in one place.

use crate::event::Millis;

/// The numbers of one engine. The defaults are the protocol's where it has one.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Ids in one `want`, versions in one `versions` (05 §17).
    pub ids_per_request: usize,
    /// Collections reconciled side by side with one peer, as initiator.
    pub sessions_per_peer: usize,
    /// `want`s kept unanswered at one peer.
    pub wants_in_flight: usize,
    /// Ids noted of one peer at once: found in sessions, to be asked for, to be sent.
    /// A session that finds more ends early; the rest is found in a later round.
    pub ids_per_peer: usize,
    /// A peer's hellos answered a minute (08 §17.2). Of more, the newest is answered late.
    pub hellos_per_minute: u64,
    /// A peer's sessions served a minute, of `rounds_per_session` each. More wait.
    pub sessions_per_minute: u64,
    /// A peer's `want`s answered a minute. More wait.
    pub wants_per_minute: u64,
    /// A peer's `want-file`s answered a minute. More wait.
    pub file_wants_per_minute: u64,
    /// Bytes of versions put in one answer to a `want`; at least one goes.
    pub answer_bytes: usize,
    /// Bytes of versions put in one message nobody asked for, after a session.
    pub offer_bytes: usize,
    /// Over this much waiting to go out, a peer's next message is not handled and
    /// nothing it didn't ask for is sent to it (04 §7.2).
    pub unsent_bytes: usize,
    /// Messages of versions of one peer being taken in at once.
    pub takes_per_peer: usize,
    /// Versions whose rows are read at once, and put in one commit, at most.
    pub versions_per_commit: usize,
    /// Steps of the access history's replay, or of judging by it, in one go (some
    /// milliseconds at most): others have their turn in between.
    pub replay_steps: u64,
    /// First versions whose bodies are read at once, each of which may be as large as a
    /// version may be.
    pub first_bodies_per_read: usize,
    /// Bytes of versions being taken in, over all peers, above which no further
    /// message of versions is begun.
    pub intake_bytes: usize,
    /// Rounds after which a session is given up as initiator.
    pub rounds_per_session: usize,
    /// A session, or a `want`, that heard nothing for so long is given up.
    pub silence: Millis,
    /// A hello goes out this long after something was taken in since the last one.
    pub hello_after_intake: Millis,
    /// A hello goes out this long after a peer was skipped, once it has room.
    pub hello_after_skip: Millis,
    /// A hello goes out at least this often.
    pub hello_interval: Millis,
    /// Malformed messages taken before the socket is closed (04 §7.2).
    pub malformed_messages: u32,
    /// Versions waiting per peer, by number and by canonical bytes (08 §17.2).
    pub waiting_per_peer: WaitingLimit,
    /// Versions waiting per space.
    pub waiting_per_space: WaitingLimit,
    /// Refusals remembered per space (08 §17.2).
    pub refusals: usize,
    /// Items read from the store at once when a collection is loaded.
    pub items_per_read: usize,
    /// What failed in the store is tried again after this long, doubled each time …
    pub retry_first: Millis,
    /// … up to this long.
    pub retry_most: Millis,
}

/// A bound on versions that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingLimit {
    pub versions: usize,
    pub bytes: usize,
}

impl Default for EngineConfig {
    fn default() -> EngineConfig {
        EngineConfig {
            ids_per_request: 200,
            sessions_per_peer: 16,
            wants_in_flight: 4,
            ids_per_peer: 131_072,
            hellos_per_minute: 30,
            sessions_per_minute: 1_000,
            wants_per_minute: 600,
            file_wants_per_minute: 2_000,
            answer_bytes: 4 << 20,
            offer_bytes: 1 << 20,
            unsent_bytes: 8 << 20,
            takes_per_peer: 8,
            versions_per_commit: 1_000,
            replay_steps: 200_000,
            first_bodies_per_read: 16,
            intake_bytes: 32 << 20,
            rounds_per_session: 64,
            silence: 30_000,
            hello_after_intake: 30_000,
            hello_after_skip: 1_000,
            hello_interval: 300_000,
            malformed_messages: 100,
            waiting_per_peer: WaitingLimit {
                versions: 1_000,
                bytes: 16 << 20,
            },
            waiting_per_space: WaitingLimit {
                versions: 4_000,
                bytes: 64 << 20,
            },
            refusals: 10_000,
            items_per_read: 20_000,
            retry_first: 250,
            retry_most: 30_000,
        }
    }
}
