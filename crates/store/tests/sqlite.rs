//! SQLite does what every store does, and what only SQLite must do.
#![allow(clippy::unwrap_used, reason = "a test that finds an error fails")]

mod conformance;
mod processes;

use std::path::Path;
use std::sync::Arc;

use store::{OpenError, SqliteStore, Store};
use tempfile::TempDir;

/// A store on a folder that goes with it.
struct Fresh {
    store: Arc<dyn Store>,
    folder: TempDir,
}

async fn fresh() -> Fresh {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    Fresh { store, folder }
}

async fn open(folder: &Path) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(folder).await.unwrap())
}

conformance_tests!(crate::fresh);

#[tokio::test]
async fn a_store_opened_again_holds_the_same() {
    use conformance::model::{Model, commit, keeping, version};

    let Fresh { store, folder } = fresh().await;
    let (held, lease) = conformance::carry(&*store, 1).await;
    let batch = keeping((0..3_000).map(version).collect());
    let mut model = Model::default();
    model.apply(&batch);
    commit(&*store, &lease, held, batch).await;
    let carried = store.carried(None, 10).await.unwrap();
    let runs = store.runs(&held, "notes").await.unwrap();
    store.close().await;
    drop(store);

    let store = open(folder.path()).await;
    assert_eq!(store.carried(None, 10).await.unwrap(), carried);
    assert_eq!(store.runs(&held, "notes").await.unwrap(), runs);
    model.check(&*store, held).await;
}

#[tokio::test]
async fn opening_a_folder_ends_the_lease_of_whoever_had_it_and_waits_for_nobody() {
    use store::{Holder, StoreError, TakeLease};

    let Fresh { store, folder } = fresh().await;
    let (_, before) = conformance::carry(&*store, 1).await;
    store.close().await;
    drop(store);

    let store = open(folder.path()).await;
    let hour = std::time::Duration::from_secs(3_600);
    let renewed = store.renew_lease(&before, hour).await;
    assert!(matches!(renewed, Err(StoreError::Fenced)));
    let taken = store
        .take_lease(before.shard, Holder([99; 16]), hour)
        .await
        .unwrap();
    let TakeLease::Taken(lease) = taken else {
        panic!("expected to be given the lease at once, got {taken:?}");
    };
    assert!(lease.term > before.term);
}

#[tokio::test]
async fn a_closed_store_answers_that_it_is_closed() {
    let Fresh { store, folder } = fresh().await;
    store.close().await;
    let answer = store.host_fact("did").await.unwrap_err();
    assert_eq!(
        answer.to_string(),
        "the database is unavailable: the store is closed"
    );
    drop(folder);
}

#[tokio::test]
async fn a_folder_opens_once_at_a_time() {
    let Fresh { store, folder } = fresh().await;
    let second = SqliteStore::open(folder.path()).await.err().unwrap();
    assert!(matches!(second, OpenError::InUse));
    assert_eq!(
        second.to_string(),
        "the data folder is already open, in another process or in this one"
    );
    store.close().await;
    drop(store);
    open(folder.path()).await.close().await;
}

#[tokio::test]
async fn a_folder_that_can_not_be_made_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file");
    std::fs::write(&file, b"").unwrap();
    let error = SqliteStore::open(&file).await.err().unwrap();
    assert!(matches!(error, OpenError::Folder(_)));
    assert!(!error.to_string().contains("a file"), "{error}");
}
