//! What Postgres' errors are to a caller of the store.
//!
//! Messages are ours and fixed, with the SQLSTATE: Postgres' own could carry a value
//! or a login.

use sqlx::Error;

use crate::StoreError;
use crate::failure::{corrupt, of_driver, unavailable};

// SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html).
const DATA_EXCEPTION: &str = "22";
const CONSTRAINT_VIOLATION: &str = "23";
const READ_ONLY: &str = "25006";
const IDLE_IN_TRANSACTION: &str = "25P03";
const WRONG_LOGIN: &str = "28";
const NO_SUCH_DATABASE: &str = "3D";
const TRANSACTION_ROLLBACK: &str = "40";
const SYNTAX_OR_ACCESS_RULE: &str = "42";
const NO_PERMISSION: &str = "42501";
const DISK_FULL: &str = "53100";
const TOO_MANY_CONNECTIONS: &str = "53300";
const LOCK_NOT_AVAILABLE: &str = "55P03";
const QUERY_CANCELED: &str = "57014";
const OPERATOR_INTERVENTION: &str = "57";
const DATA_CORRUPTED: &str = "XX001";
const INDEX_CORRUPTED: &str = "XX002";

/// What a failed statement means.
pub(super) fn failed(error: Error) -> StoreError {
    match &error {
        Error::Database(error) => of_state(error.code().as_deref().unwrap_or_default()),
        Error::Io(_) => unavailable("no connection to Postgres came about, or it was lost"),
        other => of_driver(other),
    }
}

/// Whether a statement failed on what it was given to write: a constraint, or a value
/// that Postgres has no form for.
pub(super) fn is_of_the_data(error: &Error) -> bool {
    let Error::Database(error) = error else {
        return false;
    };
    let state = error.code().unwrap_or_default();
    state.starts_with(DATA_EXCEPTION) || state.starts_with(CONSTRAINT_VIOLATION)
}

fn of_state(state: &str) -> StoreError {
    let class = state.get(..2).unwrap_or_default();
    match (state, class) {
        (READ_ONLY, _) => unavailable("Postgres takes no writes here (25006)"),
        (IDLE_IN_TRANSACTION, _) => {
            unavailable("a transaction stood still for too long and was ended (25P03)")
        }
        (DISK_FULL, _) => unavailable("Postgres' disk is full (53100)"),
        (TOO_MANY_CONNECTIONS, _) => unavailable("Postgres has too many connections (53300)"),
        (LOCK_NOT_AVAILABLE, _) => unavailable("a lock did not come free in time (55P03)"),
        (QUERY_CANCELED, _) => unavailable("a statement took too long and was ended (57014)"),
        (NO_PERMISSION, _) => unavailable("Postgres gives the login no permission (42501)"),
        (DATA_CORRUPTED | INDEX_CORRUPTED, _) => {
            StoreError::Corrupt(format!("Postgres finds its files damaged ({state})"))
        }
        (_, DATA_EXCEPTION | CONSTRAINT_VIOLATION) => StoreError::Corrupt(format!(
            "a value or a constraint of the schema does not hold ({state})"
        )),
        (_, SYNTAX_OR_ACCESS_RULE) => {
            StoreError::Corrupt(format!("Postgres refused a statement ({state})"))
        }
        (_, TRANSACTION_ROLLBACK) => StoreError::Unavailable(format!(
            "a transaction had to give way to another ({state})"
        )),
        (_, OPERATOR_INTERVENTION) => {
            StoreError::Unavailable(format!("Postgres is stopping or starting ({state})"))
        }
        (_, WRONG_LOGIN) => {
            StoreError::Unavailable(format!("Postgres refused the login ({state})"))
        }
        (_, NO_SUCH_DATABASE) => unavailable("Postgres has no database of that name (3D000)"),
        ("", _) => corrupt("Postgres refused a statement and said no SQLSTATE"),
        _ => StoreError::Unavailable(format!("Postgres answered with SQLSTATE {state}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_worth_trying_again_and_what_does_not_fit_is_not() {
        for state in [
            "08006", "25006", "25P03", "28P01", "3D000", "40001", "40P01", "42501", "53100",
            "53200", "53300", "55P03", "57014", "57P01", "57P02", "57P03", "58030", "XX000",
        ] {
            let error = of_state(state);
            assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
            assert!(error.to_string().contains(state), "{error}");
        }
        for state in [
            "22021", "23505", "23514", "42P01", "42703", "XX001", "XX002", "",
        ] {
            let error = of_state(state);
            assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
        }
    }
}
