//! A host that is killed: everything it acknowledged is there afterwards.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use member::client::{Connection, Options};
use member::identity::Account;
use member::randomness::SystemRandomness;
use member::replica::Replica;
use member::space::Space;
use minca_record::constitution::Visibility;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::url::NodeUrl;

use crate::kit::{WAIT, body, found, now, replica};

/// How often: more with `HOLDFAST_SLOW_TESTS=1`.
fn kills() -> usize {
    match std::env::var_os("HOLDFAST_SLOW_TESTS").is_some_and(|value| value == "1") {
        true => 200,
        false => 12,
    }
}

/// The binary, serving a folder.
struct Served {
    process: Child,
    url: NodeUrl,
}

impl Served {
    fn start(folder: &Path) -> Served {
        let mut process = holdfast(folder, "serve")
            .args([
                "--listen",
                "127.0.0.1:0",
                "--bucket-flush-after-seconds",
                "1",
            ])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let url = lines
            .find_map(|line| line.unwrap().strip_prefix("Serving on ").map(str::to_owned))
            .unwrap();
        Served {
            process,
            url: NodeUrl::parse(&url).unwrap(),
        }
    }

    /// SIGKILL, as from a power cut that spares the machine.
    fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// A command of the binary over a folder.
fn holdfast(folder: &Path, command: &str) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_holdfast"));
    program
        .args(command.split(' '))
        .arg("--data")
        .arg(folder)
        .args(["--metrics-listen", "127.0.0.1:0"]);
    program.stderr(Stdio::null());
    program
}

/// Has the host of a folder, which does not run, hold a space.
fn carry(folder: &Path, space: &Space) {
    let file = folder.join("space.json");
    std::fs::write(&file, space.as_handed_around().canonical()).unwrap();
    let added = holdfast(folder, "carry add")
        .arg(&file)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(added.success());
}

/// Pushes records until the host dies, and gives what it acknowledged.
async fn write_until_death(
    url: &NodeUrl,
    device: &mut Replica,
    after: impl Fn(&Replica, Did) -> bool,
    host: Served,
) -> Vec<ContentId> {
    let mut connection = Connection::open(url, device, Options::default())
        .await
        .unwrap();
    let node = connection.node();
    let mut written = Vec::new();
    let mut host = Some(host);
    for n in 0..100_000 {
        let version = device
            .create("app.note", body(&format!("{n}")), now())
            .unwrap();
        written.push(version.id());
        let pushed = connection.push(device, &version).await;
        let heard = connection
            .drive(device, Duration::from_millis(1), |_| false)
            .await;
        let is_time = after(device, node);
        if is_time && let Some(host) = host.take() {
            host.kill();
        }
        let is_over = matches!(heard, Err(error) if !matches!(error, member::client::ConnectionError::TimedOut { .. }));
        if is_over || pushed.is_err() {
            break;
        }
    }
    written.retain(|id| device.holdings().is_stored_by(id, &node));
    written
}

/// What a device that held nothing finds at the host.
async fn held_at(url: &NodeUrl, account: &Account, space: &Space) -> Replica {
    let mut device = replica(space, account.new_device(&mut SystemRandomness).unwrap());
    let mut connection = Connection::open(url, &mut device, Options::default())
        .await
        .unwrap();
    connection
        .sync_until_level(&mut device, WAIT)
        .await
        .unwrap();
    connection.close(&mut device).await;
    device
}

async fn kill_again_and_again(due: impl Fn(usize, &Replica, Did) -> bool) {
    let folder = tempfile::tempdir().unwrap();
    let (account, space) = found(Visibility::Private);
    carry(folder.path(), &space);
    let mut acknowledged: Vec<ContentId> = Vec::new();
    for kill in 0..kills() {
        let host = Served::start(folder.path());
        let url = host.url.clone();
        let mut device = replica(&space, account.new_device(&mut SystemRandomness).unwrap());
        let began = std::time::Instant::now();
        let stored = write_until_death(
            &url,
            &mut device,
            |device, node| due(kill, device, node) || began.elapsed() > WAIT,
            host,
        )
        .await;
        acknowledged.extend(stored);

        // Every few kills are enough to look at everything.
        if kill % 4 == 3 || kill + 1 == kills() {
            let host = Served::start(folder.path());
            let found = held_at(&host.url, &account, &space).await;
            for id in &acknowledged {
                assert!(
                    found.holdings().holds(id),
                    "acknowledged and lost after {} kills",
                    kill + 1
                );
            }
            host.kill();
        }
    }
    assert!(
        acknowledged.len() >= kills(),
        "the kills came before anything was acknowledged"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_acknowledged_is_there_after_kills_at_random_points() {
    let draws: Vec<u8> = (0..kills())
        .map(|_| member::randomness::random_bytes::<1>(&mut SystemRandomness).unwrap()[0])
        .collect();
    kill_again_and_again(|kill, device, _| {
        device.holdings().len() > 2 + usize::from(draws[kill]) / 2
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_acknowledged_is_there_after_kills_right_after_a_stored() {
    kill_again_and_again(|kill, device, node| {
        let own = device.device().did();
        device.holdings().len() - device.holdings().unconfirmed(&own).len() > kill % 7
            && node != own
    })
    .await;
}

#[test]
fn a_host_key_is_never_made_anew_beside_data() {
    let folder = tempfile::tempdir().unwrap();
    let (_, space) = found(Visibility::Public);
    carry(folder.path(), &space);
    let served = Served::start(folder.path());
    served.kill();
    std::fs::remove_file(folder.path().join("host.key")).unwrap();
    let again = holdfast(folder.path(), "serve")
        .args(["--listen", "127.0.0.1:0"])
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(!again.success());
    assert!(!folder.path().join("host.key").exists());
}
