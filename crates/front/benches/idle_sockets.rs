//! What an idle admitted socket costs a front-end, in resident memory: at most 25 KiB.
//!
//! `cargo bench -p front --bench idle_sockets [SOCKETS]`. The clients are another process
//! of this program, so that what is measured is the front-end's alone.

#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::process::Stdio;
use std::time::Duration;
use support::{BINARY, Client, FIN, Host, public_space};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

const BAR_KIB: f64 = 25.0;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1).filter(|text| text != "--bench");
    match arguments.next().as_deref() {
        Some("clients") => {
            let address = arguments.next().unwrap().parse().unwrap();
            hold_clients(address, arguments.next().unwrap().parse().unwrap()).await;
        }
        sockets => measure(sockets.map_or(2000, |text| text.parse().unwrap())).await,
    }
}

async fn measure(sockets: usize) {
    let mut host = Host::start(|config| {
        let limits = &mut config.limits;
        limits.sockets_per_address = usize::MAX;
        limits.http_connections_per_address = usize::MAX;
        limits.new_per_address.burst = u32::MAX;
    })
    .await;
    let (_, nothing) = tokio::sync::mpsc::channel(1);
    let mut heard = std::mem::replace(&mut host.worker.heard, nothing);
    tokio::spawn(async move { while heard.recv().await.is_some() {} });
    // Threads and caches are there before it counts.
    drop(clients(&host, 50).await);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = resident_kib();
    let held = clients(&host, sockets).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(host.sockets("open") as usize, sockets);
    let each = (resident_kib() - before) / sockets as f64;
    drop(held);
    println!("idle admitted socket: {each:.1} KiB of {sockets} sockets (bar {BAR_KIB} KiB)");
    assert!(each <= BAR_KIB, "over the bar");
}

/// Another process with this many sockets admitted and idle, each after a message.
async fn clients(host: &Host, sockets: usize) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["clients", &host.address.to_string(), &sockets.to_string()])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("ready"));
    child
}

async fn hold_clients(address: std::net::SocketAddr, sockets: usize) {
    let space = public_space();
    let mut held = Vec::new();
    for n in 0..sockets {
        let mut client = Client::upgrade(address, &format!("/peer?space={space}")).await;
        client.log_in(&space, (n % 200) as u8 + 2, None).await;
        client.send(FIN | BINARY, &[7; 10_000]).await;
        held.push(client);
    }
    println!("ready");
    std::future::pending::<()>().await;
}

/// Resident memory of this process.
fn resident_kib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    kib.unwrap().parse().unwrap()
}
