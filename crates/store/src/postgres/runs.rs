//! Runs of neighbouring items, kept with the items they sum.

use std::collections::BTreeMap;

use minca_record::content_id::ContentId;
use minca_sync::item::Item;
use sqlx::{PgConnection, PgPool, Row};

use super::error::failed;
use crate::codec::{item, item_key, item_of_key, sum, to_integer};
use crate::failure::corrupt;
use crate::runs::{Grown, LongRun, Touched, cut, grow};
use crate::{Run, StoreError};

/// A collection, by its space's number and its own.
pub(super) type CollectionNumber = (i64, i32);

/// A collection's runs.
const RUNS: &str = "SELECT r.first, r.items, r.sum
    FROM spaces s
    JOIN collections c ON c.space = s.space AND c.name = $2
    JOIN runs r ON r.space = c.space AND r.collection = c.collection
    WHERE s.id = $1
    ORDER BY r.first";

pub(super) async fn read(
    pool: &PgPool,
    space: &ContentId,
    collection: &str,
) -> Result<Vec<Run>, StoreError> {
    let rows: Vec<(Vec<u8>, i64, Vec<u8>)> = sqlx::query_as(RUNS)
        .bind(space.digest().as_slice())
        .bind(collection)
        .fetch_all(pool)
        .await
        .map_err(failed)?;
    rows.iter()
        .map(|(first, items, value)| {
            Ok(Run {
                first: item_of_key(first)?,
                sum: sum(*items, value)?,
            })
        })
        .collect()
}

/// Adds items, which are written already, to the runs of their collections. Runs that
/// come out longer than [`RUN_ITEMS`](crate::RUN_ITEMS) are read and cut.
pub(super) async fn add(
    connection: &mut PgConnection,
    mut items: BTreeMap<CollectionNumber, Vec<Item>>,
) -> Result<(), sqlx::Error> {
    let mut touched = touched(connection, &items).await?;
    let mut written: Vec<(CollectionNumber, Run)> = Vec::new();
    let mut long: Vec<(CollectionNumber, LongRun)> = Vec::new();
    for (collection, items) in &mut items {
        items.sort_unstable();
        let grown: Grown = grow(touched.remove(collection).unwrap_or_default(), items);
        written.extend(grown.written.into_iter().map(|run| (*collection, run)));
        long.extend(grown.long.into_iter().map(|run| (*collection, run)));
    }
    if !long.is_empty() {
        for (collection, items) in items_between(connection, &long).await? {
            written.extend(cut(&items).into_iter().map(|run| (collection, run)));
        }
        remove(connection, &long).await?;
    }
    write(connection, &written).await
}

/// The runs that items belong to, by a search per item: the last that begins at or before
/// it, or the first of all.
const TOUCHED: &str = "WITH touched AS (
        SELECT DISTINCT space, collection, coalesce(
            (SELECT r.first FROM runs r
             WHERE r.space = asked.space AND r.collection = asked.collection
               AND r.first <= asked.item
             ORDER BY r.first DESC LIMIT 1),
            (SELECT r.first FROM runs r
             WHERE r.space = asked.space AND r.collection = asked.collection
             ORDER BY r.first LIMIT 1)
        ) AS first
        FROM unnest($1::bigint[], $2::integer[], $3::bytea[]) AS asked (space, collection, item)
    )
    SELECT space, collection, first, r.items, r.sum,
        NOT EXISTS (
            SELECT FROM runs b WHERE b.space = t.space AND b.collection = t.collection
              AND b.first < t.first
        ),
        (SELECT a.first FROM runs a
         WHERE a.space = t.space AND a.collection = t.collection AND a.first > t.first
         ORDER BY a.first LIMIT 1)
    FROM touched t JOIN runs r USING (space, collection, first)
    ORDER BY t.first";

