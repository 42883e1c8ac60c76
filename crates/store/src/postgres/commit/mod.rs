//! Committing batches of several spaces in one transaction.
//!
//! The spaces' rows are locked first, so that what is read of them afterwards stays so.
//! What a batch contradicts is found by comparing it with that, not by writing it: the
//! batches that fit are then written together, in as many round trips as one of them
//! would take. A value that only Postgres refuses ends the transaction; it is begun again
//! with a savepoint for every batch, so that the one at fault is cut out.

mod look;
mod plan;
mod write;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use minca_record::content_id::ContentId;
use sqlx::{PgConnection, PgPool};

use super::error::{failed, is_of_the_data};
use super::lease::{LockedSpace, begin_fenced};
use crate::batch::{self, OTHER_SHARD};
use crate::{BatchError, Lease, SpaceBatch, StoreError};

/// What a batch comes to.
type Answer = Result<(), BatchError>;

/// Bytes of batches that are written by one statement, unless one alone has more. Postgres
/// takes no value over 1 GiB, and sets aside several times as much as it is given.
const STATEMENT_BYTES: u64 = 32 * 1_024 * 1_024;

const VALUE_REFUSED: &str = "Postgres refused a value of it";

pub(super) async fn commit(
    pool: &PgPool,
    lease: &Lease,
    batches: &[SpaceBatch],
) -> Result<Vec<Answer>, StoreError> {
    match together(pool, lease, batches).await? {
        Some(answers) => Ok(answers),
        None => one_by_one(pool, lease, batches).await,
    }
}

fn spaces_of(batches: &[SpaceBatch]) -> Vec<ContentId> {
    batches.iter().map(|batch| batch.space).collect()
}

/// `None` where Postgres refused a value; nothing is written then.
async fn together(
    pool: &PgPool,
    lease: &Lease,
    batches: &[SpaceBatch],
) -> Result<Option<Vec<Answer>>, StoreError> {
    let (mut transaction, mut locked) = begin_fenced(pool, lease, &spaces_of(batches)).await?;
    let mut answers = Vec::with_capacity(batches.len());
    for wave in waves(batches) {
        match write_wave(&mut transaction, lease, &mut locked, &batches[wave]).await {
            Ok(some) => answers.extend(some),
            Err(error) if is_of_the_data(&error) => {
                transaction.roll_back().await?;
                return Ok(None);
            }
            Err(error) => return Err(failed(error)),
        }
    }
    transaction.commit().await?;
    Ok(Some(answers))
}

async fn one_by_one(
    pool: &PgPool,
    lease: &Lease,
    batches: &[SpaceBatch],
) -> Result<Vec<Answer>, StoreError> {
    let (mut transaction, mut locked) = begin_fenced(pool, lease, &spaces_of(batches)).await?;
    let mut answers = Vec::with_capacity(batches.len());
    for batch in batches {
        let before = locked.get(&batch.space).cloned();
        transaction.run("SAVEPOINT one").await?;
        let one = std::slice::from_ref(batch);
        match write_wave(&mut transaction, lease, &mut locked, one).await {
            Ok(some) => {
                transaction.run("RELEASE SAVEPOINT one").await?;
                answers.extend(some);
            }
            Err(error) if is_of_the_data(&error) => {
                transaction.run("ROLLBACK TO SAVEPOINT one").await?;
                // The numbers it was given are free again.
                if let Some(before) = before {
                    locked.insert(batch.space, before);
                }
                answers.push(Err(batch::does_not_fit(VALUE_REFUSED)));
            }
            Err(error) => return Err(failed(error)),
        }
    }
    transaction.commit().await?;
    Ok(answers)
}

/// Divides batches so that those of one part are of different spaces, and so don't see
/// each other, and are not too large together.
fn waves(batches: &[SpaceBatch]) -> Vec<Range<usize>> {
    let mut waves = Vec::new();
    let (mut start, mut bytes, mut spaces) = (0, 0, HashSet::new());
    for (place, SpaceBatch { space, batch }) in batches.iter().enumerate() {
        let kept: u64 = batch.keep.iter().map(|row| row.stored_bytes()).sum();
        let filled: usize = batch.fill.iter().map(|(_, body)| body.len()).sum();
        let more = kept + filled as u64;
        if !spaces.is_empty() && (spaces.contains(space) || bytes + more > STATEMENT_BYTES) {
            waves.push(start..place);
            (start, bytes) = (place, 0);
            spaces.clear();
        }
        bytes += more;
        spaces.insert(*space);
    }
    if start < batches.len() {
        waves.push(start..batches.len());
    }
    waves
}

/// Writes batches of different spaces, but for those that don't fit.
async fn write_wave(
    connection: &mut PgConnection,
    lease: &Lease,
    locked: &mut HashMap<ContentId, LockedSpace>,
    batches: &[SpaceBatch],
) -> Result<Vec<Answer>, sqlx::Error> {
    let mut asked = look::Asked::default();
    let mut answers: Vec<Answer> = Vec::with_capacity(batches.len());
    for one in batches {
        let answer = check(lease, locked.get(&one.space), one);
        if let (Ok(()), Some(space)) = (&answer, locked.get(&one.space)) {
            asked.add(space.space, &one.batch);
        }
        answers.push(answer);
    }
    let known = look::look(connection, &asked).await?;
    let mut writes = plan::Writes::default();
    for (one, answer) in batches.iter().zip(&mut answers) {
        if let (Ok(()), Some(space)) = (&answer, locked.get_mut(&one.space)) {
            *answer = plan::add(&mut writes, space, &one.batch, &known);
        }
    }
    write::write(connection, writes).await?;
    Ok(answers)
}

/// Refuses what needs no look at what is stored of the space.
fn check(lease: &Lease, space: Option<&LockedSpace>, batch: &SpaceBatch) -> Answer {
    let Some(space) = space.filter(|space| space.carried) else {
        return Err(BatchError::NotHeld);
    };
    if space.shard != lease.shard.0 {
        return Err(batch::does_not_fit(OTHER_SHARD));
    }
    batch::refuse_malformed(&batch.batch)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::rows::Batch;

    use super::*;

    fn batch(space: u8, bytes: u64) -> SpaceBatch {
        let body = vec![0; usize::try_from(bytes).unwrap()];
        SpaceBatch {
            space: ContentId::of(&[space]),
            batch: Arc::new(Batch {
                fill: vec![(ContentId::of(b"version"), body)],
                ..Batch::default()
            }),
        }
    }

    #[test]
    fn batches_of_one_space_come_after_each_other() {
        let batches = [1, 2, 1, 3, 3, 2].map(|space| batch(space, 1));
        assert_eq!(waves(&batches), [0..2, 2..4, 4..6]);
        assert_eq!(waves(&batches[1..3]).len(), 1);
        assert_eq!(waves(&[]), [0..0; 0]);
    }

    #[test]
    fn batches_that_are_large_together_come_after_each_other() {
        let half = STATEMENT_BYTES / 2;
        let batches = [
            (1, half),
            (2, half),
            (3, 1),
            (4, STATEMENT_BYTES + 1),
            (5, 1),
        ]
        .map(|(space, bytes)| batch(space, bytes));
        assert_eq!(waves(&batches), [0..2, 2..3, 3..4, 4..5]);
    }
}
