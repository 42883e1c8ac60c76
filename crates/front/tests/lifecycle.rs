//! Shutting down, and the link going (04 §7.4).

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::time::Duration;
use support::*;
use tokio::net::TcpStream;
use tokio::time::timeout;

#[tokio::test]
async fn shutting_down_closes_every_socket_1001_after_what_waits() {
    let mut host = Host::start(|_| {}).await;
    let (mut admitted, connection) = host.admitted(2).await;
    let mut unadmitted = host.dial(&public_space().to_string()).await;
    unadmitted.challenge().await;
    let idle = TcpStream::connect(host.address).await.unwrap();
    host.worker.sends(connection, vec![1; 2_000_000]).await;
    host.worker.sends(connection, "stored").await;
    // Both have come: the first byte of the first is there.
    admitted.stream.readable().await.unwrap();
    let shutdown = tokio::spawn(host.handle.shutdown());
    assert_eq!(admitted.read_binary().await.len(), 2_000_000);
    assert_eq!(admitted.closed_after(b"stored").await, Some(1001));
    assert_eq!(unadmitted.closed().await, Some(1001));
    assert_eq!(host.worker.gone().await, connection);
    drop(idle);
    timeout(PATIENCE, shutdown).await.unwrap().unwrap();
    // The link is down, and nobody listens any more.
    assert_eq!(
        timeout(PATIENCE, host.worker.heard.recv()).await.unwrap(),
        None
    );
    assert!(TcpStream::connect(host.address).await.is_err());
}

#[tokio::test]
async fn while_shutting_down_health_says_so_and_no_upgrade_is_taken() {
    let mut host = Host::start(|config| config.waits.close = Duration::from_secs(10)).await;
    // A socket that doesn't answer its close yet keeps the rest waiting.
    let (mut deaf, _) = host.admitted(2).await;
    let shutdown = tokio::spawn(host.handle.shutdown());
    let (first, close) = deaf.read_frame().await.unwrap();
    assert_eq!(first, FIN | CLOSE);
    let health = b"GET /health HTTP/1.1\r\nHost: host\r\nConnection: close\r\n\r\n";
    let answer = plain(host.address, health).await;
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(answer.ends_with(r#"{"ok":false}"#), "{answer}");
    let answer = plain(host.address, upgrade_request("/peer?space=x").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 503 Node full"), "{answer}");
    deaf.send(FIN | CLOSE, &close).await;
    timeout(PATIENCE, shutdown).await.unwrap().unwrap();
}

#[tokio::test]
async fn what_does_not_end_in_time_is_ended() {
    let mut host = Host::start(|config| {
        config.waits.drain = Duration::from_millis(200);
        config.waits.close = Duration::from_secs(3600);
        config.waits.stalled = Duration::from_secs(3600);
    })
    .await;
    let (deaf, connection) = host.admitted(2).await;
    for _ in 0..8 {
        host.worker.sends(connection, vec![0; 1 << 20]).await;
    }
    timeout(PATIENCE, host.handle.shutdown()).await.unwrap();
    assert_eq!(host.worker.gone().await, connection);
    drop(deaf);
}

#[tokio::test]
async fn when_the_link_drops_every_socket_is_closed_and_none_is_taken() {
    let mut host = Host::start(|_| {}).await;
    let (mut admitted, _) = host.admitted(2).await;
    let mut unadmitted = host.dial(&public_space().to_string()).await;
    unadmitted.challenge().await;
    host.worker.dies();
    assert_eq!(admitted.closed().await, Some(1011));
    // No proof was given here, so it is the refusal like any.
    assert_eq!(unadmitted.closed().await, Some(4003));
    assert!(host.handle.is_cut_off());
    let answer = plain(host.address, upgrade_request("/peer?space=x").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    timeout(PATIENCE, host.handle.shutdown()).await.unwrap();
}

#[tokio::test]
async fn a_front_end_that_is_dropped_leaves_nothing_open() {
    let mut host = Host::start(|_| {}).await;
    let (mut client, _) = host.admitted(2).await;
    drop(host.handle);
    assert_eq!(client.read_frame().await, None);
}
