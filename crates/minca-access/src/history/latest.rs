//! Which events are latest on each record key, as a map whose versions share what
//! they have in common.
//!
//! Keys are small dense numbers, so the map is a tree of 16-way nodes by the
//! number's digits; a change copies the nodes on its way and no others.

use std::sync::Arc;

use super::{Index, Key};

const BITS: u32 = 4;
const WAYS: usize = 1 << BITS;

/// The events latest on one record key: none of them saw another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Latest {
    /// Nothing was written there.
    #[default]
    None,
    /// One, as is usual.
    One(Index),
    /// At least two, ascending.
    Several(Arc<Vec<Index>>),
}

impl Latest {
    /// Of events in ascending order.
    pub(super) fn of(events: Vec<Index>) -> Latest {
        match events[..] {
            [] => Latest::None,
            [one] => Latest::One(one),
            _ => Latest::Several(Arc::new(events)),
        }
    }

    pub(super) fn as_slice(&self) -> &[Index] {
        match self {
            Latest::None => &[],
            Latest::One(one) => std::slice::from_ref(one),
            Latest::Several(several) => several,
        }
    }
}

#[derive(Clone, Debug)]
enum Node {
    Inner([Option<Arc<Node>>; WAYS]),
    Leaf([Latest; WAYS]),
}

/// See the module's documentation.
#[derive(Clone, Debug, Default)]
pub(super) struct LatestByKey {
    root: Option<Arc<Node>>,
    /// Levels of inner nodes above the leaves.
    height: u32,
}

impl LatestByKey {
    pub(super) fn get(&self, key: Key) -> &Latest {
        static NONE: Latest = Latest::None;
        if key >> BITS >> (BITS * self.height) != 0 {
            return &NONE;
        }
        let mut node = &self.root;
        let mut level = self.height;
        loop {
            match node.as_deref() {
                None => return &NONE,
                Some(Node::Inner(children)) => node = &children[digit(key, level)],
                Some(Node::Leaf(slots)) => return &slots[digit(key, 0)],
            }
            level = level.saturating_sub(1);
        }
    }

    pub(super) fn set(&mut self, key: Key, latest: Latest) {
        while key >> BITS >> (BITS * self.height) != 0 {
            if let Some(root) = self.root.take() {
                let mut children = [const { None }; WAYS];
                children[0] = Some(root);
                self.root = Some(Arc::new(Node::Inner(children)));
            }
            self.height += 1;
        }
        let mut slot = &mut self.root;
        let mut level = self.height;
        loop {
            let node = slot.get_or_insert_with(|| {
                Arc::new(match level {
                    0 => Node::Leaf([const { Latest::None }; WAYS]),
                    _ => Node::Inner([const { None }; WAYS]),
                })
            });
            match Arc::make_mut(node) {
                Node::Inner(children) => slot = &mut children[digit(key, level)],
                Node::Leaf(slots) => {
                    slots[digit(key, 0)] = latest;
                    return;
                }
            }
            level = level.saturating_sub(1);
        }
    }

    /// Whether a change of both keys copies one leaf.
    pub(super) fn are_together(one: Key, other: Key) -> bool {
        one >> BITS == other >> BITS
    }

    /// About how many bytes so many copied leaves take, with the nodes above them.
    pub(super) fn bytes_of(&self, leaves: usize) -> usize {
        size_of::<Node>() * (leaves + leaves / WAYS + self.height as usize)
    }

    /// About how many bytes a change of one key copies.
    pub(super) fn bytes_per_change(&self) -> usize {
        size_of::<Node>() * (self.height as usize + 1)
    }
}

fn digit(key: Key, level: u32) -> usize {
    (key >> (BITS * level)) as usize % WAYS
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_version_of_the_map_is_as_a_plain_map(
            changes in prop::collection::vec((prop_oneof![0..40_u32, 4_000..4_100_u32], 0..9_u32), 0..80),
        ) {
            let mut map = LatestByKey::default();
            let mut model = HashMap::new();
            let mut versions = Vec::new();
            for (key, event) in changes {
                map.set(key, Latest::One(event));
                model.insert(key, event);
                versions.push((map.clone(), model.clone()));
            }
            for (map, model) in versions {
                for key in (0..45).chain(3_990..4_110).chain([70_000]) {
                    let expected = model.get(&key).map_or(Latest::None, |event| Latest::One(*event));
                    prop_assert_eq!(map.get(key), &expected);
                }
            }
        }
    }
}
