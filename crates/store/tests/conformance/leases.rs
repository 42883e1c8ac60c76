//! Leases, terms and the fence.

use std::sync::Arc;
use std::time::Duration;

use store::{Holder, Lease, SegmentRow, Shard, SpaceBatch, Store, StoreError, TakeLease};

use super::model::{Model, commit, keeping, version};
use super::{AN_HOUR, carry, holder, lease_by, new_space, space};

const SHARD: Shard = Shard(0);

async fn take(store: &dyn Store, holder: Holder, lasts: Duration) -> Lease {
    match store.take_lease(SHARD, holder, lasts).await.unwrap() {
        TakeLease::Taken(lease) => {
            assert_eq!((lease.shard, lease.holder), (SHARD, holder));
            lease
        }
        TakeLease::HeldByOther { .. } => panic!("the lease is another's"),
    }
}

fn is_fenced<T>(answer: Result<T, StoreError>) -> bool {
    matches!(answer, Err(StoreError::Fenced))
}

pub(crate) async fn a_lease_is_one_holders_until_it_is_given_back(store: &dyn Store) {
    let first = take(store, holder(1), AN_HOUR).await;
    match store.take_lease(SHARD, holder(2), AN_HOUR).await.unwrap() {
        TakeLease::HeldByOther { runs_out_in } => {
            assert!(runs_out_in > Duration::ZERO && runs_out_in <= AN_HOUR);
        }
        TakeLease::Taken(_) => panic!("the lease was taken from its holder"),
    }
    // Asking again is no take-over.
    assert_eq!(take(store, holder(1), AN_HOUR).await, first);
    store.renew_lease(&first, AN_HOUR).await.unwrap();

    store.release_lease(&first).await.unwrap();
    let second = take(store, holder(2), AN_HOUR).await;
    assert_eq!(second.term, first.term + 1);
    assert!(is_fenced(store.renew_lease(&first, AN_HOUR).await));
    assert!(is_fenced(store.release_lease(&first).await));
    // What the old holder tried changed nothing for the new one.
    store.renew_lease(&second, AN_HOUR).await.unwrap();
}

pub(crate) async fn a_lease_that_ran_out_goes_to_whoever_asks(store: &dyn Store) {
    let first = take(store, holder(1), Duration::ZERO).await;
    let second = take(store, holder(2), Duration::ZERO).await;
    assert_eq!(second.term, first.term + 1);
    assert!(is_fenced(store.renew_lease(&first, AN_HOUR).await));
    // Its own that ran out may have been another's in between, for all it knows.
    let third = take(store, holder(2), AN_HOUR).await;
    assert_eq!(third.term, second.term + 1);
}

pub(crate) async fn a_lease_that_ran_out_untaken_can_be_prolonged(store: &dyn Store) {
    let lease = take(store, holder(1), Duration::ZERO).await;
    store.renew_lease(&lease, AN_HOUR).await.unwrap();
    assert!(matches!(
        store.take_lease(SHARD, holder(2), AN_HOUR).await.unwrap(),
        TakeLease::HeldByOther { .. }
    ));
}

/// Every method that writes under a lease, tried under one that must not do.
async fn refuses_every_write(store: &dyn Store, stale: &Lease) {
    let (held, writer) = (space(1), [7; 16]);
    let mut changed = new_space(1);
    changed.read_key = Some(super::model::did(0));
    let segment = SegmentRow {
        writer,
        counter: 1,
        name: "000001-0000000000000000.seg".to_owned(),
        bytes: 1,
        versions: vec![version(1).id],
    };
    let batch = keeping(vec![version(2)]);
    let batches = [SpaceBatch {
        space: held,
        batch: Arc::new(batch),
    }];

    assert!(is_fenced(store.renew_lease(stale, AN_HOUR).await));
    assert!(is_fenced(store.release_lease(stale).await));
    assert!(is_fenced(store.carry(stale, &changed).await));
    assert!(is_fenced(store.carry(stale, &new_space(2)).await));
    assert!(is_fenced(store.stop_carrying(stale, &held).await));
    assert!(is_fenced(store.commit(stale, &batches).await));
    assert!(is_fenced(store.store_writer(stale, &held, [9; 16]).await));
    assert!(is_fenced(
        store.mark_writer_announced(stale, &held, writer).await
    ));
    assert!(is_fenced(
        store.record_segment(stale, &held, &segment).await
    ));
}

pub(crate) async fn an_old_term_writes_nothing(store: &dyn Store) {
    let (held, old) = carry(store, 1).await;
    let batch = keeping(vec![version(1)]);
    let mut model = Model::default();
    model.apply(&batch);
    commit(store, &old, held, batch).await;
    store.store_writer(&old, &held, [7; 16]).await.unwrap();
    let before = store.carried(None, 10).await.unwrap();

    store.release_lease(&old).await.unwrap();
    let new = lease_by(store, held, holder(2)).await;
    refuses_every_write(store, &old).await;
    // The right holder with another term, and the right term with another holder.
    let never_was = Lease {
        term: new.term + 1,
        ..new
    };
    refuses_every_write(store, &never_was).await;
    let not_its_own = Lease {
        holder: holder(1),
        ..new
    };
    refuses_every_write(store, &not_its_own).await;

    assert_eq!(store.carried(None, 10).await.unwrap(), before);
    model.check(store, held).await;
    assert_eq!(store.unsegmented(&held, usize::MAX).await.unwrap().len(), 1);
    assert_eq!(store.segments(&held).await.unwrap(), []);
    let writer = store.store_writer(&new, &held, [8; 16]).await.unwrap();
    assert_eq!(writer.id, [8; 16]);
}

pub(crate) async fn a_lease_given_back_writes_nothing(store: &dyn Store) {
    let (_, lease) = carry(store, 1).await;
    store.release_lease(&lease).await.unwrap();
    refuses_every_write(store, &lease).await;
}
