//! Opening a data folder: the lock, the settings, the schema.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection, SqlitePool};

use super::SqliteStore;
use super::error::failed;
use crate::failure::corrupt;
use crate::{StoreError, make_folder};

static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations/sqlite");

const LOCK_FILE: &str = "holdfast.lock";
pub(super) const DATABASE_FILE: &str = "holdfast.sqlite";

/// Connections that read beside the one that writes.
const READERS: u32 = 4;
/// How long a statement waits for a lock. Nothing of ours holds one against
/// another for long; a backup tool that copies the file may.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Statements each connection keeps prepared. The store has about 80.
const PREPARED_STATEMENTS: usize = 256;
/// Rows read ahead of whoever takes them. A row may be a version of 1 MiB.
pub(super) const ROWS_READ_AHEAD: usize = 16;
/// Pages the writer keeps in memory, in KiB (SQLite takes that as a negative number).
const WRITER_CACHE: &str = "-16384";
/// Pages of the log after which a commit folds it into the file: 32 MiB. Ids fall all
/// over the index, so the longer it waits, the more often it writes a page once for
/// several commits.
const LOG_PAGES: &str = "8192";
/// The log is cut to this once it was folded into the file: 64 MiB.
const LOG_BYTES_KEPT: &str = "67108864";

/// `synchronous = FULL`: what is committed is on the disk before the commit returns.
const SYNCHRONOUS_FULL: i64 = 2;

/// Why a data folder could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder can't be made, or its files can't be opened.
    #[error("the data folder can't be used: {0}")]
    Folder(ErrorKind),
    /// Another process has it, or this one has it twice.
    #[error("the data folder is already open, in another process or in this one")]
    InUse,
    /// SQLite did not take a setting that what is acknowledged rests on.
    #[error("SQLite's {setting} must be {wanted} here, and is {found}")]
    Setting {
        /// The pragma.
        setting: &'static str,
        /// The values that will do.
        wanted: &'static str,
        /// The value it has.
        found: String,
    },
    /// The database can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SqliteStore {
    /// Opens the store in `folder`, which is made if it isn't there, and brings its
    /// schema up to date. At most one process has a folder open, once, until the
    /// store is dropped.
    pub async fn open(folder: &Path) -> Result<SqliteStore, OpenError> {
        let lock = lock_folder(folder)?;
        let options = SqliteConnectOptions::new()
            .filename(folder.join(DATABASE_FILE))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT)
            .statement_cache_capacity(PREPARED_STATEMENTS)
            .row_buffer_size(ROWS_READ_AHEAD)
            .pragma("wal_autocheckpoint", LOG_PAGES)
            .pragma("journal_size_limit", LOG_BYTES_KEPT)
            // Where flushing a file does not flush the drive (macOS), ask for both.
            .pragma("fullfsync", "1");
        // The pools would try again and again what fails here.
        let mut first = options.connect().await.map_err(failed)?;
        check_settings(&mut first).await?;
        first.close().await.map_err(failed)?;
        let writing = options.clone().pragma("cache_size", WRITER_CACHE);
        let writer = pool(1).connect_with(writing).await.map_err(failed)?;
        refuse_newer_schema(&writer).await?;
        MIGRATIONS.run(&writer).await.map_err(migrating)?;
        end_leases(&writer).await.map_err(failed)?;
        let readers = pool(READERS)
            .connect_with(options.pragma("query_only", "1"))
            .await
            .map_err(failed)?;
        Ok(SqliteStore {
            writer,
            readers,
            lock,
        })
    }
}

/// Ends the leases of whoever had the folder before: with the folder's lock here,
/// that process is gone, and nobody need wait for its leases to run out. Their
/// terms stay, so that the next one is higher.
async fn end_leases(writer: &SqlitePool) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE leases SET holder = NULL, runs_out = 0")
        .execute(writer)
        .await?;
    Ok(())
}

/// Takes the lock of a data folder, making the folder if need be: for as long as the file
/// is open, nobody else's. [`SqliteStore::open`] takes it by itself.
///
/// # Errors
/// [`OpenError::Folder`], [`OpenError::InUse`].
pub fn lock_folder(folder: &Path) -> Result<File, OpenError> {
    let cannot = |error: std::io::Error| OpenError::Folder(error.kind());
    make_folder(folder).map_err(cannot)?;
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join(LOCK_FILE))
        .map_err(cannot)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse),
        Err(TryLockError::Error(error)) => Err(cannot(error)),
    }
}

