//! A takeover and a commit that has passed the fence before it.

use std::sync::Arc;
use std::time::Duration;

use store::{Lease, StoreError, TakeLease};

use crate::conformance::model::{Model, commit, keeping, version};
use crate::conformance::{AN_HOUR, carry, holder};
use crate::{Meddler, batch_for, fresh, opened, options};

/// Ends a lease's time, though not its term.
pub(crate) async fn let_run_out(meddler: &mut Meddler) {
    meddler
        .run("UPDATE leases SET runs_out = clock_timestamp()")
        .await;
}

#[tokio::test]
async fn a_takeover_waits_for_a_commit_that_passed_the_fence_and_sees_it() {
    let fresh = fresh().await;
    let (held, old) = carry(&*fresh.store, 1).await;
    let mut meddler = Meddler::at(&fresh.server).await;
    let_run_out(&mut meddler).await;

    meddler.hold_up_commits().await;
    let committing = tokio::spawn({
        let store = Arc::clone(&fresh.store);
        async move {
            let batches = batch_for(held, keeping(vec![version(1)]));
            store.commit(&old, &batches).await
        }
    });
    meddler.wait_for_a_held_commit().await;
    let successor = opened(&options(&fresh.server)).await;
    let taking = tokio::spawn({
        let successor = Arc::clone(&successor);
        async move { successor.take_lease(old.shard, holder(2), AN_HOUR).await }
    });
    meddler.wait_for_a_waiting_takeover().await;
    assert!(!committing.is_finished() && !taking.is_finished());

    meddler.let_commits_go().await;
    committing.await.unwrap().unwrap().pop().unwrap().unwrap();
    let TakeLease::Taken(new) = taking.await.unwrap().unwrap() else {
        panic!("a lease that ran out was not given");
    };
    assert_eq!(new.term, old.term + 1);
    let mut model = Model::default();
    model.apply(&keeping(vec![version(1)]));
    model.check(&*successor, held).await;

    let late = batch_for(held, keeping(vec![version(2)]));
    let refused = fresh.store.commit(&old, &late).await;
    assert!(matches!(refused, Err(StoreError::Fenced)), "{refused:?}");
    let batch = keeping(vec![version(3)]);
    model.apply(&batch);
    commit(&*successor, &new, held, batch).await;
    model.check(&*successor, held).await;
}

#[tokio::test]
async fn a_commit_that_comes_while_a_takeover_waits_is_fenced() {
    let fresh = fresh().await;
    let (held, old) = carry(&*fresh.store, 1).await;
    let mut meddler = Meddler::at(&fresh.server).await;
    let_run_out(&mut meddler).await;

    // Somebody who passed the fence keeps the takeover waiting; a commit queues behind it.
    let mut passed = Meddler::at(&fresh.server).await;
    passed
        .run(
            "BEGIN; SELECT pg_advisory_xact_lock_shared(classid::int, objid::int)
              FROM (SELECT x'73687264'::int, 0) AS shard (classid, objid)",
        )
        .await;
    let successor = opened(&options(&fresh.server)).await;
    let taking = tokio::spawn(async move {
        successor
            .take_lease(old.shard, holder(2), AN_HOUR)
            .await
            .unwrap()
    });
    meddler.wait_for_a_waiting_takeover().await;
    let committing = tokio::spawn({
        let store = Arc::clone(&fresh.store);
        let batches = batch_for(held, keeping(vec![version(1)]));
        async move { store.commit(&old, &batches).await }
    });
    meddler
        .wait_until("SELECT count(*) = 2 FROM pg_locks WHERE NOT granted AND locktype = 'advisory'")
        .await;
    passed.run("ROLLBACK").await;
    assert!(matches!(
        taking.await.unwrap(),
        TakeLease::Taken(Lease { .. })
    ));
    let refused = committing.await.unwrap();
    assert!(matches!(refused, Err(StoreError::Fenced)), "{refused:?}");
    Model::default().check(&*fresh.store, held).await;
}

#[tokio::test]
async fn asking_for_a_lease_that_another_has_keeps_nobody_from_writing() {
    let fresh = fresh().await;
    let (_, lease) = carry(&*fresh.store, 1).await;
    let mut passed = Meddler::at(&fresh.server).await;
    passed
        .run("BEGIN; SELECT pg_advisory_xact_lock_shared(x'73687264'::int, 0)")
        .await;
    let asked = fresh
        .store
        .take_lease(lease.shard, holder(2), AN_HOUR)
        .await
        .unwrap();
    let TakeLease::HeldByOther { runs_out_in } = asked else {
        panic!("expected another's lease, got {asked:?}");
    };
    assert!(runs_out_in > Duration::ZERO && runs_out_in <= AN_HOUR);
    passed.run("ROLLBACK").await;
}
