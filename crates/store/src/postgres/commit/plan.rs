//! What a batch that fits writes, decided without a database.

use std::collections::{BTreeMap, HashMap};

use engine::rows::{Batch, RecordRow, VersionRow};
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::hash::sha256;
use minca_sync::item::Item;
use minca_sync::sum::Sum;

use super::super::lease::LockedSpace;
use super::super::runs::CollectionNumber;
use super::look::{Known, NoteHash};
use crate::BatchError;
use crate::batch::{
    Counted, HEAD_NOT_HELD, HELD_ALREADY, NO_BODY_TO_DROP, NO_STUB_TO_FILL, does_not_fit,
    items_by_collection,
};

/// The rows that batches of different spaces write.
#[derive(Default)]
pub(super) struct Writes<'a> {
    pub(super) collections: Vec<CollectionWrite<'a>>,
    pub(super) accounts: Vec<(i64, i32, Did)>,
    pub(super) notes: Vec<(i64, i32, NoteHash, &'a [u8])>,
    pub(super) versions: Vec<VersionWrite<'a>>,
    /// The items of the versions, by collection.
    pub(super) items: BTreeMap<CollectionNumber, Vec<Item>>,
    pub(super) fills: Vec<FillWrite<'a>>,
    pub(super) drops: Vec<(i64, i64)>,
    pub(super) heads: Vec<HeadWrite<'a>>,
    pub(super) spaces: Vec<SpaceWrite>,
}

pub(super) struct CollectionWrite<'a> {
    pub(super) number: CollectionNumber,
    pub(super) name: &'a str,
    pub(super) sum: Sum,
}

pub(super) struct VersionWrite<'a> {
    pub(super) space: i64,
    pub(super) no: i64,
    pub(super) collection: i32,
    pub(super) account: i32,
    pub(super) note: Option<i32>,
    pub(super) row: &'a VersionRow,
}

pub(super) struct FillWrite<'a> {
    pub(super) space: i64,
    pub(super) no: i64,
    pub(super) body: &'a [u8],
}

pub(super) struct HeadWrite<'a> {
    pub(super) space: i64,
    pub(super) key: &'a str,
    pub(super) current: i64,
    pub(super) first: Option<i64>,
}

pub(super) struct SpaceWrite {
    /// With the numbers as they are given after the batch.
    pub(super) space: LockedSpace,
    pub(super) counted: Counted,
    pub(super) to_segment: bool,
    pub(super) read_key: Option<Did>,
}

/// Adds what a batch writes, and the numbers it takes to its space; nothing where the
/// batch contradicts what is known. Of its space no other batch may have been added.
///
/// # Errors
/// [`BatchError::DoesNotFit`].
pub(super) fn add<'a>(
    writes: &mut Writes<'a>,
    space: &mut LockedSpace,
    batch: &'a Batch,
    known: &Known<'a>,
) -> Result<(), BatchError> {
    let mut counted = Counted::default();
    let kept = numbers_to_keep(space, batch, known)?;
    let fills = fills(space.space, batch, known, &mut counted)?;
    let drops = drops(space.space, batch, known, &mut counted)?;
    let heads = heads(space.space, batch, known, &kept)?;
    if batch.is_empty() {
        return Ok(());
    }

    keep(writes, space, batch, known, &kept);
    for row in &batch.keep {
        counted.bytes_in += row.stored_bytes();
        counted.versions += 1;
    }
    writes.fills.extend(fills);
    writes.drops.extend(drops);
    writes.heads.extend(heads);
    writes.spaces.push(SpaceWrite {
        space: space.clone(),
        counted,
        to_segment: !batch.keep.is_empty() || !batch.fill.is_empty(),
        read_key: batch.read_key,
    });
    Ok(())
}

/// A version to keep, with the number it gets.
type Kept<'a> = HashMap<ContentId, (i64, &'a VersionRow)>;

fn numbers_to_keep<'a>(
    space: &LockedSpace,
    batch: &'a Batch,
    known: &Known<'_>,
) -> Result<Kept<'a>, BatchError> {
    let mut kept = HashMap::with_capacity(batch.keep.len());
    for (no, row) in (space.last_version + 1..).zip(&batch.keep) {
        if known.versions.contains_key(&(space.space, row.id)) {
            return Err(does_not_fit(HELD_ALREADY));
        }
        kept.insert(row.id, (no, row));
    }
    Ok(kept)
}

