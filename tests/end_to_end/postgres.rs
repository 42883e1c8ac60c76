//! A host on Postgres.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use holdfast::host::{Host, LinkKind};
use member::client::{Connection, Options};
use minca_record::constitution::Visibility;
use minca_record::url::NodeUrl;
use store::postgres::{PostgresOptions, migrate};
use store::{Holder, PostgresStore, Shard, Store, TakeLease};

use crate::kit::{Kit, WAIT, body, config_of, found, now, texts};
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
    let lease = Duration::from_secs(15);
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
        let expected = format!("The schema is at version 2 (before: {before}).\nShards: 64.\n");
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
async fn a_database_is_divided_as_asked_and_never_otherwise() {
    let server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let run = async |command: &[&str]| holdfast(folder.path(), &server, command).await;
    let refused = run(&["migrate", "--shards", "0"]).await;
    assert!(!refused.status.success());
    assert!(said(&refused).contains("0 is not in 1..=1024"));
    let migrated = run(&["migrate", "--shards", "8"]).await;
    assert!(said(&migrated).ends_with("Shards: 8.\n"));
    let again = run(&["migrate"]).await;
    assert!(said(&again).ends_with("Shards: 8.\n"));
    let otherwise = run(&["migrate", "--shards", "64"]).await;
    assert!(!otherwise.status.success());
    assert!(
        said(&otherwise)
            .contains("the database is divided into 8 shards, and was to be divided into 64"),
        "{}",
        said(&otherwise)
    );
}

/// Two hosts of one key and one bucket share a database. The second has the upper half of
/// the shards, and all once the first has stopped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_host_of_two_stored_the_other_serves_once_that_one_has_stopped() {
    const SHARDS: u32 = 64;
    let server = Server::start();
    divide(&server, SHARDS).await;
    let url = server.url();
    let hour = Duration::from_secs(3_600);
    let store = PostgresStore::open(&PostgresOptions::new(&url, 2, hour).unwrap())
        .await
        .unwrap();
    let mut upper = Vec::new();
    for shard in SHARDS / 2..SHARDS {
        match store.take_lease(Shard(shard), Holder([1; 16]), hour).await {
            Ok(TakeLease::Taken(lease)) => upper.push(lease),
            other => panic!("expected a lease, got {other:?}"),
        }
    }
    // It looks for free shards so rarely that the second finds them first.
    let flags = ["--store-url", &url, "--lease-seconds", "3600"];
    let mut kit = Kit::start_with(LinkKind::Channel, &flags).await;
    for lease in &upper {
        store.release_lease(lease).await.unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let key = kit.config().host_key_file();
    std::fs::copy(key, folder.path().join("host.key")).unwrap();
    let config = config_of(&[
        "--data",
        folder.path().to_str().unwrap(),
        "--bucket-folder",
        kit.bucket().to_str().unwrap(),
        "--store-url",
        &url,
        "--lease-seconds",
        "5",
        "--listen",
        "127.0.0.1:0",
        "--metrics-listen",
        "127.0.0.1:0",
    ]);
    let other = Host::start(&config, LinkKind::Channel).await.unwrap();
    assert_eq!(other.did(), kit.host().did());
    let dialled = format!("ws://{}/peer#{}", other.listening(), other.did());
    let dialled = NodeUrl::parse(&dialled).unwrap();

    let (account, space) = loop {
        let (account, space) = found(Visibility::Private);
        if store.shard_of(&space.id()).0 < SHARDS / 2 {
            break (account, space);
        }
    };
    kit.carry(&space).await;
    let mut first = kit.device(&account, &space, true);
    let mut second = kit.device(&account, &space, false);
    let refused = Connection::open(&dialled, &mut second, Options::default()).await;
    let refused = refused.err().unwrap().to_string();
    assert!(refused.contains("1013"), "{refused}");

    let mut connection = kit.connect(&mut first).await;
    let version = first.create("app.note", body("written"), now()).unwrap();
    connection.push(&mut first, &version).await.unwrap();
    connection.sync_until_level(&mut first, WAIT).await.unwrap();
    kit.stop().await;
    let mut connection = loop {
        match Connection::open(&dialled, &mut second, Options::default()).await {
            Ok(connection) => break connection,
            Err(error) => assert!(error.to_string().contains("1013"), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    connection
        .sync_until_level(&mut second, WAIT)
        .await
        .unwrap();
    assert_eq!(texts(&second), ["written"]);
    assert!(other.stop().await);
}
