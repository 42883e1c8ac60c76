//! Reading one space: at first touch, what a batch names, items, versions.

use std::collections::HashMap;

use engine::rows::{Found, HeldVersion, OpenedSpace, RecordRow, StoredVersion, Wanted};
use minca_record::content_id::ContentId;
use minca_record::did::Dids;
use minca_record::required::ACCESS_COLLECTIONS;
use minca_sync::item::Item;
use sqlx::postgres::PgRow;
use sqlx::{PgPool, Row};

use super::error::failed;
use crate::StoreError;
use crate::codec::{count, id, item, optional_id, sum, to_integer, to_limit};
use crate::failure::corrupt;

/// What a row of [`open`] is.
const CONSTITUTION: i32 = 0;
const COLLECTION: i32 = 1;
const VERSION: i32 = 2;

/// One statement, so that all of it is of one moment.
const OPEN: &str = "WITH here AS (SELECT space FROM spaces WHERE id = $1 AND carried)
    SELECT 0, NULL::bytea, NULL::text, NULL::text, t.bytes, NULL::bytea, NULL::bytea, NULL::bigint
    FROM here JOIN constitutions t USING (space)
    UNION ALL
    SELECT 1, NULL, c.name, NULL, c.sum, NULL, NULL, c.items
    FROM here JOIN collections c USING (space)
    UNION ALL
    SELECT 2, v.id, c.name, v.key, v.envelope, n.bytes, v.body, NULL
    FROM here
    JOIN collections c ON c.space = here.space AND c.name = ANY ($2)
    JOIN versions v ON v.space = c.space AND v.collection = c.collection
    LEFT JOIN notes n ON n.space = v.space AND n.note = v.note";

