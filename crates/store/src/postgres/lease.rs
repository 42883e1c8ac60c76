//! Leases with terms, and the fence that every write passes.
//!
//! A transaction that writes takes the shared advisory lock of its shard, and only then
//! reads the term, in a statement of its own: its snapshot is newer than the lock. Who
//! takes over raises the term under the exclusive lock, so that it waits for the
//! transactions that passed the fence before, and none passes it meanwhile.

use std::collections::HashMap;
use std::time::Duration;

use minca_record::content_id::ContentId;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, PgPool, Row};

use super::error::failed;
use super::transaction::Transaction;
use crate::codec::{count, id, to_integer, to_milliseconds};
use crate::failure::corrupt;
use crate::{Holder, Lease, Shard, StoreError, TakeLease};

/// The first of the two numbers that name our advisory locks ("shrd"); the second is the
/// shard's.
const SHARD_LOCKS: i32 = 0x7368_7264;

/// A space's row, locked for the rest of the transaction.
#[derive(Clone, Debug)]
pub(super) struct LockedSpace {
    pub(super) space: i64,
    pub(super) shard: u32,
    pub(super) carried: bool,
    /// The last numbers given within the space.
    pub(super) last_version: i64,
    pub(super) last_collection: i32,
    pub(super) last_account: i32,
    pub(super) last_note: i32,
}

/// Starts a transaction under the shard's advisory lock, taken by `function`: one round
/// trip.
async fn begin(pool: &PgPool, function: &str, shard: Shard) -> Result<Transaction, StoreError> {
    let lock = format!("SELECT {function}({SHARD_LOCKS}, {})", to_number(shard)?);
    Transaction::begin(pool, &lock).await
}

/// A shard as Postgres has its number.
pub(super) fn to_number(shard: Shard) -> Result<i32, StoreError> {
    i32::try_from(shard.0).map_err(|_| corrupt("a shard's number is over 2^31 − 1"))
}

/// The fence, and the rows of the spaces to write, in an order that all who lock several
/// lock them in. No row at all where the term is over, one without a space where there is
/// none to lock.
const FENCE: &str = "SELECT s.space, s.id, s.shard, s.carried,
        s.last_version, s.last_collection, s.last_account, s.last_note
    FROM leases l
    LEFT JOIN LATERAL (
        SELECT * FROM spaces WHERE spaces.id = ANY ($4) ORDER BY spaces.space FOR UPDATE
    ) s ON true
    WHERE l.shard = $1 AND l.holder = $2 AND l.term = $3";

/// Starts a transaction that writes under `lease`, which is current for as long as the
/// transaction lasts. `spaces` are locked; those that were ever held come back.
pub(super) async fn begin_fenced(
    pool: &PgPool,
    lease: &Lease,
    spaces: &[ContentId],
) -> Result<(Transaction, HashMap<ContentId, LockedSpace>), StoreError> {
    let mut transaction = begin(pool, "pg_advisory_xact_lock_shared", lease.shard).await?;
    let ids: Vec<&[u8]> = spaces.iter().map(|id| id.digest().as_slice()).collect();
    let rows = sqlx::query(FENCE)
        .bind(to_number(lease.shard)?)
        .bind(lease.holder.0.as_slice())
        .bind(to_integer(lease.term))
        .bind(ids)
        .fetch_all(&mut *transaction)
        .await
        .map_err(failed)?;
    if rows.is_empty() {
        transaction.roll_back().await?;
        return Err(StoreError::Fenced);
    }
    let mut locked = HashMap::new();
    for row in &rows {
        if let Some((id, space)) = locked_space(row)? {
            locked.insert(id, space);
        }
    }
    Ok((transaction, locked))
}

fn locked_space(row: &PgRow) -> Result<Option<(ContentId, LockedSpace)>, StoreError> {
    let Some(space) = row.try_get(0).map_err(failed)? else {
        return Ok(None);
    };
    let shard: i32 = row.try_get(2).map_err(failed)?;
    let locked = LockedSpace {
        space,
        shard: u32::try_from(shard).map_err(|_| corrupt("a shard's number is below zero"))?,
        carried: row.try_get(3).map_err(failed)?,
        last_version: row.try_get(4).map_err(failed)?,
        last_collection: row.try_get(5).map_err(failed)?,
        last_account: row.try_get(6).map_err(failed)?,
        last_note: row.try_get(7).map_err(failed)?,
    };
    Ok(Some((id(row.try_get(1).map_err(failed)?)?, locked)))
}

