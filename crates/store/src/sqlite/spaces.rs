//! Which spaces the host holds.

use minca_record::content_id::ContentId;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqlitePool};

use super::SHARD;
use super::error::failed;
use super::lease::begin_fenced;
use crate::codec::{SOME_DID, count, did, id, to_limit};
use crate::{CarriedSpace, Door, Lease, NewSpace, StoreError};

pub(super) async fn carry(
    writer: &SqlitePool,
    lease: &Lease,
    space: &NewSpace,
) -> Result<CarriedSpace, StoreError> {
    if lease.shard != SHARD {
        return Err(StoreError::Fenced);
    }
    let read_key = space.read_key.map(|key| key.to_string());
    let mut transaction = begin_fenced(writer, lease).await?;
    // The constitution is what the id is the id of, so one that is there is the same one.
    sqlx::query(
        "INSERT INTO spaces (id, shard, carried, constitution, read_key, revision)
         VALUES (?1, ?2, 1, ?3, ?4, 1)
         ON CONFLICT (id) DO UPDATE
         SET carried = 1, read_key = excluded.read_key, revision = revision + 1
         WHERE carried = 0 OR read_key IS NOT excluded.read_key",
    )
    .bind(space.space.digest().as_slice())
    .bind(lease.shard.0)
    .bind(space.constitution.as_slice())
    .bind(read_key)
    .execute(&mut *transaction)
    .await
    .map_err(failed)?;
    let row = sqlx::query(
        "SELECT id, constitution, read_key, revision, bytes, versions
         FROM spaces WHERE id = ?1",
    )
    .bind(space.space.digest().as_slice())
    .fetch_one(&mut *transaction)
    .await
    .map_err(failed)?;
    let carried = carried_space(&row)?;
    transaction.commit().await.map_err(failed)?;
    Ok(carried)
}

pub(super) async fn stop_carrying(
    writer: &SqlitePool,
    lease: &Lease,
    space: &ContentId,
) -> Result<bool, StoreError> {
    if lease.shard != SHARD {
        return Err(StoreError::Fenced);
    }
    let mut transaction = begin_fenced(writer, lease).await?;
    let stopped = sqlx::query(
        "UPDATE spaces SET carried = 0, revision = revision + 1 WHERE id = ?1 AND carried = 1",
    )
    .bind(space.digest().as_slice())
    .execute(&mut *transaction)
    .await
    .map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    Ok(stopped.rows_affected() == 1)
}

/// A page of spaces.
pub(super) const CARRIED: &str = "SELECT id, constitution, read_key, revision, bytes, versions
    FROM spaces WHERE id > ?1 AND carried = 1 ORDER BY id LIMIT ?2";

pub(super) async fn carried(
    readers: &SqlitePool,
    after: Option<ContentId>,
    limit: usize,
) -> Result<Vec<CarriedSpace>, StoreError> {
    // No id is empty, and all sort after it.
    let after = after.map_or_else(Vec::new, |id| id.digest().to_vec());
    let rows = sqlx::query(CARRIED)
        .bind(after)
        .bind(to_limit(limit))
        .fetch_all(readers)
        .await
        .map_err(failed)?;
    rows.iter().map(carried_space).collect()
}

pub(super) async fn door(
    readers: &SqlitePool,
    space: &ContentId,
) -> Result<Option<Door>, StoreError> {
    let found: Option<Option<String>> =
        sqlx::query_scalar("SELECT read_key FROM spaces WHERE id = ?1 AND carried = 1")
            .bind(space.digest().as_slice())
            .fetch_optional(readers)
            .await
            .map_err(failed)?;
    let checked = did(found
        .iter()
        .flatten()
        .next()
        .map_or(SOME_DID, String::as_str))?;
    Ok(found.map(|read_key| Door {
        read_key: read_key.map(|_| checked),
    }))
}

fn carried_space(row: &SqliteRow) -> Result<CarriedSpace, StoreError> {
    let read_key: Option<&str> = row.try_get(2).map_err(failed)?;
    Ok(CarriedSpace {
        space: id(row.try_get(0).map_err(failed)?)?,
        constitution: row.try_get(1).map_err(failed)?,
        read_key: read_key.map(did).transpose()?,
        revision: count(row.try_get(3).map_err(failed)?)?,
        bytes: count(row.try_get(4).map_err(failed)?)?,
        versions: count(row.try_get(5).map_err(failed)?)?,
    })
}
