//! A host on Postgres.

use std::path::Path;
use std::process::Output;

use holdfast::host::{Host, LinkKind};
use minca_record::constitution::Visibility;
use store::postgres::{PostgresOptions, migrate};

use crate::kit::{Kit, config_of, found};
use crate::meeting::meet_at;
use crate::postgres_server::Server;

/// The variable that may hold a password.
const URL: &str = "HOLDFAST_STORE_URL";

/// Runs the binary over a folder and a database.
async fn holdfast(folder: &Path, server: &Server, command: &[&str]) -> Output {
    let mut program = tokio::process::Command::new(env!("CARGO_BIN_EXE_holdfast"));
    program
        .args(command)
        .arg("--data")
        .arg(folder)
        // Nobody listens there.
        .args(["--metrics-listen", "127.0.0.1:1"])
        .env(URL, server.url());
    program.output().await.unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Divides a database into shards.
async fn divide(server: &Server, shards: u32) {
    let lease = std::time::Duration::from_secs(15);
    let options = PostgresOptions::new(&server.url(), 2, lease).unwrap();
    migrate(&options, Some(shards)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_devices_meet_at_a_host_on_postgres() {
    let server = Server::start();
    divide(&server, 1).await;
    let url = server.url();
    let mut kit = Kit::start_with(LinkKind::Channel, &["--store-url", &url]).await;
    kit.secret(url);
    assert!(!kit.config().data.join("holdfast.sqlite").exists());
    meet_at(kit, Visibility::Private, true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_migrates_and_has_spaces_held_on_postgres() {
    let server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let run = async |command: &[&str]| holdfast(folder.path(), &server, command).await;
    let early = run(&["serve", "--listen", "127.0.0.1:0"]).await;
    assert!(!early.status.success());
    assert!(
        said(&early).contains(
            "the database's schema is at version 0, and this program's is version 2; \
             `holdfast migrate` brings an older one up to date"
        ),
        "{}",
        said(&early)
    );
    for before in ["0", "2"] {
        let migrated = run(&["migrate"]).await;
        let expected = format!("The schema is at version 2 (before: {before}).\n");
        assert_eq!(said(&migrated), expected);
    }

    let (_, space) = found(Visibility::Private);
    let id = space.id().to_string();
    let file = folder.path().join("space.json");
    std::fs::write(&file, space.as_handed_around().canonical()).unwrap();
    let added = run(&["carry", "add", file.to_str().unwrap()]).await;
    assert!(added.status.success(), "{}", said(&added));
    let listed = run(&["carry", "list"]).await;
    assert!(said(&listed).contains(&id), "{}", said(&listed));
    let removed = run(&["carry", "remove", &id]).await;
    assert!(removed.status.success(), "{}", said(&removed));
    let checked = run(&["config", "check"]).await;
    assert!(checked.status.success() && said(&checked).contains("not shown"));
    for output in [early, added, listed, removed, checked] {
        assert!(!said(&output).contains(&server.url()), "{}", said(&output));
    }
    assert!(!folder.path().join("holdfast.sqlite").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_of_several_shards_is_not_served() {
    let server = Server::start();
    divide(&server, 64).await;
    let folder = tempfile::tempdir().unwrap();
    let config = config_of(&[
        "--data",
        folder.path().to_str().unwrap(),
        "--store-url",
        &server.url(),
    ]);
    let refused = Host::start(&config, LinkKind::Channel).await.err().unwrap();
    assert_eq!(
        refused.to_string(),
        "the database is divided into 64 shards, and a host writes only one"
    );
}
