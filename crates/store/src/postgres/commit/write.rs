//! Writing the rows of a group of batches.

use sqlx::PgConnection;

use super::super::runs;
use super::look::column;
use super::plan::{FillWrite, HeadWrite, SpaceWrite, VersionWrite, Writes};
use crate::codec::to_integer;

/// Writes everything, in a statement for each kind of thing there is any of.
pub(super) async fn write(
    connection: &mut PgConnection,
    writes: Writes<'_>,
) -> Result<(), sqlx::Error> {
    if !writes.versions.is_empty() {
        names(connection, &writes).await?;
        versions(connection, &writes.versions).await?;
        runs::add(connection, writes.items).await?;
    }
    if !writes.fills.is_empty() {
        fills(connection, &writes.fills).await?;
    }
    if !writes.drops.is_empty() {
        drops(connection, &writes.drops).await?;
    }
    if !writes.spaces.is_empty() {
        heads_and_spaces(connection, &writes.heads, &writes.spaces).await?;
    }
    Ok(())
}

/// Collections with their sums; accounts and notes that had no number.
async fn names(connection: &mut PgConnection, writes: &Writes<'_>) -> Result<(), sqlx::Error> {
    let (collections, accounts, notes) = (&writes.collections, &writes.accounts, &writes.notes);
    sqlx::query(
        "WITH accounts AS (
             INSERT INTO accounts (space, account, did)
             SELECT * FROM unnest($6::bigint[], $7::integer[], $8::text[])
         ), notes AS (
             INSERT INTO notes (space, note, sha256, bytes)
             SELECT * FROM unnest($9::bigint[], $10::integer[], $11::bytea[], $12::bytea[])
         )
         INSERT INTO collections (space, collection, name, items, sum)
         SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::bigint[], $5::bytea[])
         ON CONFLICT (space, collection)
         DO UPDATE SET items = excluded.items, sum = excluded.sum",
    )
    .bind(column(collections, |one| one.number.0))
    .bind(column(collections, |one| one.number.1))
    .bind(column(collections, |one| one.name))
    .bind(column(collections, |one| to_integer(one.sum.count())))
    .bind(column(collections, |one| one.sum.value().to_vec()))
    .bind(column(accounts, |(space, ..)| *space))
    .bind(column(accounts, |(_, number, _)| *number))
    .bind(column(accounts, |(.., did)| did.to_string()))
    .bind(column(notes, |(space, ..)| *space))
    .bind(column(notes, |(_, number, ..)| *number))
    .bind(column(notes, |(_, _, hash, _)| hash.as_slice()))
    .bind(column(notes, |(.., bytes)| *bytes))
    .execute(connection)
    .await?;
    Ok(())
}

/// Versions not held before, which wait for a segment from now on.
async fn versions(
    connection: &mut PgConnection,
    versions: &[VersionWrite<'_>],
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "WITH kept AS (
             INSERT INTO versions (space, no, collection, account, note, id, timestamp, key, seq,
                                   genesis, retain, deleted, envelope, body)
             SELECT * FROM unnest(
                 $1::bigint[], $2::bigint[], $3::integer[], $4::integer[], $5::integer[],
                 $6::bytea[], $7::bigint[], $8::text[], $9::bigint[], $10::bytea[],
                 $11::boolean[], $12::boolean[], $13::bytea[], $14::bytea[]
             )
             RETURNING space, no
         )
         INSERT INTO to_segment (space, version, since)
         SELECT space, no, clock_timestamp() FROM kept",
    )
    .bind(column(versions, |one| one.space))
    .bind(column(versions, |one| one.no))
    .bind(column(versions, |one| one.collection))
    .bind(column(versions, |one| one.account))
    .bind(column(versions, |one| one.note))
    .bind(column(versions, |one| one.row.id.digest().as_slice()))
    .bind(column(versions, |one| to_integer(one.row.timestamp)))
    .bind(column(versions, |one| one.row.key.as_str()))
    .bind(column(versions, |one| to_integer(one.row.seq)))
    .bind(column(versions, |one| {
        one.row.genesis.as_ref().map(|id| id.digest().as_slice())
    }))
    .bind(column(versions, |one| one.row.retain))
    .bind(column(versions, |one| one.row.deleted))
    .bind(column(versions, |one| one.row.envelope.as_slice()))
    .bind(column(versions, |one| one.row.body.as_deref()))
    .execute(connection)
    .await?;
    Ok(())
}