pub(super) async fn open(
    pool: &PgPool,
    space: &ContentId,
) -> Result<Option<OpenedSpace>, StoreError> {
    let rows = sqlx::query(OPEN)
        .bind(space.digest().as_slice())
        .bind(ACCESS_COLLECTIONS.as_slice())
        .fetch_all(pool)
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
const READ: &str = "WITH here AS (SELECT space FROM spaces WHERE id = $1),
    heads AS (
        SELECT r.space, r.key, r.current, r.first
        FROM here JOIN records r ON r.space = here.space AND r.key = ANY ($3)
    ),
    named AS (
        SELECT v.space, v.no FROM here JOIN versions v ON v.space = here.space AND v.id = ANY ($2)
        UNION
        SELECT space, current FROM heads
    )
    SELECT v.id, c.name, v.key, v.seq, v.genesis, a.did, v.retain, v.deleted,
           v.deleted OR v.body IS NOT NULL
    FROM named JOIN versions v ON v.space = named.space AND v.no = named.no
    JOIN collections c ON c.space = v.space AND c.collection = v.collection
    JOIN accounts a ON a.space = v.space AND a.account = v.account
    UNION ALL
    SELECT current.id, NULL, heads.key, NULL, first.id, NULL, NULL, NULL, NULL
    FROM heads JOIN versions current ON current.space = heads.space AND current.no = heads.current
    LEFT JOIN versions first ON first.space = heads.space AND first.no = heads.first";

pub(super) async fn read(
    pool: &PgPool,
    space: &ContentId,
    wanted: &Wanted,
) -> Result<Found, StoreError> {
    let mut found = Found::default();
    if !wanted.versions.is_empty() || !wanted.records.is_empty() {
        let rows = sqlx::query(READ)
            .bind(space.digest().as_slice())
            .bind(digests(&wanted.versions))
            .bind(wanted.records.as_slice())
            .fetch_all(pool)
            .await
            .map_err(failed)?;
        take_found(&rows, &mut found)?;
    }
    if !wanted.bodies.is_empty() {
        found.bodies = bodies(pool, space, &wanted.bodies).await?;
    }
    Ok(found)
}

fn take_found(rows: &[PgRow], found: &mut Found) -> Result<(), StoreError> {
    let mut dids = Dids::default();
    for row in rows {
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
    Ok(())
}

/// What is asked for is kept whole, so that a body once there stays: it need not be
/// of the same moment as the rows.
const BODIES: &str = "SELECT v.id, v.body
    FROM spaces s JOIN versions v ON v.space = s.space AND v.id = ANY ($2)
    WHERE s.id = $1 AND v.body IS NOT NULL";

async fn bodies(
    pool: &PgPool,
    space: &ContentId,
    wanted: &[ContentId],
) -> Result<HashMap<ContentId, Vec<u8>>, StoreError> {
    let rows = sqlx::query(BODIES)
        .bind(space.digest().as_slice())
        .bind(digests(wanted))
        .fetch_all(pool)
        .await
        .map_err(failed)?;
    let rows = rows.iter().map(|row| {
        let id = id(row.try_get(0).map_err(failed)?)?;
        Ok((id, row.try_get(1).map_err(failed)?))
    });
    rows.collect()
}

/// A page of a collection's items, off the index alone.
const ITEMS: &str = "SELECT v.timestamp, v.id
    FROM spaces s
    JOIN collections c ON c.space = s.space AND c.name = $2
    CROSS JOIN LATERAL (
        SELECT timestamp, id FROM versions
        WHERE space = c.space AND collection = c.collection AND (timestamp, id) > ($3, $4)
        ORDER BY timestamp, id LIMIT $5
    ) v
    WHERE s.id = $1
    ORDER BY v.timestamp, v.id";

pub(super) async fn items(
    pool: &PgPool,
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
        .fetch_all(pool)
        .await
        .map_err(failed)?;
    rows.iter()
        .map(|(timestamp, id)| item(*timestamp, id))
        .collect()
}

/// The versions of a list that fit, in its order, and always the first: measured before
/// any of their pieces is read, since Postgres sends what it was asked for to the end.
const VERSIONS: &str = "SELECT v.id, c.name, v.key, v.envelope, n.bytes, v.body
    FROM (
        SELECT v.space, v.no, asked.place, row_number() OVER list AS nth,
               sum(octet_length(v.envelope) + coalesce(octet_length(n.bytes), 0)
                   + coalesce(octet_length(v.body), 0)) OVER list AS bytes
        FROM spaces s
        CROSS JOIN unnest($2::bytea[]) WITH ORDINALITY AS asked (id, place)
        JOIN versions v ON v.space = s.space AND v.id = asked.id
        LEFT JOIN notes n ON n.space = v.space AND n.note = v.note
        WHERE s.id = $1
        WINDOW list AS (ORDER BY asked.place ROWS UNBOUNDED PRECEDING)
    ) fits
    JOIN versions v ON v.space = fits.space AND v.no = fits.no
    JOIN collections c ON c.space = v.space AND c.collection = v.collection
    LEFT JOIN notes n ON n.space = v.space AND n.note = v.note
    WHERE fits.bytes <= $3 OR fits.nth = 1
    ORDER BY fits.place";

pub(super) async fn versions(
    pool: &PgPool,
    space: &ContentId,
    ids: &[ContentId],
    max_bytes: usize,
) -> Result<Vec<StoredVersion>, StoreError> {
    let rows = sqlx::query(VERSIONS)
        .bind(space.digest().as_slice())
        .bind(digests(ids))
        .bind(to_limit(max_bytes))
        .fetch_all(pool)
        .await
        .map_err(failed)?;
    rows.iter().map(|row| stored_version(row, 0)).collect()
}

/// Ids as Postgres takes them.
pub(super) fn digests(ids: &[ContentId]) -> Vec<&[u8]> {
    ids.iter().map(|id| id.digest().as_slice()).collect()
}

/// Reads id, collection, key, envelope, note and body from column `from` on.
pub(super) fn stored_version(row: &PgRow, from: usize) -> Result<StoredVersion, StoreError> {
    Ok(StoredVersion {
        id: id(row.try_get(from).map_err(failed)?)?,
        collection: row.try_get(from + 1).map_err(failed)?,
        key: row.try_get(from + 2).map_err(failed)?,
        envelope: row.try_get(from + 3).map_err(failed)?,
        proof: row.try_get(from + 4).map_err(failed)?,
        body: row.try_get(from + 5).map_err(failed)?,
    })
}
