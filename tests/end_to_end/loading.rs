//! `holdfast load` against a host: one that keeps up, and one that dies.

use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use holdfast::host::LinkKind;
use serde_json::Value;
use tokio::process::{Child, Command};

use crate::kit::{Kit, WAIT};

/// The command against a host, which isn't told to hold anything yet.
fn load(url: &str, flags: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_holdfast"));
    program.args(["load", "--json", "--url", url]).args(flags);
    program.stdout(Stdio::piped()).stderr(Stdio::piped());
    program.kill_on_drop(true);
    program
}

/// The lines it printed.
fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// What the run came to, which is its last line.
fn total(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = lines(output).pop().unwrap_or_else(|| panic!("{said}"));
    assert!(last.get("total").is_some(), "{last} {said}");
    last["total"].clone()
}

/// What `holdfast serve` would print of it.
fn url(kit: &Kit) -> String {
    let host = kit.host();
    format!("ws://{}/peer#{}", host.listening(), host.did())
}

fn with_data<'a>(folder: &'a Path, metrics: &'a str, flags: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["--data", folder.to_str().unwrap()];
    all.extend(["--metrics-listen", metrics]);
    all.extend(flags);
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_keeps_up_acknowledges_every_version_of_a_load() {
    for private in [false, true] {
        let kit = Kit::start(LinkKind::Channel).await;
        let (folder, url) = (kit.config().data, url(&kit));
        let metrics = kit.host().metrics_listening().to_string();
        let mut flags = vec!["--rate", "60", "--bulk-rate", "100", "--batch", "30"];
        flags.extend(["--seconds", "2", "--connections", "2", "--grace", "60"]);
        flags.extend(private.then_some("--private"));
        let output = load(&url, &with_data(&folder, &metrics, &flags))
            .output()
            .await
            .unwrap();
        let total = total(&output);
        assert!(output.status.success(), "{total}");
        for (kind, versions) in [("live", 120), ("bulk", 200)] {
            let figures = &total[kind];
            assert_eq!(figures["sent"], versions, "{total}");
            assert_eq!(figures["stored"], versions, "{total}");
            assert_eq!(figures["unacknowledged"], 0);
            let wait = |name: &str| figures[name].as_f64().unwrap();
            assert!(wait("p50_ms") > 0.0 && wait("p50_ms") <= wait("p99_ms"));
            assert!(wait("p99_ms") <= wait("max_ms"));
            // Each second's line tells its part of the whole.
            let told: u64 = lines(&output)
                .iter()
                .filter_map(|line| line["second"][kind]["sent"].as_u64())
                .sum();
            assert!(told <= versions && told > 0, "{told} of {versions}");
        }
        let carried = kit.host().worker().carried(None, 10).await.unwrap();
        assert_eq!(carried.len(), 1);
        assert_eq!(carried[0].versions, 320, "what is stored is what was sent");
        kit.finish().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_data_folder_it_prints_the_space_and_waits_until_it_is_held() {
    let kit = Kit::start(LinkKind::Channel).await;
    let url = url(&kit);
    let flags = ["--rate", "50", "--seconds", "1", "--grace", "60"];
    let mut running = load(&url, &flags).spawn().unwrap();
    let space = said_line(&mut running, |line| line.starts_with('{')).await;
    let space = holdfast::space_file::read(space.as_bytes(), None).unwrap();
    kit.host().worker().carry(&space).await.unwrap();
    let output = running.wait_with_output().await.unwrap();
    assert!(output.status.success());
    assert_eq!(total(&output)["live"]["stored"], 50);
    kit.finish().await;
}

/// The first line on its standard error that is `wanted`.
async fn said_line(running: &mut Child, wanted: impl Fn(&str) -> bool) -> String {
    use tokio::io::{AsyncBufReadExt, BufReader};
    let mut said = BufReader::new(running.stderr.as_mut().unwrap()).lines();
    let looking = async {
        loop {
            let line = said.next_line().await.unwrap().unwrap();
            if wanted(&line) {
                return line;
            }
        }
    };
    tokio::time::timeout(WAIT, looking).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_is_killed_leaves_versions_that_are_reported_and_a_failure() {
    use tokio::io::{AsyncBufReadExt, BufReader};
    let folder = tempfile::tempdir().unwrap();
    let mut host = Command::new(env!("CARGO_BIN_EXE_holdfast"));
    host.args(["serve", "--data"]).arg(folder.path());
    host.args(["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"]);
    host.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut host = host.kill_on_drop(true).spawn().unwrap();
    let mut said = BufReader::new(host.stdout.take().unwrap()).lines();
    let (mut url, mut metrics) = (None, None);
    while metrics.is_none() {
        let line = said.next_line().await.unwrap().unwrap();
        let serving = line.strip_prefix("Serving on ").map(str::to_owned);
        url = url.or(serving);
        metrics = line
            .strip_prefix("Metrics on http://")
            .and_then(|rest| rest.strip_suffix("/metrics"))
            .map(str::to_owned);
    }
    let (url, metrics) = (url.unwrap(), metrics.unwrap());
    let flags = ["--rate", "100", "--seconds", "60", "--grace", "1"];
    let mut running = load(&url, &with_data(folder.path(), &metrics, &flags))
        .spawn()
        .unwrap();
    // The first second's line says that the run is under way.
    let mut told = BufReader::new(running.stdout.take().unwrap()).lines();
    let first = told.next_line().await.unwrap().unwrap();
    assert!(first.contains("\"second\""), "{first}");
    // Stopped first, it acknowledges nothing of what is sent from here on.
    let signal = |name: &str| {
        let mut kill = std::process::Command::new("kill");
        kill.args([name, &host.id().unwrap().to_string()]);
        assert!(kill.status().unwrap().success());
    };
    signal("-STOP");
    loop {
        let line = told.next_line().await.unwrap().unwrap();
        let line: Value = serde_json::from_str(&line).unwrap();
        if line["second"]["live"]["unacknowledged"].as_u64().unwrap() > 0 {
            break;
        }
    }
    signal("-KILL");
    let ending = async {
        loop {
            let line = told.next_line().await.unwrap().unwrap();
            let mut line: Value = serde_json::from_str(&line).unwrap();
            if line.get("total").is_some() {
                return line["total"].take();
            }
        }
    };
    // It ends with its sockets, long before its time.
    let total = tokio::time::timeout(WAIT, ending).await.unwrap();
    let status = tokio::time::timeout(Duration::from_secs(20), running.wait())
        .await
        .unwrap()
        .unwrap();
    assert!(!status.success());
    let live = &total["live"];
    let count = |name: &str| live[name].as_u64().unwrap();
    assert!(count("unacknowledged") > 0, "{total}");
    assert_eq!(count("sent"), count("stored") + count("unacknowledged"));
    assert_eq!(count("sent") + total["unsent"].as_u64().unwrap(), 6000);
    assert_eq!(total["lost"].as_array().unwrap().len(), 4, "{total}");
    host.wait().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_load_that_is_interrupted_prints_what_there_is() {
    use tokio::io::{AsyncBufReadExt, BufReader};
    let kit = Kit::start(LinkKind::Channel).await;
    let (folder, url) = (kit.config().data, url(&kit));
    let metrics = kit.host().metrics_listening().to_string();
    let flags = ["--rate", "20", "--seconds", "600"];
    let mut running = load(&url, &with_data(&folder, &metrics, &flags))
        .spawn()
        .unwrap();
    let mut told = BufReader::new(running.stdout.take().unwrap()).lines();
    let first = told.next_line().await.unwrap().unwrap();
    assert!(first.contains("\"second\""), "{first}");
    let mut interrupt = std::process::Command::new("kill");
    interrupt.args(["-INT", &running.id().unwrap().to_string()]);
    assert!(interrupt.status().unwrap().success());
    let mut last = first;
    while let Some(line) = told.next_line().await.unwrap() {
        last = line;
    }
    let total: Value = serde_json::from_str(&last).unwrap();
    let (total, live) = (&total["total"], &total["total"]["live"]);
    assert_eq!(total["interrupted"], true, "{total}");
    let sent = live["sent"].as_u64().unwrap();
    assert!(sent > 0);
    assert_eq!(sent + total["unsent"].as_u64().unwrap(), 12_000);
    // What was under way when it ended is all that can make it a failure.
    let status = running.wait().await.unwrap();
    assert_eq!(status.success(), live["unacknowledged"] == 0, "{total}");
    kit.finish().await;
}
