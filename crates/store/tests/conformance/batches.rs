//! What a batch may and may not do, and that the others don't suffer for it.

use std::sync::Arc;

use engine::rows::{Batch, RecordRow, VersionRow, Wanted};
use minca_record::content_id::ContentId;
use store::{BatchError, SpaceBatch, Store};

use super::model::{Model, commit, did, head, keeping, stored, stub, version};
use super::{carry, space};

fn batch_for(space: ContentId, batch: Batch) -> SpaceBatch {
    SpaceBatch {
        space,
        batch: Arc::new(batch),
    }
}

pub(crate) async fn a_batch_for_a_space_not_held_is_cut_out(store: &dyn Store) {
    let (held, lease) = carry(store, 1).await;
    let (stopped, _) = carry(store, 2).await;
    store.stop_carrying(&lease, &stopped).await.unwrap();
    let answers = store
        .commit(
            &lease,
            &[
                batch_for(space(3), keeping(vec![version(1)])),
                batch_for(held, keeping(vec![version(2)])),
                batch_for(stopped, keeping(vec![version(3)])),
                batch_for(held, Batch::default()),
                batch_for(stopped, Batch::default()),
            ],
        )
        .await
        .unwrap();
    assert!(matches!(answers[0], Err(BatchError::NotHeld)));
    assert!(answers[1].is_ok());
    assert!(matches!(answers[2], Err(BatchError::NotHeld)));
    assert!(answers[3].is_ok());
    assert!(matches!(answers[4], Err(BatchError::NotHeld)));
    assert_eq!(answers.len(), 5);
    let mut model = Model::default();
    model.apply(&keeping(vec![version(2)]));
    model.check(store, held).await;
    assert_eq!(
        store
            .versions(&stopped, &[version(3).id], 1000)
            .await
            .unwrap(),
        []
    );
}

/// Batches none of which fits a space that holds version 1 whole, 2 as a stub and
/// 3 as a delete. Each has a version to keep besides, which must not land.
fn contradictions() -> Vec<(&'static str, Batch)> {
    let good = || {
        keeping(vec![
            version(100),
            VersionRow {
                collection: "new".to_owned(),
                ..version(101)
            },
        ])
    };
    let body = || b"body".to_vec();
    let headed = |record: RecordRow| Batch {
        records: vec![record],
        ..good()
    };
    let mut keep_twice = good();
    keep_twice.keep.push(version(100));
    let mut keep_held = good();
    keep_held.keep.push(version(1));
    let mut keep_held_as_stub = good();
    keep_held_as_stub.keep.push(version(2));
    vec![
        ("keeps what is held", keep_held),
        ("keeps what is held as a stub", keep_held_as_stub),
        ("keeps one twice", keep_twice),
        (
            "fills a whole one",
            Batch {
                fill: vec![(version(1).id, body())],
                ..good()
            },
        ),
        (
            "fills a delete",
            Batch {
                fill: vec![(version(3).id, body())],
                ..good()
            },
        ),
        (
            "fills none",
            Batch {
                fill: vec![(version(9).id, body())],
                ..good()
            },
        ),
        (
            "fills one of two that is none",
            Batch {
                fill: vec![(version(2).id, body()), (version(9).id, body())],
                ..good()
            },
        ),
        (
            "fills one twice",
            Batch {
                fill: vec![(version(2).id, body()), (version(2).id, body())],
                ..good()
            },
        ),
        (
            "drops a stub's body",
            Batch {
                drop_bodies: vec![version(2).id],
                ..good()
            },
        ),
        (
            "drops a delete's body",
            Batch {
                drop_bodies: vec![version(3).id],
                ..good()
            },
        ),
        (
            "drops none's body",
            Batch {
                drop_bodies: vec![version(9).id],
                ..good()
            },
        ),
        (
            "drops one twice",
            Batch {
                drop_bodies: vec![version(1).id, version(1).id],
                ..good()
            },
        ),
        (
            "keeps and fills one",
            Batch {
                fill: vec![(version(100).id, body())],
                ..good()
            },
        ),
        (
            "names no version as current",
            headed(RecordRow {
                current: version(9).id,
                ..head(&version(1))
            }),
        ),
        (
            "names another record's version as current",
            headed(RecordRow {
                current: version(2).id,
                ..head(&version(1))
            }),
        ),
        (
            "names no version as first",
            headed(RecordRow {
                first: Some(version(9).id),
                ..head(&version(1))
            }),
        ),
        (
            "has a timestamp past all",
            keeping(vec![
                version(100),
                VersionRow {
                    timestamp: u64::MAX,
                    ..version(101)
                },
            ]),
        ),
    ]
}

pub(crate) async fn batches_that_contradict_what_is_held_are_cut_out_and_the_rest_lands(
    store: &dyn Store,
) {
    let (held, lease) = carry(store, 1).await;
    let (other, _) = carry(store, 2).await;
    let delete = VersionRow {
        deleted: true,
        body: None,
        ..version(3)
    };
    let batch = keeping(vec![version(1), stub(2), delete]);
    let (mut model, mut other_model) = (Model::default(), Model::default());
    model.apply(&batch);
    commit(store, &lease, held, batch).await;

    for (number, (what, contradiction)) in (1000..).zip(contradictions()) {
        let before = keeping(vec![version(number)]);
        let after = keeping(vec![version(number + 500)]);
        let elsewhere = keeping(vec![version(number)]);
        model.apply(&before);
        model.apply(&after);
        other_model.apply(&elsewhere);
        let answers = store
            .commit(
                &lease,
                &[
                    batch_for(held, before),
                    batch_for(held, contradiction),
                    batch_for(other, elsewhere),
                    batch_for(held, after),
                ],
            )
            .await
            .unwrap();
        assert_eq!(answers.len(), 4);
        assert!(
            answers[0].is_ok() && answers[2].is_ok() && answers[3].is_ok(),
            "{what}"
        );
        assert!(
            matches!(answers[1], Err(BatchError::DoesNotFit(_))),
            "{what}"
        );
        model.check(store, held).await;
        other_model.check(store, other).await;
    }
    let waiting = store.unsegmented(&held, usize::MAX).await.unwrap();
    assert_eq!(waiting.len(), model.versions.len());
}

