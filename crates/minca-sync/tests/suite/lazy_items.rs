//! A set of items of which only some runs are loaded, over one that has all.

use std::{cell::RefCell, collections::BTreeSet, ops::Range};

use minca_sync::{
    item::Item,
    negentropy::{Bound, ItemSet, NotLoaded, SortedItems},
    sum::Sum,
};

/// Knows its counts, sums and each run's first item, as a store's runs do.
pub(crate) struct LazyItems {
    all: SortedItems,
    run: usize,
    loaded: RefCell<BTreeSet<usize>>,
}

impl LazyItems {
    pub(crate) fn new(all: SortedItems, run: usize) -> Self {
        Self {
            all,
            run,
            loaded: RefCell::default(),
        }
    }

    /// Loads exactly these runs and forgets all others; how many.
    pub(crate) fn load_only(&self, ranges: &[Range<usize>]) -> usize {
        let mut loaded = self.loaded.borrow_mut();
        loaded.clear();
        for range in ranges {
            assert!(range.end <= self.all.len());
            loaded.extend(self.runs(range));
        }
        loaded.len()
    }

    fn runs(&self, range: &Range<usize>) -> Range<usize> {
        range.start / self.run..range.end.div_ceil(self.run)
    }

    fn need(&self, runs: impl Iterator<Item = usize>) -> Result<(), NotLoaded> {
        let ranges: Vec<Range<usize>> = runs
            .filter(|run| !self.loaded.borrow().contains(run))
            .map(|run| run * self.run..((run + 1) * self.run).min(self.all.len()))
            .collect();
        if ranges.is_empty() {
            Ok(())
        } else {
            Err(NotLoaded { ranges })
        }
    }
}

impl ItemSet for LazyItems {
    fn len(&self) -> usize {
        self.all.len()
    }

    fn generation(&self) -> u64 {
        self.all.generation()
    }

    fn lower_bound(&self, bound: &Bound) -> Result<usize, NotLoaded> {
        let index = self.all.lower_bound(bound)?;
        if index > 0 && index < self.len() && !index.is_multiple_of(self.run) {
            self.need(std::iter::once(index / self.run))?;
        }
        Ok(index)
    }

    fn item(&self, index: usize) -> Result<Item, NotLoaded> {
        self.need(std::iter::once(index / self.run))?;
        self.all.item(index)
    }

    fn for_each(&self, range: Range<usize>, visit: &mut dyn FnMut(&Item)) -> Result<(), NotLoaded> {
        self.need(self.runs(&range))?;
        self.all.for_each(range, visit)
    }

    fn sum(&self, range: Range<usize>) -> Result<Sum, NotLoaded> {
        let edges = [range.start, range.end].into_iter();
        let cut = edges.filter(|edge| *edge < self.len() && edge % self.run != 0);
        if !range.is_empty() {
            self.need(cut.map(|edge| edge / self.run))?;
        }
        self.all.sum(range)
    }
}
