//! What a host brings to its bucket.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use holdfast::host::LinkKind;
use minca_record::constitution::Visibility;
use minca_record::content_id::ContentId;
use minca_record::json::Value;
use minca_record::segment::{SegmentName, read_segment};
use minca_record::version::check;

use crate::kit::{Kit, WAIT, body, found, now};

/// Every segment below a folder, its name checked against its bytes.
fn segments(folder: &Path) -> Vec<Vec<Value>> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Some(name) = path
                .file_name()
                .unwrap()
                .to_str()
                .filter(|name| name.ends_with(".seg"))
            {
                let bytes = std::fs::read(&path).unwrap();
                assert!(
                    SegmentName::parse(name).unwrap().is_of(&bytes),
                    "a segment is named by its bytes"
                );
                found.push(read_segment(&bytes));
            }
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_acknowledged_is_in_the_bucket_after_a_stop() {
    let mut kit = Kit::start(LinkKind::Channel).await;
    let (account, space) = found(Visibility::Private);
    kit.carry(&space).await;
    let mut device = kit.device(&account, &space, true);
    let mut connection = kit.connect(&mut device).await;
    let first = device
        .create("app.note", body("superseded"), now())
        .unwrap();
    for n in 0..50 {
        device
            .create("app.note", body(&format!("kept {n}")), now())
            .unwrap();
    }
    device.edit(first.key(), body("edited"), now()).unwrap();
    connection
        .sync_until_level(&mut device, WAIT)
        .await
        .unwrap();
    connection.close(&mut device).await;
    let folder = kit.bucket().join(space.id().to_string());
    assert!(!folder.exists(), "nothing is written before its time");
    kit.stop().await;

    let mut held: BTreeMap<ContentId, bool> = BTreeMap::new();
    for version in segments(&folder).into_iter().flatten() {
        let checked = check(version, space.id()).expect("a version that passes");
        held.insert(checked.version.id(), checked.version.is_stub());
    }
    assert_eq!(held.len(), device.holdings().len());
    assert!(held[&first.id()], "a superseded body does not get there");
    kit.restart().await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_written_gets_to_the_bucket_by_age() {
    let mut kit = Kit::start_with(LinkKind::Channel, &["--bucket-flush-after-seconds", "1"]).await;
    let (account, space) = found(Visibility::Public);
    kit.carry(&space).await;
    let mut device = kit.device(&account, &space, false);
    let mut connection = kit.connect(&mut device).await;
    device.create("app.note", body("one"), now()).unwrap();
    connection
        .sync_until_level(&mut device, WAIT)
        .await
        .unwrap();
    connection.close(&mut device).await;
    let folder = kit.bucket().join(space.id().to_string());
    let began = std::time::Instant::now();
    while !folder.exists() || segments(&folder).is_empty() {
        assert!(began.elapsed() < WAIT, "no segment came");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(segments(&folder).concat().len(), 1);
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_bucket_lists_the_spaces_that_are_held() {
    let mut kit = Kit::start(LinkKind::Channel).await;
    let (_, space) = found(Visibility::Public);
    kit.carry(&space).await;
    let document = kit
        .bucket()
        .join(format!("host/carried/{}.json", space.id()));
    assert!(kit.host().worker().flush().await);
    assert!(document.exists());
    kit.host().worker().stop_carrying(space.id()).await.unwrap();
    assert!(kit.host().worker().flush().await);
    assert!(!document.exists());
    kit.finish().await;
}
