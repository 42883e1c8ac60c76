//! The database that the settings name: SQLite in the data folder, or Postgres.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use store::postgres::{Migrated, migrate};
use store::{OpenError, PostgresStore, SqliteStore, Store, lock_folder};

use crate::config::{Config, StoreConfigError};

/// Why the database can't be used. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The data folder can't be used, or the database in it.
    #[error("{}: {source}", folder.display())]
    Folder {
        folder: PathBuf,
        #[source]
        source: OpenError,
    },
    /// The settings name no database.
    #[error(transparent)]
    Settings(#[from] StoreConfigError),
    /// The Postgres database can't be used.
    #[error("{0}")]
    Postgres(#[from] store::postgres::OpenError),
    /// The Postgres database is not of this program's schema.
    #[error("{0}; `holdfast migrate` brings an older one up to date")]
    Schema(#[source] store::postgres::OpenError),
    /// There is nothing to migrate.
    #[error(
        "no Postgres database is named by `store.url` or `store.url-file`: SQLite's schema is \
         brought up to date when its folder is opened"
    )]
    NoPostgres,
}

/// An open database, and the data folder with it.
pub struct Database {
    store: Arc<dyn Store>,
    /// Locked for as long as it is open. SQLite's store has the lock itself.
    folder: Option<File>,
}

impl Database {
    /// Opens the database that the settings name, and takes the data folder, which is made
    /// if it isn't there: the host's key and token are in it in any case.
    ///
    /// # Errors
    /// [`DatabaseError`].
    pub async fn open(config: &Config) -> Result<Database, DatabaseError> {
        let in_folder = |source| DatabaseError::Folder {
            folder: config.data.clone(),
            source,
        };
        let Some(options) = config.postgres()? else {
            let store = SqliteStore::open(&config.data).await.map_err(in_folder)?;
            return Ok(Database {
                store: Arc::new(store),
                folder: None,
            });
        };
        let folder = lock_folder(&config.data).map_err(in_folder)?;
        let store = PostgresStore::open(&options).await.map_err(told)?;
        Ok(Database {
            store: Arc::new(store),
            folder: Some(folder),
        })
    }

    /// The database.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Closes it, and gives the data folder back.
    pub async fn close(self) {
        self.store.close().await;
        drop(self.folder);
    }
}

/// Brings the schema of the Postgres database that the settings name up to date. An empty
/// one is divided into `shards`, or [`store::postgres::DEFAULT_SHARDS`]; any other must have `shards` of
/// them, if that is said.
///
/// # Errors
/// [`DatabaseError`].
pub async fn bring_up_to_date(
    config: &Config,
    shards: Option<u32>,
) -> Result<Migrated, DatabaseError> {
    let options = config.postgres()?.ok_or(DatabaseError::NoPostgres)?;
    Ok(migrate(&options, shards).await?)
}

fn told(error: store::postgres::OpenError) -> DatabaseError {
    use store::StoreError::UnknownSchema;
    use store::postgres::OpenError::Store;
    match error {
        Store(UnknownSchema { .. }) => DatabaseError::Schema(error),
        error => DatabaseError::Postgres(error),
    }
}
