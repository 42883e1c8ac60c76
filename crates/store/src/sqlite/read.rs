//! Reading one space: at first touch, what a batch names, items, versions.

use std::collections::HashMap;

use engine::rows::{Found, HeldVersion, OpenedSpace, RecordRow, StoredVersion, Wanted};
use futures::TryStreamExt;
use minca_record::content_id::ContentId;
use minca_record::did::Dids;
use minca_record::required::ACCESS_COLLECTIONS;
use minca_sync::item::Item;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqlitePool};

use super::arrays::{ids_json, texts_json};
use super::error::failed;
use crate::StoreError;
use crate::codec::{count, id, item, optional_id, sum, to_integer, to_limit};
use crate::failure::corrupt;

/// What a row of [`open`] is.
const CONSTITUTION: i64 = 0;
const COLLECTION: i64 = 1;
const VERSION: i64 = 2;

/// One statement, so that all of it is of one moment.
pub(super) const OPEN: &str = "WITH here (space, constitution) AS (
        SELECT space, constitution FROM spaces WHERE id = ?1 AND carried = 1
    )
    SELECT 0, NULL, NULL, NULL, here.constitution, NULL, NULL, NULL FROM here
    UNION ALL
    SELECT 1, NULL, c.name, NULL, c.sum, NULL, NULL, c.items
    FROM here CROSS JOIN collections c ON c.space = here.space
    UNION ALL
    SELECT 2, v.id, c.name, v.key, v.envelope, n.bytes, v.body, NULL
    FROM here
    CROSS JOIN json_each(?2) AS access
    CROSS JOIN collections c ON c.space = here.space AND c.name = access.value
    CROSS JOIN versions v INDEXED BY versions_by_item
        ON v.space = c.space AND v.collection = c.collection
    LEFT JOIN notes n ON n.space = v.space AND n.note = v.note";

pub(super) async fn open(
    readers: &SqlitePool,
    space: &ContentId,
) -> Result<Option<OpenedSpace>, StoreError> {
    let rows = sqlx::query(OPEN)
        .bind(space.digest().as_slice())
        .bind(texts_json(ACCESS_COLLECTIONS))
        .fetch_all(readers)
        .await
        .map_err(failed)?;

    let mut constitution = None;
    let mut sums = Vec::new();
    let mut access = Vec::new();
    for row in &rows {
        match row.try_get(0).map_err(failed)? {
            CONSTITUTION => constitution = Some(row.try_get(4).map_err(failed)?),
            COLLECTION => {
                let items = row.try_get(7).map_err(failed)?;
                let value: &[u8] = row.try_get(4).map_err(failed)?;
                sums.push((row.try_get(2).map_err(failed)?, sum(items, value)?));
            }
            VERSION => access.push(stored_version(row, 1)?),
            _ => return Err(corrupt("a row is of no kind there is")),
        }
    }
    Ok(constitution.map(|constitution| OpenedSpace {
        constitution,
        sums,
        access,
    }))
}

/// Versions have a collection; rows without one are heads: the current version's id,
/// the record's key, and the first version's id where a genesis would be.
pub(super) const READ: &str = "WITH here (space) AS (SELECT space FROM spaces WHERE id = ?1),
    heads (space, key, current, first) AS (
        SELECT r.space, r.key, r.current, r.first
        FROM here CROSS JOIN json_each(?3) AS asked
        CROSS JOIN records r ON r.space = here.space AND r.key = asked.value
    ),
    named (no) AS (
        SELECT v.no
        FROM here CROSS JOIN json_each(?2) AS asked
        CROSS JOIN versions v ON v.space = here.space AND v.id = unhex(asked.value)
        UNION
        SELECT current FROM heads
    )
    SELECT v.id, c.name, v.key, v.seq, v.genesis, a.did, v.retain, v.deleted,
           v.deleted OR v.body IS NOT NULL
    FROM named CROSS JOIN versions v ON v.no = named.no
    CROSS JOIN collections c ON c.space = v.space AND c.collection = v.collection
    CROSS JOIN accounts a ON a.space = v.space AND a.account = v.account
    UNION ALL
    SELECT current.id, NULL, heads.key, NULL, first.id, NULL, NULL, NULL, NULL
    FROM heads CROSS JOIN versions current ON current.no = heads.current
    LEFT JOIN versions first ON first.no = heads.first";

pub(super) async fn read(
    readers: &SqlitePool,
    space: &ContentId,
    wanted: &Wanted,
) -> Result<Found, StoreError> {
    if wanted.is_empty() {
        return Ok(Found::default());
    }
    let rows = sqlx::query(READ)
        .bind(space.digest().as_slice())
        .bind(ids_json(&wanted.versions))
        .bind(texts_json(&wanted.records))
        .fetch_all(readers)
        .await
        .map_err(failed)?;

    let mut found = Found::default();
    let mut dids = Dids::default();
    for row in &rows {
        let id = id(row.try_get(0).map_err(failed)?)?;
        let key: String = row.try_get(2).map_err(failed)?;
        let named = optional_id(row.try_get(4).map_err(failed)?)?;
        let Some(collection) = row.try_get(1).map_err(failed)? else {
            let head = RecordRow {
                key: key.clone(),
                current: id,
                first: named,
            };
            found.records.insert(key, head);
            continue;
        };
        let held = HeldVersion {
            id,
            collection,
            key,
            seq: count(row.try_get(3).map_err(failed)?)?,
            genesis: named,
            root: dids
                .parse(row.try_get(5).map_err(failed)?)
                .map_err(|_| corrupt("a DID is none"))?,
            retain: row.try_get(6).map_err(failed)?,
            deleted: row.try_get(7).map_err(failed)?,
            whole: row.try_get(8).map_err(failed)?,
        };
        found.versions.insert(id, held);
    }
    if !wanted.bodies.is_empty() {
        found.bodies = bodies(readers, space, &wanted.bodies).await?;
    }
    Ok(found)
}

