//! `holdfast explain` of one space: at a running host, at a stopped one, and from what
//! the host wrote to its bucket.

use std::process::Output;

use holdfast::host::LinkKind;
use member::access;
use member::client::Connection;
use member::identity::Account;
use member::randomness::SystemRandomness;
use member::replica::Replica;
use minca_record::constitution::Visibility;
use minca_record::json::{MESSAGE_DEPTH, Object, Value, read};
use minca_record::version::Version;

use crate::kit::{Kit, WAIT, body, found, now};

/// Sends a version, and waits until the host acknowledges it.
async fn send(kit: &Kit, connection: &mut Connection, from: &mut Replica, version: &Version) {
    let host = kit.host().did();
    connection.push(from, version).await.unwrap();
    let is_stored = |from: &Replica| from.holdings().is_stored_by(&version.id(), &host);
    connection.drive(from, WAIT, is_stored).await.unwrap();
}

async fn explain(arguments: &[&str]) -> Output {
    let mut program = tokio::process::Command::new(env!("CARGO_BIN_EXE_holdfast"));
    program.arg("explain").args(arguments);
    program.output().await.unwrap()
}

/// What the program says as JSON, which must be all it says.
async fn explained(arguments: &[&str]) -> Object {
    let output = explain(&[arguments, &["--json"]].concat()).await;
    let beside = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && beside.is_empty(), "{beside}");
    let told = read(&output.stdout, MESSAGE_DEPTH).unwrap();
    told.into_object().unwrap()
}

fn text<'a>(object: &'a Object, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_space_is_explained_alike_at_a_running_host_at_a_stopped_one_and_from_its_bucket() {
    let mut kit = Kit::start(LinkKind::Channel).await;
    let (alice, space) = found(Visibility::Private);
    let bob = Account::new(&mut SystemRandomness).unwrap();
    kit.carry(&space).await;
    kit.secret("what nobody is told");
    let mut first = kit.device(&alice, &space, true);
    let mut second = kit.device(&bob, &space, true);
    let mut connection = kit.connect(&mut first).await;
    let assign = access::assign(&bob.did().to_string(), "editor");
    let assigned = first.write(assign, now()).unwrap();
    connection.sync_until_level(&mut first, WAIT).await.unwrap();

    let mut joined = kit.connect(&mut second).await;
    joined.sync_until_level(&mut second, WAIT).await.unwrap();
    let note = body("what nobody is told");
    let record = second.create("app.note", note, now()).unwrap();
    joined.push(&mut second, &record).await.unwrap();
    assert_eq!(record.seen(), [assigned.id()]);
    joined.sync_until_level(&mut second, WAIT).await.unwrap();
    joined.close(&mut second).await;

    let remove = access::remove(&bob.did().to_string(), Object::new());
    let removal = first.write(remove, now()).unwrap();
    send(&kit, &mut connection, &mut first, &removal).await;

    let data = kit.config().data.to_str().unwrap().to_owned();
    let id = space.id().to_string();
    let at_host = ["--space", &*id, "--data", &*data];
    let of_record = ["--id", &*record.id().to_string()].map(str::to_owned);
    let of_record: Vec<&str> = of_record.iter().map(String::as_str).collect();

    let overview = explained(&at_host).await;
    assert_eq!(overview.get("keyDue"), Some(&true.into()));
    let heads = Value::from(vec![removal.id().to_string().into()]);
    assert_eq!(overview.get("heads"), Some(&heads));
    let told = explained(&[&at_host[..], &of_record].concat()).await;
    assert_eq!(text(&told, "verdict"), "withdrawn");
    assert_eq!(text(&told, "step"), "03 §5.1.4");
    let facts = told.get("record").and_then(Value::as_object).unwrap();
    let by = facts.get("withdrawnBy").and_then(Value::as_object).unwrap();
    assert_eq!(text(by, "id"), removal.id().to_string());

    // The host goes on, with its lease, as if nobody had looked.
    let later = first.create("app.note", body("later"), now()).unwrap();
    send(&kit, &mut connection, &mut first, &later).await;
    connection.close(&mut first).await;

    kit.stop().await;
    assert_eq!(explained(&at_host).await, overview);
    assert_eq!(explained(&[&at_host[..], &of_record].concat()).await, told);

    let constitution = kit.config().data.join("space.json");
    std::fs::write(&constitution, space.as_handed_around().canonical()).unwrap();
    let bucket = kit.bucket();
    let bundle = [
        "--constitution",
        constitution.to_str().unwrap(),
        bucket.to_str().unwrap(),
    ];
    assert_eq!(explained(&bundle).await, overview);
    assert_eq!(explained(&[&bundle[..], &of_record].concat()).await, told);

    let output = explain(&[&bundle[..], &of_record].concat()).await;
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains("withdrawn (access-taken), by 03 §5.1.4"),
        "{said}"
    );
    assert!(said.contains(&removal.id().to_string()), "{said}");
    let unknown = explain(&[&at_host[..], &["--id", &id]].concat()).await;
    assert!(!unknown.status.success() && unknown.stdout.is_empty());

    kit.restart().await;
    kit.finish().await;
}
