//! The operator's port: metrics, live, ready.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use holdfast::metrics_server::{MetricsServer, NotReady};
use prometheus::{IntCounter, Registry};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

async fn get(address: SocketAddr, path: &str) -> (u16, String, String) {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_ascii_lowercase(), body.to_owned())
}

#[tokio::test]
async fn it_tells_metrics_and_health_until_it_is_stopped() {
    let registry = Registry::new();
    let counter = IntCounter::new("minca_host_versions_total", "Versions").unwrap();
    registry.register(Box::new(counter.clone())).unwrap();
    counter.inc_by(3);

    let is_ready = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&is_ready);
    let ready = Arc::new(move || match seen.load(Ordering::SeqCst) {
        true => Ok(()),
        false => Err(NotReady("the database does not answer".to_owned())),
    });

    let server = MetricsServer::bind("127.0.0.1:0".parse().unwrap())
        .await
        .unwrap();
    let address = server.local_address().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve(registry, ready, axum::Router::new(), async {
        drop(stopped.await)
    }));

    let (status, head, body) = get(address, "/metrics").await;
    assert_eq!(status, 200);
    assert!(
        head.contains("content-type: text/plain; version=0.0.4"),
        "{head}"
    );
    assert!(body.contains("\nminca_host_versions_total 3\n"), "{body}");
    counter.inc();
    assert!(
        get(address, "/metrics")
            .await
            .2
            .contains("\nminca_host_versions_total 4\n")
    );

    assert_eq!(get(address, "/live").await.0, 200);
    let (status, _, body) = get(address, "/ready").await;
    assert_eq!(
        (status, body.as_str()),
        (503, "the database does not answer\n")
    );
    is_ready.store(true, Ordering::SeqCst);
    assert_eq!(get(address, "/ready").await.0, 200);
    assert_eq!(get(address, "/peer").await.0, 404);

    stop.send(()).unwrap();
    serving.await.unwrap().unwrap();
    TcpStream::connect(address).await.unwrap_err();
}

#[tokio::test]
async fn a_request_that_never_ends_does_not_hold_the_stop_up() {
    let server = MetricsServer::bind("127.0.0.1:0".parse().unwrap())
        .await
        .unwrap();
    let address = server.local_address().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let ready = Arc::new(|| Ok(()));
    let registry = Registry::new();
    let serving = tokio::spawn(server.serve(registry, ready, axum::Router::new(), async {
        drop(stopped.await)
    }));
    let mut socket = TcpStream::connect(address).await.unwrap();
    socket.write_all(b"GET /live HTTP/1.1\r\nho").await.unwrap();
    // By the time of this answer the other connection is served too.
    assert_eq!(get(address, "/live").await.0, 200);

    stop.send(()).unwrap();
    serving.await.unwrap().unwrap();
    drop(socket);
}

#[tokio::test]
async fn a_port_that_is_taken_is_an_error() {
    let first = MetricsServer::bind("127.0.0.1:0".parse().unwrap())
        .await
        .unwrap();
    MetricsServer::bind(first.local_address().unwrap())
        .await
        .unwrap_err();
}