/// What is asked for is kept whole, so that a body once there stays: it need not be
/// of the same moment as the rows.
pub(super) const BODIES: &str = "SELECT v.id, v.body
    FROM spaces s CROSS JOIN json_each(?2) AS asked
    CROSS JOIN versions v ON v.space = s.space AND v.id = unhex(asked.value)
    WHERE s.id = ?1 AND v.body IS NOT NULL";

async fn bodies(
    readers: &SqlitePool,
    space: &ContentId,
    wanted: &[ContentId],
) -> Result<HashMap<ContentId, Vec<u8>>, StoreError> {
    let rows = sqlx::query(BODIES)
        .bind(space.digest().as_slice())
        .bind(ids_json(wanted))
        .fetch_all(readers)
        .await
        .map_err(failed)?;
    let rows = rows.iter().map(|row| {
        let id = id(row.try_get(0).map_err(failed)?)?;
        Ok((id, row.try_get(1).map_err(failed)?))
    });
    rows.collect()
}

/// A page of a collection's items, off the index alone.
pub(super) const ITEMS: &str = "SELECT v.timestamp, v.id
    FROM spaces s
    CROSS JOIN collections c ON c.space = s.space AND c.name = ?2
    CROSS JOIN versions v INDEXED BY versions_by_item
        ON v.space = c.space AND v.collection = c.collection
    WHERE s.id = ?1 AND (v.timestamp, v.id) > (?3, ?4)
    ORDER BY v.timestamp, v.id
    LIMIT ?5";

pub(super) async fn items(
    readers: &SqlitePool,
    space: &ContentId,
    collection: &str,
    after: Option<Item>,
    limit: usize,
) -> Result<Vec<Item>, StoreError> {
    // No item is before 0, and none has an empty id.
    let (timestamp, id) = after.map_or((0, Vec::new()), |item| {
        (to_integer(item.timestamp), item.id.to_vec())
    });
    let rows: Vec<(i64, Vec<u8>)> = sqlx::query_as(ITEMS)
        .bind(space.digest().as_slice())
        .bind(collection)
        .bind(timestamp)
        .bind(id)
        .bind(to_limit(limit))
        .fetch_all(readers)
        .await
        .map_err(failed)?;
    rows.iter()
        .map(|(timestamp, id)| item(*timestamp, id))
        .collect()
}

/// json_each gives its rows in order of rowid, so nothing is sorted and no more is
/// read than fits.
pub(super) const VERSIONS: &str = "SELECT v.id, c.name, v.key, v.envelope, n.bytes, v.body
    FROM json_each(?2) AS asked
    CROSS JOIN spaces s ON s.id = ?1
    CROSS JOIN versions v ON v.space = s.space AND v.id = unhex(asked.value)
    CROSS JOIN collections c ON c.space = v.space AND c.collection = v.collection
    LEFT JOIN notes n ON n.space = v.space AND n.note = v.note
    ORDER BY asked.rowid";

pub(super) async fn versions(
    readers: &SqlitePool,
    space: &ContentId,
    ids: &[ContentId],
    max_bytes: usize,
) -> Result<Vec<StoredVersion>, StoreError> {
    let rows = sqlx::query(VERSIONS)
        .bind(space.digest().as_slice())
        .bind(ids_json(ids))
        .fetch(readers);
    take_up_to(rows, max_bytes).await
}

/// Reads versions until one more would take their pieces over `max_bytes`, but
/// always the first.
pub(super) async fn take_up_to(
    mut rows: impl TryStreamExt<Ok = SqliteRow, Error = sqlx::Error> + Unpin,
    max_bytes: usize,
) -> Result<Vec<StoredVersion>, StoreError> {
    let mut taken = Vec::new();
    let mut bytes = 0_usize;
    while let Some(row) = rows.try_next().await.map_err(failed)? {
        let version = stored_version(&row, 0)?;
        let length = |piece: &Option<Vec<u8>>| piece.as_ref().map_or(0, Vec::len);
        bytes += version.envelope.len() + length(&version.proof) + length(&version.body);
        if bytes > max_bytes && !taken.is_empty() {
            break;
        }
        taken.push(version);
    }
    Ok(taken)
}

/// Reads id, collection, key, envelope, note and body from column `from` on.
fn stored_version(row: &SqliteRow, from: usize) -> Result<StoredVersion, StoreError> {
    Ok(StoredVersion {
        id: id(row.try_get(from).map_err(failed)?)?,
        collection: row.try_get(from + 1).map_err(failed)?,
        key: row.try_get(from + 2).map_err(failed)?,
        envelope: row.try_get(from + 3).map_err(failed)?,
        proof: row.try_get(from + 4).map_err(failed)?,
        body: row.try_get(from + 5).map_err(failed)?,
    })
}
