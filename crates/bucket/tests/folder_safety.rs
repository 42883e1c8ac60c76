//! What somebody else put in the folder reaches nothing outside it, and what was
//! being written when the program ended is never seen.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::os::unix::fs::symlink;
use std::path::Path as FilePath;

use bucket::{FolderStore, KeyError, OpenFolderError};
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use serde_json::Value;

async fn open(folder: &FilePath) -> FolderStore {
    FolderStore::open(folder, "tests").await.unwrap()
}

async fn keys(store: &FolderStore) -> Vec<String> {
    let found: Vec<_> = store.list(None).try_collect().await.unwrap();
    found.iter().map(|meta| meta.location.to_string()).collect()
}

fn key(text: &str) -> Path {
    Path::parse(text).unwrap()
}

fn refusal(error: object_store::Error) -> KeyError {
    let object_store::Error::Generic { source, .. } = error else {
        panic!("expected the key to be refused, got {error}");
    };
    *source.downcast::<KeyError>().unwrap()
}

#[tokio::test]
async fn files_are_named_as_the_vectors_say() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/vectors/records.json"
    );
    let vectors: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let cases = vectors["fileNames"].as_array().unwrap();
    assert_eq!(cases.len(), 6);

    let mut tried = 0;
    for case in cases {
        // A vector's key is one part of a blob key: its slashes are escaped.
        let (text, name) = (
            case["key"].as_str().unwrap(),
            case["name"].as_str().unwrap(),
        );
        if text.contains('/') {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path()).await;
        store
            .put(&key(text), PutPayload::from_static(b"x"))
            .await
            .unwrap();
        assert!(folder.path().join(name).is_file(), "{text} as {name}");
        assert_eq!(keys(&store).await, [text]);
        tried += 1;
    }
    assert_eq!(tried, 3);
}

#[tokio::test]
async fn every_part_of_a_key_is_a_directory_and_the_last_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    let at = key("host/subscriptions/did%3Akey%3AzDn.json");
    store.put(&at, PutPayload::from_static(b"x")).await.unwrap();
    let file = folder
        .path()
        .join("host/subscriptions/did%253%41key%253%41z%44n.json");
    assert_eq!(std::fs::read(file).unwrap(), b"x");
    assert_eq!(keys(&store).await, [at.to_string()]);
}

#[tokio::test]
async fn keys_that_reach_elsewhere_are_refused_by_every_call() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    store
        .put(&key("ok"), PutPayload::from_static(b"x"))
        .await
        .unwrap();
    for (text, expected) in [
        ("a\\b", KeyError::Unsafe),
        ("..\\b", KeyError::Unsafe),
        ("a\\..\\b/c", KeyError::Unsafe),
        ("a.tmp", KeyError::Unfinished),
        ("a.tmp/b", KeyError::Unfinished),
        ("", KeyError::Empty),
    ] {
        let at = key(text);
        let payload = || PutPayload::from_static(b"x");
        assert_eq!(
            refusal(store.put(&at, payload()).await.unwrap_err()),
            expected,
            "{text}"
        );
        assert_eq!(
            refusal(store.get(&at).await.unwrap_err()),
            expected,
            "{text}"
        );
        assert_eq!(
            refusal(store.head(&at).await.unwrap_err()),
            expected,
            "{text}"
        );
        assert_eq!(
            refusal(store.delete(&at).await.unwrap_err()),
            expected,
            "{text}"
        );
        assert_eq!(
            refusal(store.put_multipart(&at).await.unwrap_err()),
            expected,
            "{text}"
        );
        assert_eq!(
            refusal(store.copy(&at, &key("b")).await.unwrap_err()),
            expected,
            "{text}"
        );
        assert_eq!(
            refusal(store.copy(&key("ok"), &at).await.unwrap_err()),
            expected,
            "{text}"
        );
        if !text.is_empty() {
            let listed = store.list(Some(&at)).try_collect::<Vec<_>>().await;
            assert_eq!(refusal(listed.unwrap_err()), expected, "{text}");
            let listed = store.list_with_delimiter(Some(&at)).await;
            assert_eq!(refusal(listed.unwrap_err()), expected, "{text}");
        }
    }
    assert_eq!(keys(&store).await, ["ok"]);
}

