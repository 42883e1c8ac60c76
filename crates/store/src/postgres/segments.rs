//! What of a space is in the bucket, and what isn't yet.

use engine::rows::StoredVersion;
use minca_record::content_id::ContentId;
use sqlx::{PgConnection, PgPool, Row};

use super::error::failed;
use super::lease::{begin_for_space, to_number};
use super::read::{digests, stored_version};
use crate::codec::{count, id, to_integer, to_limit, writer_id};
use crate::failure::corrupt;
use crate::{Lease, SegmentRow, Shard, StoreError, StoreWriter};

/// A segment's writer, counter, name, length and ids.
type SegmentColumns = (Vec<u8>, i64, String, i64, Vec<u8>);

/// Versions that are measured at once to find those that fit.
const PAGE: i64 = 1_000;

/// Spaces by how long they have waited, off an index of those that wait.
const SPACES_TO_SEGMENT: &str = "SELECT id FROM spaces
    WHERE shard = $1 AND carried AND to_segment_since IS NOT NULL
    ORDER BY to_segment_since, space LIMIT $2";

pub(super) async fn spaces_to_segment(
    pool: &PgPool,
    shard: Shard,
    limit: usize,
) -> Result<Vec<ContentId>, StoreError> {
    let ids: Vec<Vec<u8>> = sqlx::query_scalar(SPACES_TO_SEGMENT)
        .bind(to_number(shard)?)
        .bind(to_limit(limit))
        .fetch_all(pool)
        .await
        .map_err(failed)?;
    ids.iter().map(|bytes| id(bytes)).collect()
}

/// A page of the versions that wait, in the order they were written: those that fit, and
/// the first of all; measured before any of their pieces is read. With each its number,
/// and the bytes up to it.
const UNSEGMENTED: &str = "SELECT v.id, c.name, v.key, v.envelope, n.bytes, v.body, v.no,
        fits.bytes::bigint
    FROM (
        SELECT space, no, row_number() OVER list AS nth, sum(length) OVER list AS bytes
        FROM (
            SELECT v.space, v.no,
                   octet_length(v.envelope) + coalesce(octet_length(n.bytes), 0)
                   + coalesce(octet_length(v.body), 0) AS length
            FROM spaces s
            CROSS JOIN LATERAL (
                SELECT space, version FROM to_segment
                WHERE space = s.space AND version > $2 ORDER BY version LIMIT $4
            ) t
            JOIN versions v ON v.space = t.space AND v.no = t.version
            LEFT JOIN notes n ON n.space = v.space AND n.note = v.note
            WHERE s.id = $1
        ) page
        WINDOW list AS (ORDER BY no ROWS UNBOUNDED PRECEDING)
    ) fits
    JOIN versions v ON v.space = fits.space AND v.no = fits.no
    JOIN collections c ON c.space = v.space AND c.collection = v.collection
    LEFT JOIN notes n ON n.space = v.space AND n.note = v.note
    WHERE fits.bytes <= $3 OR (fits.nth = 1 AND $2 = 0)
    ORDER BY fits.no";

pub(super) async fn unsegmented(
    pool: &PgPool,
    space: &ContentId,
    max_bytes: usize,
) -> Result<Vec<StoredVersion>, StoreError> {
    let mut found = Vec::new();
    let mut last = 0_i64;
    let mut left = to_limit(max_bytes);
    loop {
        let rows = sqlx::query(UNSEGMENTED)
            .bind(space.digest().as_slice())
            .bind(last)
            .bind(left)
            .bind(PAGE)
            .fetch_all(pool)
            .await
            .map_err(failed)?;
        for row in &rows {
            found.push(stored_version(row, 0)?);
        }
        let Some(end) = rows.last() else {
            return Ok(found);
        };
        // Short of a page: no more fitted, or no more waited.
        if rows.len() < PAGE as usize {
            return Ok(found);
        }
        last = end.try_get(6).map_err(failed)?;
        left -= end.try_get::<i64, _>(7).map_err(failed)?;
    }
}

pub(super) async fn store_writer(
    pool: &PgPool,
    lease: &Lease,
    space: &ContentId,
    fresh: [u8; 16],
) -> Result<StoreWriter, StoreError> {
    let (mut transaction, space) = begin_for_space(pool, lease, space).await?;
    // Setting the term to itself makes RETURNING give the row that was there.
    let (id, last_counter, announced): (Vec<u8>, i64, bool) = sqlx::query_as(
        "INSERT INTO store_writers AS s (space, term, writer) VALUES ($1, $2, $3)
         ON CONFLICT (space, term) DO UPDATE SET term = s.term
         RETURNING writer, last_counter, announced",
    )
    .bind(space)
    .bind(to_integer(lease.term))
    .bind(fresh.as_slice())
    .fetch_one(&mut *transaction)
    .await
    .map_err(failed)?;
    transaction.commit().await?;
    Ok(StoreWriter {
        id: writer_id(&id)?,
        last_counter: count(last_counter)?,
        announced,
    })
}