/// The runs that items belong to, in order, by collection.
async fn touched(
    connection: &mut PgConnection,
    items: &BTreeMap<CollectionNumber, Vec<Item>>,
) -> Result<BTreeMap<CollectionNumber, Vec<Touched>>, sqlx::Error> {
    let (mut spaces, mut collections, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    for ((space, collection), items) in items {
        for item in items {
            spaces.push(*space);
            collections.push(*collection);
            keys.push(item_key(item).to_vec());
        }
    }
    let rows = sqlx::query(TOUCHED)
        .bind(spaces)
        .bind(collections)
        .bind(keys)
        .fetch_all(connection)
        .await?;
    let mut touched: BTreeMap<CollectionNumber, Vec<Touched>> = BTreeMap::new();
    for row in &rows {
        let collection = (row.try_get(0)?, row.try_get(1)?);
        let next: Option<&[u8]> = row.try_get(6)?;
        touched.entry(collection).or_default().push(Touched {
            run: Run {
                first: item_of_key(row.try_get(2)?).map_err(decoding)?,
                sum: sum(row.try_get(3)?, row.try_get(4)?).map_err(decoding)?,
            },
            is_first: row.try_get(5)?,
            next: next.map(item_of_key).transpose().map_err(decoding)?,
        });
    }
    Ok(touched)
}

/// The items of runs, each run's in order.
const BETWEEN: &str = "SELECT asked.place, v.timestamp, v.id
    FROM unnest($1::bigint[], $2::integer[], $3::bigint[], $4::bytea[], $5::bigint[], $6::bytea[])
        WITH ORDINALITY AS asked (space, collection, from_time, from_id, to_time, to_id, place)
    CROSS JOIN LATERAL (
        SELECT timestamp, id FROM versions
        WHERE space = asked.space AND collection = asked.collection
          AND (timestamp, id) >= (asked.from_time, asked.from_id)
          AND (timestamp, id) < (asked.to_time, asked.to_id)
    ) v
    ORDER BY asked.place, v.timestamp, v.id";

/// The items of each of some runs, in order.
async fn items_between(
    connection: &mut PgConnection,
    runs: &[(CollectionNumber, LongRun)],
) -> Result<Vec<(CollectionNumber, Vec<Item>)>, sqlx::Error> {
    let least = || (0, Vec::new());
    // Longer than any id, so that every item is before it.
    let beyond = || (i64::MAX, vec![0xff; 33]);
    let bound = |item: Item| (to_integer(item.timestamp), item.id.to_vec());
    let (spaces, collections): (Vec<i64>, Vec<i32>) =
        runs.iter().map(|(number, _)| *number).unzip();
    let (from_times, from_ids): (Vec<i64>, Vec<Vec<u8>>) = runs
        .iter()
        .map(|(_, run)| run.from.map_or_else(least, bound))
        .unzip();
    let (to_times, to_ids): (Vec<i64>, Vec<Vec<u8>>) = runs
        .iter()
        .map(|(_, run)| run.to.map_or_else(beyond, bound))
        .unzip();
    let rows: Vec<(i64, i64, Vec<u8>)> = sqlx::query_as(BETWEEN)
        .bind(spaces)
        .bind(collections)
        .bind(from_times)
        .bind(from_ids)
        .bind(to_times)
        .bind(to_ids)
        .fetch_all(connection)
        .await?;
    let mut items: Vec<(CollectionNumber, Vec<Item>)> = runs
        .iter()
        .map(|(collection, _)| (*collection, Vec::new()))
        .collect();
    for (place, timestamp, id) in rows {
        // Places are counted from 1.
        let place = usize::try_from(place - 1).ok();
        let (_, items) = place
            .and_then(|place| items.get_mut(place))
            .ok_or_else(|| decoding(corrupt("an item is of a run that was not asked for")))?;
        items.push(item(timestamp, &id).map_err(decoding)?);
    }
    Ok(items)
}

async fn remove(
    connection: &mut PgConnection,
    runs: &[(CollectionNumber, LongRun)],
) -> Result<(), sqlx::Error> {
    let (spaces, collections): (Vec<i64>, Vec<i32>) =
        runs.iter().map(|(number, _)| *number).unzip();
    let firsts: Vec<Vec<u8>> = runs
        .iter()
        .map(|(_, run)| item_key(&run.first).to_vec())
        .collect();
    sqlx::query(
        "DELETE FROM runs USING unnest($1::bigint[], $2::integer[], $3::bytea[])
            AS long (space, collection, first)
         WHERE runs.space = long.space AND runs.collection = long.collection
           AND runs.first = long.first",
    )
    .bind(spaces)
    .bind(collections)
    .bind(firsts)
    .execute(connection)
    .await?;
    Ok(())
}

async fn write(
    connection: &mut PgConnection,
    runs: &[(CollectionNumber, Run)],
) -> Result<(), sqlx::Error> {
    let (spaces, collections): (Vec<i64>, Vec<i32>) =
        runs.iter().map(|(number, _)| *number).unzip();
    let (mut firsts, mut counts, mut sums) = (Vec::new(), Vec::new(), Vec::new());
    for (_, run) in runs {
        firsts.push(item_key(&run.first).to_vec());
        counts.push(to_integer(run.sum.count()));
        sums.push(run.sum.value().to_vec());
    }
    sqlx::query(
        "INSERT INTO runs (space, collection, first, items, sum)
         SELECT * FROM unnest($1::bigint[], $2::integer[], $3::bytea[], $4::bigint[], $5::bytea[])
         ON CONFLICT (space, collection, first)
         DO UPDATE SET items = excluded.items, sum = excluded.sum",
    )
    .bind(spaces)
    .bind(collections)
    .bind(firsts)
    .bind(counts)
    .bind(sums)
    .execute(connection)
    .await?;
    Ok(())
}

/// A stored value that is none of ours, among the driver's errors.
fn decoding(error: StoreError) -> sqlx::Error {
    sqlx::Error::Decode(Box::new(error))
}
