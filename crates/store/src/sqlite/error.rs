//! What SQLite's errors are to a caller of the store.
//!
//! Messages are ours and fixed: SQLite's own could carry a path or a value.

use sqlx::Error;

use crate::StoreError;
use crate::failure::{corrupt, of_driver};

// Primary result codes (https://sqlite.org/rescode.html).
const ERROR: i32 = 1;
const CORRUPT: i32 = 11;
const CONSTRAINT: i32 = 19;
const MISMATCH: i32 = 20;
const NOT_A_DATABASE: i32 = 26;

/// What a failed statement means.
pub(super) fn failed(error: Error) -> StoreError {
    match &error {
        Error::Database(error) => of_code(primary_code(error.as_ref())),
        other => of_driver(other),
    }
}

/// Whether a statement failed on one of the schema's constraints.
pub(super) fn is_constraint(error: &Error) -> bool {
    matches!(error, Error::Database(error) if primary_code(error.as_ref()) == CONSTRAINT)
}

fn of_code(code: i32) -> StoreError {
    match code {
        ERROR => corrupt("SQLite refused a statement (code 1)"),
        CORRUPT => corrupt("SQLite finds its file damaged (code 11)"),
        CONSTRAINT => corrupt("a constraint of the schema does not hold (code 19)"),
        MISMATCH => corrupt("SQLite finds a value of another type (code 20)"),
        NOT_A_DATABASE => corrupt("the file is no SQLite database (code 26)"),
        code => StoreError::Unavailable(format!("SQLite answered with code {code}")),
    }
}

/// The primary code within an extended one: its lowest byte.
fn primary_code(error: &(dyn sqlx::error::DatabaseError + 'static)) -> i32 {
    let extended: Option<i32> = error.code().and_then(|code| code.parse().ok());
    extended.map_or(ERROR, |code| code & 0xff)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sqlx::sqlite::SqliteConnectOptions;
    use sqlx::{ConnectOptions, Connection, SqliteConnection};

    use super::*;

    async fn fails(connection: &mut SqliteConnection, sql: &'static str) -> StoreError {
        failed(sqlx::query(sql).execute(connection).await.unwrap_err())
    }

    #[tokio::test]
    async fn what_fails_is_told_apart_and_repeats_no_value() {
        let folder = tempfile::tempdir().unwrap();
        let options = SqliteConnectOptions::new()
            .filename(folder.path().join("secret.sqlite"))
            .create_if_missing(true)
            .busy_timeout(Duration::ZERO);
        let mut one = options.connect().await.unwrap();
        let mut other = options.connect().await.unwrap();
        sqlx::query("CREATE TABLE facts (secret TEXT PRIMARY KEY CHECK (secret <> 'no')) STRICT")
            .execute(&mut one)
            .await
            .unwrap();

        let broken = fails(&mut one, "INSERT INTO facts VALUES ('no')").await;
        assert!(matches!(broken, StoreError::Corrupt(_)), "{broken}");
        let unknown = fails(&mut one, "SELECT 'secret' FROM none").await;
        assert!(matches!(unknown, StoreError::Corrupt(_)), "{unknown}");
        let writing = one.begin_with("BEGIN IMMEDIATE").await.unwrap();
        let busy = fails(&mut other, "INSERT INTO facts VALUES ('secret')").await;
        assert!(matches!(busy, StoreError::Unavailable(_)), "{busy}");
        drop(writing);
        for error in [broken, unknown, busy] {
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
