//! Who is connected in a space: one socket per DID, and so many in all.

use std::collections::{HashMap, VecDeque};

use link::ConnectionId;
use minca_record::did::Did;
use tokio::time::{Duration, Instant};

/// Peers in one space at once (04 §7.2).
pub(crate) const PEERS_PER_SPACE: usize = 1_024;
/// How often one DID may replace itself in [`REPLACEMENTS_WITHIN`] (04 §7.2).
const REPLACEMENTS: usize = 10;
const REPLACEMENTS_WITHIN: Duration = Duration::from_secs(60);

/// The sockets of one space.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    by_did: HashMap<Did, Socket>,
    dids: HashMap<ConnectionId, Did>,
}

#[derive(Debug)]
struct Socket {
    connection: ConnectionId,
    since: Instant,
    /// When this DID replaced its older socket, within the last minute.
    replacements: VecDeque<Instant>,
}

/// What becomes of a newcomer (04 §5.3 steps 7 and 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It is in.
    Free,
    /// It is in, and the older socket of its DID goes.
    Replaces(ConnectionId),
    /// It is in, and this one makes room.
    InPlaceOf(ConnectionId),
    /// There is no room for it, or it replaced itself too often.
    Refused,
}

impl Sockets {
    /// Takes a newcomer in. In a full space the one goes that is connected longest of
    /// those that are not `named`: no members, as far as their session DIDs tell.
    pub(crate) fn admit(
        &mut self,
        did: Did,
        connection: ConnectionId,
        most: usize,
        now: Instant,
        named: impl Fn(&Did) -> bool,
    ) -> Admission {
        if let Some(socket) = self.by_did.get_mut(&did) {
            let is_old = |at: &mut Instant| now.duration_since(*at) >= REPLACEMENTS_WITHIN;
            while socket.replacements.pop_front_if(is_old).is_some() {}
            if socket.replacements.len() >= REPLACEMENTS {
                return Admission::Refused;
            }
            socket.replacements.push_back(now);
            socket.since = now;
            let older = std::mem::replace(&mut socket.connection, connection);
            self.dids.remove(&older);
            self.dids.insert(connection, did);
            return Admission::Replaces(older);
        }
        let mut admission = Admission::Free;
        if self.by_did.len() >= most {
            let stranger = self
                .by_did
                .iter()
                .filter(|(did, _)| !named(did))
                .min_by_key(|(_, socket)| (socket.since, socket.connection))
                .map(|(_, socket)| socket.connection);
            let Some(stranger) = stranger else {
                return Admission::Refused;
            };
            self.left(stranger);
            admission = Admission::InPlaceOf(stranger);
        }
        self.dids.insert(connection, did);
        let socket = Socket {
            connection,
            since: now,
            replacements: VecDeque::new(),
        };
        self.by_did.insert(did, socket);
        admission
    }

    /// A socket is gone. One that was replaced takes nothing of the newer with it.
    pub(crate) fn left(&mut self, connection: ConnectionId) {
        if let Some(did) = self.dids.remove(&connection) {
            self.by_did.remove(&did);
        }
    }

    /// Everyone's connection; nobody is in any more.
    pub(crate) fn take_all(&mut self) -> Vec<ConnectionId> {
        self.by_did.clear();
        self.dids
            .drain()
            .map(|(connection, _)| connection)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use minca_record::hash::sha256;
    use minca_record::signing::SigningKey;

    fn did(number: u8) -> Did {
        let mut uniform = [0x5a; 48];
        uniform[..32].copy_from_slice(&sha256(&[number]));
        SigningKey::from_uniform(&uniform).did()
    }

    fn nobody(_: &Did) -> bool {
        false
    }

    #[test]
    fn the_older_socket_leaving_late_takes_nothing_of_the_newer_with_it() {
        let (mut sockets, now) = (Sockets::default(), Instant::now());
        let admit = |sockets: &mut Sockets, number| {
            sockets.admit(did(1), ConnectionId(number), 9, now, nobody)
        };
        assert_eq!(admit(&mut sockets, 1), Admission::Free);
        assert_eq!(admit(&mut sockets, 2), Admission::Replaces(ConnectionId(1)));
        sockets.left(ConnectionId(1));
        assert_eq!(admit(&mut sockets, 3), Admission::Replaces(ConnectionId(2)));
        sockets.left(ConnectionId(3));
        assert_eq!(admit(&mut sockets, 4), Admission::Free);
    }

    #[test]
    fn a_did_may_replace_itself_ten_times_a_minute_and_then_keeps_the_older() {
        let (mut sockets, start) = (Sockets::default(), Instant::now());
        for number in 0..=10 {
            let now = start + Duration::from_secs(number);
            let admission = sockets.admit(did(1), ConnectionId(number), 9, now, nobody);
            assert_ne!(admission, Admission::Refused);
        }
        let again = |sockets: &mut Sockets, second| {
            let now = start + Duration::from_secs(second);
            sockets.admit(did(1), ConnectionId(second), 9, now, nobody)
        };
        assert_eq!(again(&mut sockets, 60), Admission::Refused);
        assert_eq!(
            again(&mut sockets, 61),
            Admission::Replaces(ConnectionId(10))
        );
    }

    #[test]
    fn a_full_space_lets_go_of_the_longest_connected_stranger_and_of_no_member() {
        let (mut sockets, now) = (Sockets::default(), Instant::now());
        let members = [did(1), did(4), did(5)];
        let named = |did: &Did| members.contains(did);
        let mut admit =
            |number: u8| sockets.admit(did(number), ConnectionId(number.into()), 3, now, named);
        for number in 1..=3 {
            assert_eq!(admit(number), Admission::Free);
        }
        assert_eq!(admit(4), Admission::InPlaceOf(ConnectionId(2)));
        assert_eq!(admit(5), Admission::InPlaceOf(ConnectionId(3)));
        assert_eq!(admit(6), Admission::Refused);
    }
}
