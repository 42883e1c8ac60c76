//! A transaction whose connection is never used again unless it ended.

use std::ops::{Deref, DerefMut};

use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, Executor, PgConnection, PgPool, Postgres};

use super::error::failed;
use crate::StoreError;

/// An open transaction. Where it is dropped before it ended, on an error or because nobody
/// waits for it any more, its connection is closed, which takes it back.
///
/// The driver's own takes a dropped one back too, but not one that is dropped while it
/// begins: the connection would be used again in the midst of it, and what the next one
/// writes would never be committed.
pub(super) struct Transaction {
    connection: PoolConnection<Postgres>,
    has_ended: bool,
}

impl Transaction {
    /// Begins one, in one round trip with the statement `then`, which nobody outside may
    /// have a word in. A default of another isolation would have one snapshot for all of
    /// it, older than the locks it waits for.
    pub(super) async fn begin(pool: &PgPool, then: &str) -> Result<Transaction, StoreError> {
        let mut transaction = Transaction {
            connection: pool.acquire().await.map_err(failed)?,
            has_ended: false,
        };
        let sql = format!("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {then}");
        transaction.run(AssertSqlSafe(sql)).await?;
        Ok(transaction)
    }

    /// Commits it. An error doesn't tell that it did not land.
    pub(super) async fn commit(self) -> Result<(), StoreError> {
        self.end("COMMIT").await
    }

    /// Takes it back.
    pub(super) async fn roll_back(self) -> Result<(), StoreError> {
        self.end("ROLLBACK").await
    }

    async fn end(mut self, how: &'static str) -> Result<(), StoreError> {
        self.run(how).await?;
        self.has_ended = true;
        Ok(())
    }

    /// Runs what gives nothing back, as it is.
    pub(super) async fn run(
        &mut self,
        sql: impl sqlx::SqlSafeStr + Send,
    ) -> Result<(), StoreError> {
        let sql = sqlx::raw_sql(sql);
        self.connection.execute(sql).await.map_err(failed)?;
        Ok(())
    }
}

impl Deref for Transaction {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for Transaction {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.has_ended {
            self.connection.close_on_drop();
        }
    }
}
