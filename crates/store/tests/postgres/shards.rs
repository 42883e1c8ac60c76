//! A database that several workers share, a shard each.

use std::collections::BTreeSet;

use store::{BatchError, Shard, StoreError};

use crate::batch_for;
use crate::conformance::model::{Model, commit, keeping, version};
use crate::conformance::{carry, holder, lease_by, new_space, space};
use crate::migrated;
use crate::postgres_server::Server;

const SHARDS: u32 = 64;

#[tokio::test]
async fn a_spaces_shard_is_its_ids_first_bytes_and_every_shard_has_some() {
    let server = Server::start();
    let store = migrated(&server, SHARDS).await;
    let id = minca_record::content_id::ContentId::from_digest;
    let mut digest = [0; 32];
    digest[7] = 65;
    assert_eq!(store.shard_of(&id(digest)), Shard(1));
    digest[0] = 255;
    // 255 · 2^56 is a multiple of 64.
    assert_eq!(store.shard_of(&id(digest)), Shard(1));
    let seen: BTreeSet<Shard> = (0..2_000).map(|n| store.shard_of(&space(n))).collect();
    assert_eq!(seen, (0..SHARDS).map(Shard).collect());
}

#[tokio::test]
async fn each_shard_has_a_lease_of_its_own_which_writes_nothing_of_another() {
    let server = Server::start();
    let store = migrated(&server, SHARDS).await;
    let (held, lease) = carry(&*store, 1).await;
    let elsewhere = (2..)
        .find(|number| store.shard_of(&space(*number)) != lease.shard)
        .unwrap();
    let other = lease_by(&*store, space(elsewhere), holder(2)).await;
    let refused = store.carry(&lease, &new_space(elsewhere)).await;
    assert!(matches!(refused, Err(StoreError::Fenced)), "{refused:?}");
    store.carry(&other, &new_space(elsewhere)).await.unwrap();

    let batch = keeping(vec![version(1)]);
    let batches = [
        batch_for(held, batch.clone()),
        batch_for(space(elsewhere), batch.clone()),
    ]
    .concat();
    let answers = store.commit(&lease, &batches).await.unwrap();
    assert!(answers[0].is_ok());
    assert!(matches!(answers[1], Err(BatchError::DoesNotFit(_))));
    Model::default().check(&*store, space(elsewhere)).await;
    let writer = store.store_writer(&lease, &space(elsewhere), [1; 16]).await;
    assert!(matches!(writer, Err(StoreError::Fenced)), "{writer:?}");

    commit(&*store, &other, space(elsewhere), batch.clone()).await;
    let mut model = Model::default();
    model.apply(&batch);
    model.check(&*store, held).await;
    model.check(&*store, space(elsewhere)).await;
    for (lease, space) in [(lease, held), (other, space(elsewhere))] {
        let waiting = store.spaces_to_segment(lease.shard, 10).await.unwrap();
        assert_eq!(waiting, [space]);
    }
}