fn fills<'a>(
    space: i64,
    batch: &'a Batch,
    known: &Known<'_>,
    counted: &mut Counted,
) -> Result<Vec<FillWrite<'a>>, BatchError> {
    let mut fills = Vec::with_capacity(batch.fill.len());
    for (id, body) in &batch.fill {
        match known.versions.get(&(space, *id)) {
            Some(stub) if stub.body.is_none() && !stub.deleted => {
                counted.bytes_in += body.len() as u64;
                fills.push(FillWrite {
                    space,
                    no: stub.no,
                    body,
                });
            }
            _ => return Err(does_not_fit(NO_STUB_TO_FILL)),
        }
    }
    Ok(fills)
}

fn drops(
    space: i64,
    batch: &Batch,
    known: &Known<'_>,
    counted: &mut Counted,
) -> Result<Vec<(i64, i64)>, BatchError> {
    let mut drops = Vec::with_capacity(batch.drop_bodies.len());
    for id in &batch.drop_bodies {
        let held = known.versions.get(&(space, *id));
        let Some((no, bytes)) = held.and_then(|held| Some((held.no, held.body?))) else {
            return Err(does_not_fit(NO_BODY_TO_DROP));
        };
        counted.bytes_out += bytes;
        drops.push((space, no));
    }
    Ok(drops)
}

/// The new heads. Each must name versions of its record that are held, this batch's among
/// them. Of two of one record the later one counts.
fn heads<'a>(
    space: i64,
    batch: &'a Batch,
    known: &Known<'_>,
    kept: &Kept<'_>,
) -> Result<Vec<HeadWrite<'a>>, BatchError> {
    let number = |record: &RecordRow, id: ContentId| {
        let (no, key) = match kept.get(&id) {
            Some((no, row)) => (*no, row.key.as_str()),
            None => {
                let held = known.versions.get(&(space, id))?;
                (held.no, held.key.as_str())
            }
        };
        (key == record.key).then_some(no)
    };
    let mut heads: BTreeMap<&str, HeadWrite<'a>> = BTreeMap::new();
    for record in &batch.records {
        let held = || does_not_fit(HEAD_NOT_HELD);
        let current = number(record, record.current).ok_or_else(held)?;
        let first = match record.first {
            Some(first) => Some(number(record, first).ok_or_else(held)?),
            None => None,
        };
        heads.insert(
            &record.key,
            HeadWrite {
                space,
                key: &record.key,
                current,
                first,
            },
        );
    }
    Ok(heads.into_values().collect())
}

/// Adds the versions to keep, and what they name that has no number yet.
fn keep<'a>(
    writes: &mut Writes<'a>,
    space: &mut LockedSpace,
    batch: &'a Batch,
    known: &Known<'a>,
    kept: &Kept<'a>,
) {
    let mut collections: HashMap<&str, i32> = HashMap::new();
    for (name, items) in items_by_collection(batch) {
        let (number, mut sum) = match known.collections.get(&(space.space, name)) {
            Some((number, sum)) => (*number, *sum),
            None => (next(&mut space.last_collection), Sum::EMPTY),
        };
        for item in &items {
            sum.add(&item.id);
        }
        collections.insert(name, number);
        let number = (space.space, number);
        writes.items.insert(number, items);
        writes
            .collections
            .push(CollectionWrite { number, name, sum });
    }
    let mut accounts: HashMap<Did, i32> = HashMap::new();
    let mut notes: HashMap<NoteHash, i32> = HashMap::new();
    for row in &batch.keep {
        let account = *accounts.entry(row.root).or_insert_with(|| {
            match known.accounts.get(&(space.space, row.root)) {
                Some(number) => *number,
                None => {
                    let number = next(&mut space.last_account);
                    writes.accounts.push((space.space, number, row.root));
                    number
                }
            }
        });
        let note = row.proof.as_deref().map(|note| {
            let hash = sha256(note);
            *notes
                .entry(hash)
                .or_insert_with(|| match known.notes.get(&(space.space, hash)) {
                    Some(number) => *number,
                    None => {
                        let number = next(&mut space.last_note);
                        writes.notes.push((space.space, number, hash, note));
                        number
                    }
                })
        });
        let Some((no, _)) = kept.get(&row.id) else {
            continue;
        };
        writes.versions.push(VersionWrite {
            space: space.space,
            no: *no,
            collection: collections
                .get(row.collection.as_str())
                .copied()
                .unwrap_or_default(),
            account,
            note,
            row,
        });
        space.last_version = space.last_version.max(*no);
    }
}

/// The next number; the schema refuses the one after the last of 2^31 − 1.
fn next(last: &mut i32) -> i32 {
    *last = last.saturating_add(1);
    *last
}