pub(super) async fn mark_writer_announced(
    pool: &PgPool,
    lease: &Lease,
    space: &ContentId,
    announced: [u8; 16],
) -> Result<(), StoreError> {
    let (mut transaction, space) = begin_for_space(pool, lease, space).await?;
    let marked =
        sqlx::query("UPDATE store_writers SET announced = true WHERE space = $1 AND writer = $2")
            .bind(space)
            .bind(announced.as_slice())
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
    if marked.rows_affected() == 0 {
        return Err(corrupt("no such store writer was made for the space"));
    }
    transaction.commit().await
}

pub(super) async fn record_segment(
    pool: &PgPool,
    lease: &Lease,
    space: &ContentId,
    segment: &SegmentRow,
) -> Result<(), StoreError> {
    let (mut transaction, space) = begin_for_space(pool, lease, space).await?;
    let recorded: Option<String> = sqlx::query_scalar(
        "SELECT name FROM segments WHERE space = $1 AND writer = $2 AND counter = $3",
    )
    .bind(space)
    .bind(segment.writer.as_slice())
    .bind(to_integer(segment.counter))
    .fetch_optional(&mut *transaction)
    .await
    .map_err(failed)?;
    match recorded {
        // Told twice. Its versions may have changed since the first time.
        Some(name) if name == segment.name => return transaction.roll_back().await,
        Some(_) => return Err(corrupt("another segment is recorded under its counter")),
        None => {}
    }
    let versions: Vec<u8> = segment
        .versions
        .iter()
        .flat_map(|id| *id.digest())
        .collect();
    sqlx::query(
        "WITH writer AS (
             UPDATE store_writers SET last_counter = greatest(last_counter, $3)
             WHERE space = $1 AND writer = $2
         )
         INSERT INTO segments (space, writer, counter, name, bytes, versions)
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(space)
    .bind(segment.writer.as_slice())
    .bind(to_integer(segment.counter))
    .bind(segment.name.as_str())
    .bind(to_integer(segment.bytes))
    .bind(versions)
    .execute(&mut *transaction)
    .await
    .map_err(failed)?;
    mark_known(&mut transaction, space, &segment.versions).await?;
    transaction.commit().await
}

/// Takes versions off the list of those to segment, but for those that changed
/// while they waited: these wait for one more segment (see the schema). All of the first
/// statement sees the rows as they were before it, so it deletes none whose mark it takes
/// off, and the second sees what it left.
async fn mark_known(
    connection: &mut PgConnection,
    space: i64,
    versions: &[ContentId],
) -> Result<(), StoreError> {
    sqlx::query(
        "WITH known AS (SELECT no FROM versions WHERE space = $1 AND id = ANY ($2)),
         gone AS (
             DELETE FROM to_segment t USING known
             WHERE t.space = $1 AND t.version = known.no AND NOT t.again
         )
         UPDATE to_segment t SET again = false FROM known
         WHERE t.space = $1 AND t.version = known.no AND t.again",
    )
    .bind(space)
    .bind(digests(versions))
    .execute(&mut *connection)
    .await
    .map_err(failed)?;
    sqlx::query(
        "UPDATE spaces SET to_segment_since = (
             SELECT since FROM to_segment WHERE space = $1 ORDER BY version LIMIT 1
         )
         WHERE space = $1",
    )
    .bind(space)
    .execute(&mut *connection)
    .await
    .map_err(failed)?;
    Ok(())
}

pub(super) async fn segments(
    pool: &PgPool,
    space: &ContentId,
) -> Result<Vec<SegmentRow>, StoreError> {
    let rows: Vec<SegmentColumns> = sqlx::query_as(
        "SELECT g.writer, g.counter, g.name, g.bytes, g.versions
         FROM spaces s JOIN segments g ON g.space = s.space
         WHERE s.id = $1
         ORDER BY g.writer, g.counter",
    )
    .bind(space.digest().as_slice())
    .fetch_all(pool)
    .await
    .map_err(failed)?;
    rows.into_iter()
        .map(|(writer, counter, name, bytes, versions)| {
            Ok(SegmentRow {
                writer: writer_id(&writer)?,
                counter: count(counter)?,
                name,
                bytes: count(bytes)?,
                versions: versions.chunks(32).map(id).collect::<Result<_, _>>()?,
            })
        })
        .collect()
}
