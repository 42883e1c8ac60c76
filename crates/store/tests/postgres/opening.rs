//! Which databases are opened and which are refused.

use store::postgres::{Migrated, OpenError, PostgresOptions, migrate};
use store::{PostgresStore, StoreError};

use crate::conformance::model::{Model, commit, keeping, version};
use crate::conformance::{AN_HOUR, carry};
use crate::postgres_server::Server;
use crate::{Fresh, Meddler, fresh, opened, options};

/// The last migration.
const SCHEMA: i64 = 2;

async fn refused(server: &Server) -> OpenError {
    PostgresStore::open(&options(server)).await.err().unwrap()
}

#[tokio::test]
async fn a_store_opened_again_holds_the_same() {
    let Fresh { store, server } = fresh().await;
    let (held, lease) = carry(&*store, 1).await;
    let batch = keeping((0..3_000).map(version).collect());
    let mut model = Model::default();
    model.apply(&batch);
    commit(&*store, &lease, held, batch).await;
    let runs = store.runs(&held, "notes").await.unwrap();
    store.close().await;
    let answer = store.host_fact("did").await.unwrap_err();
    assert_eq!(
        answer.to_string(),
        "the database is unavailable: the store is closed"
    );

    let store = opened(&options(&server)).await;
    assert_eq!(store.runs(&held, "notes").await.unwrap(), runs);
    model.check(&*store, held).await;
    // What is open elsewhere is open here: leases outlive whoever opened the store.
    store.renew_lease(&lease, AN_HOUR).await.unwrap();
}

#[tokio::test]
async fn a_schema_older_or_newer_than_the_programs_is_refused_with_both_versions() {
    let server = Server::start();
    let empty = refused(&server).await;
    assert_eq!(
        empty.to_string(),
        "the database's schema is at version 0, and this program's is version 2"
    );
    migrate(&options(&server), None).await.unwrap();
    opened(&options(&server)).await.close().await;

    let mut meddler = Meddler::at(&server).await;
    meddler
        .run(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
              VALUES (9999, 'newer', true, '', 0)",
        )
        .await;
    let newer = migrate(&options(&server), None).await.err().unwrap();
    for error in [refused(&server).await, newer] {
        assert!(
            matches!(
                error,
                OpenError::Store(StoreError::UnknownSchema {
                    found: 9999,
                    known: SCHEMA
                })
            ),
            "{error}"
        );
    }
    meddler
        .run(
            "DELETE FROM _sqlx_migrations WHERE version = 9999;
              UPDATE _sqlx_migrations SET checksum = 'another' WHERE version = 2",
        )
        .await;
    assert_eq!(
        refused(&server).await.to_string(),
        "the database holds what it should not: migration 2 is not the one that was applied"
    );
}

#[tokio::test]
async fn migrating_at_once_and_again_is_migrating_once() {
    let server = Server::start();
    let options = options(&server);
    let (one, other) = tokio::join!(migrate(&options, Some(8)), migrate(&options, Some(8)));
    for migrated in [one.unwrap(), other.unwrap()] {
        assert_eq!((migrated.to, migrated.shards), (SCHEMA, 8));
    }
    let again = migrate(&options, None).await.unwrap();
    let as_it_is = Migrated {
        from: SCHEMA,
        to: SCHEMA,
        shards: 8,
    };
    assert_eq!(again, as_it_is);
    let another = migrate(&options, Some(9)).await.err().unwrap();
    assert_eq!(
        another.to_string(),
        "the database is divided into 8 shards, and was to be divided into 9"
    );
    assert_eq!(opened(&options).await.shards(), 8);
}

#[tokio::test]
async fn a_server_that_risks_what_it_acknowledged_is_refused() {
    let Fresh { store, server } = fresh().await;
    drop(store);
    let mut meddler = Meddler::at(&server).await;
    for (set, setting) in [
        (
            "ALTER ROLE holdfast SET synchronous_commit = off",
            "synchronous_commit",
        ),
        (
            "ALTER ROLE holdfast SET synchronous_commit = local",
            "synchronous_commit",
        ),
        (
            "ALTER DATABASE postgres SET default_transaction_read_only = on",
            "transaction_read_only",
        ),
    ] {
        meddler.run(set).await;
        let error = refused(&server).await;
        assert!(
            matches!(error, OpenError::Setting { setting: found, .. } if found == setting),
            "{error}"
        );
        meddler
            .run(
                "SET default_transaction_read_only = off; ALTER ROLE holdfast RESET ALL;
                  ALTER DATABASE postgres RESET ALL",
            )
            .await;
    }
    opened(&options(&server)).await.close().await;

    let careless = Server::with(&["fsync=off"]);
    assert_eq!(
        refused(&careless).await.to_string(),
        "Postgres' fsync must be on for the host's login, and is off"
    );
}

#[tokio::test]
async fn a_setting_that_changes_while_the_store_is_open_makes_it_unavailable() {
    let Fresh { store, server } = fresh().await;
    let mut meddler = Meddler::at(&server).await;
    meddler
        .run(
            "ALTER ROLE holdfast SET synchronous_commit = off;
              SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE application_name = 'holdfast'",
        )
        .await;
    // The connections there were fail once each; those made since are refused.
    for _ in 0..=crate::CONNECTIONS {
        let answer = store.host_fact("any").await;
        assert!(
            matches!(answer, Err(StoreError::Unavailable(_))),
            "{answer:?}"
        );
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable_and_its_address_is_not_said() {
    let url = "postgres://somebody:secret@localhost/there?host=/nonexistent";
    let options = PostgresOptions::new(url, 1, AN_HOUR).unwrap();
    let error = PostgresStore::open(&options).await.err().unwrap();
    assert!(
        matches!(error, OpenError::Store(StoreError::Unavailable(_))),
        "{error}"
    );
    let said = format!("{error} {error:?}");
    for secret in ["somebody", "secret", "nonexistent"] {
        assert!(!said.contains(secret), "{said}");
    }
}
