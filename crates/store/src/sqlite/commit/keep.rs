//! Versions as a batch writes them: kept, filled, without their body.

use std::collections::HashMap;

use engine::rows::VersionRow;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::hash::sha256;
use sqlx::SqliteConnection;

use super::super::arrays::ids_json;
use super::super::rows::write_rows;
use super::names::{NoteHash, number};
use super::{Failure, constraint_is, does_not_fit};
use crate::batch::{Counted, HELD_ALREADY, NO_BODY_TO_DROP, NO_STUB_TO_FILL};
use crate::codec::{count, to_integer};

/// The numbers that rows are written with.
pub(super) struct Numbers<'a> {
    pub(super) space: i64,
    pub(super) collections: &'a HashMap<String, i64>,
    pub(super) accounts: &'a HashMap<Did, i64>,
    pub(super) notes: &'a HashMap<NoteHash, i64>,
}

/// A version with its numbers.
struct Row<'a> {
    no: i64,
    version: &'a VersionRow,
    collection: i64,
    account: i64,
    note: Option<i64>,
}

/// Writes versions not held before, in their order, and lists them to segment.
pub(super) async fn keep(
    connection: &mut SqliteConnection,
    numbers: &Numbers<'_>,
    versions: &[VersionRow],
) -> Result<(), Failure> {
    let last: i64 = sqlx::query_scalar("SELECT coalesce(max(no), 0) FROM versions")
        .fetch_one(&mut *connection)
        .await?;
    let mut rows = Vec::with_capacity(versions.len());
    for (no, version) in (last + 1..).zip(versions) {
        let note = version.proof.as_deref().map(sha256);
        rows.push(Row {
            no,
            version,
            collection: number(numbers.collections, version.collection.as_str())?,
            account: number(numbers.accounts, &version.root)?,
            note: note.map(|hash| number(numbers.notes, &hash)).transpose()?,
        });
    }
    write_rows(
        connection,
        "INSERT INTO versions (no, space, id, collection, timestamp, key, seq, genesis,
                               account, retain, deleted, note, envelope, body) ",
        &rows,
        |columns, row| {
            let version = row.version;
            let genesis = version.genesis.map(|id| id.digest().to_vec());
            columns
                .push_bind(row.no)
                .push_bind(numbers.space)
                .push_bind(version.id.digest().to_vec())
                .push_bind(row.collection)
                .push_bind(to_integer(version.timestamp))
                .push_bind(version.key.clone())
                .push_bind(to_integer(version.seq))
                .push_bind(genesis)
                .push_bind(row.account)
                .push_bind(version.retain)
                .push_bind(version.deleted)
                .push_bind(row.note)
                .push_bind(version.envelope.clone())
                .push_bind(version.body.clone());
        },
        "",
    )
    .await
    .map_err(constraint_is(HELD_ALREADY))?;
    sqlx::query(
        "INSERT INTO to_segment (space, version, since)
         SELECT ?1, no, CAST(unixepoch('subsec') * 1000 AS INTEGER)
         FROM versions WHERE no > ?2",
    )
    .bind(numbers.space)
    .bind(last)
    .execute(connection)
    .await?;
    Ok(())
}

/// Before and after the rows of a statement that fills.
pub(in crate::sqlite) const FILL_START: &str = "WITH filled (space, id, body) AS (";

/// See [`FILL_START`]. A version that is no stub is not updated, and so not counted.
pub(in crate::sqlite) const FILL_END: &str = ") UPDATE versions SET body = filled.body FROM filled
    WHERE versions.space = filled.space AND versions.id = filled.id
      AND versions.body IS NULL AND versions.deleted = 0";

/// Writes the bodies of versions held as stubs, and lists those to segment.
pub(super) async fn fill(
    connection: &mut SqliteConnection,
    space: i64,
    bodies: &[(ContentId, Vec<u8>)],
    counted: &mut Counted,
) -> Result<(), Failure> {
    let filled = write_rows(
        connection,
        FILL_START,
        bodies,
        |columns, (id, body)| {
            columns
                .push_bind(space)
                .push_bind(id.digest().to_vec())
                .push_bind(body.clone());
        },
        FILL_END,
    )
    .await?;
    if filled != bodies.len() as u64 {
        return Err(does_not_fit(NO_STUB_TO_FILL));
    }
    counted.bytes_in += bodies
        .iter()
        .map(|(_, body)| body.len() as u64)
        .sum::<u64>();

    let ids = ids_json(bodies.iter().map(|(id, _)| id));
    sqlx::query(
        "INSERT INTO to_segment (space, version, since)
         SELECT ?1, v.no, CAST(unixepoch('subsec') * 1000 AS INTEGER)
         FROM json_each(?2) AS filled
         CROSS JOIN versions v ON v.space = ?1 AND v.id = unhex(filled.value)
         WHERE true
         ON CONFLICT (space, version) DO UPDATE SET again = 1",
    )
    .bind(space)
    .bind(ids.as_str())
    .execute(&mut *connection)
    .await?;
    sqlx::query(
        "DELETE FROM dropped_bodies WHERE space = ?1 AND version IN (
             SELECT v.no FROM json_each(?2) AS filled
             CROSS JOIN versions v ON v.space = ?1 AND v.id = unhex(filled.value)
         )",
    )
    .bind(space)
    .bind(ids)
    .execute(&mut *connection)
    .await?;
    Ok(())
}

/// How many of the versions have a body, and the bodies' length.
pub(in crate::sqlite) const COUNT_BODIES: &str = "SELECT count(*), coalesce(sum(length(v.body)), 0)
    FROM json_each(?2) AS dropped
    CROSS JOIN versions v ON v.space = ?1 AND v.id = unhex(dropped.value)
    WHERE v.body IS NOT NULL";

/// Takes bodies away.
pub(in crate::sqlite) const DROP: &str = "UPDATE versions SET body = NULL
    WHERE space = ?1 AND id IN (SELECT unhex(value) FROM json_each(?2))";

/// Takes the bodies of versions held whole away, and notes them for whoever
/// rewrites segments.
pub(super) async fn drop_bodies(
    connection: &mut SqliteConnection,
    space: i64,
    versions: &[ContentId],
    counted: &mut Counted,
) -> Result<(), Failure> {
    let ids = ids_json(versions);
    let (with_body, bytes): (i64, i64) = sqlx::query_as(COUNT_BODIES)
        .bind(space)
        .bind(ids.as_str())
        .fetch_one(&mut *connection)
        .await?;
    if count(with_body)? != versions.len() as u64 {
        return Err(does_not_fit(NO_BODY_TO_DROP));
    }
    counted.bytes_out += count(bytes)?;
    sqlx::query(DROP)
        .bind(space)
        .bind(ids.as_str())
        .execute(&mut *connection)
        .await?;
    sqlx::query(
        "INSERT INTO dropped_bodies (space, version, since)
         SELECT ?1, v.no, CAST(unixepoch('subsec') * 1000 AS INTEGER)
         FROM json_each(?2) AS dropped
         CROSS JOIN versions v ON v.space = ?1 AND v.id = unhex(dropped.value)
         WHERE true
         ON CONFLICT (space, version) DO UPDATE SET since = excluded.since",
    )
    .bind(space)
    .bind(ids)
    .execute(&mut *connection)
    .await?;
    Ok(())
}
