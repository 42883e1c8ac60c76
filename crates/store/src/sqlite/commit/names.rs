//! The numbers of what versions name: collections, accounts, notes.
//!
//! Each is written the first time a version of the space names it.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use engine::rows::VersionRow;
use minca_record::did::Did;
use minca_record::hash::sha256;
use minca_sync::item::Item;
use minca_sync::sum::Sum;
use sqlx::SqliteConnection;

use super::super::arrays::{blobs_json, texts_json};
use super::super::rows::write_rows;
use super::Failure;
use crate::StoreError;
use crate::codec::{sum, to_integer};
use crate::failure::corrupt;

/// A note's SHA-256, by which it is stored once.
pub(super) type NoteHash = [u8; 32];

/// The number of a name that must have one.
pub(super) fn number<Q, K>(numbers: &HashMap<K, i64>, name: &Q) -> Result<i64, StoreError>
where
    Q: Hash + Eq + ?Sized,
    K: std::borrow::Borrow<Q> + Hash + Eq,
{
    let number = numbers.get(name).copied();
    number.ok_or_else(|| corrupt("a name was given no number"))
}

/// Adds items to their collections' sums; the collections' numbers.
pub(super) async fn add_to_collections(
    connection: &mut SqliteConnection,
    space: i64,
    items: &BTreeMap<&str, Vec<Item>>,
) -> Result<HashMap<String, i64>, Failure> {
    let known: Vec<(String, i64, i64, Vec<u8>)> = sqlx::query_as(
        "SELECT c.name, c.collection, c.items, c.sum
         FROM json_each(?2) AS asked
         CROSS JOIN collections c ON c.space = ?1 AND c.name = asked.value",
    )
    .bind(space)
    .bind(texts_json(items.keys()))
    .fetch_all(&mut *connection)
    .await?;
    let mut sums: HashMap<&str, (i64, Sum)> = HashMap::new();
    for (name, collection, items, value) in &known {
        sums.insert(name, (*collection, sum(*items, value)?));
    }
    let mut last = 0;
    if sums.len() < items.len() {
        last = sqlx::query_scalar(
            "SELECT coalesce(max(collection), 0) FROM collections WHERE space = ?1",
        )
        .bind(space)
        .fetch_one(&mut *connection)
        .await?;
    }

    let mut rows = Vec::with_capacity(items.len());
    for (name, items) in items {
        let (collection, mut sum) = sums.get(name).copied().unwrap_or_else(|| {
            last += 1;
            (last, Sum::EMPTY)
        });
        for item in items {
            sum.add(&item.id);
        }
        rows.push((*name, collection, sum));
    }
    write_rows(
        connection,
        "INSERT INTO collections (space, collection, name, items, sum) ",
        &rows,
        |columns, (name, collection, sum)| {
            columns
                .push_bind(space)
                .push_bind(*collection)
                .push_bind((*name).to_owned())
                .push_bind(to_integer(sum.count()))
                .push_bind(sum.value().to_vec());
        },
        " ON CONFLICT (space, collection)
          DO UPDATE SET items = excluded.items, sum = excluded.sum",
    )
    .await?;
    let numbers = rows
        .iter()
        .map(|(name, collection, _)| ((*name).to_owned(), *collection));
    Ok(numbers.collect())
}

/// The numbers of the accounts that versions speak for.
pub(super) async fn accounts(
    connection: &mut SqliteConnection,
    space: i64,
    versions: &[VersionRow],
) -> Result<HashMap<Did, i64>, Failure> {
    let mut missing: BTreeMap<String, Did> = BTreeMap::new();
    let mut roots: Vec<Did> = versions.iter().map(|row| row.root).collect();
    roots.sort_unstable();
    roots.dedup();
    for root in roots {
        missing.insert(root.to_string(), root);
    }
    let known: Vec<(String, i64)> = sqlx::query_as(
        "SELECT a.did, a.account
         FROM json_each(?2) AS asked
         CROSS JOIN accounts a ON a.space = ?1 AND a.did = asked.value",
    )
    .bind(space)
    .bind(texts_json(missing.keys()))
    .fetch_all(&mut *connection)
    .await?;
    let mut numbers = HashMap::new();
    for (did, account) in known {
        if let Some(root) = missing.remove(&did) {
            numbers.insert(root, account);
        }
    }
    for (did, root) in missing {
        let account = sqlx::query_scalar(
            "INSERT INTO accounts (space, account, did)
             SELECT ?1, coalesce(max(account), 0) + 1, ?2 FROM accounts WHERE space = ?1
             RETURNING account",
        )
        .bind(space)
        .bind(did)
        .fetch_one(&mut *connection)
        .await?;
        numbers.insert(root, account);
    }
    Ok(numbers)
}

/// The numbers of the notes that versions carry.
pub(super) async fn notes(
    connection: &mut SqliteConnection,
    space: i64,
    versions: &[VersionRow],
) -> Result<HashMap<NoteHash, i64>, Failure> {
    let mut missing: BTreeMap<NoteHash, &[u8]> = BTreeMap::new();
    for note in versions.iter().filter_map(|row| row.proof.as_deref()) {
        missing.insert(sha256(note), note);
    }
    if missing.is_empty() {
        return Ok(HashMap::new());
    }
    let known: Vec<(Vec<u8>, i64)> = sqlx::query_as(
        "SELECT n.sha256, n.note
         FROM json_each(?2) AS asked
         CROSS JOIN notes n ON n.space = ?1 AND n.sha256 = unhex(asked.value)",
    )
    .bind(space)
    .bind(blobs_json(missing.keys()))
    .fetch_all(&mut *connection)
    .await?;
    let mut numbers = HashMap::new();
    for (hash, note) in known {
        if let Ok(hash) = NoteHash::try_from(hash) {
            missing.remove(&hash);
            numbers.insert(hash, note);
        }
    }
    for (hash, bytes) in missing {
        let note = sqlx::query_scalar(
            "INSERT INTO notes (space, note, sha256, bytes)
             SELECT ?1, coalesce(max(note), 0) + 1, ?2, ?3 FROM notes WHERE space = ?1
             RETURNING note",
        )
        .bind(space)
        .bind(hash.as_slice())
        .bind(bytes)
        .fetch_one(&mut *connection)
        .await?;
        numbers.insert(hash, note);
    }
    Ok(numbers)
}
