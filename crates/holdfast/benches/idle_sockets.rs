//! What an idle admitted socket costs a whole host, all in: at most 25 KiB of
//! resident memory, at 2,000 sockets over 20 spaces.
//!
//! `cargo bench -p holdfast --bench idle_sockets [SOCKETS]`. The host is the binary
//! in a process of its own; the devices are here.

#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used)]

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use member::clock::UnixTime;
use member::identity::Account;
use member::randomness::{SystemRandomness, random_bytes};
use member::raw::{RawHello, RawSocket, Upgrade};
use member::space::Space;
use minca_record::constitution::Visibility;
use minca_record::url::NodeUrl;
use minca_sync::handshake::Nonce;

const BAR_KIB: f64 = 25.0;
const SPACES: usize = 20;
const WAIT: Duration = Duration::from_secs(20);

#[tokio::main]
async fn main() {
    let count = std::env::args().skip(1).find(|text| text != "--bench");
    let sockets: usize = count.map_or(2_000, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let founder = Account::new(&mut SystemRandomness).unwrap();
    let spaces: Vec<String> = (0..SPACES)
        .map(|_| hold_a_space(folder.path(), &founder))
        .collect();
    let (mut host, address) = serve(folder.path());

    // Threads, caches and open spaces are there before it counts.
    let warm = admit(address, &founder, &spaces, SPACES).await;
    settle().await;
    let before = resident_kib(&host);
    let held = admit(address, &founder, &spaces, sockets).await;
    settle().await;
    let each = (resident_kib(&host) - before) / sockets as f64;
    println!(
        "idle admitted socket, whole host: {each:.1} KiB of {sockets} sockets (bar {BAR_KIB} KiB, {:.2} of it)",
        each / BAR_KIB
    );
    drop((warm, held));
    host.kill().unwrap();
    host.wait().unwrap();
    assert!(each <= BAR_KIB, "over the bar");
}

fn holdfast(folder: &Path, command: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_holdfast"));
    program
        .args(command)
        .arg("--data")
        .arg(folder)
        .args(["--metrics-listen", "127.0.0.1:0"]);
    program
}

fn hold_a_space(folder: &Path, founder: &Account) -> String {
    let did = founder.did().to_string();
    let space = Space::found(
        "Idle",
        Visibility::Public,
        &did,
        UnixTime::now(),
        &mut SystemRandomness,
    )
    .unwrap();
    let file = folder.join("space.json");
    std::fs::write(&file, space.as_handed_around().canonical()).unwrap();
    let added = holdfast(folder, &["carry", "add"])
        .arg(&file)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(added.success());
    space.id().to_string()
}

fn serve(folder: &Path) -> (Child, SocketAddr) {
    let mut host = holdfast(
        folder,
        &["serve", "--listen", "127.0.0.1:0", "--log-filter", "warn"],
    )
    .args([
        "--limits-sockets-per-address",
        "100000",
        "--limits-new-per-address-burst",
        "100000",
    ])
    .stdout(Stdio::piped())
    .spawn()
    .unwrap();
    let mut lines = BufReader::new(host.stdout.take().unwrap()).lines();
    let url = lines
        .find_map(|line| line.unwrap().strip_prefix("Serving on ").map(str::to_owned))
        .unwrap();
    let address = NodeUrl::parse(&url).unwrap().address().to_owned();
    let address = address
        .trim_start_matches("ws://")
        .trim_end_matches("/peer")
        .parse()
        .unwrap();
    (host, address)
}

/// Sockets of devices of their own, admitted and greeted.
async fn admit(
    address: SocketAddr,
    account: &Account,
    spaces: &[String],
    count: usize,
) -> Vec<RawSocket> {
    let mut held = Vec::with_capacity(count);
    for n in 0..count {
        let space = &spaces[n % spaces.len()];
        let device = account.new_device(&mut SystemRandomness).unwrap();
        let nonce = Nonce(random_bytes(&mut SystemRandomness).unwrap());
        let mut socket = RawSocket::open(address, &Upgrade::for_space(space), WAIT)
            .await
            .unwrap();
        let entered = socket.enter(WAIT, |it| {
            RawHello::new(space, &it.node, &it.nonce, device.key(), &nonce)
        });
        entered.await.unwrap();
        held.push(socket);
    }
    held
}

async fn settle() {
    tokio::time::sleep(Duration::from_secs(2)).await;
}

/// Resident memory of a process.
fn resident_kib(process: &Child) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    kib.unwrap().parse().unwrap()
}
