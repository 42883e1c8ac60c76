//! Committing batches of several spaces in one transaction.
//!
//! Each batch has a savepoint of its own. What contradicts what is stored is
//! found by the statements that write, mostly by the schema's own constraints,
//! so nothing is read only to be checked; the savepoint then takes the batch
//! back and the others land.

pub(super) mod heads;
pub(super) mod keep;
mod names;
#[cfg(test)]
mod tests;

use engine::rows::Batch;
use minca_record::content_id::ContentId;
use sqlx::{Connection, SqliteConnection, SqlitePool};

use super::error::{failed, is_constraint};
use super::lease::begin_fenced;
use super::runs;
use crate::batch::{self, Counted};
use crate::codec::to_integer;
use crate::{BatchError, Lease, SpaceBatch, StoreError};

/// Why a batch was not written.
enum Failure {
    /// It is cut out.
    Batch(BatchError),
    /// The whole transaction is off.
    Store(StoreError),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Store(error)
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Failure {
        Failure::Store(failed(error))
    }
}

/// The batch contradicts what is stored.
fn does_not_fit(what: &str) -> Failure {
    Failure::Batch(batch::does_not_fit(what))
}

/// A broken constraint is the batch's fault, anything else the store's.
fn constraint_is(what: &'static str) -> impl FnOnce(sqlx::Error) -> Failure {
    move |error| {
        if is_constraint(&error) {
            does_not_fit(what)
        } else {
            error.into()
        }
    }
}

pub(super) async fn commit(
    writer: &SqlitePool,
    lease: &Lease,
    batches: &[SpaceBatch],
) -> Result<Vec<Result<(), BatchError>>, StoreError> {
    let mut transaction = begin_fenced(writer, lease).await?;
    let mut answers = Vec::with_capacity(batches.len());
    for SpaceBatch { space, batch } in batches {
        let mut savepoint = transaction.begin().await.map_err(failed)?;
        match write(&mut savepoint, lease, space, batch).await {
            Ok(()) => {
                savepoint.commit().await.map_err(failed)?;
                answers.push(Ok(()));
            }
            Err(Failure::Batch(error)) => {
                savepoint.rollback().await.map_err(failed)?;
                answers.push(Err(error));
            }
            Err(Failure::Store(error)) => return Err(error),
        }
    }
    transaction.commit().await.map_err(failed)?;
    Ok(answers)
}

async fn write(
    connection: &mut SqliteConnection,
    lease: &Lease,
    space: &ContentId,
    batch: &Batch,
) -> Result<(), Failure> {
    let found: Option<(i64, u32)> =
        sqlx::query_as("SELECT space, shard FROM spaces WHERE id = ?1 AND carried = 1")
            .bind(space.digest().as_slice())
            .fetch_optional(&mut *connection)
            .await?;
    let Some((space, shard)) = found else {
        return Err(Failure::Batch(BatchError::NotHeld));
    };
    if shard != lease.shard.0 {
        return Err(does_not_fit(batch::OTHER_SHARD));
    }
    batch::refuse_malformed(batch).map_err(Failure::Batch)?;

    let mut counted = Counted::default();
    if !batch.keep.is_empty() {
        keep(connection, space, batch, &mut counted).await?;
    }
    if !batch.fill.is_empty() {
        keep::fill(connection, space, &batch.fill, &mut counted).await?;
    }
    if !batch.drop_bodies.is_empty() {
        keep::drop_bodies(connection, space, &batch.drop_bodies, &mut counted).await?;
    }
    if !batch.records.is_empty() {
        heads::write(connection, space, &batch.records).await?;
    }
    if let Some(read_key) = &batch.read_key {
        sqlx::query(
            "UPDATE spaces SET read_key = ?2, revision = revision + 1
             WHERE space = ?1 AND read_key IS NOT ?2",
        )
        .bind(space)
        .bind(read_key.to_string())
        .execute(&mut *connection)
        .await?;
    }
    let to_segment = !batch.keep.is_empty() || !batch.fill.is_empty();
    count(connection, space, &counted, to_segment).await
}

/// Writes the versions to keep, with all that sums them but the space's counters.
async fn keep(
    connection: &mut SqliteConnection,
    space: i64,
    batch: &Batch,
    counted: &mut Counted,
) -> Result<(), Failure> {
    let items = batch::items_by_collection(batch);
    for row in &batch.keep {
        counted.bytes_in += row.stored_bytes();
        counted.versions += 1;
    }
    let collections = names::add_to_collections(connection, space, &items).await?;
    let accounts = names::accounts(connection, space, &batch.keep).await?;
    let notes = names::notes(connection, space, &batch.keep).await?;
    let numbers = keep::Numbers {
        space,
        collections: &collections,
        accounts: &accounts,
        notes: &notes,
    };
    keep::keep(connection, &numbers, &batch.keep).await?;
    for (name, items) in items {
        let collection = names::number(&collections, name)?;
        runs::add(connection, space, collection, items).await?;
    }
    Ok(())
}

/// Moves the space's counters, and notes since when it waits for a segment.
async fn count(
    connection: &mut SqliteConnection,
    space: i64,
    counted: &Counted,
    to_segment: bool,
) -> Result<(), Failure> {
    sqlx::query(
        "UPDATE spaces SET
             bytes = bytes + ?2 - ?3,
             versions = versions + ?4,
             to_segment_since = CASE WHEN ?5
                 THEN coalesce(to_segment_since, CAST(unixepoch('subsec') * 1000 AS INTEGER))
                 ELSE to_segment_since END
         WHERE space = ?1",
    )
    .bind(space)
    .bind(to_integer(counted.bytes_in))
    .bind(to_integer(counted.bytes_out))
    .bind(to_integer(counted.versions))
    .bind(to_segment)
    .execute(connection)
    .await?;
    Ok(())
}
