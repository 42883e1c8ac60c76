//! Versions that wait for the one before them or the first of their record (02 §9.5, "later").

use std::collections::{BTreeSet, HashMap, VecDeque};

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::version::Version;

/// Versions kept waiting at most, and bytes of their canonical form.
const MAX_WAITING: usize = 1000;
const MAX_WAITING_BYTES: usize = 16 * 1024 * 1024;

/// A version that waits, verified.
#[derive(Debug)]
pub(super) struct Waits {
    pub(super) version: Version,
    /// Who sent it, and hears of it once it goes in.
    pub(super) from: BTreeSet<Did>,
    missing: ContentId,
    bytes: usize,
}

/// All that wait in a space. Over the bounds the oldest gives way; a later round finds it again.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    versions: HashMap<ContentId, Waits>,
    /// Ids in the order they came; some may have gone in since.
    order: VecDeque<ContentId>,
    by_missing: HashMap<ContentId, Vec<ContentId>>,
    bytes: usize,
}

impl Waiting {
    /// Keeps a version until `missing` is held.
    pub(super) fn add(&mut self, version: Version, from: BTreeSet<Did>, missing: ContentId) {
        let id = version.id();
        if let Some(waits) = self.versions.get_mut(&id) {
            waits.from.extend(from);
            if waits.version.is_stub() && !version.is_stub() {
                waits.version = version;
            }
            return;
        }
        let bytes = version.canonical().len();
        self.bytes += bytes;
        self.versions.insert(
            id,
            Waits {
                version,
                from,
                missing,
                bytes,
            },
        );
        self.order.push_back(id);
        self.by_missing.entry(missing).or_default().push(id);
        while self.versions.len() > MAX_WAITING || self.bytes > MAX_WAITING_BYTES {
            let Some(oldest) = self.order.pop_front() else {
                break;
            };
            self.remove(oldest);
        }
        if self.order.len() > 2 * MAX_WAITING {
            self.order.retain(|id| self.versions.contains_key(id));
        }
    }

    /// Takes out what waited for `arrived`.
    pub(super) fn take(&mut self, arrived: ContentId) -> Vec<Waits> {
        let ids = self.by_missing.remove(&arrived).unwrap_or_default();
        ids.into_iter().filter_map(|id| self.remove(id)).collect()
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.versions.len()
    }

    fn remove(&mut self, id: ContentId) -> Option<Waits> {
        let waits = self.versions.remove(&id)?;
        self.bytes -= waits.bytes;
        if let Some(others) = self.by_missing.get_mut(&waits.missing) {
            others.retain(|other| *other != id);
            if others.is_empty() {
                self.by_missing.remove(&waits.missing);
            }
        }
        Some(waits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::UnixTime;
    use crate::identity::Account;
    use crate::write::{Draft, Position};
    use minca_record::version::{Chain, LogPlace};

    /// A version that follows the one called `after`.
    fn version(number: u64, after: &str, bytes: usize) -> Version {
        let prev = ContentId::of(after.as_bytes());
        let chain = Chain {
            prev,
            genesis: prev,
        };
        let position = Position {
            seq: 1,
            chain: Some(chain),
        };
        let log = LogPlace { n: 0, prev: None };
        let now = UnixTime::from_milliseconds(number);
        let space = ContentId::of(b"space");
        let draft = Draft::new(space, "app.note", "k", position, log, now);
        let object = draft.body("x".repeat(bytes).into());
        let object = object.sign(Account::from_seed([8; 16]).root_key());
        Version::shape(object.into()).unwrap()
    }

    fn from(number: u8) -> BTreeSet<Did> {
        [Account::from_seed([number; 16]).did()].into()
    }

    #[test]
    fn what_waited_for_a_version_comes_out_with_all_who_sent_it() {
        let mut waiting = Waiting::default();
        let missing = ContentId::of(b"a");
        for (number, sender) in [(1, 1), (2, 1), (1, 2)] {
            waiting.add(version(number, "a", 1), from(sender), missing);
        }
        waiting.add(version(3, "b", 1), from(1), ContentId::of(b"b"));
        assert_eq!(waiting.len(), 3);
        let taken = waiting.take(missing);
        let senders: Vec<usize> = taken.iter().map(|waits| waits.from.len()).collect();
        assert_eq!(senders, [2, 1]);
        assert_eq!(waiting.len(), 1);
        assert!(waiting.take(missing).is_empty());
    }

    #[test]
    fn over_the_bounds_the_oldest_gives_way() {
        let mut waiting = Waiting::default();
        let of = |number: u64| ContentId::of(&number.to_be_bytes());
        let first = version(0, "a", 1);
        waiting.add(first.clone(), from(1), of(0));
        for number in 1..=MAX_WAITING as u64 {
            waiting.add(version(number, "a", 1), from(1), of(number));
        }
        assert_eq!(waiting.len(), MAX_WAITING);
        assert!(waiting.take(of(0)).is_empty());
        assert_eq!(waiting.take(of(1)).len(), 1);

        let mut waiting = Waiting::default();
        for number in 0..20 {
            waiting.add(version(number, "a", 1_000_000), from(1), of(number));
        }
        assert!(waiting.bytes <= MAX_WAITING_BYTES);
        assert_eq!(waiting.len(), 16);
        assert!(waiting.take(of(3)).is_empty());
        assert_eq!(waiting.take(of(4)).len(), 1);
    }
}
