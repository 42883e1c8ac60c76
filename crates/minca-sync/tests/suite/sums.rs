//! Sums against the dullest way of adding, and the sorted list against a set.

use std::collections::BTreeSet;

use minca_record::hash::sha256;
use minca_sync::{
    item::Item,
    negentropy::{ItemSet, SortedItems},
    sum::Sum,
};
use proptest::prelude::*;

/// Adds byte by byte, as on paper.
fn add_on_paper(ids: &[[u8; 32]]) -> [u8; 32] {
    let mut sum = [0u8; 32];
    for id in ids {
        let mut carry = 0u16;
        for (place, byte) in sum.iter_mut().zip(id) {
            let value = u16::from(*place) + u16::from(*byte) + carry;
            *place = value as u8;
            carry = value >> 8;
        }
    }
    sum
}

/// Ids with long runs of `ff` and `00`, where carries go far.
fn id() -> impl Strategy<Value = [u8; 32]> {
    prop_oneof![
        any::<[u8; 32]>(),
        proptest::array::uniform32(prop_oneof![Just(0u8), Just(0xff), Just(0xfe), Just(1)]),
    ]
}

proptest! {
    #[test]
    fn a_sum_is_what_adding_on_paper_gives(ids in proptest::collection::vec(id(), 0..40)) {
        let sum: Sum = ids.iter().collect();
        prop_assert_eq!(sum.value(), add_on_paper(&ids));
        prop_assert_eq!(sum.count(), ids.len() as u64);
        prop_assert_eq!(Sum::from_parts(sum.value(), sum.count()), sum);
    }

    #[test]
    fn sums_come_apart_as_they_were_put_together(
        first in proptest::collection::vec(id(), 0..20),
        second in proptest::collection::vec(id(), 0..20),
    ) {
        let one: Sum = first.iter().collect();
        let other: Sum = second.iter().collect();
        let mut both = one;
        both.merge(&other);
        let together: Sum = first.iter().chain(&second).collect();
        prop_assert_eq!(both, together);
        let mut rest = both;
        rest.subtract(&other);
        prop_assert_eq!(rest, one);
        for id in &first {
            both.remove(id);
        }
        prop_assert_eq!(both, other);
    }

    #[test]
    fn a_sorted_list_does_what_a_set_does(
        begin in proptest::collection::vec((0u64..6, 0u8..4), 0..80),
        changes in proptest::collection::vec((any::<bool>(), 0u64..6, 0u8..4), 0..60),
        edges in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
    ) {
        let item = |timestamp, byte| Item { timestamp, id: [byte; 32] };
        let mut model: BTreeSet<Item> = begin.iter().map(|(t, b)| item(*t, *b)).collect();
        let mut sorted: SortedItems = begin.iter().map(|(t, b)| item(*t, *b)).collect();
        for (adds, timestamp, byte) in changes {
            let item = item(timestamp, byte);
            let before = sorted.generation();
            let changed = if adds {
                let inserted = model.insert(item);
                prop_assert_eq!(sorted.insert(item), inserted);
                inserted
            } else {
                let removed = model.remove(&item);
                prop_assert_eq!(sorted.remove(&item), removed);
                removed
            };
            prop_assert_eq!(sorted.generation() != before, changed);
            prop_assert_eq!(sorted.contains(&item), adds);
        }
        let ordered: Vec<Item> = model.into_iter().collect();
        prop_assert_eq!(sorted.as_slice(), &ordered);
        prop_assert_eq!(sorted.total(), ordered.iter().map(|item| &item.id).collect());
        let (from, to) = (edges.0.index(ordered.len() + 1), edges.1.index(ordered.len() + 1));
        let range = from.min(to)..from.max(to);
        let sum: Sum = ordered[range.clone()].iter().map(|item| &item.id).collect();
        prop_assert_eq!(sorted.sum(range).unwrap(), sum);
    }

    #[test]
    fn items_added_together_are_there_as_if_added_one_by_one(
        begin in proptest::collection::vec((0u64..40, 0u8..4), 0..120),
        more in proptest::collection::vec((0u64..40, 0u8..4), 0..60),
    ) {
        let item = |(timestamp, byte): &(u64, u8)| Item { timestamp: *timestamp, id: [*byte; 32] };
        let mut together: SortedItems = begin.iter().map(item).collect();
        let mut one_by_one = together.clone();
        let before = together.generation();
        together.insert_all(more.iter().map(item).collect());
        let mut changed = false;
        for added in more.iter().map(item) {
            changed |= one_by_one.insert(added);
        }
        prop_assert_eq!(together.as_slice(), one_by_one.as_slice());
        prop_assert_eq!(together.total(), one_by_one.total());
        prop_assert_eq!(together.generation() != before, changed);
        for end in 0..=together.len() {
            prop_assert_eq!(together.sum(end / 2..end), one_by_one.sum(end / 2..end));
        }
    }

    #[test]
    fn any_range_of_a_long_list_sums_to_its_ids(
        length in 0usize..400,
        edges in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
    ) {
        let items: Vec<Item> = (0..length as u64)
            .map(|i| Item { timestamp: i / 3, id: sha256(&i.to_be_bytes()) })
            .collect();
        let sorted: SortedItems = items.into_iter().collect();
        let (from, to) = (edges.0.index(length + 1), edges.1.index(length + 1));
        let range = from.min(to)..from.max(to);
        let sum: Sum = sorted.as_slice()[range.clone()].iter().map(|item| &item.id).collect();
        prop_assert_eq!(sorted.sum(range).unwrap(), sum);
    }
}
