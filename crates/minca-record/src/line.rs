//! A key's line in a collection: unbroken lines, places held twice, and what
//! is lacking (02 §4.10).

use std::collections::{BTreeMap, BTreeSet};

use crate::content_id::ContentId;
use crate::version::{LogPlace, Version};

/// What is held of one key's line in one collection of one space, whole or as
/// stubs. Versions may be added in any order.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// By place: the versions held there, and what each names as the one
    /// before it.
    places: BTreeMap<u64, BTreeMap<ContentId, Option<ContentId>>>,
}

impl Line {
    /// A line of which nothing is held.
    pub fn new() -> Line {
        Line::default()
    }

    /// Adds a version that is held. Adding one twice changes nothing.
    pub fn add(&mut self, id: ContentId, log: LogPlace) {
        self.places.entry(log.n).or_default().insert(id, log.prev);
    }

    /// As [`Line::add`].
    pub fn add_version(&mut self, version: &Version) {
        self.add(version.id(), version.log());
    }

    /// The last place of the unbroken line from place 0: the largest `m` for
    /// which held versions at places 0 to `m` exist, each from 1 on naming the
    /// one before it in this run. `None` without a place 0.
    ///
    /// Where a place is held twice, any of the runs counts (03 §6.3).
    pub fn unbroken_end(&self) -> Option<u64> {
        let mut run: BTreeSet<ContentId> = self.places.get(&0)?.keys().copied().collect();
        let mut end = 0;
        for (&place, versions) in self.places.range(1..) {
            if place != end + 1 {
                break;
            }
            let goes_on = |prev: &Option<ContentId>| prev.is_some_and(|prev| run.contains(&prev));
            let next: BTreeSet<ContentId> = versions
                .iter()
                .filter(|(_, prev)| goes_on(prev))
                .map(|(id, _)| *id)
                .collect();
            if next.is_empty() {
                break;
            }
            run = next;
            end = place;
        }
        Some(end)
    }

    /// Places held more than once, ascending: forks.
    pub fn held_twice(&self) -> impl Iterator<Item = u64> {
        self.places
            .iter()
            .filter(|(_, versions)| versions.len() > 1)
            .map(|(&place, _)| place)
    }

    /// Ids that a held version names as the one before it and that aren't
    /// held, each once.
    pub fn lacks(&self) -> BTreeSet<ContentId> {
        let held: BTreeSet<&ContentId> = self.places.values().flat_map(BTreeMap::keys).collect();
        let named = self.places.values().flat_map(BTreeMap::values).flatten();
        named.filter(|id| !held.contains(id)).copied().collect()
    }
}