/// As [`begin_fenced`], for writing one space; with the space's number.
pub(super) async fn begin_for_space(
    pool: &PgPool,
    lease: &Lease,
    space: &ContentId,
) -> Result<(Transaction, i64), StoreError> {
    let (transaction, locked) = begin_fenced(pool, lease, std::slice::from_ref(space)).await?;
    let refused = match locked.get(space) {
        None => StoreError::NotHeld,
        Some(found) if found.shard != lease.shard.0 => StoreError::Fenced,
        Some(found) => return Ok((transaction, found.space)),
    };
    transaction.roll_back().await?;
    Err(refused)
}

/// A lease's holder, its term, and for how many milliseconds it runs yet.
type LeaseColumns = (Option<Vec<u8>>, i64, i64);

const LEASE: &str = "SELECT holder, term,
        (extract(epoch FROM runs_out - clock_timestamp()) * 1000)::bigint
    FROM leases WHERE shard = $1";

pub(super) async fn take(
    pool: &PgPool,
    shard: Shard,
    holder: Holder,
    lasts: Duration,
) -> Result<TakeLease, StoreError> {
    // Who only asks keeps nobody from writing.
    let found: Option<LeaseColumns> = sqlx::query_as(LEASE)
        .bind(to_number(shard)?)
        .fetch_optional(pool)
        .await
        .map_err(failed)?;
    if let Err(runs_out_in) = next_term(found, holder)? {
        return Ok(TakeLease::HeldByOther { runs_out_in });
    }

    let mut transaction = begin(pool, "pg_advisory_xact_lock", shard).await?;
    // Renewing takes no advisory lock, so the row is locked too.
    let found: Option<LeaseColumns> = sqlx::query_as(AssertSqlSafe(format!("{LEASE} FOR UPDATE")))
        .bind(to_number(shard)?)
        .fetch_optional(&mut *transaction)
        .await
        .map_err(failed)?;
    let term = match next_term(found, holder)? {
        Ok(term) => term,
        Err(runs_out_in) => {
            transaction.roll_back().await?;
            return Ok(TakeLease::HeldByOther { runs_out_in });
        }
    };
    sqlx::query(
        "INSERT INTO leases (shard, holder, term, runs_out)
         VALUES ($1, $2, $3, clock_timestamp() + $4 * interval '1 millisecond')
         ON CONFLICT (shard) DO UPDATE
         SET holder = excluded.holder, term = excluded.term, runs_out = excluded.runs_out",
    )
    .bind(to_number(shard)?)
    .bind(holder.0.as_slice())
    .bind(term)
    .bind(to_milliseconds(lasts))
    .execute(&mut *transaction)
    .await
    .map_err(failed)?;
    transaction.commit().await?;
    Ok(TakeLease::Taken(Lease {
        shard,
        holder,
        term: count(term)?,
    }))
}

/// The term that a lease would be taken under, or for how long another has it yet.
fn next_term(
    found: Option<LeaseColumns>,
    holder: Holder,
) -> Result<Result<i64, Duration>, StoreError> {
    Ok(match found {
        None => Ok(1),
        Some((Some(other), _, left)) if left > 0 && other != holder.0 => {
            Err(Duration::from_millis(count(left)?))
        }
        Some((Some(_), term, left)) if left > 0 => Ok(term),
        Some((_, term, _)) => Ok(term + 1),
    })
}

pub(super) async fn renew(pool: &PgPool, lease: &Lease, lasts: Duration) -> Result<(), StoreError> {
    let renewed = sqlx::query(
        "UPDATE leases SET runs_out = clock_timestamp() + $4 * interval '1 millisecond'
         WHERE shard = $1 AND holder = $2 AND term = $3",
    )
    .bind(to_number(lease.shard)?)
    .bind(lease.holder.0.as_slice())
    .bind(to_integer(lease.term))
    .bind(to_milliseconds(lasts))
    .execute(pool)
    .await
    .map_err(failed)?;
    fenced_unless(renewed.rows_affected() == 1)
}

pub(super) async fn release(pool: &PgPool, lease: &Lease) -> Result<(), StoreError> {
    let released = sqlx::query(
        "UPDATE leases SET holder = NULL, runs_out = clock_timestamp()
         WHERE shard = $1 AND holder = $2 AND term = $3",
    )
    .bind(to_number(lease.shard)?)
    .bind(lease.holder.0.as_slice())
    .bind(to_integer(lease.term))
    .execute(pool)
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
