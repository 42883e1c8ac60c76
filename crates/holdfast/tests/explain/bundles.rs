//! A space in files.

use std::path::{Path, PathBuf};

use clap::{CommandFactory, FromArgMatches, Parser};
use holdfast::config::{Environment, Loaded};
use holdfast::explain::{ExplainArgs, run};
use minca_record::content_id::ContentId;
use minca_record::json::{MESSAGE_DEPTH, Value, read};
use minca_record::segment::{SegmentName, SegmentWriter};

use crate::story::{ALICE, BOB, Story, note};

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    explain: ExplainArgs,
}

/// What the command says on standard output and beside it.
async fn explain(arguments: &[&str]) -> anyhow::Result<(String, Option<String>)> {
    let command = Flags::command().no_binary_name(true);
    let matches = command.try_get_matches_from(arguments)?;
    let args = Flags::from_arg_matches(&matches)?.explain;
    let config = Loaded::load(&matches, &Environment::default())?.config;
    let said = run(&args, &config).await?;
    Ok((said.told, said.note))
}

fn write_segment(folder: &Path, counter: u64, versions: &[Value]) -> PathBuf {
    let mut segment = SegmentWriter::new();
    for version in versions {
        segment.push(&version.canonical());
    }
    let bytes = segment.finish();
    std::fs::create_dir_all(folder).unwrap();
    let path = folder.join(SegmentName::of(counter, &bytes).to_string());
    std::fs::write(&path, bytes).unwrap();
    path
}

struct Files {
    folder: tempfile::TempDir,
    constitution: String,
    record: ContentId,
    removal: ContentId,
}

/// A space in two segments, the first in folders as a bucket has them.
fn files() -> Files {
    let mut story = Story::public();
    let bob = story.assign(ALICE, &[], BOB, "editor");
    let record = story.write(BOB, &[bob], note());
    let removal = story.remove(ALICE, &[bob], BOB);
    let folder = tempfile::tempdir().unwrap();
    let constitution = folder.path().join("space.json");
    let handed_around = story.space.as_handed_around().canonical();
    std::fs::write(&constitution, handed_around).unwrap();
    let versions = story.versions.clone();
    write_segment(&folder.path().join("bundle/one"), 1, &versions[..1]);
    story.strip(record);
    // A stub of the record comes before the whole version.
    let stub = vec![story.versions[1].clone(), Value::Null];
    write_segment(&folder.path().join("bundle/two"), 1, &stub);
    write_segment(&folder.path().join("bundle/two"), 2, &versions[1..]);
    Files {
        constitution: constitution.to_str().unwrap().to_owned(),
        folder,
        record,
        removal,
    }
}

impl Files {
    fn bundle(&self) -> String {
        self.folder
            .path()
            .join("bundle")
            .to_str()
            .unwrap()
            .to_owned()
    }

    async fn explain(&self, more: &[&str]) -> anyhow::Result<(String, Option<String>)> {
        let mut arguments = vec!["--constitution", &*self.constitution];
        arguments.extend(more);
        explain(&arguments).await
    }
}

#[tokio::test]
async fn a_folder_of_segments_is_explained_like_a_host() {
    let files = files();
    let bundle = files.bundle();
    let (overview, note) = files.explain(&[&bundle, "--json"]).await.unwrap();
    assert_eq!(note, None);
    let overview = read(overview.as_bytes(), MESSAGE_DEPTH).unwrap();
    let heads = overview.as_object().unwrap().get("heads").unwrap();
    assert_eq!(heads, &Value::from(vec![files.removal.to_string().into()]));

    let id = files.record.to_string();
    let (told, _) = files
        .explain(&[&bundle, "--id", &id, "--json"])
        .await
        .unwrap();
    let told = read(told.as_bytes(), MESSAGE_DEPTH).unwrap();
    let told = told.as_object().unwrap();
    assert_eq!(told.get("verdict"), Some(&"withdrawn".into()));
    let record = told.get("record").and_then(Value::as_object).unwrap();
    assert_eq!(
        record.get("body"),
        Some(&"read".into()),
        "the whole copy is taken"
    );
    let (text, _) = files.explain(&[&bundle, "--id", &id]).await.unwrap();
    assert!(
        text.contains("withdrawn (access-taken), by 03 §5.1.4"),
        "{text}"
    );
    assert!(text.contains(&files.removal.to_string()), "{text}");
}

#[tokio::test]
async fn segments_their_names_do_not_vouch_for_are_passed_over_in_folders_and_refused_by_name() {
    let files = files();
    let path = files
        .folder
        .path()
        .join("bundle/000009-0000000000000000.seg");
    std::fs::write(&path, b"{\"v\":8,\"versions\":[]}").unwrap();
    std::fs::write(files.folder.path().join("bundle/notes.txt"), b"no segment").unwrap();
    let (_, note) = files.explain(&[&files.bundle()]).await.unwrap();
    assert!(note.unwrap().starts_with("1 segments were passed over"));
    let error = files.explain(&[path.to_str().unwrap()]).await.unwrap_err();
    assert!(error.to_string().contains("expected a segment"), "{error}");
}

#[tokio::test]
async fn what_is_not_there_is_an_error_that_says_what_was_expected() {
    let files = files();
    let bundle = files.bundle();
    let unknown = ContentId::of(b"unknown").to_string();
    for (arguments, expected) in [
        (
            &[&*bundle, "--id", &unknown][..],
            "no version of this space",
        ),
        (&[&*bundle, "--id", "x"], "--id"),
        (&[], "expected segment files"),
        (&["/nowhere/000001-10773071eecc244b.seg"], "/nowhere"),
    ] {
        let error = files.explain(arguments).await.unwrap_err();
        assert!(format!("{error:#}").contains(expected), "{error:#}");
    }
    let nowhere = files
        .folder
        .path()
        .join("nowhere")
        .to_str()
        .unwrap()
        .to_owned();
    for (arguments, expected) in [
        (&[][..], "--space"),
        (&["--space", "x"], "--space"),
        (&["--space", &unknown, "--data", &nowhere], "data folder"),
        (&["--constitution", &nowhere, &bundle], "can't be read"),
    ] {
        let error = explain(arguments).await.unwrap_err();
        assert!(format!("{error:#}").contains(expected), "{error:#}");
    }
    assert!(!Path::new(&nowhere).exists(), "who only asks makes nothing");
}
