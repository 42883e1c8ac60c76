//! Which spaces the hosts hold.

use minca_record::content_id::ContentId;
use sqlx::postgres::PgRow;
use sqlx::{PgPool, Row};

use super::error::failed;
use super::lease::{begin_fenced, to_number};
use crate::codec::{SOME_DID, count, did, id, to_limit};
use crate::{CarriedSpace, Door, Lease, NewSpace, Shard, StoreError};

/// Writes a space's row where it is new or changes. The constitution is what the id is
/// the id of, so one that is there is the same one.
const CARRY: &str = "WITH written AS (
        INSERT INTO spaces AS s (id, shard, carried, read_key, revision)
        VALUES ($1, $2, true, $3, 1)
        ON CONFLICT (id) DO UPDATE
        SET carried = true, read_key = excluded.read_key, revision = s.revision + 1
        WHERE NOT s.carried OR s.read_key IS DISTINCT FROM excluded.read_key
        RETURNING s.space
    )
    INSERT INTO constitutions (space, bytes) SELECT space, $4 FROM written
    ON CONFLICT (space) DO NOTHING";

/// One space.
const HELD: &str = "SELECT s.id, c.bytes, s.read_key, s.revision, s.bytes, s.versions
    FROM spaces s JOIN constitutions c USING (space) WHERE s.id = $1";

pub(super) async fn carry(
    pool: &PgPool,
    shard: Shard,
    lease: &Lease,
    space: &NewSpace,
) -> Result<CarriedSpace, StoreError> {
    if lease.shard != shard {
        return Err(StoreError::Fenced);
    }
    let (mut transaction, _) =
        begin_fenced(pool, lease, std::slice::from_ref(&space.space)).await?;
    sqlx::query(CARRY)
        .bind(space.space.digest().as_slice())
        .bind(to_number(lease.shard)?)
        .bind(space.read_key.map(|key| key.to_string()))
        .bind(space.constitution.as_slice())
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
    let row = sqlx::query(HELD)
        .bind(space.space.digest().as_slice())
        .fetch_one(&mut *transaction)
        .await
        .map_err(failed)?;
    let carried = carried_space(&row)?;
    transaction.commit().await?;
    Ok(carried)
}

pub(super) async fn stop_carrying(
    pool: &PgPool,
    shard: Shard,
    lease: &Lease,
    space: &ContentId,
) -> Result<bool, StoreError> {
    if lease.shard != shard {
        return Err(StoreError::Fenced);
    }
    let (mut transaction, _) = begin_fenced(pool, lease, std::slice::from_ref(space)).await?;
    let stopped = sqlx::query(
        "UPDATE spaces SET carried = false, revision = revision + 1 WHERE id = $1 AND carried",
    )
    .bind(space.digest().as_slice())
    .execute(&mut *transaction)
    .await
    .map_err(failed)?;
    transaction.commit().await?;
    Ok(stopped.rows_affected() == 1)
}

/// A page of spaces.
const CARRIED: &str = "SELECT s.id, c.bytes, s.read_key, s.revision, s.bytes, s.versions
    FROM spaces s JOIN constitutions c USING (space)
    WHERE s.id > $1 AND s.carried ORDER BY s.id LIMIT $2";

pub(super) async fn carried(
    pool: &PgPool,
    after: Option<ContentId>,
    limit: usize,
) -> Result<Vec<CarriedSpace>, StoreError> {
    // No id is empty, and all sort after it.
    let after = after.map_or_else(Vec::new, |id| id.digest().to_vec());
    let rows = sqlx::query(CARRIED)
        .bind(after)
        .bind(to_limit(limit))
        .fetch_all(pool)
        .await
        .map_err(failed)?;
    rows.iter().map(carried_space).collect()
}

pub(super) async fn door(pool: &PgPool, space: &ContentId) -> Result<Option<Door>, StoreError> {
    let found: Option<Option<String>> =
        sqlx::query_scalar("SELECT read_key FROM spaces WHERE id = $1 AND carried")
            .bind(space.digest().as_slice())
            .fetch_optional(pool)
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

fn carried_space(row: &PgRow) -> Result<CarriedSpace, StoreError> {
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
