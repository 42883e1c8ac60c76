//! Versions that wait: for the one before them, the first of their record, a change of access they
//! saw, or one that names their account (02 §9.5, "later").

use std::collections::{BTreeSet, HashMap, VecDeque};

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::version::Checked;

use crate::gatekeeper::WaitsFor;

/// Versions kept waiting at most, and bytes of their canonical form.
const MAX_WAITING: usize = 1000;
const MAX_WAITING_BYTES: usize = 16 * 1024 * 1024;

/// A version that waits, verified.
#[derive(Debug)]
pub(super) struct Waits {
    pub(super) checked: Checked,
    /// Who sent it, and hears of it once it goes in.
    pub(super) from: BTreeSet<Did>,
    waits_for: WaitsFor,
    bytes: usize,
}

/// All that wait in a space. Over the bounds the oldest gives way; a later round finds it again.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    versions: HashMap<ContentId, Waits>,
    /// Ids in the order they came; some may have gone in since.
    order: VecDeque<ContentId>,
    by_what: HashMap<WaitsFor, Vec<ContentId>>,
    bytes: usize,
}

impl Waiting {
    /// Keeps a version until what it waits for is here.
    pub(super) fn add(&mut self, checked: Checked, from: BTreeSet<Did>, waits_for: WaitsFor) {
        let id = checked.version.id();
        if let Some(waits) = self.versions.get_mut(&id) {
            waits.from.extend(from);
            if waits.checked.version.is_stub() && !checked.version.is_stub() {
                waits.checked = checked;
            }
            return;
        }
        let bytes = checked.version.canonical().len();
        self.bytes += bytes;
        self.versions.insert(
            id,
            Waits {
                checked,
                from,
                waits_for,
                bytes,
            },
        );
        self.order.push_back(id);
        self.by_what.entry(waits_for).or_default().push(id);
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
    pub(super) fn take(&mut self, arrived: WaitsFor) -> Vec<Waits> {
        let ids = self.by_what.remove(&arrived).unwrap_or_default();
        ids.into_iter().filter_map(|id| self.remove(id)).collect()
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.versions.len()
    }

    fn remove(&mut self, id: ContentId) -> Option<Waits> {
        let waits = self.versions.remove(&id)?;
        self.bytes -= waits.bytes;
        if let Some(others) = self.by_what.get_mut(&waits.waits_for) {
            others.retain(|other| *other != id);
            if others.is_empty() {
                self.by_what.remove(&waits.waits_for);
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
    use minca_record::version::{Chain, LogPlace, Version};

    /// A version that follows the one called `after`.
    fn version(number: u64, after: &str, bytes: usize) -> Checked {
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
        let account = Account::from_seed([8; 16]);
        let object = object.sign(account.root_key());
        Checked {
            version: Version::shape(object.into()).unwrap(),
            author: account.did(),
            root: account.did(),
        }
    }

    fn waits_for(what: &[u8]) -> WaitsFor {
        WaitsFor::Version(ContentId::of(what))
    }

    fn from(number: u8) -> BTreeSet<Did> {
        [Account::from_seed([number; 16]).did()].into()
    }

    #[test]
    fn what_waited_for_a_version_comes_out_with_all_who_sent_it() {
        let mut waiting = Waiting::default();
        let missing = waits_for(b"a");
        for (number, sender) in [(1, 1), (2, 1), (1, 2)] {
            waiting.add(version(number, "a", 1), from(sender), missing);
        }
        waiting.add(version(3, "b", 1), from(1), waits_for(b"b"));
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
        let of = |number: u64| waits_for(&number.to_be_bytes());
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