pub(crate) async fn a_stub_is_filled_and_a_body_dropped_and_the_bytes_follow(store: &dyn Store) {
    let (held, lease) = carry(store, 1).await;
    let mut model = Model::default();
    let fill = |number: u64, body: &[u8]| vec![(version(number).id, body.to_vec())];
    for batch in [
        keeping(vec![version(1), stub(2), version(3)]),
        Batch {
            fill: fill(2, b"a body that came later"),
            ..Batch::default()
        },
        Batch {
            drop_bodies: vec![version(1).id, version(2).id],
            ..Batch::default()
        },
        Batch {
            fill: fill(2, b"and again"),
            drop_bodies: vec![version(3).id],
            ..Batch::default()
        },
    ] {
        model.apply(&batch);
        commit(store, &lease, held, batch).await;
        model.check(store, held).await;
    }
}

pub(crate) async fn batches_of_one_space_in_one_commit_see_each_other(store: &dyn Store) {
    let (held, lease) = carry(store, 1).await;
    let mut edit = version(2);
    edit.key = version(1).key;
    edit.seq = 1;
    edit.genesis = Some(version(1).id);
    let edited = RecordRow {
        key: edit.key.clone(),
        current: edit.id,
        first: Some(version(1).id),
    };
    let first = keeping(vec![version(1)]);
    let second = Batch {
        keep: vec![edit],
        drop_bodies: vec![version(1).id],
        records: vec![edited],
        ..Batch::default()
    };
    let third = Batch {
        fill: vec![(version(1).id, b"back".to_vec())],
        ..Batch::default()
    };
    let mut model = Model::default();
    let mut batches = Vec::new();
    for batch in [first, second, third] {
        model.apply(&batch);
        batches.push(batch_for(held, batch));
    }
    let answers = store.commit(&lease, &batches).await.unwrap();
    assert!(answers.iter().all(Result::is_ok));
    model.check(store, held).await;
}

pub(crate) async fn spaces_do_not_see_each_others_versions(store: &dyn Store) {
    let (one, lease) = carry(store, 1).await;
    let (two, _) = carry(store, 2).await;
    commit(store, &lease, one, keeping(vec![version(1), version(2)])).await;
    Model::default().check(store, two).await;
    let wanted = Wanted {
        versions: vec![version(1).id],
        records: vec![version(1).key],
        bodies: vec![version(1).id],
    };
    let found = store.read(&two, &wanted).await.unwrap();
    assert_eq!(found, Default::default());
    assert_eq!(
        store.versions(&two, &[version(1).id], 1000).await.unwrap(),
        []
    );
    assert_eq!(store.unsegmented(&two, 1000).await.unwrap(), []);

    // The same version in both is a version of each.
    commit(store, &lease, two, keeping(vec![version(1)])).await;
    let drop = Batch {
        drop_bodies: vec![version(1).id],
        ..Batch::default()
    };
    commit(store, &lease, one, drop).await;
    let whole = store.versions(&two, &[version(1).id], 1000).await.unwrap();
    assert_eq!(whole, [stored(&version(1))]);
}

pub(crate) async fn a_note_shared_by_versions_comes_back_with_each(store: &dyn Store) {
    let (held, lease) = carry(store, 1).await;
    let noted = |number: u64, note: &[u8]| VersionRow {
        proof: Some(note.to_vec()),
        ..version(number)
    };
    let mut model = Model::default();
    for batch in [
        keeping(vec![
            noted(1, b"note a"),
            noted(2, b"note b"),
            noted(3, b"note a"),
        ]),
        keeping(vec![noted(4, b"note b"), noted(5, b""), version(6)]),
    ] {
        model.apply(&batch);
        commit(store, &lease, held, batch).await;
        model.check(store, held).await;
    }
}

pub(crate) async fn a_read_key_lands_with_its_batch(store: &dyn Store) {
    let (held, lease) = carry(store, 1).await;
    let before = store.carried(None, 10).await.unwrap();
    let keyed = |rows, number| Batch {
        read_key: Some(did(number)),
        ..keeping(rows)
    };
    let good = batch_for(held, keyed(vec![version(1)], 1));
    let bad = batch_for(held, keyed(vec![version(1)], 8));
    let answers = store.commit(&lease, &[good, bad]).await.unwrap();
    assert!(answers[0].is_ok() && answers[1].is_err());
    let door = store.door(&held).await.unwrap().unwrap();
    assert_eq!(door.read_key, Some(did(1)));
    let after = store.carried(None, 10).await.unwrap();
    assert_eq!(after[0].revision, before[0].revision + 1);
    // The same again is no change of the row.
    commit(store, &lease, held, keyed(vec![version(2)], 1)).await;
    let last = store.carried(None, 10).await.unwrap();
    assert_eq!(last[0].revision, after[0].revision);
}
