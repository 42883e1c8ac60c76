//! What of a space is in the bucket, and what isn't yet.

use engine::rows::Batch;
use minca_record::content_id::ContentId;
use store::{SegmentRow, Store, StoreError};

use super::model::{commit, keeping, stored, stub, version};
use super::{carry, holder, lease_by, lease_for, space};

const WRITER: [u8; 16] = [5; 16];

fn segment(counter: u64, versions: &[ContentId]) -> SegmentRow {
    SegmentRow {
        writer: WRITER,
        counter,
        name: format!("{counter:06}-0011223344556677.seg"),
        bytes: 1000 + counter,
        versions: versions.to_vec(),
    }
}

async fn waiting(store: &dyn Store, space: ContentId) -> Vec<ContentId> {
    let versions = store.unsegmented(&space, usize::MAX).await.unwrap();
    versions.iter().map(|version| version.id).collect()
}

pub(crate) async fn what_is_written_waits_for_a_segment_until_one_is_recorded(store: &dyn Store) {
    let (held, lease) = carry(store, 1).await;
    let rows: Vec<_> = (0..10).map(|number| version(9 - number)).collect();
    commit(store, &lease, held, keeping(rows.clone())).await;
    commit(store, &lease, held, keeping(vec![version(20)])).await;

    // In the order written, and no more than asked for, but one at least.
    let mut expected: Vec<_> = rows.iter().map(stored).collect();
    expected.push(stored(&version(20)));
    assert_eq!(
        store.unsegmented(&held, usize::MAX).await.unwrap(),
        expected
    );
    let of_three = rows
        .iter()
        .take(3)
        .map(|row| row.stored_bytes())
        .sum::<u64>() as usize;
    assert_eq!(
        store.unsegmented(&held, of_three).await.unwrap(),
        expected[..3]
    );
    assert_eq!(
        store.unsegmented(&held, of_three - 1).await.unwrap(),
        expected[..2]
    );
    assert_eq!(store.unsegmented(&held, 0).await.unwrap(), expected[..1]);
    assert_eq!(
        store.spaces_to_segment(lease.shard, 10).await.unwrap(),
        [held]
    );

    let ids: Vec<ContentId> = expected.iter().map(|version| version.id).collect();
    let one = segment(1, &ids[..7]);
    store.record_segment(&lease, &held, &one).await.unwrap();
    assert_eq!(waiting(store, held).await, ids[7..]);
    assert_eq!(
        store.spaces_to_segment(lease.shard, 10).await.unwrap(),
        [held]
    );
    let two = segment(2, &ids[7..]);
    store.record_segment(&lease, &held, &two).await.unwrap();
    assert_eq!(waiting(store, held).await, []);
    assert_eq!(store.spaces_to_segment(lease.shard, 10).await.unwrap(), []);
    assert_eq!(store.segments(&held).await.unwrap(), [one, two]);
}

pub(crate) async fn a_version_filled_while_its_segment_was_on_its_way_waits_for_another(
    store: &dyn Store,
) {
    let (held, lease) = carry(store, 1).await;
    let filled = version(1).id;
    let fill = || Batch {
        fill: vec![(filled, b"body of 1".to_vec())],
        ..Batch::default()
    };
    commit(store, &lease, held, keeping(vec![stub(1), version(2)])).await;
    let on_its_way = store.unsegmented(&held, usize::MAX).await.unwrap();
    assert_eq!(on_its_way[0].body, None);
    commit(store, &lease, held, fill()).await;
    store
        .record_segment(&lease, &held, &segment(1, &[filled, version(2).id]))
        .await
        .unwrap();

    // The segment has the stub, so the whole one waits.
    let whole = store.unsegmented(&held, usize::MAX).await.unwrap();
    assert_eq!(whole, [stored(&version(1))]);
    assert_eq!(
        store.spaces_to_segment(lease.shard, 10).await.unwrap(),
        [held]
    );
    store
        .record_segment(&lease, &held, &segment(2, &[filled]))
        .await
        .unwrap();
    assert_eq!(waiting(store, held).await, []);

    // Filled when a segment holds its stub already: waits for one.
    let drop = Batch {
        drop_bodies: vec![filled],
        ..Batch::default()
    };
    commit(store, &lease, held, drop).await;
    commit(store, &lease, held, fill()).await;
    assert_eq!(waiting(store, held).await, [filled]);
    store
        .record_segment(&lease, &held, &segment(3, &[filled]))
        .await
        .unwrap();
    assert_eq!(waiting(store, held).await, []);
}

pub(crate) async fn a_dropped_body_needs_no_new_segment(store: &dyn Store) {
    let (held, lease) = carry(store, 1).await;
    commit(store, &lease, held, keeping(vec![version(1), version(2)])).await;
    let drop = |number: u64| Batch {
        drop_bodies: vec![version(number).id],
        ..Batch::default()
    };
    commit(store, &lease, held, drop(1)).await;
    let stub_and_whole = store.unsegmented(&held, usize::MAX).await.unwrap();
    assert_eq!(stub_and_whole, [stored(&stub(1)), stored(&version(2))]);
    let both = segment(1, &[version(1).id, version(2).id]);
    store.record_segment(&lease, &held, &both).await.unwrap();
    commit(store, &lease, held, drop(2)).await;
    assert_eq!(waiting(store, held).await, []);
    assert_eq!(store.spaces_to_segment(lease.shard, 10).await.unwrap(), []);
}

