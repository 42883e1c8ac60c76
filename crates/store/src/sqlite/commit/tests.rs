//! Commits on a disk that is full.

use std::sync::Arc;
use std::time::Duration;

use engine::rows::{Batch, VersionRow};
use minca_record::content_id::ContentId;
use minca_record::did::Did;

use crate::sqlite::SqliteStore;
use crate::{Holder, Lease, NewSpace, SpaceBatch, Store, StoreError, TakeLease};

const DID: &str = "did:key:zDnaed8DYZ8Hx21hjLc7fE9TXMkDUV65S3ys8HtLrnPC1piwd";

async fn carry(store: &SqliteStore, space: ContentId) -> Lease {
    let shard = store.shard_of(&space);
    let taken = store
        .take_lease(shard, Holder([1; 16]), Duration::from_secs(3600))
        .await;
    let TakeLease::Taken(lease) = taken.unwrap() else {
        panic!("the lease is another's");
    };
    let new = NewSpace {
        space,
        constitution: b"{}".to_vec(),
        read_key: None,
    };
    store.carry(&lease, &new).await.unwrap();
    lease
}

/// A batch of versions of 100,000 bytes, the first number `from`.
fn large(space: ContentId, from: u64, count: u64) -> SpaceBatch {
    let root = Did::parse(DID).unwrap();
    let version = |number: u64| VersionRow {
        id: ContentId::of(&number.to_be_bytes()),
        collection: "notes".to_owned(),
        timestamp: number,
        key: format!("key{number}"),
        seq: 0,
        genesis: None,
        root,
        retain: false,
        deleted: false,
        envelope: vec![b'e'; 100_000],
        proof: None,
        body: None,
    };
    let keep = (from..from + count).map(version).collect();
    SpaceBatch {
        space,
        batch: Arc::new(Batch {
            keep,
            ..Batch::default()
        }),
    }
}

async fn allow_pages(store: &SqliteStore, more: u32) {
    let pages: u32 = sqlx::query_scalar("PRAGMA page_count")
        .fetch_one(&store.writer)
        .await
        .unwrap();
    let limit = format!("PRAGMA max_page_count = {}", pages + more);
    sqlx::query(sqlx::AssertSqlSafe(limit))
        .execute(&store.writer)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_full_disk_takes_nothing_of_a_commit_and_the_next_one_lands() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).await.unwrap();
    let space = ContentId::of(b"space");
    let lease = carry(&store, space).await;
    let before = store.carried(None, 1).await.unwrap();

    allow_pages(&store, 40).await;
    for _ in 0..3 {
        // The first batch would have fitted.
        let batches = [large(space, 1, 1), large(space, 10, 5)];
        let answer = store.commit(&lease, &batches).await;
        assert!(
            matches!(answer, Err(StoreError::Unavailable(_))),
            "{answer:?}"
        );
        assert_eq!(store.carried(None, 1).await.unwrap(), before);
        let ids: Vec<ContentId> = (0..20)
            .map(|n: u64| ContentId::of(&n.to_be_bytes()))
            .collect();
        assert_eq!(store.versions(&space, &ids, usize::MAX).await.unwrap(), []);
    }

    allow_pages(&store, 100_000).await;
    let answers = store.commit(&lease, &[large(space, 10, 5)]).await.unwrap();
    assert!(answers[0].is_ok());
    let after = store.carried(None, 1).await.unwrap();
    assert_eq!((after[0].versions, after[0].bytes), (5, 500_000));
}

/// SQLite takes the whole transaction back itself where a statement of one row finds
/// the disk full.
#[tokio::test]
async fn a_disk_that_is_full_in_a_transaction_of_single_rows_is_got_over() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).await.unwrap();
    let lease = carry(&store, ContentId::of(b"space")).await;
    let more = NewSpace {
        space: ContentId::of(b"another"),
        constitution: vec![b'c'; 200_000],
        read_key: None,
    };

    for _ in 0..3 {
        allow_pages(&store, 10).await;
        let answer = store.carry(&lease, &more).await;
        assert!(
            matches!(answer, Err(StoreError::Unavailable(_))),
            "{answer:?}"
        );
    }

    allow_pages(&store, 100_000).await;
    let carried = store.carry(&lease, &more).await.unwrap();
    assert_eq!(carried.space, more.space);
    assert_eq!(store.carried(None, 10).await.unwrap().len(), 2);
}
