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
