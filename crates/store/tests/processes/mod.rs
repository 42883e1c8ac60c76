//! Other processes: one that has the folder open, and ones that are killed while
//! they write. Each is this test program again, told by a variable what to be.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use engine::rows::{Batch, VersionRow};
use minca_record::content_id::ContentId;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use store::{OpenError, SpaceBatch, SqliteStore, Store};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};

use crate::conformance::model::{Model, keeping, version};
use crate::conformance::{carry, space};

/// The folder in which a child is to write until it is killed.
const CHILD: &str = "HOLDFAST_TEST_CHILD_FOLDER";
/// Set to do it over many folders.
const SLOW_TESTS: &str = "HOLDFAST_SLOW_TESTS";
const REPORT: &str = "committed ";
const SPACES: u32 = 2;
/// Processes killed over one folder.
const KILLS: usize = 20;

/// The versions of batch number `batch`, of any batch a different number.
fn versions_of(batch: u64) -> Vec<VersionRow> {
    let count = 1 + batch * 31 % 120;
    (0..count)
        .map(|place| version(batch * 1_000 + place))
        .collect()
}

/// Batch number `batch`: keeps its versions, and drops the bodies of the one before.
fn batch_number(batch: u64) -> Batch {
    let mut made = keeping(versions_of(batch));
    if let Some(before) = batch.checked_sub(1) {
        made.drop_bodies = versions_of(before).iter().map(|row| row.id).collect();
    }
    made
}

/// How many batches of this test a store holds, which must all be whole and in a row.
async fn whole_batches(store: &dyn Store) -> u64 {
    let carried = store.carried(None, 10).await.unwrap();
    let versions = carried.first().map_or(0, |row| row.versions);
    let (mut batches, mut counted) = (0, 0);
    while counted < versions {
        counted += versions_of(batches).len() as u64;
        batches += 1;
    }
    assert_eq!(counted, versions, "a batch is there in part");
    batches
}

/// What a child does: commits batch after batch to two spaces at once, and says so.
async fn commit_until_killed(folder: &Path) {
    let store = SqliteStore::open(folder).await.unwrap();
    let mut lease = None;
    for number in 0..SPACES {
        lease = Some(carry(&store, number).await.1);
    }
    let lease = lease.unwrap();
    let mut out = std::io::stdout();
    for batch in whole_batches(&store).await.. {
        let batches: Vec<SpaceBatch> = (0..SPACES)
            .map(|number| SpaceBatch {
                space: space(number),
                batch: Arc::new(batch_number(batch)),
            })
            .collect();
        for answer in store.commit(&lease, &batches).await.unwrap() {
            answer.unwrap();
        }
        writeln!(out, "\n{REPORT}{batch}").unwrap();
        out.flush().unwrap();
    }
}

fn start_child(folder: &Path) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "--nocapture",
            "processes::what_was_committed_outlives_a_killed_process",
        ])
        .env(CHILD, folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    (child, out)
}

/// The number of the next batch a child says it committed; `None` once it is gone.
async fn next_report(out: &mut BufReader<ChildStdout>) -> Option<u64> {
    loop {
        let mut line = String::new();
        if out.read_line(&mut line).await.unwrap() == 0 {
            return None;
        }
        // A line cut short by the kill has no end.
        let report = line
            .strip_suffix('\n')
            .and_then(|line| line.strip_prefix(REPORT));
        if let Some(number) = report {
            return Some(number.parse().unwrap());
        }
    }
}

/// Starts a child, kills it at a random point, and says which batch was the last it reported.
async fn killed_at_random(folder: &Path, random: &mut StdRng) -> u64 {
    let (mut child, mut out) = start_child(folder);
    let mut last = next_report(&mut out).await.unwrap();
    for _ in 0..random.random_range(0..6) {
        last = next_report(&mut out).await.unwrap();
    }
    tokio::time::sleep(Duration::from_micros(random.random_range(0..15_000))).await;
    child.kill().await.unwrap();
    while let Some(report) = next_report(&mut out).await {
        last = report;
    }
    last
}

#[tokio::test]
async fn what_was_committed_outlives_a_killed_process() {
    if let Some(folder) = std::env::var_os(CHILD) {
        return commit_until_killed(Path::new(&folder)).await;
    }
    let folders = if std::env::var_os(SLOW_TESTS).is_some() {
        15
    } else {
        1
    };
    for _ in 0..folders {
        kill_again_and_again().await;
    }
}

/// Kills one process after another over the same folder, and checks what each left.
async fn kill_again_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = StdRng::seed_from_u64(rand::random());
    let mut models = Vec::new();
    models.resize_with(SPACES as usize, Model::default);
    let mut applied = 0;
    for _ in 0..KILLS {
        let reported = killed_at_random(folder.path(), &mut random).await;
        let store = SqliteStore::open(folder.path()).await.unwrap();
        let whole = whole_batches(&store).await;
        assert!(
            whole > reported,
            "batch {reported} was committed and is gone"
        );
        for batch in applied..whole {
            for model in &mut models {
                model.apply(&batch_number(batch));
            }
        }
        applied = whole;
        for (number, model) in (0..).zip(&models) {
            model.check(&store, space(number)).await;
        }
        let waiting = store.unsegmented(&space(0), usize::MAX).await.unwrap();
        let ids: Vec<ContentId> = waiting.iter().map(|version| version.id).collect();
        let all = (0..whole).flat_map(versions_of).map(|row| row.id);
        assert!(
            all.eq(ids),
            "what waits for a segment is not what was written"
        );
        store.close().await;
    }
}

#[tokio::test]
async fn a_folder_another_process_has_open_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, mut out) = start_child(folder.path());
    next_report(&mut out).await.unwrap();
    let refused = SqliteStore::open(folder.path()).await.err().unwrap();
    assert!(matches!(refused, OpenError::InUse), "{refused}");
    child.kill().await.unwrap();
    SqliteStore::open(folder.path()).await.unwrap();
}
