//! Facts about the host itself.

use sqlx::SqlitePool;

use super::error::failed;
use crate::StoreError;

pub(super) async fn host_fact(
    readers: &SqlitePool,
    name: &str,
) -> Result<Option<String>, StoreError> {
    sqlx::query_scalar("SELECT value FROM host_facts WHERE name = ?1")
        .bind(name)
        .fetch_optional(readers)
        .await
        .map_err(failed)
}

pub(super) async fn keep_host_fact(
    writer: &SqlitePool,
    name: &str,
    value: &str,
) -> Result<String, StoreError> {
    // Setting the value to itself makes RETURNING give the row that was there.
    sqlx::query_scalar(
        "INSERT INTO host_facts (name, value) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET value = host_facts.value
         RETURNING value",
    )
    .bind(name)
    .bind(value)
    .fetch_one(writer)
    .await
    .map_err(failed)
}
