//! Another process, stopped between the fence and its COMMIT. It is this test program
//! again, told by variables what to be.

use std::io::Write;
use std::process::{Command as Program, Stdio};
use std::time::Duration;

use store::postgres::{PostgresOptions, migrate};
use store::{Lease, StoreError, TakeLease};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use crate::conformance::model::{Model, commit, keeping, version};
use crate::conformance::{AN_HOUR, carry, holder, space};
use crate::fencing::let_run_out;
use crate::postgres_server::Server;
use crate::{CONNECTIONS, Meddler, batch_for, opened};

/// The address of the database a child is to commit to.
const CHILD: &str = "HOLDFAST_TEST_CHILD_POSTGRES";
/// The term it is to do it under.
const TERM: &str = "HOLDFAST_TEST_CHILD_TERM";
const REPORT: &str = "commit: ";
/// A third of it is how long a transaction stands still before it is ended.
const SHORT_LEASE: Duration = Duration::from_secs(3);

fn options(url: &str) -> PostgresOptions {
    PostgresOptions::new(url, CONNECTIONS, SHORT_LEASE).unwrap()
}

/// What a child does: commits twice, and says what came of it.
async fn commit_twice(url: &str) {
    let store = opened(&options(url)).await;
    let term = std::env::var(TERM).unwrap().parse().unwrap();
    let lease = Lease {
        shard: store.shard_of(&space(1)),
        holder: holder(1),
        term,
    };
    let mut out = std::io::stdout();
    for number in [1, 2] {
        let batches = batch_for(space(1), keeping(vec![version(number)]));
        let said = match store.commit(&lease, &batches).await {
            Ok(_) => "landed",
            Err(StoreError::Unavailable(_)) => "unavailable",
            Err(StoreError::Fenced) => "fenced",
            Err(_) => "something else",
        };
        writeln!(out, "\n{REPORT}{said}").unwrap();
    }
}

fn signal(name: &str, process: u32) {
    let process = process.to_string();
    let sent = Program::new("kill").args([name, &process]).status();
    assert!(sent.unwrap().success());
}

#[tokio::test]
async fn a_process_stopped_in_mid_commit_is_outlived_and_commits_nothing_afterwards() {
    if let Ok(url) = std::env::var(CHILD) {
        return commit_twice(&url).await;
    }
    let server = Server::start();
    migrate(&options(&server.url()), None).await.unwrap();
    let store = opened(&options(&server.url())).await;
    let (held, old) = carry(&*store, 1).await;
    let mut meddler = Meddler::at(&server).await;
    let_run_out(&mut meddler).await;

    meddler.hold_up_commits().await;
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture"])
        .arg(
            "processes::a_process_stopped_in_mid_commit_is_outlived_and_commits_nothing_afterwards",
        )
        .env(CHILD, server.url())
        .env(TERM, old.term.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    meddler.wait_for_a_held_commit().await;
    signal("-STOP", child.id().unwrap());
    meddler.let_commits_go().await;

    // Its transaction stands still now, past the fence, until Postgres ends it.
    let new = loop {
        match store.take_lease(old.shard, holder(2), AN_HOUR).await {
            Ok(TakeLease::Taken(lease)) => break lease,
            Err(StoreError::Unavailable(_)) => {}
            other => panic!("expected to be given the lease, got {other:?}"),
        }
    };
    assert_eq!(new.term, old.term + 1);
    let batch = keeping(vec![version(1), version(7)]);
    let mut model = Model::default();
    model.apply(&batch);
    commit(&*store, &new, held, batch).await;

    signal("-CONT", child.id().unwrap());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut reports = Vec::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        if let Some(report) = line.strip_prefix(REPORT) {
            reports.push(report.to_owned());
        }
    }
    assert_eq!(reports, ["unavailable", "fenced"]);
    assert!(child.wait().await.unwrap().success());
    model.check(&*store, held).await;
}
