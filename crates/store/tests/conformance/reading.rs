//! Reading one space.

use engine::rows::{RecordRow, VersionRow, Wanted};
use minca_sync::item::Item;
use store::Store;

use super::model::{commit, head, keeping, stored, stub, version};
use super::{carry, space};

pub(crate) async fn what_is_not_held_is_absent(store: &dyn Store) {
    let (held, _) = carry(store, 1).await;
    let wanted = Wanted {
        versions: vec![version(1).id],
        records: vec![version(1).key],
        bodies: vec![version(1).id],
    };
    for asked in [held, space(2)] {
        assert_eq!(
            store.read(&asked, &wanted).await.unwrap(),
            Default::default()
        );
        assert_eq!(
            store.read(&asked, &Wanted::default()).await.unwrap(),
            Default::default()
        );
        assert_eq!(store.items(&asked, "notes", None, 10).await.unwrap(), []);
        assert_eq!(store.runs(&asked, "notes").await.unwrap(), []);
        assert_eq!(
            store.versions(&asked, &wanted.versions, 10).await.unwrap(),
            []
        );
        assert_eq!(store.versions(&asked, &[], 10).await.unwrap(), []);
        assert_eq!(store.unsegmented(&asked, 10).await.unwrap(), []);
        assert_eq!(store.segments(&asked).await.unwrap(), []);
    }
}

pub(crate) async fn a_record_brings_its_current_version_along(store: &dyn Store) {
    let (held, lease) = carry(store, 1).await;
    let mut edit = version(2);
    edit.key = "quote\" and ü".to_owned();
    edit.seq = 1;
    edit.genesis = Some(version(1).id);
    edit.retain = true;
    let first = VersionRow {
        key: edit.key.clone(),
        ..stub(1)
    };
    let record = RecordRow {
        key: edit.key.clone(),
        current: edit.id,
        first: Some(first.id),
    };
    let mut batch = keeping(vec![first.clone(), edit.clone(), version(3)]);
    batch.records = vec![record.clone(), head(&version(3))];
    commit(store, &lease, held, batch).await;

    let wanted = Wanted {
        versions: vec![version(3).id, version(9).id, version(3).id],
        records: vec![edit.key.clone(), "none".to_owned()],
        ..Wanted::default()
    };
    let found = store.read(&held, &wanted).await.unwrap();
    assert_eq!(found.records.len(), 1);
    assert_eq!(found.records[&edit.key], record);
    assert_eq!(found.versions.len(), 2);
    assert_eq!(found.versions[&edit.id], edit.held());
    assert_eq!(found.versions[&version(3).id], version(3).held());

    let only_first = Wanted {
        versions: vec![first.id],
        ..Wanted::default()
    };
    let found = store.read(&held, &only_first).await.unwrap();
    assert_eq!(found.versions[&first.id], first.held());
    assert!(!found.versions[&first.id].whole);
}

pub(crate) async fn bodies_come_of_what_is_whole(store: &dyn Store) {
    let (held, lease) = carry(store, 1).await;
    commit(store, &lease, held, keeping(vec![version(1), stub(2)])).await;
    let wanted = Wanted {
        bodies: vec![version(1).id, version(2).id, version(3).id, version(1).id],
        ..Wanted::default()
    };
    let found = store.read(&held, &wanted).await.unwrap();
    let body = version(1).body.unwrap();
    assert_eq!(found.bodies, [(version(1).id, body)].into());
    assert!(found.versions.is_empty() && found.records.is_empty());
}

pub(crate) async fn versions_come_in_the_order_asked_up_to_a_size(store: &dyn Store) {
    let (held, lease) = carry(store, 1).await;
    let rows: Vec<VersionRow> = (0..300).map(version).collect();
    commit(store, &lease, held, keeping(rows.clone())).await;

    let shuffled: Vec<&VersionRow> = (0..300).map(|place| &rows[place * 7 % 300]).collect();
    let mut asked = vec![version(999).id];
    asked.extend(shuffled.iter().map(|row| row.id));
    let all = store.versions(&held, &asked, usize::MAX).await.unwrap();
    let expected: Vec<_> = shuffled.iter().map(|row| stored(row)).collect();
    assert!(all == expected);

    let of_five: u64 = shuffled.iter().take(5).map(|row| row.stored_bytes()).sum();
    for (max_bytes, given) in [
        (of_five, 5),
        (of_five - 1, 4),
        (of_five + 1, 5),
        (1, 1),
        (0, 1),
    ] {
        let some = store
            .versions(&held, &asked, max_bytes as usize)
            .await
            .unwrap();
        assert!(some == expected[..given], "{given} in {max_bytes} bytes");
    }
}

pub(crate) async fn items_come_in_pages_in_syncs_order(store: &dyn Store) {
    let (held, lease) = carry(store, 1).await;
    let mut rows: Vec<VersionRow> = (0..500).map(version).collect();
    for row in &mut rows {
        // Few timestamps, so that most pages end between two equal ones; 0 among them.
        row.timestamp = (row.timestamp * 13) % 7;
    }
    let mut expected: Vec<Item> = rows.iter().map(VersionRow::item).collect();
    expected.sort_unstable();
    let elsewhere = VersionRow {
        collection: "elsewhere".to_owned(),
        ..version(1000)
    };
    rows.push(elsewhere);
    commit(store, &lease, held, keeping(rows)).await;

    let mut found: Vec<Item> = Vec::new();
    loop {
        let page = store
            .items(&held, "notes", found.last().copied(), 33)
            .await
            .unwrap();
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= 33);
        found.extend(page);
    }
    assert!(found == expected);
    let past_all = Item {
        timestamp: u64::MAX,
        id: [255; 32],
    };
    assert_eq!(
        store
            .items(&held, "notes", Some(past_all), 9)
            .await
            .unwrap(),
        []
    );
}

pub(crate) async fn opening_gives_the_access_versions_whole(store: &dyn Store) {
    // 02 §6.4.
    let access = [
        "sys.role",
        "sys.assign",
        "sys.remove",
        "sys.invite",
        "sys.revoke",
        "sys.collection",
        "sys.key",
        "sys.relays",
        "sys.keepers",
        "sys.fork",
        "sys.stepdown",
        "sys.succeed",
    ];
    let ordinary = [
        "sys.profile",
        "sys.memberkey",
        "sys.box",
        "notes",
        "sys",
        "sys.roles",
    ];
    let (held, lease) = carry(store, 1).await;
    let rows: Vec<VersionRow> = (0_u64..)
        .zip(access.iter().chain(&ordinary).cycle().take(54))
        .map(|(number, collection)| VersionRow {
            collection: (*collection).to_owned(),
            proof: (number % 2 == 0).then(|| b"note".to_vec()),
            ..version(number)
        })
        .collect();
    commit(store, &lease, held, keeping(rows.clone())).await;

    let opened = store.open(&held).await.unwrap().unwrap();
    assert_eq!(opened.sums.len(), 18);
    let mut found = opened.access;
    found.sort_by_key(|version| version.id);
    let mut expected: Vec<_> = rows
        .iter()
        .filter(|row| access.contains(&row.collection.as_str()))
        .map(stored)
        .collect();
    expected.sort_by_key(|version| version.id);
    assert_eq!(found, expected);
}
