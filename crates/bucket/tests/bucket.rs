//! Segments and the host's documents, in a folder and in memory alike.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::sync::Arc;

use bucket::{Bucket, BucketError, Carried, FolderStore, ProbeStep};
use futures::StreamExt;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::segment::SegmentName;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use serde_json::{Value, json};

const WRITER: [u8; 16] = [0xab; 16];
const WRITER_TEXT: &str = "abababababababababababababababab";

struct Setup {
    _folder: tempfile::TempDir,
    stores: Vec<Arc<dyn ObjectStore>>,
}

async fn setup() -> Setup {
    let folder = tempfile::tempdir().unwrap();
    let in_folder = FolderStore::open(folder.path().join("bucket"), "host")
        .await
        .unwrap();
    Setup {
        stores: vec![Arc::new(in_folder), Arc::new(InMemory::new())],
        _folder: folder,
    }
}

fn vectors() -> Value {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/vectors/records.json"
    );
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

fn space() -> ContentId {
    ContentId::of(b"a space")
}

async fn object(store: &dyn ObjectStore, key: &str) -> Option<Vec<u8>> {
    match store.get(&Path::parse(key).unwrap()).await {
        Ok(found) => Some(found.bytes().await.unwrap().to_vec()),
        Err(object_store::Error::NotFound { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

async fn put(store: &dyn ObjectStore, key: &str, bytes: &str) {
    let payload = PutPayload::from(bytes.as_bytes().to_vec());
    store
        .put(&Path::parse(key).unwrap(), payload)
        .await
        .unwrap();
}

#[tokio::test]
async fn segments_are_named_and_placed_as_the_vectors_say() {
    let vectors = vectors();
    let cases = vectors["segments"].as_array().unwrap();
    assert_eq!(cases.len(), 3);
    for store in setup().await.stores {
        let bucket = Bucket::new(Arc::clone(&store), "").unwrap();
        for case in cases {
            let (text, counter) = (
                case["text"].as_str().unwrap(),
                case["counter"].as_u64().unwrap(),
            );
            let name = bucket
                .put_segment(&space(), &WRITER, counter, text.as_bytes().to_vec())
                .await
                .unwrap();
            assert_eq!(name.to_string(), case["name"].as_str().unwrap());
            let key = format!("{}/{WRITER_TEXT}/{name}", space());
            assert_eq!(object(&store, &key).await.unwrap(), text.as_bytes());
            let read = bucket.get_segment(&space(), &WRITER, &name).await.unwrap();
            assert_eq!(read, text.as_bytes());
        }
        let listed = bucket.list_segments(&space()).await.unwrap();
        let names: Vec<_> = listed
            .iter()
            .map(|segment| segment.name.to_string())
            .collect();
        let mut expected: Vec<_> = cases
            .iter()
            .map(|case| case["name"].as_str().unwrap())
            .collect();
        expected.sort_unstable();
        assert_eq!(names, expected);
        assert!(listed.iter().all(|segment| segment.writer == WRITER));
    }
}

#[tokio::test]
async fn a_segment_that_is_not_what_its_name_says_is_not_taken() {
    for store in setup().await.stores {
        let bucket = Bucket::new(Arc::clone(&store), "").unwrap();
        let name = bucket
            .put_segment(&space(), &WRITER, 1, "{\"v\":8,\"versions\":[]}")
            .await
            .unwrap();
        put(
            &store,
            &format!("{}/{WRITER_TEXT}/{name}", space()),
            "{\"v\":8,\"versio",
        )
        .await;
        let read = bucket.get_segment(&space(), &WRITER, &name).await;
        assert!(matches!(read, Err(BucketError::BadSegment)));

        let gone = SegmentName::of(2, b"gone");
        let read = bucket.get_segment(&space(), &WRITER, &gone).await;
        assert!(matches!(read, Err(BucketError::NotFound)));
    }
}

#[tokio::test]
async fn what_is_no_segment_is_not_listed_nor_another_spaces() {
    for store in setup().await.stores {
        let bucket = Bucket::new(Arc::clone(&store), "").unwrap();
        let name = "000001-10773071eecc244b.seg";
        let space_id = space();
        for key in [
            format!("{space_id}/{name}"),
            format!("{space_id}/short/{name}"),
            format!("{space_id}/{WRITER_TEXT}/deeper/{name}"),
            format!("{space_id}/{WRITER_TEXT}/1-10773071eecc244b.seg"),
            format!("{space_id}/{WRITER_TEXT}/000001-10773071eecc244b.txt"),
            format!("files/{space_id}/{WRITER_TEXT}/{name}"),
            format!("{}/{WRITER_TEXT}/{name}", ContentId::of(b"another")),
        ] {
            put(&store, &key, "{\"v\":8,\"versions\":[]}").await;
        }
        assert!(bucket.list_segments(&space_id).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_store_writer_is_noted_where_the_host_keeps_its_own() {
    for store in setup().await.stores {
        let bucket = Bucket::new(Arc::clone(&store), "").unwrap();
        bucket
            .put_writer_record(&space(), &WRITER, 1_790_000_000)
            .await
            .unwrap();
        let key = format!("host/writers/{}/{WRITER_TEXT}.json", space());
        let record: Value = serde_json::from_slice(&object(&store, &key).await.unwrap()).unwrap();
        assert_eq!(record, json!({ "v": 1, "at": 1_790_000_000 }));
    }
}

fn carried(number: usize, revision: u64) -> (Carried, Value) {
    let vectors = vectors();
    let case = &vectors["spaces"][number];
    let canonical = case["canonical"].as_str().unwrap();
    let read_key = case["constitution"]["readKey"].as_str();
    let carried = Carried {
        space: ContentId::parse(case["id"].as_str().unwrap()).unwrap(),
        constitution: canonical.as_bytes().to_vec(),
        read_key: read_key.map(|did| Did::parse(did).unwrap()),
        revision,
    };
    let mut handed_around: Value = serde_json::from_str(canonical).unwrap();
    handed_around["id"] = case["id"].clone();
    (carried, handed_around)
}

#[tokio::test]
async fn a_carried_space_is_a_document_that_a_restore_can_read() {
    for store in setup().await.stores {
        let bucket = Bucket::new(Arc::clone(&store), "").unwrap();
        let ((public, public_json), (private, private_json)) = (carried(0, 1), carried(1, 7));
        assert!(bucket.put_carried(&public).await.unwrap());
        assert!(bucket.put_carried(&private).await.unwrap());

        let key = format!("host/carried/{}.json", public.space);
        let document: Value = serde_json::from_slice(&object(&store, &key).await.unwrap()).unwrap();
        assert_eq!(document, json!({ "v": 1, "space": public_json, "rev": 1 }));
        let key = format!("host/carried/{}.json", private.space);
        let document: Value = serde_json::from_slice(&object(&store, &key).await.unwrap()).unwrap();
        let read_key = private.read_key.unwrap().to_string();
        assert_eq!(
            document,
            json!({ "v": 1, "space": private_json, "readKey": read_key, "rev": 7 })
        );

        assert_eq!(bucket.get_carried(&private.space).await.unwrap(), private);
        let mut listed: Vec<_> = bucket.list_carried().map(Result::unwrap).collect().await;
        listed.sort_by_key(|carried| carried.revision);
        assert_eq!(listed, [public.clone(), private.clone()]);

        bucket.delete_carried(&public.space).await.unwrap();
        bucket.delete_carried(&public.space).await.unwrap();
        assert!(matches!(
            bucket.get_carried(&public.space).await,
            Err(BucketError::NotFound)
        ));
        assert_eq!(bucket.list_carried().count().await, 1);
    }
}

#[tokio::test]
async fn a_carried_document_never_goes_back() {
    for store in setup().await.stores {
        let bucket = Bucket::new(store, "").unwrap();
        let (newer, _) = carried(1, 5);
        let (mut older, _) = carried(1, 4);
        older.read_key = None;
        assert!(bucket.put_carried(&newer).await.unwrap());
        assert!(!bucket.put_carried(&older).await.unwrap());
        assert_eq!(bucket.get_carried(&newer.space).await.unwrap(), newer);
        assert!(bucket.put_carried(&newer).await.unwrap());
    }
}

#[tokio::test]
async fn carried_documents_that_cannot_be_read_do_not_hide_the_others() {
    for store in setup().await.stores {
        let bucket = Bucket::new(Arc::clone(&store), "").unwrap();
        let ((good, space_json), (other, _)) = (carried(0, 1), carried(1, 1));
        let key = format!("host/carried/{}.json", good.space);
        let mut forged = space_json.clone();
        forged["name"] = json!("Another name");
        for bad in [
            "no json".to_owned(),
            "[]".to_owned(),
            json!({ "v": 2, "space": space_json, "rev": 1 }).to_string(),
            json!({ "v": 1, "rev": 1 }).to_string(),
            json!({ "v": 1, "space": forged, "rev": 1 }).to_string(),
            json!({ "v": 1, "space": carried(1, 1).1, "rev": 1 }).to_string(),
            json!({ "v": 1, "space": space_json, "readKey": "did:key:no", "rev": 1 }).to_string(),
        ] {
            put(&store, &key, &bad).await;
            bucket.put_carried(&other).await.unwrap();
            put(&store, "host/carried/readme.json", "{}").await;
            let read = bucket.get_carried(&good.space).await;
            assert!(matches!(read, Err(BucketError::BadDocument(_))), "{bad}");
            let listed: Vec<_> = bucket.list_carried().collect().await;
            assert_eq!(listed.len(), 2, "{bad}");
            assert_eq!(
                listed.iter().filter(|item| item.is_ok()).count(),
                1,
                "{bad}"
            );
            // And it is put right by the next write.
            assert!(bucket.put_carried(&good).await.unwrap());
            assert_eq!(bucket.get_carried(&good.space).await.unwrap(), good);
        }
    }
}

#[tokio::test]
async fn a_document_without_a_revision_is_of_revision_nought() {
    for store in setup().await.stores {
        let bucket = Bucket::new(Arc::clone(&store), "").unwrap();
        let (mut good, space_json) = carried(0, 0);
        let key = format!("host/carried/{}.json", good.space);
        put(
            &store,
            &key,
            &json!({ "v": 1, "space": space_json, "later": true }).to_string(),
        )
        .await;
        assert_eq!(bucket.get_carried(&good.space).await.unwrap(), good);
        good.revision = 1;
        assert!(bucket.put_carried(&good).await.unwrap());
    }
}

#[tokio::test]
async fn a_bucket_is_empty_until_something_is_kept_in_it() {
    for store in setup().await.stores {
        let bucket = Bucket::new(Arc::clone(&store), "mine").unwrap();
        assert!(bucket.is_empty().await.unwrap());
        put(&store, "other/thing", "x").await;
        put(
            &store,
            "mine/host/probe/0011223344556677",
            "left by a probe",
        )
        .await;
        assert!(bucket.is_empty().await.unwrap());
        bucket
            .put_writer_record(&space(), &WRITER, 1)
            .await
            .unwrap();
        assert!(!bucket.is_empty().await.unwrap());
        assert!(!Bucket::new(store, "").unwrap().is_empty().await.unwrap());
    }
}

#[tokio::test]
async fn everything_is_below_the_prefix() {
    for store in setup().await.stores {
        let bucket = Bucket::new(Arc::clone(&store), "hosts/one").unwrap();
        let name = bucket.put_segment(&space(), &WRITER, 1, "x").await.unwrap();
        assert!(
            object(
                &store,
                &format!("hosts/one/{}/{WRITER_TEXT}/{name}", space())
            )
            .await
            .is_some()
        );
        assert_eq!(bucket.list_segments(&space()).await.unwrap().len(), 1);
        let other = Bucket::new(Arc::clone(&store), "hosts/two").unwrap();
        assert!(other.list_segments(&space()).await.unwrap().is_empty());
    }
    for prefix in ["a//b", "../a", "a/.", "\n"] {
        let made = Bucket::new(Arc::new(InMemory::new()), prefix);
        assert!(matches!(made, Err(BucketError::Prefix)), "{prefix:?}");
    }
}

#[tokio::test]
async fn a_bucket_that_works_passes_the_probe_and_is_left_as_it_was() {
    for store in setup().await.stores {
        let bucket = Bucket::new(Arc::clone(&store), "mine").unwrap();
        bucket.probe().await.unwrap();
        bucket.probe().await.unwrap();
        assert_eq!(store.list(None).count().await, 0);
    }
}

#[tokio::test]
async fn a_probe_says_what_failed_in_the_vendors_own_words() {
    let folder = tempfile::tempdir().unwrap();
    let store = FolderStore::open(folder.path().join("bucket"), "host")
        .await
        .unwrap();
    // A file where the probe needs a directory.
    std::fs::write(folder.path().join("bucket/host"), b"x").unwrap();
    let bucket = Bucket::new(Arc::new(store), "").unwrap();
    let error = bucket.probe().await.unwrap_err();
    assert_eq!(error.step, ProbeStep::Put);
    assert!(error.reason.contains("folder"), "{error}");
    assert!(
        error
            .to_string()
            .starts_with("the bucket failed to put an object of its own: "),
        "{error}"
    );
}

#[tokio::test]
async fn errors_name_no_space_and_no_writer() {
    let folder = tempfile::tempdir().unwrap();
    let store = FolderStore::open(folder.path().join("bucket"), "host")
        .await
        .unwrap();
    std::fs::write(folder.path().join("bucket").join(space().to_string()), b"x").unwrap();
    let bucket = Bucket::new(Arc::new(store), "").unwrap();
    let error = bucket
        .put_segment(&space(), &WRITER, 1, "x")
        .await
        .unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(
        !text.contains(&space().to_string()) && !text.contains(WRITER_TEXT),
        "{text}"
    );
}
