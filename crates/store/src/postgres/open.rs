//! Opening a deployment's database: the connections, their settings, the schema.

use std::time::Duration;

use sqlx::postgres::{PgPoolOptions, PgRow};
use sqlx::{ConnectOptions, Connection, PgConnection, PgPool, Row};

use super::error::failed;
use super::migrate::{check_schema, read_shards};
use super::{PostgresOptions, PostgresStore};
use crate::StoreError;

/// How long a caller waits for a connection.
const WAIT_FOR_CONNECTION: Duration = Duration::from_secs(5);
/// A connection that nobody used for this long is tried before it is used.
const MAY_BE_STALE: Duration = Duration::from_secs(1);

/// Why a deployment's Postgres could not be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The address is none.
    #[error(
        "the store's address is not one of Postgres: expected \
         postgres://user:password@host:port/database"
    )]
    Url,
    /// Postgres runs with less than what is acknowledged rests on.
    #[error("Postgres' {setting} must be {wanted} for the host's login, and is {found}")]
    Setting {
        /// The parameter.
        setting: &'static str,
        /// The values that will do.
        wanted: &'static str,
        /// The value it has.
        found: String,
    },
    /// The database was divided into another number of shards when it was first migrated.
    #[error("the database is divided into {found} shards, and was to be divided into {asked}")]
    Shards {
        /// What was asked for.
        asked: u32,
        /// What it was divided into.
        found: u32,
    },
    /// The database can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl PostgresStore {
    /// Opens the store on a database that has been through this program's migrations.
    ///
    /// # Errors
    /// [`OpenError`]; [`StoreError::UnknownSchema`] within it where the schema is older
    /// or newer than this program's.
    pub async fn open(options: &PostgresOptions) -> Result<PostgresStore, OpenError> {
        // The pool would try again and again what fails here.
        let mut first = options.for_entries().connect().await.map_err(failed)?;
        check_settings(&mut first).await?;
        check_schema(&mut first).await?;
        let shards = read_shards(&mut first).await?;
        first.close().await.map_err(failed)?;
        Ok(PostgresStore {
            pool: pool(options),
            shards,
        })
    }
}

/// Connections, made when they are needed and each checked when made.
fn pool(options: &PostgresOptions) -> PgPool {
    PgPoolOptions::new()
        .max_connections(options.connections)
        .acquire_timeout(WAIT_FOR_CONNECTION)
        // Ours, only for those that may need it: it costs a round trip.
        .test_before_acquire(false)
        .before_acquire(|connection, seen| {
            Box::pin(async move {
                if seen.idle_for >= MAY_BE_STALE {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
        .after_connect(|connection, _| {
            Box::pin(async move {
                check_settings(connection)
                    .await
                    .map_err(|error| sqlx::Error::Configuration(Box::new(error)))
            })
        })
        .connect_lazy_with(options.for_entries())
}

/// Reads back the settings that an acknowledged commit rests on, in one round trip. A
/// login or a database may have settings of its own, so each connection is asked.
async fn check_settings(connection: &mut PgConnection) -> Result<(), OpenError> {
    let row = sqlx::query(
        "SELECT current_setting('synchronous_commit'), current_setting('fsync'),
                current_setting('transaction_read_only'),
                current_setting('idle_in_transaction_session_timeout')",
    )
    .fetch_one(connection)
    .await
    .map_err(failed)?;
    check(
        &row,
        0,
        "synchronous_commit",
        "on or remote_apply",
        &["on", "remote_apply"],
    )?;
    check(&row, 1, "fsync", "on", &["on"])?;
    check(&row, 2, "transaction_read_only", "off", &["off"])?;
    // Set by us when connecting. What stands between may have dropped it.
    let standstill: String = row.try_get(3).map_err(failed)?;
    if standstill == "0" {
        return Err(OpenError::Setting {
            setting: "idle_in_transaction_session_timeout",
            wanted: "as the host sets it at the start of a connection",
            found: standstill,
        });
    }
    Ok(())
}

fn check(
    row: &PgRow,
    column: usize,
    setting: &'static str,
    wanted: &'static str,
    will_do: &[&str],
) -> Result<(), OpenError> {
    let found: String = row.try_get(column).map_err(failed)?;
    if will_do.contains(&found.as_str()) {
        return Ok(());
    }
    Err(OpenError::Setting {
        setting,
        wanted,
        found,
    })
}
