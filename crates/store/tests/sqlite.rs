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

#[tokio::test]
async fn a_reader_beside_a_running_host_reads_one_moment_and_is_in_nobodys_way() {
    use conformance::model::{commit, keeping, stored, version};
    use store::SqliteReader;

    let Fresh { store, folder } = fresh().await;
    let (held, lease) = conformance::carry(&*store, 1).await;
    let (first, second) = (version(1), version(2));
    let ids = [first.id, second.id];
    commit(&*store, &lease, held, keeping(vec![first.clone()])).await;

    let reader = SqliteReader::open(folder.path()).await.unwrap();
    let opened = reader.space(&held).await.unwrap();
    assert_eq!(opened, store.open(&held).await.unwrap());
    assert!(opened.is_some());
    commit(&*store, &lease, held, keeping(vec![second.clone()])).await;
    let before = reader.versions(&held, &ids).await.unwrap();
    assert_eq!(before, [stored(&first)]);
    reader.close().await;

    let reader = SqliteReader::open(folder.path()).await.unwrap();
    let after = reader.versions(&held, &ids).await.unwrap();
    assert_eq!(after, [stored(&first), stored(&second)]);
    let unknown = minca_record::content_id::ContentId::of(b"another space");
    assert_eq!(reader.space(&unknown).await.unwrap(), None);
    reader.close().await;
    let an_hour = conformance::AN_HOUR;
    store.renew_lease(&lease, an_hour).await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn a_reader_of_a_stopped_hosts_folder_leaves_it_as_it_is_and_lets_a_host_start() {
    use conformance::model::{commit, keeping, stored, version};
    use store::SqliteReader;

    let Fresh { store, folder } = fresh().await;
    let (held, lease) = conformance::carry(&*store, 1).await;
    let first = version(1);
    commit(&*store, &lease, held, keeping(vec![first.clone()])).await;
    store.close().await;
    drop(store);
    let database = folder.path().join("holdfast.sqlite");
    let before = std::fs::read(&database).unwrap();

    let reader = SqliteReader::open(folder.path()).await.unwrap();
    let read = reader.versions(&held, &[first.id]).await.unwrap();
    assert_eq!(read, [stored(&first)]);
    let host = open(folder.path()).await;
    let lease = conformance::lease_for(&*host, held).await;
    commit(&*host, &lease, held, keeping(vec![version(2)])).await;
    let read = reader.versions(&held, &[version(2).id]).await.unwrap();
    assert_eq!(read, [], "what is read is of one moment");
    reader.close().await;
    host.close().await;
    drop(host);
    assert_ne!(std::fs::read(&database).unwrap(), before, "the host wrote");

    let before = std::fs::read(&database).unwrap();
    let reader = SqliteReader::open(folder.path()).await.unwrap();
    assert!(reader.space(&held).await.unwrap().is_some());
    reader.close().await;
    assert_eq!(std::fs::read(&database).unwrap(), before);
}

#[tokio::test]
async fn a_reader_makes_no_folder_and_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let error = store::SqliteReader::open(folder.path()).await.err();
    assert!(matches!(
        error,
        Some(OpenError::Folder(std::io::ErrorKind::NotFound))
    ));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_reader_finds_what_a_killed_host_left_in_its_log() {
    use conformance::model::{commit, keeping, stored, version};
    use store::SqliteReader;

    let Fresh { store, folder } = fresh().await;
    let (held, lease) = conformance::carry(&*store, 1).await;
    let first = version(1);
    commit(&*store, &lease, held, keeping(vec![first.clone()])).await;
    let left = tempfile::tempdir().unwrap();
    for name in ["holdfast.sqlite", "holdfast.sqlite-wal"] {
        std::fs::copy(folder.path().join(name), left.path().join(name)).unwrap();
    }
    let log = left.path().join("holdfast.sqlite-wal");
    assert!(log.metadata().unwrap().len() > 0);
    store.close().await;

    let reader = SqliteReader::open(left.path()).await.unwrap();
    let read = reader.versions(&held, &[first.id]).await.unwrap();
    assert_eq!(read, [stored(&first)]);
    reader.close().await;
}
