//! Facts about the host itself.

use sqlx::PgPool;

use super::error::failed;
use crate::StoreError;

pub(super) async fn host_fact(pool: &PgPool, name: &str) -> Result<Option<String>, StoreError> {
    sqlx::query_scalar("SELECT value FROM host_facts WHERE name = $1")
        .bind(name)
        .fetch_optional(pool)
        .await
        .map_err(failed)
}

pub(super) async fn keep_host_fact(
    pool: &PgPool,
    name: &str,
    value: &str,
) -> Result<String, StoreError> {
    // Setting the value to itself makes RETURNING give the row that was there.
    sqlx::query_scalar(
        "INSERT INTO host_facts (name, value) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET value = host_facts.value
         RETURNING value",
    )
    .bind(name)
    .bind(value)
    .fetch_one(pool)
    .await
    .map_err(failed)
}
