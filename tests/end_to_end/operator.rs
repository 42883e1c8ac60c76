//! What an operator asks of a host, running or not.

use std::path::Path;
use std::process::Output;

use holdfast::host::LinkKind;
use member::raw::http;
use minca_record::constitution::Visibility;

use crate::kit::{Kit, WAIT, found};

/// Runs the binary over a folder, whose host's calls are at `metrics`.
async fn holdfast(folder: &Path, metrics: &str, command: &[&str]) -> Output {
    let mut program = tokio::process::Command::new(env!("CARGO_BIN_EXE_holdfast"));
    program
        .args(command)
        .arg("--data")
        .arg(folder)
        .args(["--metrics-listen", metrics]);
    program.output().await.unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spaces_are_held_and_let_go_by_command_while_the_host_runs_and_while_it_does_not() {
    let mut kit = Kit::start(LinkKind::Channel).await;
    let folder = kit.config().data;
    let (_, space) = found(Visibility::Private);
    let id = space.id().to_string();
    kit.secret(id.clone());
    let file = folder.join("space.json");
    std::fs::write(&file, space.as_handed_around().canonical()).unwrap();
    let file = file.to_str().unwrap();
    let running = kit.host().metrics_listening().to_string();

    let added = holdfast(&folder, &running, &["carry", "add", file]).await;
    assert!(
        added.status.success() && said(&added).contains(&id),
        "{}",
        said(&added)
    );
    assert_eq!(
        kit.host().worker().carried(None, 10).await.unwrap().len(),
        1
    );
    let again = holdfast(&folder, &running, &["carry", "add", file]).await;
    assert!(
        again.status.success(),
        "holding it twice is holding it: {}",
        said(&again)
    );
    kit.stop().await;

    let listed = holdfast(&folder, &running, &["carry", "list"]).await;
    assert!(said(&listed).contains(&id), "{}", said(&listed));
    let removed = holdfast(&folder, &running, &["carry", "remove", &id]).await;
    assert!(removed.status.success(), "{}", said(&removed));
    let removed_again = holdfast(&folder, &running, &["carry", "remove", &id]).await;
    assert!(!removed_again.status.success());
    kit.restart().await;
    assert_eq!(
        kit.host().worker().carried(None, 10).await.unwrap().len(),
        0
    );
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_without_the_token_asks_anything_of_a_host() {
    let kit = Kit::start(LinkKind::Channel).await;
    let address = kit.host().metrics_listening();
    let token = std::fs::read_to_string(kit.config().data.join("admin.token")).unwrap();
    let wrong = "A".repeat(token.len());
    for (shown, expected) in [(None, 401), (Some(&wrong), 401), (Some(&token), 200)] {
        let shown = shown
            .map(|token| format!("Authorization: Bearer {token}\r\n"))
            .unwrap_or_default();
        let request = format!(
            "GET /admin/carried HTTP/1.1\r\nHost: {address}\r\n{shown}Connection: close\r\n\r\n"
        );
        let answer = http(address, request.as_bytes(), WAIT).await.unwrap();
        assert_eq!(answer.status, expected);
    }
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_space_is_refused_with_what_was_expected() {
    let mut kit = Kit::start(LinkKind::Channel).await;
    let folder = kit.config().data;
    let running = kit.host().metrics_listening().to_string();
    let file = folder.join("space.json");
    let (_, space) = found(Visibility::Public);
    kit.secret(space.id().to_string());
    let mut changed = space.as_handed_around();
    changed.as_object_mut().unwrap().insert("name", "another");
    for (bytes, expected) in [
        (b"no json".to_vec(), "expected a space as JSON"),
        (b"{}".to_vec(), "can't be held"),
        (changed.canonical(), "can't be held"),
    ] {
        std::fs::write(&file, bytes).unwrap();
        let added = holdfast(&folder, &running, &["carry", "add", file.to_str().unwrap()]).await;
        assert!(!added.status.success());
        assert!(said(&added).contains(expected), "{}", said(&added));
    }
    std::fs::write(&file, space.as_handed_around().canonical()).unwrap();
    let key = kit.host().did().to_string();
    let added = holdfast(
        &folder,
        &running,
        &["carry", "add", file.to_str().unwrap(), "--read-key", &key],
    )
    .await;
    assert!(said(&added).contains("public"), "{}", said(&added));
    assert_eq!(
        kit.host().worker().carried(None, 10).await.unwrap().len(),
        0
    );
    kit.finish().await;
}
