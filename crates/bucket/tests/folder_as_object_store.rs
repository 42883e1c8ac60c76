//! The folder behaves as any other object store does.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::collections::BTreeMap;

use bucket::FolderStore;
use futures::TryStreamExt;
use object_store::integration;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutPayload};
use proptest::prelude::*;

async fn a_folder() -> (tempfile::TempDir, FolderStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = FolderStore::open(folder.path(), "tests").await.unwrap();
    (folder, store)
}

#[tokio::test]
async fn it_passes_object_stores_own_suite() {
    let (_folder, store) = a_folder().await;
    integration::put_get_delete_list(&store).await;
    integration::list_uses_directories_correctly(&store).await;
    integration::list_with_delimiter(&store).await;
    integration::list_with_offset_exclusivity(&store).await;
    integration::rename_and_copy(&store).await;
    integration::copy_if_not_exists(&store).await;
    integration::copy_rename_nonexistent_object(&store).await;
    integration::get_nonexistent_object(&store, None)
        .await
        .unwrap_err();
}

#[tokio::test]
async fn conditions_on_reads_and_writes_hold() {
    let (_folder, store) = a_folder().await;
    integration::get_opts(&store).await;
    integration::put_opts(&store, false).await;
}

#[tokio::test]
async fn uploads_in_parts_pass_object_stores_own_suite() {
    let (_folder, store) = a_folder().await;
    integration::stream_get(&store).await;
    integration::multipart_out_of_order(&store).await;
    integration::multipart_race_condition(&store, true).await;
}

/// One call, made on both stores.
#[derive(Clone, Debug)]
enum Call {
    Put(String, Vec<u8>),
    PutNew(String, Vec<u8>),
    PutInParts(String, Vec<Vec<u8>>),
    Get(String),
    GetRange(String, GetRange),
    Head(String),
    Delete(String),
    Copy(String, String),
    CopyIfNew(String, String),
    Rename(String, String),
    List(Option<String>),
    ListAfter(Option<String>, String),
    ListOneLevel(Option<String>),
}

/// What came of it, without what may differ: error texts, times, tags.
#[derive(Debug, PartialEq)]
enum Outcome {
    Done,
    Bytes(Vec<u8>, u64),
    Size(u64),
    Keys(BTreeMap<String, u64>, Vec<String>),
    NotFound,
    AlreadyExists,
    OtherError,
}

fn key(text: &str) -> Path {
    Path::parse(text).unwrap()
}

fn prefix(text: &Option<String>) -> Option<Path> {
    text.as_deref().map(key)
}

async fn make(store: &dyn ObjectStore, call: &Call) -> Outcome {
    match try_make(store, call).await {
        Ok(outcome) => outcome,
        Err(object_store::Error::NotFound { .. }) => Outcome::NotFound,
        Err(object_store::Error::AlreadyExists { .. }) => Outcome::AlreadyExists,
        Err(_) => Outcome::OtherError,
    }
}

async fn try_make(store: &dyn ObjectStore, call: &Call) -> object_store::Result<Outcome> {
    match call {
        Call::Put(at, bytes) => {
            store.put(&key(at), PutPayload::from(bytes.clone())).await?;
        }
        Call::PutNew(at, bytes) => {
            let payload = PutPayload::from(bytes.clone());
            store
                .put_opts(&key(at), payload, PutMode::Create.into())
                .await?;
        }
        Call::PutInParts(at, parts) => {
            let mut upload = store.put_multipart(&key(at)).await?;
            for part in parts {
                upload.put_part(PutPayload::from(part.clone())).await?;
            }
            upload.complete().await?;
        }
        Call::Get(at) => {
            let got = store.get(&key(at)).await?;
            let size = got.meta.size;
            return Ok(Outcome::Bytes(got.bytes().await?.to_vec(), size));
        }
        Call::GetRange(at, range) => {
            let options = GetOptions::new().with_range(Some(range.clone()));
            let got = store.get_opts(&key(at), options).await?;
            let size = got.meta.size;
            return Ok(Outcome::Bytes(got.bytes().await?.to_vec(), size));
        }
        Call::Head(at) => return Ok(Outcome::Size(store.head(&key(at)).await?.size)),
        Call::Delete(at) => store.delete(&key(at)).await?,
        Call::Copy(from, to) => store.copy(&key(from), &key(to)).await?,
        Call::CopyIfNew(from, to) => store.copy_if_not_exists(&key(from), &key(to)).await?,
        Call::Rename(from, to) => store.rename(&key(from), &key(to)).await?,
        Call::List(under) => {
            let found: Vec<_> = store.list(prefix(under).as_ref()).try_collect().await?;
            let ordered: Vec<String> = found.iter().map(|meta| meta.location.to_string()).collect();
            let sizes = found
                .iter()
                .map(|meta| (meta.location.to_string(), meta.size));
            return Ok(Outcome::Keys(sizes.collect(), ordered));
        }
        Call::ListAfter(under, after) => {
            let listed = store.list_with_offset(prefix(under).as_ref(), &key(after));
            let found: Vec<_> = listed.try_collect().await?;
            let sizes = found
                .iter()
                .map(|meta| (meta.location.to_string(), meta.size));
            return Ok(Outcome::Keys(sizes.collect(), Vec::new()));
        }
        Call::ListOneLevel(under) => {
            let found = store.list_with_delimiter(prefix(under).as_ref()).await?;
            let sizes = found
                .objects
                .iter()
                .map(|meta| (meta.location.to_string(), meta.size));
            let prefixes = found.common_prefixes.iter().map(ToString::to_string);
            return Ok(Outcome::Keys(sizes.collect(), prefixes.collect()));
        }
    }
    Ok(Outcome::Done)
}

