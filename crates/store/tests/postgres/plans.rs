//! Tests that no statement has to go through a table: there is an index for each.

use engine::rows::{Batch, Wanted};
use minca_sync::item::Item;
use sqlx::Row;
use store::SegmentRow;

use crate::conformance::model::{commit, keeping, stub, version};
use crate::conformance::{AN_HOUR, carry, holder, new_space};
use crate::postgres_server::Server;
use crate::{Meddler, migrated};

#[tokio::test]
async fn every_table_of_entries_is_searched_by_an_index() {
    let server = Server::start();
    let store = migrated(&server, 1).await;
    let mut meddler = Meddler::at(&server).await;
    let (held, lease) = carry(&*store, 1).await;
    let mut rows: Vec<_> = (0..1_500).map(version).collect();
    rows.push(stub(5_000));
    rows[7].proof = Some(b"note".to_vec());
    let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
    let keys: Vec<_> = rows.iter().map(|row| row.key.clone()).collect();
    commit(&*store, &lease, held, keeping(rows)).await;
    let changes = Batch {
        fill: vec![(stub(5_000).id, b"body".to_vec())],
        drop_bodies: vec![version(3).id],
        ..keeping(vec![version(6_000)])
    };
    commit(&*store, &lease, held, changes).await;
    store.carry(&lease, &new_space(1)).await.unwrap();
    store.carried(Some(held), 10).await.unwrap();
    store.door(&held).await.unwrap();
    store.open(&held).await.unwrap();
    let wanted = Wanted {
        versions: ids.clone(),
        records: keys,
        bodies: ids.clone(),
    };
    store.read(&held, &wanted).await.unwrap();
    let after = Item {
        timestamp: 1_700_000_500,
        id: [0; 32],
    };
    store.items(&held, "notes", Some(after), 10).await.unwrap();
    store.runs(&held, "notes").await.unwrap();
    store.versions(&held, &ids, 1_000).await.unwrap();
    store.spaces_to_segment(lease.shard, 10).await.unwrap();
    store.unsegmented(&held, usize::MAX).await.unwrap();
    store.store_writer(&lease, &held, [7; 16]).await.unwrap();
    store
        .mark_writer_announced(&lease, &held, [7; 16])
        .await
        .unwrap();
    let segment = SegmentRow {
        writer: [7; 16],
        counter: 1,
        name: "000001-0000000000000000.seg".to_owned(),
        bytes: 1,
        versions: ids,
    };
    store.record_segment(&lease, &held, &segment).await.unwrap();
    store.segments(&held).await.unwrap();
    store.keep_host_fact("did", "one").await.unwrap();
    store.renew_lease(&lease, AN_HOUR).await.unwrap();
    store.stop_carrying(&lease, &held).await.unwrap();
    store.release_lease(&lease).await.unwrap();
    store
        .take_lease(lease.shard, holder(2), AN_HOUR)
        .await
        .unwrap();
    // Counts reach the view at the latest when their connections end.
    store.close().await;
    meddler
        .wait_until(
            "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'holdfast')",
        )
        .await;
    let searched = sqlx::query(
        "SELECT relname::text, seq_scan, idx_scan FROM pg_stat_user_tables
         WHERE relname NOT IN ('deployment', '_sqlx_migrations')",
    )
    .fetch_all(&mut meddler.0)
    .await
    .unwrap();
    assert_eq!(searched.len(), 14);
    for row in searched {
        let table: String = row.get(0);
        let (gone_through, by_index): (i64, i64) = (row.get(1), row.get(2));
        // Making an index goes through the table once.
        assert!(
            gone_through <= indexes_of(&table),
            "{table} is gone through"
        );
        assert!(by_index > 0, "{table} was not searched at all");
    }
}

/// How many indexes the migrations make.
fn indexes_of(table: &str) -> i64 {
    match table {
        "versions" => 3,
        "spaces" => 3,
        "collections" | "accounts" | "notes" | "store_writers" => 2,
        _ => 1,
    }
}
