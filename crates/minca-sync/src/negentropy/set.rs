//! What reconciling asks of a set of items, which may not all be at hand.

use std::ops::Range;

use super::Bound;
use crate::{item::Item, sum::Sum};

/// A set of items in their order (05 §2), by index.
///
/// A set may know its counts and sums and hold only some of its items: a method
/// that needs others says [which](NotLoaded), and is called again once they are
/// there. Everything an implementation answers without [`NotLoaded`] must be
/// the same whatever is loaded.
pub trait ItemSet {
    /// How many items there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A number that is another one after any change to the items. Loading
    /// items changes nothing. Whoever is in the midst of an answer begins again
    /// when it differs.
    fn generation(&self) -> u64;

    /// The index of the first item not before `bound`; [`len`](Self::len) where
    /// there is none.
    ///
    /// # Errors
    /// [`NotLoaded`].
    fn lower_bound(&self, bound: &Bound) -> Result<usize, NotLoaded>;

    /// The item at `index`, which is below [`len`](Self::len).
    ///
    /// # Errors
    /// [`NotLoaded`].
    fn item(&self, index: usize) -> Result<Item, NotLoaded>;

    /// Calls `visit` for each item of `range`, in order; for none of them if
    /// not all are loaded. `range` is within the set.
    ///
    /// # Errors
    /// [`NotLoaded`].
    fn for_each(&self, range: Range<usize>, visit: &mut dyn FnMut(&Item)) -> Result<(), NotLoaded>;

    /// The sum of the ids in `range`, which is within the set.
    ///
    /// # Errors
    /// [`NotLoaded`]: whole runs should be summed from what is kept of them, so
    /// that only the edges are missing.
    fn sum(&self, range: Range<usize>) -> Result<Sum, NotLoaded>;
}

/// Items that must be loaded before going on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("items of {} ranges are not loaded", .ranges.len())]
pub struct NotLoaded {
    /// Ranges of indices. All of them must be loaded at the next call: without
    /// that nothing ever gets on.
    pub ranges: Vec<Range<usize>>,
}

impl NotLoaded {
    /// One range.
    pub fn range(range: Range<usize>) -> Self {
        Self {
            ranges: vec![range],
        }
    }
}

/// Collects what is missing, so that it is asked for in one go.
#[derive(Debug, Default)]
pub(super) struct Missing {
    ranges: Vec<Range<usize>>,
}

impl Missing {
    /// The value, or `None` and the missing ranges noted.
    pub(super) fn note<T>(&mut self, result: Result<T, NotLoaded>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(not_loaded) => {
                self.add(not_loaded.ranges);
                None
            }
        }
    }

    pub(super) fn add(&mut self, ranges: Vec<Range<usize>>) {
        self.ranges.extend(ranges);
    }

    pub(super) fn count(&self) -> usize {
        self.ranges.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// What was noted, in order, overlapping ranges put together.
    pub(super) fn into_ranges(mut self) -> Vec<Range<usize>> {
        self.ranges
            .sort_unstable_by_key(|range| (range.start, range.end));
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(self.ranges.len());
        for range in self.ranges {
            match merged.last_mut() {
                Some(last) if range.start < last.end || *last == range => {
                    last.end = last.end.max(range.end);
                }
                _ => merged.push(range),
            }
        }
        merged
    }
}
