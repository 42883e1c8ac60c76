//! The other side's id list, being compared with one's own items.

use std::ops::Range;

use super::message;

/// An id list and how far it has been compared.
#[derive(Debug)]
pub(super) struct Listed {
    /// In the order they came.
    ids: Vec<[u8; 32]>,
    /// Indices into `ids`, sorted by id, each id once.
    sorted: Vec<usize>,
    /// Whether the id at that index of `sorted` is held here.
    held: Vec<bool>,
    /// The local items of the range not compared yet.
    left: Range<usize>,
}

impl Listed {
    /// `list` is whole ids, `local` the items of the range.
    pub(super) fn new(list: &[u8], local: Range<usize>) -> Self {
        let ids: Vec<[u8; 32]> = message::ids(list).collect();
        let mut sorted: Vec<usize> = (0..ids.len()).collect();
        sorted.sort_by_key(|&index| &ids[index]);
        sorted.dedup_by_key(|index| &ids[*index]);
        Self {
            held: vec![false; sorted.len()],
            ids,
            sorted,
            left: local,
        }
    }

    /// The next at most `size` local items to compare.
    pub(super) fn window(&self, size: usize) -> Range<usize> {
        self.left.start..self.left.end.min(self.left.start.saturating_add(size))
    }

    /// Goes past a window of `size`.
    pub(super) fn advance(&mut self, size: usize) {
        self.left = self.window(size).end..self.left.end;
    }

    /// Whether the list names `id`, which is held here.
    pub(super) fn names(&mut self, id: &[u8; 32]) -> bool {
        let place = self
            .sorted
            .binary_search_by(|&index| self.ids[index].cmp(id));
        if let Ok(place) = place {
            self.held[place] = true;
        }
        place.is_ok()
    }

    /// The ids that turned out not to be held here, in the order they came.
    pub(super) fn unnamed(self) -> Vec<[u8; 32]> {
        let mut lacking: Vec<usize> = self
            .sorted
            .iter()
            .zip(&self.held)
            .filter(|(_, held)| !**held)
            .map(|(&index, _)| index)
            .collect();
        lacking.sort_unstable();
        lacking.into_iter().map(|index| self.ids[index]).collect()
    }
}