/// Bodies of versions held as stubs, which wait for a segment (again).
async fn fills(connection: &mut PgConnection, fills: &[FillWrite<'_>]) -> Result<(), sqlx::Error> {
    sqlx::query(
        "WITH filled AS (
             SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[]) AS f (space, no, body)
         ), bodies AS (
             UPDATE versions v SET body = filled.body FROM filled
             WHERE v.space = filled.space AND v.no = filled.no
         ), dropped AS (
             DELETE FROM dropped_bodies d USING filled
             WHERE d.space = filled.space AND d.version = filled.no
         )
         INSERT INTO to_segment (space, version, since)
         SELECT space, no, clock_timestamp() FROM filled
         ON CONFLICT (space, version) DO UPDATE SET again = true",
    )
    .bind(column(fills, |one| one.space))
    .bind(column(fills, |one| one.no))
    .bind(column(fills, |one| one.body))
    .execute(connection)
    .await?;
    Ok(())
}

/// Takes bodies away, and notes them for whoever rewrites segments.
async fn drops(connection: &mut PgConnection, drops: &[(i64, i64)]) -> Result<(), sqlx::Error> {
    sqlx::query(
        "WITH dropped AS (
             SELECT * FROM unnest($1::bigint[], $2::bigint[]) AS d (space, no)
         ), bodies AS (
             UPDATE versions v SET body = NULL FROM dropped
             WHERE v.space = dropped.space AND v.no = dropped.no
         )
         INSERT INTO dropped_bodies (space, version, since)
         SELECT space, no, clock_timestamp() FROM dropped
         ON CONFLICT (space, version) DO UPDATE SET since = excluded.since",
    )
    .bind(column(drops, |(space, _)| *space))
    .bind(column(drops, |(_, no)| *no))
    .execute(connection)
    .await?;
    Ok(())
}

/// New heads, and the spaces' rows: counters, numbers given, since when it waits for a
/// segment, the read key.
async fn heads_and_spaces(
    connection: &mut PgConnection,
    heads: &[HeadWrite<'_>],
    spaces: &[SpaceWrite],
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "WITH heads AS (
             INSERT INTO records (space, key, current, first)
             SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[])
             ON CONFLICT (space, key)
             DO UPDATE SET current = excluded.current, first = excluded.first
         )
         UPDATE spaces s SET
             bytes = s.bytes + new.bytes,
             versions = s.versions + new.versions,
             last_version = new.last_version,
             last_collection = new.last_collection,
             last_account = new.last_account,
             last_note = new.last_note,
             to_segment_since = CASE WHEN new.to_segment
                 THEN coalesce(s.to_segment_since, clock_timestamp())
                 ELSE s.to_segment_since END,
             revision = s.revision
                 + CASE WHEN new.read_key <> coalesce(s.read_key, '') THEN 1 ELSE 0 END,
             read_key = coalesce(new.read_key, s.read_key)
         FROM unnest($5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::integer[],
                     $10::integer[], $11::integer[], $12::boolean[], $13::text[])
             AS new (space, bytes, versions, last_version, last_collection, last_account,
                     last_note, to_segment, read_key)
         WHERE s.space = new.space",
    )
    .bind(column(heads, |one| one.space))
    .bind(column(heads, |one| one.key))
    .bind(column(heads, |one| one.current))
    .bind(column(heads, |one| one.first))
    .bind(column(spaces, |one| one.space.space))
    .bind(column(spaces, |one| {
        to_integer(one.counted.bytes_in) - to_integer(one.counted.bytes_out)
    }))
    .bind(column(spaces, |one| to_integer(one.counted.versions)))
    .bind(column(spaces, |one| one.space.last_version))
    .bind(column(spaces, |one| one.space.last_collection))
    .bind(column(spaces, |one| one.space.last_account))
    .bind(column(spaces, |one| one.space.last_note))
    .bind(column(spaces, |one| one.to_segment))
    .bind(column(spaces, |one| {
        one.read_key.as_ref().map(ToString::to_string)
    }))
    .execute(connection)
    .await?;
    Ok(())
}
