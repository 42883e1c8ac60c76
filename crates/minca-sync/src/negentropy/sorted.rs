//! A set of items that is all in memory: a sorted list, with sums.

use std::ops::Range;

use super::{Bound, ItemSet, NotLoaded};
use crate::{item::Item, sum::Sum};

/// Items between two kept sums: what an edge of a range costs to add up.
const BLOCK: usize = 16;

/// Items in order, in one list, with the sum of everything before each block of
/// a few. A range is summed in constant time; adding or removing one item costs
/// what lies behind it.
#[derive(Debug, Clone, Default)]
pub struct SortedItems {
    items: Vec<Item>,
    /// `before[b]` sums the items before index `b · BLOCK`.
    before: Vec<Sum>,
    total: Sum,
    generation: u64,
}

impl SortedItems {
    /// A set of no items.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an item; `false` where it was there already.
    pub fn insert(&mut self, item: Item) -> bool {
        let Err(index) = self.items.binary_search(&item) else {
            return false;
        };
        self.items.insert(index, item);
        self.changed(index);
        true
    }

    /// Adds items, in any order, at the cost of what lies behind the first of them
    /// however many they are.
    pub fn insert_all(&mut self, mut items: Vec<Item>) {
        items.sort_unstable();
        items.dedup();
        items.retain(|item| self.items.binary_search(item).is_err());
        let Some(first) = items.first() else {
            return;
        };
        let index = self.items.partition_point(|item| item < first);
        self.items.extend(items);
        self.items[index..].sort();
        self.changed(index);
    }

    /// Takes an item out; `false` where it wasn't there.
    pub fn remove(&mut self, item: &Item) -> bool {
        let Ok(index) = self.items.binary_search(item) else {
            return false;
        };
        self.items.remove(index);
        self.changed(index);
        true
    }

    /// Whether the item is there.
    pub fn contains(&self, item: &Item) -> bool {
        self.items.binary_search(item).is_ok()
    }

    /// The items, in order.
    pub fn as_slice(&self) -> &[Item] {
        &self.items
    }

    /// The sum of all ids.
    pub fn total(&self) -> Sum {
        self.total
    }

    /// Brings the sums in line with items that changed from `index` on.
    fn changed(&mut self, index: usize) {
        self.generation += 1;
        self.before.truncate(index / BLOCK + 1);
        let kept = self.before.len().saturating_sub(1);
        let mut sum = self.before.pop().unwrap_or(Sum::EMPTY);
        for block in self.items[kept * BLOCK..].chunks(BLOCK) {
            self.before.push(sum);
            for item in block {
                sum.add(&item.id);
            }
        }
        self.total = sum;
    }

    fn sum_before(&self, index: usize) -> Sum {
        let block = index / BLOCK;
        let Some(&(mut sum)) = self.before.get(block) else {
            return self.total;
        };
        for item in &self.items[block * BLOCK..index] {
            sum.add(&item.id);
        }
        sum
    }
}

impl FromIterator<Item> for SortedItems {
    fn from_iter<I: IntoIterator<Item = Item>>(items: I) -> Self {
        let mut items: Vec<Item> = items.into_iter().collect();
        items.sort_unstable();
        items.dedup();
        let mut set = Self {
            items,
            ..Self::default()
        };
        set.changed(0);
        set
    }
}

impl ItemSet for SortedItems {
    fn len(&self) -> usize {
        self.items.len()
    }

    fn generation(&self) -> u64 {
        self.generation
    }

    fn lower_bound(&self, bound: &Bound) -> Result<usize, NotLoaded> {
        Ok(self.items.partition_point(|item| bound.is_after(item)))
    }

    fn item(&self, index: usize) -> Result<Item, NotLoaded> {
        Ok(self.items[index])
    }

    fn for_each(&self, range: Range<usize>, visit: &mut dyn FnMut(&Item)) -> Result<(), NotLoaded> {
        self.items[range].iter().for_each(visit);
        Ok(())
    }

    fn sum(&self, range: Range<usize>) -> Result<Sum, NotLoaded> {
        if range.len() <= 2 * BLOCK {
            return Ok(self.items[range].iter().map(|item| &item.id).collect());
        }
        let mut sum = self.sum_before(range.end);
        sum.subtract(&self.sum_before(range.start));
        Ok(sum)
    }
}
