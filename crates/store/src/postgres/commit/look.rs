//! What is stored of all that a group of batches names, in one round trip.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use engine::rows::Batch;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::hash::sha256;
use minca_sync::sum::Sum;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use crate::StoreError;
use crate::codec::sum;
use crate::failure::corrupt;

/// A note's SHA-256, by which it is stored once.
pub(super) type NoteHash = [u8; 32];

/// What batches name, each with its space's number.
#[derive(Default)]
pub(super) struct Asked<'a> {
    collections: BTreeSet<(i64, &'a str)>,
    accounts: BTreeMap<(i64, Did), String>,
    notes: BTreeSet<(i64, NoteHash)>,
    versions: BTreeSet<(i64, ContentId)>,
}

/// What is there of it; what isn't is absent.
#[derive(Default)]
pub(super) struct Known<'a> {
    pub(super) collections: HashMap<(i64, &'a str), (i32, Sum)>,
    pub(super) accounts: HashMap<(i64, Did), i32>,
    pub(super) notes: HashMap<(i64, NoteHash), i32>,
    pub(super) versions: HashMap<(i64, ContentId), KnownVersion>,
}

/// A version that is held.
#[derive(Clone, Debug)]
pub(super) struct KnownVersion {
    pub(super) no: i64,
    pub(super) key: String,
    pub(super) deleted: bool,
    /// Bytes of its body, if it has one.
    pub(super) body: Option<u64>,
}

impl<'a> Asked<'a> {
    /// Adds what a batch names.
    pub(super) fn add(&mut self, space: i64, batch: &'a Batch) {
        for row in &batch.keep {
            self.versions.insert((space, row.id));
            self.collections.insert((space, &row.collection));
            self.accounts
                .entry((space, row.root))
                .or_insert_with(|| row.root.to_string());
            if let Some(note) = &row.proof {
                self.notes.insert((space, sha256(note)));
            }
        }
        for (id, _) in &batch.fill {
            self.versions.insert((space, *id));
        }
        for id in &batch.drop_bodies {
            self.versions.insert((space, *id));
        }
        for record in &batch.records {
            self.versions.insert((space, record.current));
            if let Some(first) = record.first {
                self.versions.insert((space, first));
            }
        }
    }
}

// What a row of `LOOK` is.
const COLLECTION: i32 = 0;
const ACCOUNT: i32 = 1;
const NOTE: i32 = 2;
const VERSION: i32 = 3;

/// Each row names what it is of by its place in the list that was asked, counted from 1.
const LOOK: &str =
    "SELECT 0, asked.place, c.collection::bigint, c.items, c.sum, NULL::text, NULL::boolean
    FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS asked (space, name, place)
    JOIN collections c ON c.space = asked.space AND c.name = asked.name
    UNION ALL
    SELECT 1, asked.place, a.account, NULL, NULL, NULL, NULL
    FROM unnest($3::bigint[], $4::text[]) WITH ORDINALITY AS asked (space, did, place)
    JOIN accounts a ON a.space = asked.space AND a.did = asked.did
    UNION ALL
    SELECT 2, asked.place, n.note, NULL, NULL, NULL, NULL
    FROM unnest($5::bigint[], $6::bytea[]) WITH ORDINALITY AS asked (space, sha256, place)
    JOIN notes n ON n.space = asked.space AND n.sha256 = asked.sha256
    UNION ALL
    SELECT 3, asked.place, v.no, octet_length(v.body), NULL, v.key, v.deleted
    FROM unnest($7::bigint[], $8::bytea[]) WITH ORDINALITY AS asked (space, id, place)
    JOIN versions v ON v.space = asked.space AND v.id = asked.id";

/// Reads what is there of what was asked.
pub(super) async fn look<'a>(
    connection: &mut PgConnection,
    asked: &Asked<'a>,
) -> Result<Known<'a>, sqlx::Error> {
    let collections: Vec<_> = asked.collections.iter().copied().collect();
    let accounts: Vec<_> = asked.accounts.iter().collect();
    let notes: Vec<_> = asked.notes.iter().collect();
    let versions: Vec<_> = asked.versions.iter().collect();
    let mut known = Known::default();
    if collections.is_empty() && versions.is_empty() {
        return Ok(known);
    }
    let rows = sqlx::query(LOOK)
        .bind(column(&collections, |(space, _)| *space))
        .bind(column(&collections, |(_, name)| *name))
        .bind(column(&accounts, |((space, _), _)| *space))
        .bind(column(&accounts, |(_, did)| did.as_str()))
        .bind(column(&notes, |(space, _)| *space))
        .bind(column(&notes, |(_, hash)| hash.as_slice()))
        .bind(column(&versions, |(space, _)| *space))
        .bind(column(&versions, |(_, id)| id.digest().as_slice()))
        .fetch_all(connection)
        .await?;
    for row in &rows {
        match row.try_get(0)? {
            COLLECTION => {
                let sum = sum(row.try_get(3)?, row.try_get(4)?).map_err(decoding)?;
                let collection = *asked_at(&collections, row)?;
                known.collections.insert(collection, (number(row)?, sum));
            }
            ACCOUNT => {
                let (account, _) = asked_at(&accounts, row)?;
                known.accounts.insert(**account, number(row)?);
            }
            NOTE => {
                known.notes.insert(**asked_at(&notes, row)?, number(row)?);
            }
            VERSION => {
                let body: Option<i64> = row.try_get(3)?;
                let version = KnownVersion {
                    no: row.try_get(2)?,
                    key: row.try_get(5)?,
                    deleted: row.try_get(6)?,
                    body: body.map(i64::unsigned_abs),
                };
                known.versions.insert(**asked_at(&versions, row)?, version);
            }
            _ => return Err(decoding(corrupt("a row is of no kind there is"))),
        }
    }
    Ok(known)
}

/// One column of rows, as a statement takes it.
pub(super) fn column<'rows, R, T>(rows: &'rows [R], of: impl Fn(&'rows R) -> T) -> Vec<T> {
    rows.iter().map(of).collect()
}

fn asked_at<'list, T>(list: &'list [T], row: &PgRow) -> Result<&'list T, sqlx::Error> {
    let place: i64 = row.try_get(1)?;
    let place = usize::try_from(place - 1).ok();
    let found = place.and_then(|place| list.get(place));
    found.ok_or_else(|| decoding(corrupt("a row is of nothing that was asked")))
}

fn number(row: &PgRow) -> Result<i32, sqlx::Error> {
    let number: i64 = row.try_get(2)?;
    i32::try_from(number).map_err(|error| sqlx::Error::Decode(Box::new(error)))
}

/// A stored value that is none of ours, among the driver's errors.
fn decoding(error: StoreError) -> sqlx::Error {
    sqlx::Error::Decode(Box::new(error))
}
