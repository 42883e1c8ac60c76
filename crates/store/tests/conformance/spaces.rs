//! Spaces carried, and facts about the host.

use store::{CarriedSpace, Door, Store};

use super::model::{Model, commit, did, keeping, version};
use super::{carry, lease_for, new_space, space};

pub(crate) async fn a_space_is_carried_once_however_often_it_is_asked_for(store: &dyn Store) {
    let new = new_space(1);
    let lease = lease_for(store, new.space).await;
    assert_eq!(store.door(&new.space).await.unwrap(), None);
    assert_eq!(store.open(&new.space).await.unwrap(), None);
    assert_eq!(store.carried(None, 10).await.unwrap(), []);

    let carried = store.carry(&lease, &new).await.unwrap();
    let expected = CarriedSpace {
        space: new.space,
        constitution: new.constitution.clone(),
        read_key: None,
        revision: 1,
        bytes: 0,
        versions: 0,
    };
    assert_eq!(carried, expected);
    assert_eq!(store.carry(&lease, &new).await.unwrap(), expected);
    assert_eq!(store.carried(None, 10).await.unwrap(), [expected]);
    assert_eq!(
        store.door(&new.space).await.unwrap(),
        Some(Door { read_key: None })
    );
    let opened = store.open(&new.space).await.unwrap().unwrap();
    assert_eq!(opened.constitution, new.constitution);
    assert_eq!((opened.sums.len(), opened.access.len()), (0, 0));
}

pub(crate) async fn a_changed_read_key_raises_the_revision(store: &dyn Store) {
    let mut new = new_space(1);
    new.read_key = Some(did(0));
    let lease = lease_for(store, new.space).await;
    assert_eq!(store.carry(&lease, &new).await.unwrap().revision, 1);
    let door = store.door(&new.space).await.unwrap().unwrap();
    assert_eq!(door.read_key, Some(did(0)));

    new.read_key = Some(did(1));
    let changed = store.carry(&lease, &new).await.unwrap();
    assert_eq!((changed.revision, changed.read_key), (2, Some(did(1))));
    assert_eq!(store.carry(&lease, &new).await.unwrap().revision, 2);
    let door = store.door(&new.space).await.unwrap().unwrap();
    assert_eq!(door.read_key, Some(did(1)));
}

pub(crate) async fn a_space_no_longer_carried_keeps_its_entries(store: &dyn Store) {
    let (held, lease) = carry(store, 1).await;
    let batch = keeping(vec![version(1), version(2)]);
    let mut model = Model::default();
    model.apply(&batch);
    commit(store, &lease, held, batch).await;

    assert!(store.stop_carrying(&lease, &held).await.unwrap());
    assert!(!store.stop_carrying(&lease, &held).await.unwrap());
    assert!(!store.stop_carrying(&lease, &space(2)).await.unwrap());
    assert_eq!(store.door(&held).await.unwrap(), None);
    assert_eq!(store.open(&held).await.unwrap(), None);
    assert_eq!(store.carried(None, 10).await.unwrap(), []);
    assert_eq!(store.spaces_to_segment(lease.shard, 10).await.unwrap(), []);

    // Stopping and starting are changes of the row too.
    let again = store.carry(&lease, &new_space(1)).await.unwrap();
    assert_eq!(again.revision, 3);
    model.check(store, held).await;
    assert_eq!(
        store.spaces_to_segment(lease.shard, 10).await.unwrap(),
        [held]
    );
}

pub(crate) async fn carried_spaces_come_in_pages_by_digest(store: &dyn Store) {
    let mut expected = Vec::new();
    for number in 0..25 {
        let (held, lease) = carry(store, number).await;
        if number % 5 == 0 {
            store.stop_carrying(&lease, &held).await.unwrap();
        } else {
            expected.push(held);
        }
    }
    expected.sort_by_key(|id| *id.digest());

    let mut found = Vec::new();
    loop {
        let page = store.carried(found.last().copied(), 7).await.unwrap();
        assert!(page.len() <= 7);
        if page.is_empty() {
            break;
        }
        found.extend(page.iter().map(|row| row.space));
    }
    assert_eq!(found, expected);
    assert_eq!(store.carried(None, 0).await.unwrap(), []);
}

pub(crate) async fn facts_about_the_host_are_kept_once(store: &dyn Store) {
    assert_eq!(store.host_fact("did").await.unwrap(), None);
    assert_eq!(store.keep_host_fact("did", "one").await.unwrap(), "one");
    assert_eq!(store.keep_host_fact("did", "another").await.unwrap(), "one");
    assert_eq!(
        store.host_fact("did").await.unwrap().as_deref(),
        Some("one")
    );
    assert_eq!(store.keep_host_fact("name", "x").await.unwrap(), "x");
    assert_eq!(
        store.host_fact("did").await.unwrap().as_deref(),
        Some("one")
    );
}
