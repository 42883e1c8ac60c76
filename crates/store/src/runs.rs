//! What becomes of runs that gain items. Reading and writing them is each store's.

use minca_sync::item::Item;
use minca_sync::sum::Sum;

use crate::{RUN_ITEMS, Run};

/// A run that gains items.
pub(crate) struct Touched {
    pub(crate) run: Run,
    /// It is the collection's first, and so takes all before it too.
    pub(crate) is_first: bool,
    /// Where the run after it begins.
    pub(crate) next: Option<Item>,
}

/// Runs that gained items.
pub(crate) struct Grown {
    /// To be written as they are now.
    pub(crate) written: Vec<Run>,
    /// To be read and cut.
    pub(crate) long: Vec<LongRun>,
}

/// A run that came out longer than [`RUN_ITEMS`]: it goes, and what [`cut`] makes of the
/// items at or after `from` and before `to` takes its place.
pub(crate) struct LongRun {
    pub(crate) first: Item,
    pub(crate) from: Option<Item>,
    pub(crate) to: Option<Item>,
}

/// Adds `items`, in order, to the runs they belong to, in order; to no runs where these
/// are the collection's first items.
pub(crate) fn grow(mut touched: Vec<Touched>, items: &[Item]) -> Grown {
    if touched.is_empty() {
        return Grown {
            written: cut(items),
            long: Vec::new(),
        };
    }
    let mut place = 0;
    for item in items {
        // Items before all runs belong to the first.
        while touched
            .get(place + 1)
            .is_some_and(|after| after.run.first <= *item)
        {
            place += 1;
        }
        touched[place].run.sum.add(&item.id);
    }

    let (mut written, mut long) = (Vec::new(), Vec::new());
    for Touched {
        run,
        is_first,
        next,
    } in touched
    {
        if run.sum.count() <= RUN_ITEMS as u64 {
            written.push(run);
            continue;
        }
        long.push(LongRun {
            first: run.first,
            from: (!is_first).then_some(run.first),
            to: next,
        });
    }
    Grown { written, long }
}

/// Cuts items, which are in order, in halves until each holds at most [`RUN_ITEMS`].
pub(crate) fn cut(items: &[Item]) -> Vec<Run> {
    if items.len() > RUN_ITEMS {
        let (low, high) = items.split_at(items.len() / 2);
        let mut runs = cut(low);
        runs.extend(cut(high));
        return runs;
    }
    let Some(first) = items.first() else {
        return Vec::new();
    };
    let sum: Sum = items.iter().map(|item| &item.id).collect();
    vec![Run { first: *first, sum }]
}