/// Connections that live as long as the store and are each checked when made.
fn pool(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .idle_timeout(None)
        .max_lifetime(None)
        // A connection to a file doesn't go stale.
        .test_before_acquire(false)
        // But where the disk is full or fails, SQLite takes a transaction back itself.
        // The driver counts on as if it were open, and can begin no other any more.
        .before_acquire(|connection, _| {
            Box::pin(async move { Ok(!connection.is_in_transaction()) })
        })
        .after_connect(|connection, _| {
            Box::pin(async move {
                check_settings(connection)
                    .await
                    .map_err(|error| sqlx::Error::Configuration(Box::new(error)))
            })
        })
}

/// Reads back the settings that an acknowledged commit rests on.
async fn check_settings(connection: &mut SqliteConnection) -> Result<(), OpenError> {
    let synchronous: i64 = read_setting(connection, "PRAGMA synchronous").await?;
    if synchronous < SYNCHRONOUS_FULL {
        return Err(OpenError::Setting {
            setting: "synchronous",
            wanted: "2 (FULL) or more",
            found: synchronous.to_string(),
        });
    }
    let journal: String = read_setting(connection, "PRAGMA journal_mode").await?;
    if journal != "wal" {
        return Err(OpenError::Setting {
            setting: "journal_mode",
            wanted: "wal",
            found: journal,
        });
    }
    let foreign_keys: i64 = read_setting(connection, "PRAGMA foreign_keys").await?;
    if foreign_keys != 1 {
        return Err(OpenError::Setting {
            setting: "foreign_keys",
            wanted: "1",
            found: foreign_keys.to_string(),
        });
    }
    Ok(())
}

async fn read_setting<T>(
    connection: &mut SqliteConnection,
    pragma: &'static str,
) -> Result<T, OpenError>
where
    T: for<'r> sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite> + Send + Unpin,
{
    let value = sqlx::query_scalar(pragma).fetch_one(connection).await;
    Ok(value.map_err(failed)?)
}

/// Refuses a database that a program with more migrations has been at.
pub(super) async fn refuse_newer_schema(pool: &SqlitePool) -> Result<(), StoreError> {
    let migrated: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '_sqlx_migrations'",
    )
    .fetch_one(pool)
    .await
    .map_err(failed)?;
    if migrated == 0 {
        return Ok(());
    }
    let found: i64 = sqlx::query_scalar("SELECT coalesce(max(version), 0) FROM _sqlx_migrations")
        .fetch_one(pool)
        .await
        .map_err(failed)?;
    let known = MIGRATIONS
        .iter()
        .map(|migration| migration.version)
        .max()
        .unwrap_or(0);
    if found > known {
        return Err(StoreError::UnknownSchema { found, known });
    }
    Ok(())
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
        _ => corrupt("the migrations applied are not those of this program"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn settings_found_wanting(options: SqliteConnectOptions) -> &'static str {
        let mut connection = options.connect().await.unwrap();
        match check_settings(&mut connection).await.unwrap_err() {
            OpenError::Setting { setting, .. } => setting,
            other => panic!("expected a setting, got {other}"),
        }
    }

    #[tokio::test]
    async fn a_connection_that_risks_what_it_acknowledged_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let good = SqliteConnectOptions::new()
            .filename(folder.path().join("one.sqlite"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true);
        let mut connection = good.connect().await.unwrap();
        check_settings(&mut connection).await.unwrap();
        drop(connection);

        let normal = good.clone().synchronous(SqliteSynchronous::Normal);
        assert_eq!(settings_found_wanting(normal).await, "synchronous");
        let loose = good.clone().foreign_keys(false);
        assert_eq!(settings_found_wanting(loose).await, "foreign_keys");
        let rollback = good
            .filename(folder.path().join("another.sqlite"))
            .journal_mode(SqliteJournalMode::Delete);
        assert_eq!(settings_found_wanting(rollback).await, "journal_mode");
    }

    #[tokio::test]
    async fn a_database_of_a_newer_program_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).await.unwrap();
        sqlx::query(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
             VALUES (9999, 'newer', 1, x'00', 0)",
        )
        .execute(&store.writer)
        .await
        .unwrap();
        store.writer.close().await;
        drop(store);
        match SqliteStore::open(folder.path()).await.err().unwrap() {
            OpenError::Store(StoreError::UnknownSchema { found: 9999, known }) => {
                assert_eq!(
                    known,
                    MIGRATIONS.iter().map(|one| one.version).max().unwrap()
                );
            }
            other => panic!("expected an unknown schema, got {other}"),
        }
    }

    #[tokio::test]
    async fn a_file_that_is_no_database_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(DATABASE_FILE), [7; 8192]).unwrap();
        let error = SqliteStore::open(folder.path()).await.err().unwrap();
        assert!(
            matches!(error, OpenError::Store(StoreError::Corrupt(_))),
            "{error}"
        );
    }
}