#[tokio::test]
async fn two_dots_made_a_key_by_object_store_stay_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("inside");
    let store = open(&inside).await;
    store
        .put(&Path::from("../../b"), PutPayload::from_static(b"x"))
        .await
        .unwrap();
    assert!(inside.join("%252%45%252%45/%252%45%252%45/b").is_file());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn planted_links_are_neither_followed_nor_listed() {
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("secret"), b"secret").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    store
        .put(&key("a/real"), PutPayload::from_static(b"x"))
        .await
        .unwrap();

    symlink(elsewhere.path(), folder.path().join("dir")).unwrap();
    symlink(
        elsewhere.path().join("secret"),
        folder.path().join("a/file"),
    )
    .unwrap();
    symlink(
        elsewhere.path().join("nothing"),
        folder.path().join("a/dangling"),
    )
    .unwrap();
    symlink(folder.path().join("a"), folder.path().join("a/loop")).unwrap();

    assert_eq!(keys(&store).await, ["a/real"]);
    let one_level = store.list_with_delimiter(None).await.unwrap();
    assert_eq!(one_level.common_prefixes, [key("a")]);
    assert!(
        store
            .list(Some(&key("dir")))
            .try_collect::<Vec<_>>()
            .await
            .unwrap()
            .is_empty()
    );

    for text in ["dir/secret", "a/file", "a/dangling", "a/loop/real"] {
        let (read, head) = (store.get(&key(text)).await, store.head(&key(text)).await);
        assert!(
            matches!(read, Err(object_store::Error::NotFound { .. })),
            "{text}"
        );
        assert!(
            matches!(head, Err(object_store::Error::NotFound { .. })),
            "{text}"
        );
        store.delete(&key(text)).await.unwrap();
    }
    assert_eq!(
        std::fs::read(elsewhere.path().join("secret")).unwrap(),
        b"secret"
    );
    assert_eq!(keys(&store).await, ["a/real"]);

    // Written through a linked directory: refused. Over a linked file: it replaces the link.
    store
        .put(&key("dir/new"), PutPayload::from_static(b"y"))
        .await
        .unwrap_err();
    store
        .put(&key("a/file"), PutPayload::from_static(b"y"))
        .await
        .unwrap();
    store
        .put(&key("a/dangling"), PutPayload::from_static(b"y"))
        .await
        .unwrap();
    assert_eq!(
        std::fs::read(elsewhere.path().join("secret")).unwrap(),
        b"secret"
    );
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 1);
    assert_eq!(keys(&store).await, ["a/dangling", "a/file", "a/real"]);
}

#[tokio::test]
async fn a_link_planted_where_unfinished_files_go_is_refused() {
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("0.tmp"), b"secret").unwrap();
    let folder = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), folder.path().join("tests.tmp")).unwrap();
    let opened = FolderStore::open(folder.path(), "tests").await;
    assert!(matches!(opened, Err(OpenFolderError::Io(_))));
    assert!(elsewhere.path().join("0.tmp").is_file());
}

#[tokio::test]
async fn a_planted_pipe_does_not_hold_a_reader_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    let pipe = folder.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let read = store.get(&key("pipe")).await;
    assert!(matches!(read, Err(object_store::Error::NotFound { .. })));
    assert!(keys(&store).await.is_empty());
}

#[tokio::test]
async fn names_no_writer_would_write_are_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    for name in [
        ".DS_Store",
        "%2F",
        "%2e%2e",
        "%5C",
        "%zz",
        "a.tmp",
        "Upper",
        "a%09b",
    ] {
        std::fs::write(folder.path().join(name), b"x").unwrap();
    }
    std::fs::create_dir(folder.path().join("half.tmp")).unwrap();
    std::fs::write(folder.path().join("half.tmp/a"), b"x").unwrap();
    assert!(keys(&store).await.is_empty());
    let one_level = store.list_with_delimiter(None).await.unwrap();
    assert!(one_level.objects.is_empty() && one_level.common_prefixes.is_empty());
}

#[tokio::test]
async fn a_tree_planted_too_deep_for_any_key_does_not_stop_a_listing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    let deepest = key(&["d"; 64].join("/"));
    store
        .put(&deepest, PutPayload::from_static(b"x"))
        .await
        .unwrap();
    let too_deep = key(&["e"; 65].join("/"));
    let put = store.put(&too_deep, PutPayload::from_static(b"x")).await;
    assert_eq!(refusal(put.unwrap_err()), KeyError::TooDeep);

    let mut planted = folder.path().join("e");
    for _ in 0..500 {
        planted.push("e");
    }
    std::fs::create_dir_all(&planted).unwrap();
    std::fs::write(planted.join("file"), b"x").unwrap();
    assert_eq!(keys(&store).await, [deepest.to_string()]);
    let one_level = store.list_with_delimiter(None).await.unwrap();
    assert_eq!(one_level.common_prefixes, [key("d")]);
}

