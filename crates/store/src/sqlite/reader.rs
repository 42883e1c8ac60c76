//! Reading a data folder beside whoever has it open, or nobody.

use std::io::ErrorKind;
use std::path::Path;

use engine::rows::{OpenedSpace, StoredVersion};
use minca_record::content_id::ContentId;
use sqlx::SqlitePool;
use sqlx::sqlite::SqliteConnectOptions;

use super::error::failed;
use super::open::{BUSY_TIMEOUT, DATABASE_FILE, OpenError, ROWS_READ_AHEAD, refuse_newer_schema};
use super::read;
use crate::StoreError;

/// A data folder's entries, to be read only: no lock and no lease is taken and nothing
/// is written, so a host may run on the folder or start meanwhile.
///
/// All that is read is of one moment, that of the first reading. A host goes on writing,
/// but can't shorten its log as long as this is open: it is for questions, not to be kept.
///
/// SQLite makes the two files beside the database that readers and writers meet by
/// (`-wal`, `-shm`) where they aren't there, and leaves them.
pub struct SqliteReader {
    /// One connection, in a transaction that is never committed.
    pool: SqlitePool,
}

impl SqliteReader {
    /// Opens the database in `folder`.
    ///
    /// # Errors
    /// [`OpenError::Folder`] where there is no database; [`OpenError::Store`].
    pub async fn open(folder: &Path) -> Result<SqliteReader, OpenError> {
        let file = folder.join(DATABASE_FILE);
        match file.try_exists() {
            Ok(true) => {}
            Ok(false) => return Err(OpenError::Folder(ErrorKind::NotFound)),
            Err(error) => return Err(OpenError::Folder(error.kind())),
        }
        let options = SqliteConnectOptions::new()
            .filename(file)
            .read_only(true)
            .busy_timeout(BUSY_TIMEOUT)
            .row_buffer_size(ROWS_READ_AHEAD)
            .pragma("query_only", "1");
        let pool = sqlx::sqlite::SqlitePoolOptions::new()
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
            .after_connect(|connection, _| {
                Box::pin(async move { sqlx::query("BEGIN").execute(connection).await.map(drop) })
            })
            .connect_with(options)
            .await
            .map_err(failed)?;
        refuse_newer_schema(&pool).await?;
        Ok(SqliteReader { pool })
    }

    /// The constitution and the access versions of a space; `None` where it is not held.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn space(&self, space: &ContentId) -> Result<Option<OpenedSpace>, StoreError> {
        read::open(&self.pool, space).await
    }

    /// Versions by id, in the order asked, those held only.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn versions(
        &self,
        space: &ContentId,
        ids: &[ContentId],
    ) -> Result<Vec<StoredVersion>, StoreError> {
        read::versions(&self.pool, space, ids, usize::MAX).await
    }

    /// Ends the reading.
    pub async fn close(self) {
        self.pool.close().await;
    }
}