pub(crate) async fn spaces_wait_for_segments_oldest_first(store: &dyn Store) {
    let mut expected = Vec::new();
    let lease = lease_for(store, space(0)).await;
    for number in 0..5 {
        let (held, _) = carry(store, number).await;
        expected.push(held);
    }
    for held in &expected {
        commit(store, &lease, *held, keeping(vec![version(1)])).await;
    }
    // More to write does not send a space to the back.
    commit(store, &lease, expected[0], keeping(vec![version(2)])).await;
    assert_eq!(
        store.spaces_to_segment(lease.shard, 10).await.unwrap(),
        expected
    );
    assert_eq!(
        store.spaces_to_segment(lease.shard, 2).await.unwrap(),
        expected[..2]
    );
    assert_eq!(store.spaces_to_segment(lease.shard, 0).await.unwrap(), []);
    let done = segment(1, &[version(1).id]);
    store
        .record_segment(&lease, &expected[1], &done)
        .await
        .unwrap();
    expected.remove(1);
    assert_eq!(
        store.spaces_to_segment(lease.shard, 10).await.unwrap(),
        expected
    );
}

pub(crate) async fn each_term_has_a_store_writer_of_its_own(store: &dyn Store) {
    let (held, lease) = carry(store, 1).await;
    let (other, _) = carry(store, 2).await;
    let made = store.store_writer(&lease, &held, WRITER).await.unwrap();
    assert_eq!(
        (made.id, made.last_counter, made.announced),
        (WRITER, 0, false)
    );
    assert_eq!(
        store.store_writer(&lease, &held, [6; 16]).await.unwrap(),
        made
    );
    let others = store.store_writer(&lease, &other, [7; 16]).await.unwrap();
    assert_eq!(others.id, [7; 16]);

    store
        .mark_writer_announced(&lease, &held, WRITER)
        .await
        .unwrap();
    store
        .record_segment(&lease, &held, &segment(1, &[]))
        .await
        .unwrap();
    store
        .record_segment(&lease, &held, &segment(2, &[]))
        .await
        .unwrap();
    let used = store.store_writer(&lease, &held, [6; 16]).await.unwrap();
    assert_eq!(
        (used.id, used.last_counter, used.announced),
        (WRITER, 2, true)
    );
    assert_eq!(
        store.store_writer(&lease, &other, [6; 16]).await.unwrap(),
        others
    );

    store.release_lease(&lease).await.unwrap();
    let next = lease_by(store, held, holder(2)).await;
    let fresh = store.store_writer(&next, &held, [8; 16]).await.unwrap();
    assert_eq!(
        (fresh.id, fresh.last_counter, fresh.announced),
        ([8; 16], 0, false)
    );
    let unknown = store.mark_writer_announced(&next, &held, [99; 16]).await;
    assert!(matches!(unknown, Err(StoreError::Corrupt(_))));
}

pub(crate) async fn a_segment_recorded_twice_is_recorded_once(store: &dyn Store) {
    let (held, lease) = carry(store, 1).await;
    commit(store, &lease, held, keeping(vec![stub(1)])).await;
    let one = segment(1, &[version(1).id]);
    store.record_segment(&lease, &held, &one).await.unwrap();
    // A change since then is not in the segment, whoever says it twice.
    let fill = Batch {
        fill: vec![(version(1).id, b"body".to_vec())],
        ..Batch::default()
    };
    commit(store, &lease, held, fill).await;
    store.record_segment(&lease, &held, &one).await.unwrap();
    assert_eq!(waiting(store, held).await, [version(1).id]);
    assert_eq!(
        store.segments(&held).await.unwrap(),
        std::slice::from_ref(&one)
    );

    let imposter = SegmentRow {
        name: "000001-ffffffffffffffff.seg".to_owned(),
        ..one.clone()
    };
    let refused = store.record_segment(&lease, &held, &imposter).await;
    assert!(matches!(refused, Err(StoreError::Corrupt(_))));
    // The same counter of another writer is another segment; they come by writer.
    let others = SegmentRow {
        writer: [1; 16],
        ..one.clone()
    };
    store.record_segment(&lease, &held, &others).await.unwrap();
    assert_eq!(store.segments(&held).await.unwrap(), [others, one]);
}

pub(crate) async fn what_was_never_held_has_nothing_to_write_about(store: &dyn Store) {
    let never = space(9);
    let lease = lease_for(store, never).await;
    let writer = store.store_writer(&lease, &never, WRITER).await;
    assert!(matches!(writer, Err(StoreError::NotHeld)));
    let marked = store.mark_writer_announced(&lease, &never, WRITER).await;
    assert!(matches!(marked, Err(StoreError::NotHeld)));
    let recorded = store.record_segment(&lease, &never, &segment(1, &[])).await;
    assert!(matches!(recorded, Err(StoreError::NotHeld)));
}