#[tokio::test]
async fn a_file_planted_before_all_time_does_not_stop_a_listing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    store
        .put(&key("a"), PutPayload::from_static(b"x"))
        .await
        .unwrap();
    let file = std::fs::File::options()
        .write(true)
        .open(folder.path().join("a"))
        .unwrap();
    let long_ago = std::time::UNIX_EPOCH - std::time::Duration::from_secs(60 * 60 * 24 * 365 * 400);
    file.set_modified(long_ago).unwrap();
    assert_eq!(keys(&store).await, ["a"]);
}

#[tokio::test]
async fn a_put_cut_short_before_it_is_in_place_leaves_only_what_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    let mut upload = store.put_multipart(&key("a/b")).await.unwrap();
    upload
        .put_part(PutPayload::from_static(b"half"))
        .await
        .unwrap();
    // As if the program ended here: nothing gets to clean up.
    std::mem::forget(upload);

    assert!(keys(&store).await.is_empty());
    let left = std::fs::read_dir(folder.path().join("tests.tmp"))
        .unwrap()
        .count();
    assert_eq!(left, 1);

    // Another writer's leftovers are not ours to remove.
    let other = FolderStore::open(folder.path(), "other").await.unwrap();
    assert!(keys(&other).await.is_empty());
    assert_eq!(
        std::fs::read_dir(folder.path().join("tests.tmp"))
            .unwrap()
            .count(),
        1
    );

    drop(store);
    let again = open(folder.path()).await;
    assert_eq!(
        std::fs::read_dir(folder.path().join("tests.tmp"))
            .unwrap()
            .count(),
        0
    );
    again
        .put(&key("a/b"), PutPayload::from_static(b"whole"))
        .await
        .unwrap();
    assert_eq!(keys(&again).await, ["a/b"]);
}

#[tokio::test]
async fn an_upload_dropped_or_aborted_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    let mut aborted = store.put_multipart(&key("a")).await.unwrap();
    aborted
        .put_part(PutPayload::from_static(b"half"))
        .await
        .unwrap();
    aborted.abort().await.unwrap();
    aborted.complete().await.unwrap_err();

    let mut part_missing = store.put_multipart(&key("b")).await.unwrap();
    drop(part_missing.put_part(PutPayload::from_static(b"never awaited")));
    part_missing.complete().await.unwrap_err();

    assert!(keys(&store).await.is_empty());
    assert_eq!(
        std::fs::read_dir(folder.path().join("tests.tmp"))
            .unwrap()
            .count(),
        0
    );
}

#[tokio::test]
async fn deleting_takes_the_directories_that_are_empty_then_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    for text in ["a/b/c/one", "a/b/two"] {
        store
            .put(&key(text), PutPayload::from_static(b"x"))
            .await
            .unwrap();
    }
    store.delete(&key("a/b/c/one")).await.unwrap();
    assert!(!folder.path().join("a/b/c").exists());
    assert!(folder.path().join("a/b/two").is_file());
    store.delete(&key("a/b/two")).await.unwrap();
    assert!(!folder.path().join("a").exists());
    assert!(folder.path().is_dir());
}

#[tokio::test]
async fn puts_and_deletes_side_by_side_all_succeed() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..4 {
        let store = store.clone();
        tasks.spawn(async move {
            for _ in 0..40 {
                let at = key(&format!("shared/deep/{task}"));
                store.put(&at, PutPayload::from_static(b"x")).await.unwrap();
                store.delete(&at).await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    assert!(keys(&store).await.is_empty());
}

#[tokio::test]
async fn a_listing_longer_than_a_page_is_whole_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).await;
    std::fs::create_dir(folder.path().join("many")).unwrap();
    let mut expected = Vec::new();
    for number in 0..2_100 {
        std::fs::write(folder.path().join(format!("many/{number}")), b"").unwrap();
        expected.push(format!("many/{number}"));
    }
    expected.sort();
    assert_eq!(keys(&store).await, expected);
}

#[tokio::test]
async fn a_writers_name_that_is_no_file_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["", "..", "a/b", "Upper", &"a".repeat(65)] {
        let opened = FolderStore::open(folder.path(), name).await;
        assert!(matches!(opened, Err(OpenFolderError::WriterName)), "{name}");
    }
}
