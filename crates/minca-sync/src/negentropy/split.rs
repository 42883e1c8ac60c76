//! Splitting a range of items into what is said of it (05 §3.4).

use std::ops::Range;

use super::{Bound, ItemSet, NotLoaded, message::Writer, set::Missing};

/// Buckets a range is split into.
const BUCKETS: usize = 16;

/// From so many items on a range is split; below it is listed.
const SPLIT_FROM: usize = 32;

/// Says what is in `range`, which ends at `bound`: its ids, or the fingerprints
/// of 16 parts. Where items are missing, all that are needed are named, and
/// what was written means nothing.
pub(super) fn split(
    out: &mut Writer,
    set: &impl ItemSet,
    range: Range<usize>,
    bound: &Bound,
) -> Result<(), NotLoaded> {
    if range.len() < SPLIT_FROM {
        out.id_list(bound, range.len());
        return set.for_each(range, &mut |item| out.id(&item.id));
    }
    let mut missing = Missing::default();
    let size = range.len() / BUCKETS;
    let larger = range.len() % BUCKETS;
    let mut start = range.start;
    for bucket in 0..BUCKETS {
        let end = start + size + usize::from(bucket < larger);
        let end_bound = if bucket + 1 == BUCKETS {
            Some(*bound)
        } else {
            let last = missing.note(set.item(end - 1));
            let next = missing.note(set.item(end));
            last.zip(next)
                .map(|(last, next)| Bound::between(&last, &next))
        };
        let sum = missing.note(set.sum(start..end));
        if let Some((end_bound, sum)) = end_bound.zip(sum) {
            out.fingerprint(&end_bound, sum.fingerprint());
        }
        start = end;
    }
    if missing.is_empty() {
        Ok(())
    } else {
        Err(NotLoaded {
            ranges: missing.into_ranges(),
        })
    }
}
