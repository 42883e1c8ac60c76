//! A space's collections: their sums always, their items once a session needs them.

use std::collections::BTreeMap;

use minca_sync::item::Item;
use minca_sync::message::{MAX_HELLO_COLLECTIONS, is_system};
use minca_sync::negentropy::SortedItems;
use minca_sync::sum::Sum;

use crate::event::JobId;

/// One collection.
#[derive(Debug, Default)]
struct Collection {
    sum: Sum,
    items: Items,
}

/// How much of a collection's items is in memory.
#[derive(Debug, Default)]
enum Items {
    #[default]
    Closed,
    /// Read page by page; what lands meanwhile goes in too, and comes twice without harm.
    Loading {
        set: SortedItems,
        after: Option<Item>,
        job: Option<JobId>,
    },
    Open(SortedItems),
}

/// Every collection with at least one committed version.
#[derive(Debug, Default)]
pub(crate) struct Collections {
    by_name: BTreeMap<String, Collection>,
    /// What a collection nobody wrote in yet looks like.
    empty: SortedItems,
}

/// What to do for a collection's items to be at hand.
pub(crate) enum Access<'a> {
    Open(&'a SortedItems),
    /// A read is under way.
    Loading,
    /// The next page is to be read, after this item.
    ReadAfter(Option<Item>),
}

impl Collections {
    pub(crate) fn new(sums: Vec<(String, Sum)>) -> Collections {
        let by_name = sums
            .into_iter()
            .map(|(name, sum)| {
                (
                    name,
                    Collection {
                        sum,
                        items: Items::Closed,
                    },
                )
            })
            .collect();
        Collections {
            by_name,
            empty: SortedItems::new(),
        }
    }

    /// How many collections hold anything.
    pub(crate) fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Their names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// The fingerprints of the collections that hold anything (05 §4 `hello`). Where
    /// they are more than a hello may name, `sys.*` first and of the others those
    /// from `from` on, in a circle: all of them are named in turn.
    pub(crate) fn fingerprints(&self, from: usize) -> Vec<(&str, [u8; 16])> {
        let all = self
            .by_name
            .iter()
            .map(|(name, collection)| (name.as_str(), collection.sum.fingerprint()));
        if self.by_name.len() <= MAX_HELLO_COLLECTIONS {
            return all.collect();
        }
        let (mut named, others): (Vec<_>, Vec<_>) = all.partition(|(name, _)| is_system(name));
        named.truncate(MAX_HELLO_COLLECTIONS);
        let room = (MAX_HELLO_COLLECTIONS - named.len()).min(others.len());
        let begin = from.checked_rem(others.len()).unwrap_or_default();
        named.extend(others.into_iter().cycle().skip(begin).take(room));
        named
    }

    /// A collection's fingerprint; `None` while nothing of it is held.
    pub(crate) fn fingerprint(&self, name: &str) -> Option<[u8; 16]> {
        self.by_name
            .get(name)
            .map(|collection| collection.sum.fingerprint())
    }

    /// Items of versions that were committed.
    pub(crate) fn landed(&mut self, name: &str, items: Vec<Item>) {
        if !self.by_name.contains_key(name) {
            let fresh = Collection {
                sum: Sum::default(),
                items: Items::Open(SortedItems::new()),
            };
            self.by_name.insert(name.to_owned(), fresh);
        }
        let Some(collection) = self.by_name.get_mut(name) else {
            return;
        };
        for item in &items {
            collection.sum.add(&item.id);
        }
        match &mut collection.items {
            Items::Closed => {}
            Items::Loading { set, .. } | Items::Open(set) => set.insert_all(items),
        }
    }

    /// The items of a collection, or what has to be done first.
    pub(crate) fn access(&mut self, name: &str) -> Access<'_> {
        let Some(collection) = self.by_name.get_mut(name) else {
            return Access::Open(&self.empty);
        };
        if matches!(collection.items, Items::Closed) {
            collection.items = Items::Loading {
                set: SortedItems::new(),
                after: None,
                job: None,
            };
        }
        match &collection.items {
            Items::Open(set) => Access::Open(set),
            Items::Loading { job: Some(_), .. } => Access::Loading,
            Items::Loading { after, .. } => Access::ReadAfter(*after),
            Items::Closed => Access::ReadAfter(None),
        }
    }

    /// Notes that a page is being read.
    pub(crate) fn reading(&mut self, name: &str, reading: JobId) {
        if let Some(Collection {
            items: Items::Loading { job, .. },
            ..
        }) = self.by_name.get_mut(name)
        {
            *job = Some(reading);
        }
    }

    /// Takes a page in; `last` when there is none after it. `None`: the read failed.
    pub(crate) fn page(&mut self, name: &str, page: Option<Vec<Item>>, last: bool) {
        let Some(collection) = self.by_name.get_mut(name) else {
            return;
        };
        let Items::Loading { set, after, job } = &mut collection.items else {
            return;
        };
        *job = None;
        let Some(page) = page else {
            return;
        };
        *after = page.last().copied().or(*after);
        set.insert_all(page);
        if last {
            collection.items = Items::Open(std::mem::take(set));
        }
    }
}
