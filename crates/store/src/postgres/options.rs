//! What a store on Postgres is opened with.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;

use super::OpenError;

/// A statement of ours that takes this long waits for something that isn't there.
const LONGEST_STATEMENT: Duration = Duration::from_secs(30);
/// A lease is at least this many times as long as a transaction may stand still.
const STANDSTILLS_PER_LEASE: u32 = 3;
/// A writer waits this part of a lease for a lock, so that it gives up before its lease
/// does. More than a transaction may stand still: whoever takes over outwaits it.
const LOCK_WAIT: (u32, u32) = (2, 5);
/// Statements each connection keeps prepared. The store has about 60.
const PREPARED_STATEMENTS: usize = 128;
const APPLICATION: &str = "holdfast";

/// Where a deployment's Postgres is and how it is used.
///
/// Printed, it says neither where nor who.
#[derive(Clone)]
pub struct PostgresOptions {
    pub(super) connect: PgConnectOptions,
    pub(super) connections: u32,
    pub(super) lease: Duration,
}

impl PostgresOptions {
    /// `url` is `postgres://user:password@host:port/database`; what it leaves out comes
    /// from Postgres' own variables and password file (`PGPASSWORD`, `PGPASSFILE`…).
    /// At most `connections` are open at a time. `lease` is how long a lease lasts: no
    /// transaction of the store's stands still for half as long.
    ///
    /// # Errors
    /// [`OpenError::Url`].
    pub fn new(url: &str, connections: u32, lease: Duration) -> Result<PostgresOptions, OpenError> {
        if !["postgres://", "postgresql://"]
            .iter()
            .any(|scheme| url.starts_with(scheme))
        {
            return Err(OpenError::Url);
        }
        // What is wrong with it is not said: the words would quote it.
        let connect = PgConnectOptions::from_str(url).map_err(|_| OpenError::Url)?;
        Ok(PostgresOptions {
            connect: connect.application_name(APPLICATION),
            connections: connections.max(1),
            lease,
        })
    }

    /// The options of a connection that reads and writes entries.
    pub(super) fn for_entries(&self) -> PgConnectOptions {
        let milliseconds = |time: Duration| time.as_millis().max(1).to_string();
        let standstill = self.lease / STANDSTILLS_PER_LEASE;
        let (part, of) = LOCK_WAIT;
        self.connect
            .clone()
            .statement_cache_capacity(PREPARED_STATEMENTS)
            .options([
                ("statement_timeout", milliseconds(LONGEST_STATEMENT)),
                ("lock_timeout", milliseconds(self.lease * part / of)),
                (
                    "idle_in_transaction_session_timeout",
                    milliseconds(standstill),
                ),
                // No statement of ours is long enough for it.
                ("jit", "off".to_owned()),
            ])
            // Every statement names its rows by their keys. Left to estimates, a statement
            // that names a thousand reads all of a table of a hundred thousand instead, and
            // a commit takes longer the more is stored.
            .options(
                ["enable_seqscan", "enable_hashjoin", "enable_mergejoin"].map(|way| (way, "off")),
            )
    }
}

impl fmt::Debug for PostgresOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PostgresOptions")
            .field("connections", &self.connections)
            .field("lease", &self.lease)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_none_is_refused_and_not_repeated() {
        for url in [
            "",
            "mysql://secret@host/db",
            "postgres://user:secret@host:port/db",
            "postgres://secret@[/db",
        ] {
            let refused = PostgresOptions::new(url, 1, LONGEST_STATEMENT).unwrap_err();
            assert!(matches!(refused, OpenError::Url), "{refused}");
            assert!(!format!("{refused} {refused:?}").contains("secret"));
        }
    }

    #[test]
    fn options_printed_tell_no_secret() {
        let url = "postgres://user:secret@there/db";
        let options = PostgresOptions::new(url, 1, LONGEST_STATEMENT).unwrap();
        let printed = format!("{options:?}");
        assert!(
            !printed.contains("secret") && !printed.contains("there"),
            "{printed}"
        );
    }

    #[test]
    fn a_transaction_stands_still_for_less_than_half_a_lease_and_is_outwaited() {
        let lease = Duration::from_secs(15);
        let options = PostgresOptions::new("postgres://there/db", 1, lease).unwrap();
        let set = options.for_entries();
        let set = set.get_options().unwrap();
        assert!(
            set.contains("idle_in_transaction_session_timeout=5000"),
            "{set}"
        );
        assert!(set.contains("lock_timeout=6000"), "{set}");
        assert!(set.contains("statement_timeout=30000"), "{set}");
    }
}
