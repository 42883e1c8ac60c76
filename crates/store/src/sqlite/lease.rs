//! Leases with terms, and the fence that every write passes.

use std::time::Duration;

use minca_record::content_id::ContentId;
use sqlx::{Sqlite, SqlitePool, Transaction};

use super::error::failed;
use crate::codec::{count, to_integer, to_milliseconds};
use crate::{Holder, Lease, Shard, StoreError, TakeLease};

/// Starts a transaction that writes. It takes SQLite's write lock at once: a
/// transaction that took it later would be refused if another wrote in between.
async fn begin(writer: &SqlitePool) -> Result<Transaction<'static, Sqlite>, StoreError> {
    writer.begin_with("BEGIN IMMEDIATE").await.map_err(failed)
}

/// Starts a transaction that writes under `lease`, which is current for as long
/// as the transaction lasts.
pub(super) async fn begin_fenced(
    writer: &SqlitePool,
    lease: &Lease,
) -> Result<Transaction<'static, Sqlite>, StoreError> {
    let mut transaction = begin(writer).await?;
    let current: Option<i64> = sqlx::query_scalar(
        "SELECT term FROM leases WHERE shard = ?1 AND holder = ?2 AND term = ?3",
    )
    .bind(lease.shard.0)
    .bind(lease.holder.0.as_slice())
    .bind(to_integer(lease.term))
    .fetch_optional(&mut *transaction)
    .await
    .map_err(failed)?;
    match current {
        Some(_) => Ok(transaction),
        None => Err(StoreError::Fenced),
    }
}

/// As [`begin_fenced`], for writing one space; with the space's number.
pub(super) async fn begin_for_space(
    writer: &SqlitePool,
    lease: &Lease,
    space: &ContentId,
) -> Result<(Transaction<'static, Sqlite>, i64), StoreError> {
    let mut transaction = begin_fenced(writer, lease).await?;
    let found: Option<(i64, u32)> = sqlx::query_as("SELECT space, shard FROM spaces WHERE id = ?1")
        .bind(space.digest().as_slice())
        .fetch_optional(&mut *transaction)
        .await
        .map_err(failed)?;
    match found {
        None => Err(StoreError::NotHeld),
        Some((_, shard)) if shard != lease.shard.0 => Err(StoreError::Fenced),
        Some((number, _)) => Ok((transaction, number)),
    }
}

pub(super) async fn take(
    writer: &SqlitePool,
    shard: Shard,
    holder: Holder,
    lasts: Duration,
) -> Result<TakeLease, StoreError> {
    let mut transaction = begin(writer).await?;
    let found: Option<(Option<Vec<u8>>, i64, i64)> = sqlx::query_as(
        "SELECT holder, term, runs_out - CAST(unixepoch('subsec') * 1000 AS INTEGER)
         FROM leases WHERE shard = ?1",
    )
    .bind(shard.0)
    .fetch_optional(&mut *transaction)
    .await
    .map_err(failed)?;
    let term = match found {
        None => 1,
        Some((Some(other), _, left)) if left > 0 && other != holder.0 => {
            let runs_out_in = Duration::from_millis(count(left)?);
            return Ok(TakeLease::HeldByOther { runs_out_in });
        }
        Some((Some(_), term, left)) if left > 0 => term,
        Some((_, term, _)) => term + 1,
    };
    sqlx::query(
        "INSERT INTO leases (shard, holder, term, runs_out)
         VALUES (?1, ?2, ?3, CAST(unixepoch('subsec') * 1000 AS INTEGER) + ?4)
         ON CONFLICT (shard) DO UPDATE
         SET holder = excluded.holder, term = excluded.term, runs_out = excluded.runs_out",
    )
    .bind(shard.0)
    .bind(holder.0.as_slice())
    .bind(term)
    .bind(to_milliseconds(lasts))
    .execute(&mut *transaction)
    .await
    .map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    Ok(TakeLease::Taken(Lease {
        shard,
        holder,
        term: count(term)?,
    }))
}

pub(super) async fn renew(
    writer: &SqlitePool,
    lease: &Lease,
    lasts: Duration,
) -> Result<(), StoreError> {
    let renewed = sqlx::query(
        "UPDATE leases SET runs_out = CAST(unixepoch('subsec') * 1000 AS INTEGER) + ?4
         WHERE shard = ?1 AND holder = ?2 AND term = ?3",
    )
    .bind(lease.shard.0)
    .bind(lease.holder.0.as_slice())
    .bind(to_integer(lease.term))
    .bind(to_milliseconds(lasts))
    .execute(writer)
    .await
    .map_err(failed)?;
    fenced_unless(renewed.rows_affected() == 1)
}

pub(super) async fn release(writer: &SqlitePool, lease: &Lease) -> Result<(), StoreError> {
    let released = sqlx::query(
        "UPDATE leases SET holder = NULL, runs_out = 0
         WHERE shard = ?1 AND holder = ?2 AND term = ?3",
    )
    .bind(lease.shard.0)
    .bind(lease.holder.0.as_slice())
    .bind(to_integer(lease.term))
    .execute(writer)
    .await
    .map_err(failed)?;
    fenced_unless(released.rows_affected() == 1)
}

fn fenced_unless(current: bool) -> Result<(), StoreError> {
    if current {
        Ok(())
    } else {
        Err(StoreError::Fenced)
    }
}
