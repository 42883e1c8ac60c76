//! What fails while the store is used: connections, the server, values.

use std::sync::Arc;

use engine::rows::{Batch, VersionRow};
use minca_record::content_id::ContentId;
use sqlx::{Connection, PgConnection};
use store::postgres::{PostgresOptions, migrate};
use store::{BatchError, Lease, SpaceBatch, Store, StoreError};

use crate::conformance::model::{Model, commit, keeping, version};
use crate::conformance::{AN_HOUR, carry};
use crate::postgres_server::Server;
use crate::{Fresh, Meddler, batch_for, fresh, opened};

fn is_unavailable<T>(answer: &Result<T, StoreError>) -> bool {
    matches!(answer, Err(StoreError::Unavailable(_)))
}

#[tokio::test]
async fn a_connection_ended_in_mid_commit_leaves_nothing_and_the_next_one_lands() {
    let Fresh { store, server } = fresh().await;
    let (held, lease) = carry(&*store, 1).await;
    let mut meddler = Meddler::at(&server).await;
    meddler.hold_up_commits().await;
    let committing = tokio::spawn({
        let store = Arc::clone(&store);
        let batches = batch_for(held, keeping(vec![version(1)]));
        async move { store.commit(&lease, &batches).await }
    });
    meddler.wait_for_a_held_commit().await;
    meddler
        .run(
            "SELECT pg_terminate_backend(pid) FROM pg_locks
              WHERE NOT granted AND relation = 'to_segment'::regclass",
        )
        .await;
    let answer = committing.await.unwrap();
    assert!(is_unavailable(&answer), "{answer:?}");
    meddler.let_commits_go().await;

    Model::default().check(&*store, held).await;
    let batch = keeping(vec![version(1)]);
    let mut model = Model::default();
    model.apply(&batch);
    commit(&*store, &lease, held, batch).await;
    model.check(&*store, held).await;
}

/// Tries until the server has been found again: each connection made before has to fail
/// once to be given up.
async fn find_again(store: &dyn Store) {
    loop {
        match store.host_fact("any").await {
            Ok(_) => return,
            Err(StoreError::Unavailable(_)) => {}
            Err(other) => panic!("expected unavailable, got {other}"),
        }
    }
}

/// Tries as the committer does: again where the store was unavailable, once it was found
/// out whether it landed all the same.
async fn commit_in_the_end(
    store: &dyn Store,
    lease: &Lease,
    held: ContentId,
    batch: &Batch,
    between: impl AsyncFn(&StoreError),
) {
    let batches = batch_for(held, batch.clone());
    let first = batch.keep[0].id;
    loop {
        match store.commit(lease, &batches).await {
            Ok(answers) => return answers.into_iter().for_each(Result::unwrap),
            Err(error @ StoreError::Unavailable(_)) => between(&error).await,
            Err(other) => panic!("expected unavailable, got {other}"),
        }
        find_again(store).await;
        let landed = store.versions(&held, &[first], usize::MAX).await;
        match landed {
            Ok(versions) if versions.is_empty() => {}
            Ok(_) => return,
            Err(error) => assert!(matches!(error, StoreError::Unavailable(_)), "{error}"),
        }
    }
}