async fn same_on_both(calls: &[Call]) {
    let (_folder, folder) = a_folder().await;
    let memory = InMemory::new();
    for call in calls {
        let (in_folder, in_memory) = (make(&folder, call).await, make(&memory, call).await);
        assert_eq!(in_folder, in_memory, "{call:?} in {calls:?}");
    }
}

#[tokio::test]
async fn a_table_of_calls_comes_out_as_in_memory() {
    let own = |text: &str| text.to_owned();
    let calls = [
        Call::Get(own("a")),
        Call::Delete(own("a/b")),
        Call::List(None),
        Call::ListOneLevel(None),
        Call::Put(own("space/writer/000001-aa.seg"), b"one".to_vec()),
        Call::Put(own("space/writer/000002-bb.seg"), b"second".to_vec()),
        Call::Put(own("space/writer/empty"), Vec::new()),
        Call::Get(own("space/writer/empty")),
        Call::GetRange(own("space/writer/empty"), GetRange::Offset(0)),
        Call::GetRange(own("space/writer/empty"), GetRange::Suffix(3)),
        Call::Put(
            own("host/subscriptions/did%3Akey%3AzDn.json"),
            b"{}".to_vec(),
        ),
        Call::Put(own("Upper/CASE"), b"upper".to_vec()),
        Call::Put(own("upper/case"), b"lower".to_vec()),
        Call::Put(own("é/日本/ space "), b"words".to_vec()),
        Call::Get(own("Upper/CASE")),
        Call::List(None),
        Call::List(Some(own("space"))),
        Call::List(Some(own("spac"))),
        Call::List(Some(own("space/writer/000001-aa.seg"))),
        Call::List(Some(own("host/subscriptions"))),
        Call::ListOneLevel(None),
        Call::ListOneLevel(Some(own("space"))),
        Call::ListOneLevel(Some(own("space/writer"))),
        Call::ListAfter(None, own("space/writer/000001-aa.seg")),
        Call::ListAfter(Some(own("space")), own("space/writer/000001-aa.seg")),
        Call::GetRange(own("space/writer/000002-bb.seg"), GetRange::Bounded(1..3)),
        Call::GetRange(own("space/writer/000002-bb.seg"), GetRange::Bounded(1..300)),
        Call::GetRange(own("space/writer/000002-bb.seg"), GetRange::Bounded(6..7)),
        Call::GetRange(own("space/writer/000002-bb.seg"), GetRange::Bounded(2..2)),
        Call::GetRange(own("space/writer/000002-bb.seg"), GetRange::Offset(4)),
        Call::GetRange(own("space/writer/000002-bb.seg"), GetRange::Suffix(2)),
        Call::PutNew(own("space/writer/000002-bb.seg"), b"other".to_vec()),
        Call::Get(own("space/writer/000002-bb.seg")),
        Call::PutInParts(
            own("files/space/f"),
            vec![b"ab".to_vec(), Vec::new(), b"c".to_vec()],
        ),
        Call::Get(own("files/space/f")),
        Call::Copy(own("files/space/f"), own("files/space/g")),
        Call::CopyIfNew(own("files/space/f"), own("upper/case")),
        Call::Rename(own("files/space/f"), own("moved/f")),
        Call::Head(own("files/space/f")),
        Call::Head(own("space")),
        Call::Delete(own("moved/f")),
        Call::Delete(own("files/space/g")),
        Call::Delete(own("space")),
        Call::ListOneLevel(None),
        Call::List(None),
    ];
    same_on_both(&calls).await;
}

/// Keys of one depth, so that none is an object and the beginning of another's.
fn keys() -> impl Strategy<Value = String> {
    let part = prop_oneof!["[a-c]", "[A-Z ~%é-]{1,2}", "a-?", "a\\.?"];
    (part.clone(), part).prop_map(|(directory, file)| format!("{directory}/{file}"))
}

fn calls() -> impl Strategy<Value = Call> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..9);
    let under = || prop::option::of("[a-c]");
    let range = prop_oneof![
        (0..9u64, 0..9u64).prop_map(|(from, length)| GetRange::Bounded(from..from + length)),
        (0..9u64).prop_map(GetRange::Offset),
        (1..9u64).prop_map(GetRange::Suffix),
    ];
    prop_oneof![
        4 => (keys(), bytes()).prop_map(|(at, bytes)| Call::Put(at, bytes)),
        1 => (keys(), bytes()).prop_map(|(at, bytes)| Call::PutNew(at, bytes)),
        1 => (keys(), prop::collection::vec(bytes(), 0..3)).prop_map(|(at, parts)| Call::PutInParts(at, parts)),
        2 => keys().prop_map(Call::Get),
        1 => (keys(), range).prop_map(|(at, range)| Call::GetRange(at, range)),
        1 => keys().prop_map(Call::Head),
        3 => keys().prop_map(Call::Delete),
        1 => (keys(), keys()).prop_map(|(from, to)| Call::Copy(from, to)),
        1 => (keys(), keys()).prop_map(|(from, to)| Call::CopyIfNew(from, to)),
        1 => under().prop_map(Call::List),
        1 => (under(), keys()).prop_map(|(under, after)| Call::ListAfter(under, after)),
        1 => under().prop_map(Call::ListOneLevel),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_calls_come_out_as_in_memory(calls in prop::collection::vec(calls(), 1..24)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(same_on_both(&calls));
    }
}
