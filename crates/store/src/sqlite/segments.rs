//! What of a space is in the bucket, and what isn't yet.

use engine::rows::StoredVersion;
use minca_record::content_id::ContentId;
use sqlx::{SqliteConnection, SqlitePool};

use super::arrays::ids_json;
use super::error::failed;
use super::lease::begin_for_space;
use super::read::take_up_to;
use crate::codec::{count, id, to_integer, to_limit, writer_id};
use crate::failure::corrupt;
use crate::{Lease, SegmentRow, Shard, StoreError, StoreWriter};

/// A segment's writer, counter, name, length and ids.
type SegmentColumns = (Vec<u8>, i64, String, i64, Vec<u8>);

/// Spaces by how long they have waited, off an index of those that wait.
pub(super) const SPACES_TO_SEGMENT: &str = "SELECT id FROM spaces
    WHERE shard = ?1 AND carried = 1 AND to_segment_since IS NOT NULL
    ORDER BY to_segment_since, space LIMIT ?2";

pub(super) async fn spaces_to_segment(
    readers: &SqlitePool,
    shard: Shard,
    limit: usize,
) -> Result<Vec<ContentId>, StoreError> {
    let ids: Vec<Vec<u8>> = sqlx::query_scalar(SPACES_TO_SEGMENT)
        .bind(shard.0)
        .bind(to_limit(limit))
        .fetch_all(readers)
        .await
        .map_err(failed)?;
    ids.iter().map(|bytes| id(bytes)).collect()
}

/// Versions that wait, in the order they were written.
pub(super) const UNSEGMENTED: &str = "SELECT v.id, c.name, v.key, v.envelope, n.bytes, v.body
    FROM spaces s
    CROSS JOIN to_segment t ON t.space = s.space
    CROSS JOIN versions v ON v.no = t.version
    CROSS JOIN collections c ON c.space = v.space AND c.collection = v.collection
    LEFT JOIN notes n ON n.space = v.space AND n.note = v.note
    WHERE s.id = ?1
    ORDER BY t.version";

pub(super) async fn unsegmented(
    readers: &SqlitePool,
    space: &ContentId,
    max_bytes: usize,
) -> Result<Vec<StoredVersion>, StoreError> {
    let rows = sqlx::query(UNSEGMENTED)
        .bind(space.digest().as_slice())
        .fetch(readers);
    take_up_to(rows, max_bytes).await
}

pub(super) async fn store_writer(
    writer: &SqlitePool,
    lease: &Lease,
    space: &ContentId,
    fresh: [u8; 16],
) -> Result<StoreWriter, StoreError> {
    let (mut transaction, space) = begin_for_space(writer, lease, space).await?;
    sqlx::query(
        "INSERT INTO store_writers (space, term, writer) VALUES (?1, ?2, ?3)
         ON CONFLICT (space, term) DO NOTHING",
    )
    .bind(space)
    .bind(to_integer(lease.term))
    .bind(fresh.as_slice())
    .execute(&mut *transaction)
    .await
    .map_err(failed)?;
    let (id, last_counter, announced): (Vec<u8>, i64, bool) = sqlx::query_as(
        "SELECT writer, last_counter, announced FROM store_writers
         WHERE space = ?1 AND term = ?2",
    )
    .bind(space)
    .bind(to_integer(lease.term))
    .fetch_one(&mut *transaction)
    .await
    .map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    Ok(StoreWriter {
        id: writer_id(&id)?,
        last_counter: count(last_counter)?,
        announced,
    })
}

pub(super) async fn mark_writer_announced(
    writer: &SqlitePool,
    lease: &Lease,
    space: &ContentId,
    announced: [u8; 16],
) -> Result<(), StoreError> {
    let (mut transaction, space) = begin_for_space(writer, lease, space).await?;
    let marked =
        sqlx::query("UPDATE store_writers SET announced = 1 WHERE space = ?1 AND writer = ?2")
            .bind(space)
            .bind(announced.as_slice())
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
    if marked.rows_affected() == 0 {
        return Err(corrupt("no such store writer was made for the space"));
    }
    transaction.commit().await.map_err(failed)
}

pub(super) async fn record_segment(
    writer: &SqlitePool,
    lease: &Lease,
    space: &ContentId,
    segment: &SegmentRow,
) -> Result<(), StoreError> {
    let (mut transaction, space) = begin_for_space(writer, lease, space).await?;
    let recorded: Option<String> = sqlx::query_scalar(
        "SELECT name FROM segments WHERE space = ?1 AND writer = ?2 AND counter = ?3",
    )
    .bind(space)
    .bind(segment.writer.as_slice())
    .bind(to_integer(segment.counter))
    .fetch_optional(&mut *transaction)
    .await
    .map_err(failed)?;
    match recorded {
        // Told twice. Its versions may have changed since the first time.
        Some(name) if name == segment.name => return Ok(()),
        Some(_) => return Err(corrupt("another segment is recorded under its counter")),
        None => {}
    }
    let versions: Vec<u8> = segment
        .versions
        .iter()
        .flat_map(|id| *id.digest())
        .collect();
    sqlx::query(
        "INSERT INTO segments (space, writer, counter, name, bytes, versions)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
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
    sqlx::query(
        "UPDATE store_writers SET last_counter = max(last_counter, ?3)
         WHERE space = ?1 AND writer = ?2",
    )
    .bind(space)
    .bind(segment.writer.as_slice())
    .bind(to_integer(segment.counter))
    .execute(&mut *transaction)
    .await
    .map_err(failed)?;
    mark_known(&mut transaction, space, &segment.versions).await?;
    transaction.commit().await.map_err(failed)
}

/// Takes versions off the list of those to segment, but for those that changed
/// while they waited: these wait for one more segment (see the schema).
async fn mark_known(
    connection: &mut SqliteConnection,
    space: i64,
    versions: &[ContentId],
) -> Result<(), StoreError> {
    let ids = ids_json(versions);
    sqlx::query(
        "DELETE FROM to_segment WHERE space = ?1 AND again = 0 AND version IN (
             SELECT v.no FROM json_each(?2) AS known
             CROSS JOIN versions v ON v.space = ?1 AND v.id = unhex(known.value)
         )",
    )
    .bind(space)
    .bind(ids.as_str())
    .execute(&mut *connection)
    .await
    .map_err(failed)?;
    sqlx::query(
        "UPDATE to_segment SET again = 0 WHERE space = ?1 AND again = 1 AND version IN (
             SELECT v.no FROM json_each(?2) AS known
             CROSS JOIN versions v ON v.space = ?1 AND v.id = unhex(known.value)
         )",
    )
    .bind(space)
    .bind(ids.as_str())
    .execute(&mut *connection)
    .await
    .map_err(failed)?;
    sqlx::query(
        "UPDATE spaces SET to_segment_since = (
             SELECT since FROM to_segment WHERE space = ?1 ORDER BY version LIMIT 1
         )
         WHERE space = ?1",
    )
    .bind(space)
    .execute(&mut *connection)
    .await
    .map_err(failed)?;
    Ok(())
}

pub(super) async fn segments(
    readers: &SqlitePool,
    space: &ContentId,
) -> Result<Vec<SegmentRow>, StoreError> {
    let rows: Vec<SegmentColumns> = sqlx::query_as(
        "SELECT g.writer, g.counter, g.name, g.bytes, g.versions
         FROM spaces s CROSS JOIN segments g ON g.space = s.space
         WHERE s.id = ?1
         ORDER BY g.writer, g.counter",
    )
    .bind(space.digest().as_slice())
    .fetch_all(readers)
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
