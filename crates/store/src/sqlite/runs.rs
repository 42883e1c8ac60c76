//! Runs of neighbouring items, kept with the items they sum.

use minca_record::content_id::ContentId;
use minca_sync::item::Item;
use sqlx::{SqliteConnection, SqlitePool};

use super::arrays::blobs_json;
use super::error::failed;
use super::rows::write_rows;
use crate::codec::{item, item_key, item_of_key, sum, to_integer};
use crate::runs::{Grown, LongRun, Touched, cut, grow};
use crate::{Run, StoreError};

/// A collection's runs.
pub(super) const RUNS: &str = "SELECT r.first, r.items, r.sum
    FROM spaces s
    CROSS JOIN collections c ON c.space = s.space AND c.name = ?2
    CROSS JOIN runs r ON r.space = c.space AND r.collection = c.collection
    WHERE s.id = ?1
    ORDER BY r.first";

pub(super) async fn read(
    readers: &SqlitePool,
    space: &ContentId,
    collection: &str,
) -> Result<Vec<Run>, StoreError> {
    let rows: Vec<(Vec<u8>, i64, Vec<u8>)> = sqlx::query_as(RUNS)
        .bind(space.digest().as_slice())
        .bind(collection)
        .fetch_all(readers)
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

/// A run's first item, count and sum, whether it is the first, and where the next begins.
type TouchedColumns = (Vec<u8>, i64, Vec<u8>, bool, Option<Vec<u8>>);

/// Adds `items`, which are written already, to the runs of a collection. Runs
/// that come out longer than [`RUN_ITEMS`](crate::RUN_ITEMS) are read and cut.
pub(super) async fn add(
    connection: &mut SqliteConnection,
    space: i64,
    collection: i64,
    mut items: Vec<Item>,
) -> Result<(), StoreError> {
    items.sort_unstable();
    let touched = touched(connection, space, collection, &items).await?;
    let Grown { mut written, long } = grow(touched, &items);
    for LongRun { first, from, to } in long {
        let items = items_between(connection, space, collection, from, to).await?;
        remove(connection, space, collection, &first).await?;
        written.extend(cut(&items));
    }
    write(connection, space, collection, &written).await
}

/// The runs that items belong to, by a search per item.
pub(super) const TOUCHED: &str = "SELECT first, items, sum,
        first = (SELECT min(first) FROM runs WHERE space = ?1 AND collection = ?2),
        (SELECT min(first) FROM runs AS after
         WHERE after.space = ?1 AND after.collection = ?2 AND after.first > runs.first)
    FROM runs
    WHERE space = ?1 AND collection = ?2 AND first IN (
        SELECT coalesce(
            (SELECT max(first) FROM runs
             WHERE space = ?1 AND collection = ?2 AND first <= unhex(item.value)),
            (SELECT min(first) FROM runs WHERE space = ?1 AND collection = ?2)
        )
        FROM json_each(?3) AS item
    )
    ORDER BY first";

/// The runs that `items` belong to, in order.
async fn touched(
    connection: &mut SqliteConnection,
    space: i64,
    collection: i64,
    items: &[Item],
) -> Result<Vec<Touched>, StoreError> {
    let rows: Vec<TouchedColumns> = sqlx::query_as(TOUCHED)
        .bind(space)
        .bind(collection)
        .bind(blobs_json(items.iter().map(item_key)))
        .fetch_all(connection)
        .await
        .map_err(failed)?;
    rows.iter()
        .map(|(first, items, value, is_first, next)| {
            let run = Run {
                first: item_of_key(first)?,
                sum: sum(*items, value)?,
            };
            let next = next.as_deref().map(item_of_key).transpose()?;
            Ok(Touched {
                run,
                is_first: *is_first,
                next,
            })
        })
        .collect()
}

/// The items of a run.
pub(super) const BETWEEN: &str = "SELECT timestamp, id FROM versions INDEXED BY versions_by_item
    WHERE space = ?1 AND collection = ?2
      AND (timestamp, id) >= (?3, ?4) AND (timestamp, id) < (?5, ?6)
    ORDER BY timestamp, id";

/// The items at or after `from` and before `to`, in order.
async fn items_between(
    connection: &mut SqliteConnection,
    space: i64,
    collection: i64,
    from: Option<Item>,
    to: Option<Item>,
) -> Result<Vec<Item>, StoreError> {
    let least = (0, Vec::new());
    // Longer than any id, so that every item is before it.
    let beyond = (i64::MAX, vec![0xff; 33]);
    let bound = |item: Item| (to_integer(item.timestamp), item.id.to_vec());
    let from = from.map_or(least, bound);
    let to = to.map_or(beyond, bound);
    let rows: Vec<(i64, Vec<u8>)> = sqlx::query_as(BETWEEN)
        .bind(space)
        .bind(collection)
        .bind(from.0)
        .bind(from.1)
        .bind(to.0)
        .bind(to.1)
        .fetch_all(connection)
        .await
        .map_err(failed)?;
    rows.iter()
        .map(|(timestamp, id)| item(*timestamp, id))
        .collect()
}

async fn remove(
    connection: &mut SqliteConnection,
    space: i64,
    collection: i64,
    first: &Item,
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM runs WHERE space = ?1 AND collection = ?2 AND first = ?3")
        .bind(space)
        .bind(collection)
        .bind(item_key(first).as_slice())
        .execute(connection)
        .await
        .map_err(failed)?;
    Ok(())
}

async fn write(
    connection: &mut SqliteConnection,
    space: i64,
    collection: i64,
    runs: &[Run],
) -> Result<(), StoreError> {
    write_rows(
        connection,
        "INSERT INTO runs (space, collection, first, items, sum) ",
        runs,
        |columns, run| {
            columns
                .push_bind(space)
                .push_bind(collection)
                .push_bind(item_key(&run.first).to_vec())
                .push_bind(to_integer(run.sum.count()))
                .push_bind(run.sum.value().to_vec());
        },
        " ON CONFLICT (space, collection, first)
          DO UPDATE SET items = excluded.items, sum = excluded.sum",
    )
    .await
    .map_err(failed)?;
    Ok(())
}
