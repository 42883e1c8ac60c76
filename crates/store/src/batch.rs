//! What every store asks of a batch, and says of one that it cuts out.

use std::collections::{BTreeMap, HashSet};

use engine::rows::Batch;
use minca_sync::item::Item;

use crate::BatchError;

pub(crate) const OTHER_SHARD: &str = "its space is not in the lease's shard";
pub(crate) const HELD_ALREADY: &str = "a version to keep is held already";
pub(crate) const NO_STUB_TO_FILL: &str = "a version to fill is not held as a stub";
pub(crate) const NO_BODY_TO_DROP: &str = "a version to drop the body of has none";
pub(crate) const HEAD_NOT_HELD: &str = "a head names a version of its record that is not held";
const NAMED_TWICE: &str = "it names a version twice";
const NUMBER_TOO_LARGE: &str = "a timestamp or seq is over 2^63 − 1";

/// What a batch adds to a space's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    pub(crate) versions: u64,
}

/// The batch contradicts what is stored, or itself.
pub(crate) fn does_not_fit(what: &str) -> BatchError {
    BatchError::DoesNotFit(what.to_owned())
}

/// Refuses a batch that no store could write, whatever it holds.
///
/// # Errors
/// [`BatchError::DoesNotFit`].
pub(crate) fn refuse_malformed(batch: &Batch) -> Result<(), BatchError> {
    let mut named = HashSet::new();
    let kept = batch.keep.iter().map(|row| &row.id);
    let filled = batch.fill.iter().map(|(id, _)| id);
    for id in kept.chain(filled).chain(&batch.drop_bodies) {
        if !named.insert(id) {
            return Err(does_not_fit(NAMED_TWICE));
        }
    }
    let too_large = |number: u64| i64::try_from(number).is_err();
    if batch
        .keep
        .iter()
        .any(|row| too_large(row.timestamp) || too_large(row.seq))
    {
        return Err(does_not_fit(NUMBER_TOO_LARGE));
    }
    Ok(())
}

/// The items of the versions to keep, by collection.
pub(crate) fn items_by_collection(batch: &Batch) -> BTreeMap<&str, Vec<Item>> {
    let mut items: BTreeMap<&str, Vec<Item>> = BTreeMap::new();
    for row in &batch.keep {
        items.entry(&row.collection).or_default().push(row.item());
    }
    items
}