#[tokio::test]
async fn nothing_acknowledged_is_lost_where_the_server_crashes() {
    const ROUNDS: u64 = 4;
    let Fresh { store, mut server } = fresh().await;
    let (held, lease) = carry(&*store, 1).await;
    let mut model = Model::default();
    for round in 0..ROUNDS {
        // Between commits.
        let batch = keeping((0..50).map(|n| version(round * 1_000 + n)).collect());
        model.apply(&batch);
        commit(&*store, &lease, held, batch).await;
        server.crash();
        let answer = store.host_fact("any").await;
        assert!(is_unavailable(&answer), "{answer:?}");
        server.start_again();
        find_again(&*store).await;

        // In the midst of them.
        let last = keeping(vec![version(round * 1_000 + 999)]);
        let committing = tokio::spawn({
            let (store, last) = (Arc::clone(&store), last.clone());
            async move {
                for number in 100..140 {
                    let batch = keeping(vec![version(round * 1_000 + number)]);
                    commit_in_the_end(&*store, &lease, held, &batch, async |_| {}).await;
                }
                commit_in_the_end(&*store, &lease, held, &last, async |_| {}).await;
            }
        });
        let seen = version(round * 1_000 + 100 + round * 5).id;
        while store.versions(&held, &[seen], 0).await.unwrap().is_empty() {}
        server.crash();
        server.start_again();
        committing.await.unwrap();
        for number in 100..140 {
            model.apply(&keeping(vec![version(round * 1_000 + number)]));
        }
        model.apply(&last);
        find_again(&*store).await;
        for _ in 0..crate::CONNECTIONS {
            let _ = store.host_fact("any").await;
        }
        model.check(&*store, held).await;
    }
}

#[tokio::test]
async fn a_full_pool_is_unavailable_and_passes() {
    let server = Server::start();
    let options = PostgresOptions::new(&server.url(), 1, AN_HOUR).unwrap();
    migrate(&options, None).await.unwrap();
    let store = opened(&options).await;
    let (held, lease) = carry(&*store, 1).await;
    let mut meddler = Meddler::at(&server).await;
    meddler.hold_up_commits().await;
    let committing = tokio::spawn({
        let store = Arc::clone(&store);
        let batches = batch_for(held, keeping(vec![version(1)]));
        async move { store.commit(&lease, &batches).await }
    });
    meddler.wait_for_a_held_commit().await;
    let answer = store.host_fact("any").await.unwrap_err();
    assert_eq!(
        answer.to_string(),
        "the database is unavailable: no connection came free in time"
    );
    meddler.let_commits_go().await;
    committing.await.unwrap().unwrap().pop().unwrap().unwrap();
    assert_eq!(store.host_fact("any").await.unwrap(), None);
}

#[tokio::test]
async fn a_server_with_no_connection_left_is_unavailable() {
    let server = Server::with(&["max_connections=2", "superuser_reserved_connections=0"]);
    let url = server.url();
    let options = PostgresOptions::new(&url, 1, AN_HOUR).unwrap();
    let one = PgConnection::connect(&url).await.unwrap();
    let other = PgConnection::connect(&url).await.unwrap();
    let refused = store::PostgresStore::open(&options).await.err().unwrap();
    assert_eq!(
        refused.to_string(),
        "the database is unavailable: Postgres has too many connections (53300)"
    );
    drop((one, other));
}

#[tokio::test]
async fn a_value_that_only_postgres_refuses_is_cut_out_and_the_rest_lands() {
    let Fresh {
        store,
        server: _server,
    } = fresh().await;
    let (held, lease) = carry(&*store, 1).await;
    let (other, _) = carry(&*store, 2).await;
    // Texts of Postgres hold no U+0000. No version of the protocol's has one there.
    let refused = VersionRow {
        collection: "no\0tes".to_owned(),
        ..version(2)
    };
    let good = [version(1), version(3), version(4)].map(|row| keeping(vec![row]));
    let batches: Vec<SpaceBatch> = [
        batch_for(held, good[0].clone()),
        batch_for(held, keeping(vec![version(8), refused])),
        batch_for(other, good[1].clone()),
        batch_for(held, good[2].clone()),
    ]
    .concat();
    let answers = store.commit(&lease, &batches).await.unwrap();
    assert!(answers[0].is_ok() && answers[2].is_ok() && answers[3].is_ok());
    assert!(matches!(answers[1], Err(BatchError::DoesNotFit(_))));
    let (mut model, mut other_model) = (Model::default(), Model::default());
    model.apply(&good[0]);
    model.apply(&good[2]);
    other_model.apply(&good[1]);
    model.check(&*store, held).await;
    other_model.check(&*store, other).await;
}
