//! The schema: bringing it up to date, and telling whether it is this program's.

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::{ConnectOptions, Connection, PgConnection};

use super::error::failed;
use super::{OpenError, PostgresOptions};
use crate::StoreError;
use crate::failure::{corrupt, unavailable};

static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations/postgres");

/// Into how many shards a database is divided where nothing else is said: more than there
/// will be hosts, so that they can be dealt out evenly.
pub const DEFAULT_SHARDS: u32 = 64;

/// What [`migrate`] found and made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// The last migration the database had been through; 0 for an empty one.
    pub from: i64,
    /// The last one it has been through now.
    pub to: i64,
    /// Into how many shards the database is divided.
    pub shards: u32,
}

/// Brings a database's schema up to this program's, under an advisory lock, so that of
/// several that do it at once one does. An empty database is divided into `shards`, or
/// [`DEFAULT_SHARDS`]; any other keeps the number it has, which must be the one asked for, if one was.
///
/// # Errors
/// [`OpenError`]; [`StoreError::UnknownSchema`] within it where a newer program has been
/// at the database, which is left as it is.
pub async fn migrate(
    options: &PostgresOptions,
    shards: Option<u32>,
) -> Result<Migrated, OpenError> {
    // Its own connection, without the timeouts: a migration takes as long as it takes.
    let mut connection = options.connect.connect().await.map_err(failed)?;
    let from = found(&mut connection).await?;
    if from > known() {
        return Err(unknown(from).into());
    }
    MIGRATIONS.run(&mut connection).await.map_err(migrating)?;
    sqlx::query("INSERT INTO deployment (shards) VALUES ($1) ON CONFLICT DO NOTHING")
        .bind(i32::try_from(shards.unwrap_or(DEFAULT_SHARDS)).unwrap_or(i32::MAX))
        .execute(&mut connection)
        .await
        .map_err(failed)?;
    let found = read_shards(&mut connection).await?;
    connection.close().await.map_err(failed)?;
    match shards {
        Some(asked) if asked != found => Err(OpenError::Shards { asked, found }),
        _ => Ok(Migrated {
            from,
            to: known(),
            shards: found,
        }),
    }
}

/// Refuses a database whose schema is not this program's: one that it doesn't know yet,
/// or one that it would not find its tables in.
pub(super) async fn check_schema(connection: &mut PgConnection) -> Result<(), StoreError> {
    let found = found(&mut *connection).await?;
    if found != known() {
        return Err(unknown(found));
    }
    let applied: Vec<(i64, bool, Vec<u8>)> =
        sqlx::query_as("SELECT version, success, checksum FROM _sqlx_migrations ORDER BY version")
            .fetch_all(connection)
            .await
            .map_err(failed)?;
    for (version, success, checksum) in applied {
        if !success {
            return Err(migrating(MigrateError::Dirty(version)));
        }
        let ours = MIGRATIONS.iter().find(|ours| ours.version == version);
        if ours.is_none_or(|ours| *ours.checksum != *checksum) {
            return Err(migrating(MigrateError::VersionMismatch(version)));
        }
    }
    Ok(())
}

/// Into how many shards the database is divided.
pub(super) async fn read_shards(connection: &mut PgConnection) -> Result<u32, StoreError> {
    let shards: i32 = sqlx::query_scalar("SELECT shards FROM deployment")
        .fetch_one(connection)
        .await
        .map_err(failed)?;
    u32::try_from(shards).map_err(|_| corrupt("the number of shards is below zero"))
}

/// The last migration of this program.
fn known() -> i64 {
    let versions = MIGRATIONS.iter().map(|migration| migration.version);
    versions.max().unwrap_or(0)
}

/// The last migration the database has been through.
async fn found(connection: &mut PgConnection) -> Result<i64, StoreError> {
    let migrated: bool = sqlx::query_scalar("SELECT to_regclass('_sqlx_migrations') IS NOT NULL")
        .fetch_one(&mut *connection)
        .await
        .map_err(failed)?;
    if !migrated {
        return Ok(0);
    }
    sqlx::query_scalar("SELECT coalesce(max(version), 0) FROM _sqlx_migrations")
        .fetch_one(connection)
        .await
        .map_err(failed)
}

fn unknown(found: i64) -> StoreError {
    StoreError::UnknownSchema {
        found,
        known: known(),
    }
}

fn migrating(error: MigrateError) -> StoreError {
    match error {
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => failed(error),
        MigrateError::VersionMismatch(version) => StoreError::Corrupt(format!(
            "migration {version} is not the one that was applied"
        )),
        MigrateError::Dirty(version) => {
            StoreError::Corrupt(format!("migration {version} was applied in part"))
        }
        MigrateError::VersionMissing(_) => {
            corrupt("the migrations applied are not those of this program")
        }
        _ => unavailable("the migrations could not be run"),
    }
}
