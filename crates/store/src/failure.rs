//! A store's errors, in words of ours: a database's own could carry a path, a login
//! or a value.

use crate::StoreError;

/// What is stored is not what this program writes.
pub(crate) fn corrupt(what: &str) -> StoreError {
    StoreError::Corrupt(what.to_owned())
}

/// The database can't now.
pub(crate) fn unavailable(what: &str) -> StoreError {
    StoreError::Unavailable(what.to_owned())
}

/// What a failure of the driver's, and not of the database, means.
pub(crate) fn of_driver(error: &sqlx::Error) -> StoreError {
    match error {
        sqlx::Error::PoolTimedOut => unavailable("no connection came free in time"),
        sqlx::Error::PoolClosed => unavailable("the store is closed"),
        sqlx::Error::Io(_) => unavailable("input or output failed"),
        sqlx::Error::Tls(_) => unavailable("no connection by TLS came about"),
        sqlx::Error::WorkerCrashed => unavailable("the connection's thread ended"),
        sqlx::Error::Configuration(_) => unavailable("a connection is not set up as it must be"),
        sqlx::Error::RowNotFound => corrupt("a row that must be there is not"),
        sqlx::Error::ColumnDecode { .. }
        | sqlx::Error::Decode(_)
        | sqlx::Error::ColumnNotFound(_) => corrupt("a column is not of the type it must be"),
        sqlx::Error::Encode(_) => corrupt("a value can't be written as the database has it"),
        _ => unavailable("the database's driver failed"),
    }
}
