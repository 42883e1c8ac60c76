//! Plain HTTP on the host's port, and the upgrades it refuses (04 §3).

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use axum::Router;
use axum::routing::get;
use front::{Rate, TrustedProxy};
use std::time::Duration;
use support::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn closing(request_line: &str) -> Vec<u8> {
    format!("{request_line} HTTP/1.1\r\nHost: host\r\nConnection: close\r\n\r\n").into_bytes()
}

/// Head, in lower case but for its first line, and body.
fn parts(answer: &str) -> (String, String, String) {
    let (head, body) = answer.split_once("\r\n\r\n").expect("a whole head");
    let (line, headers) = head.split_once("\r\n").unwrap_or((head, ""));
    (line.to_owned(), headers.to_lowercase(), body.to_owned())
}

#[tokio::test]
async fn health_says_that_it_serves_and_nothing_else() {
    let host = Host::start(|_| {}).await;
    let (line, headers, body) = parts(&plain(host.address, &closing("GET /health")).await);
    assert_eq!(line, "HTTP/1.1 200 OK");
    assert!(headers.contains("content-type: application/json"));
    assert!(headers.contains("cache-control: no-store"));
    assert_eq!(body, r#"{"ok":true}"#);
    let (line, headers, body) = parts(&plain(host.address, &closing("HEAD /health")).await);
    assert_eq!(line, "HTTP/1.1 200 OK");
    assert!(headers.contains("content-length: 11"));
    assert_eq!(body, "");
    let (line, _, _) = parts(&plain(host.address, &closing("POST /health")).await);
    assert_eq!(line, "HTTP/1.1 405 Method Not Allowed");
    let requests = &host.metrics.http_requests;
    assert_eq!(requests.with_label_values(&["health", "200"]).get(), 2);
}

#[tokio::test]
async fn any_other_plain_request_is_told_to_upgrade() {
    let host = Host::start(|_| {}).await;
    for request in [
        "GET /",
        "GET /peer?space=x",
        "POST /peer",
        "GET /health/",
        "GET /%68ealth",
    ] {
        let (line, headers, body) = parts(&plain(host.address, &closing(request)).await);
        assert_eq!(line, "HTTP/1.1 426 Upgrade Required", "{request}");
        assert!(headers.contains("upgrade: websocket"), "{request}");
        assert!(!body.is_empty() && body.len() < 100, "{request}");
    }
}

#[tokio::test]
async fn an_upgrade_anywhere_else_is_not_found() {
    let host = Host::start(|_| {}).await;
    for target in [
        "/",
        "/peer/",
        "/Peer?space=x",
        "//peer?space=x",
        "/%70eer?space=x",
        "/health",
    ] {
        let answer = plain(host.address, upgrade_request(target).as_bytes()).await;
        let (line, headers, body) = parts(&answer);
        assert_eq!(line, "HTTP/1.1 404 Not Found", "{target}");
        assert!(headers.contains("connection: close"), "{target}");
        assert!(headers.contains("content-length: 0"), "{target}");
        assert_eq!(body, "");
    }
}

#[tokio::test]
async fn an_upgrade_that_is_not_well_formed_is_refused_before_the_101() {
    let host = Host::start(|_| {}).await;
    let good = upgrade_request("/peer?space=x");
    let cases = [
        (
            good.replace("GET", "POST"),
            "HTTP/1.1 405 Method Not Allowed",
        ),
        (
            good.replace("Version: 13", "Version: 8"),
            "HTTP/1.1 426 Upgrade Required",
        ),
        (
            good.replace("Sec-WebSocket-Version: 13\r\n", ""),
            "HTTP/1.1 400 Bad Request",
        ),
        (
            good.replace("Connection: Upgrade\r\n", ""),
            "HTTP/1.1 400 Bad Request",
        ),
        (
            good.replace("dGhlIHNhbXBsZSBub25jZQ==", "dGhl"),
            "HTTP/1.1 400 Bad Request",
        ),
        (
            good.replace("Sec-WebSocket-Key", "Sec-WebSocket-Kez"),
            "HTTP/1.1 400 Bad Request",
        ),
        (
            good.replace("Host: host", "Content-Length: 3"),
            "HTTP/1.1 400 Bad Request",
        ),
    ];
    for (request, expected) in cases {
        let (line, headers, _) = parts(&plain(host.address, request.as_bytes()).await);
        assert_eq!(line, expected, "{request}");
        assert!(headers.contains("sec-websocket-version: 13"), "{request}");
        assert!(headers.contains("connection: close"), "{request}");
        assert!(headers.contains("content-length: 0"), "{request}");
    }
    let garbage = plain(host.address, b"\x16\x03\x01 not http\r\n\r\n").await;
    assert!(garbage.starts_with("HTTP/1.1 400 "), "{garbage}");
}

#[tokio::test]
async fn what_a_client_offers_is_not_agreed_to() {
    let host = Host::start(|_| {}).await;
    let request = upgrade_request("/peer").replace(
        "Host: host",
        "Host: host\r\nOrigin: https://elsewhere\r\nCookie: a=b\r\nAuthorization: Basic eDp5\r\n\
         Sec-WebSocket-Extensions: permessage-deflate\r\nSec-WebSocket-Protocol: chat",
    );
    let mut stream = TcpStream::connect(host.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = vec![0; 4096];
    let read = stream.read(&mut answer).await.unwrap();
    let head = String::from_utf8_lossy(&answer[..read]).to_lowercase();
    assert!(head.starts_with("http/1.1 101"), "{head}");
    assert!(!head.contains("sec-websocket-extensions"), "{head}");
    assert!(!head.contains("sec-websocket-protocol"), "{head}");
}

#[tokio::test]
async fn a_target_or_headers_over_the_limit_are_refused() {
    let host = Host::start(|_| {}).await;
    let fits = format!("/peer?space={}", "x".repeat(2048 - 12));
    assert_eq!(fits.len(), 2048);
    let mut client = Client::upgrade(host.address, &fits).await;
    client.challenge().await;
    let answer = plain(
        host.address,
        upgrade_request(&format!("{fits}x")).as_bytes(),
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 414 "), "{answer}");
    for size in [16_300, 17_000, 40_000] {
        let filler = format!("Host: host\r\nX-Filler: {}", "y".repeat(size));
        let request = upgrade_request("/peer").replace("Host: host", &filler);
        let answer = plain(host.address, request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 431 "), "{size}: {answer}");
    }
}

#[tokio::test]
async fn headers_that_do_not_come_in_time_are_answered_408() {
    let host = Host::start(|config| config.waits.headers = Duration::from_millis(200)).await;
    let mut stream = TcpStream::connect(host.address).await.unwrap();
    stream
        .write_all(b"GET /health HTTP/1.1\r\nX-Slow: ")
        .await
        .unwrap();
    let answer = read_to_end(&mut stream).await;
    let (line, headers, body) = parts(&answer);
    assert_eq!(line, "HTTP/1.1 408 Request Timeout");
    assert!(headers.contains("connection: close"));
    assert_eq!(body, "");
    // A connection that had its answer and idles is just closed.
    let mut stream = TcpStream::connect(host.address).await.unwrap();
    stream
        .write_all(b"GET /health HTTP/1.1\r\nHost: host\r\n\r\n")
        .await
        .unwrap();
    let answer = read_to_end(&mut stream).await;
    assert!(
        answer.starts_with("HTTP/1.1 200 ") && !answer.contains("408"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_full_node_says_so_and_when_to_come_back() {
    let mut host = Host::start(|config| config.limits.sockets = 1).await;
    let (_client, _) = host.admitted(2).await;
    let answer = plain(host.address, upgrade_request("/peer?space=x").as_bytes()).await;
    let (line, headers, _) = parts(&answer);
    assert_eq!(line, "HTTP/1.1 503 Node full");
    assert!(headers.contains("retry-after: 30"));
    assert!(headers.contains("connection: close"));
    assert!(headers.contains("content-length: 0"));
    assert_eq!(host.limited("sockets"), 1);
}

#[tokio::test]
async fn an_address_over_its_limits_is_told_and_another_is_not() {
    let host = Host::start(|config| {
        config.limits.unadmitted_per_address = 1;
        config.trusted_proxy = Some(TrustedProxy {
            addresses: vec!["127.0.0.1".parse().unwrap()],
            header: http::HeaderName::from_static("x-forwarded-for"),
        });
    })
    .await;
    let from = |address: &str| {
        let line = format!("Host: host\r\nX-Forwarded-For: 203.0.113.1, {address}");
        upgrade_request("/peer?space=x").replace("Host: host", &line)
    };
    let mut first = TcpStream::connect(host.address).await.unwrap();
    first.write_all(from("192.0.2.1").as_bytes()).await.unwrap();
    let mut byte = [0];
    first.read_exact(&mut byte).await.unwrap();
    let answer = plain(host.address, from("192.0.2.1").as_bytes()).await;
    let (line, headers, _) = parts(&answer);
    assert_eq!(line, "HTTP/1.1 429 Too many connections");
    assert!(headers.contains("retry-after: 30"));
    let mut other = TcpStream::connect(host.address).await.unwrap();
    other.write_all(from("192.0.2.2").as_bytes()).await.unwrap();
    let mut head = [0; 12];
    other.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 101");
}

#[tokio::test]
async fn new_sockets_of_one_address_come_at_a_rate() {
    let host = Host::start(|config| {
        config.limits.new_per_address = Rate {
            per_second: 0,
            burst: 2,
        };
    })
    .await;
    for _ in 0..2 {
        drop(host.dial("x").await);
    }
    let answer = plain(host.address, upgrade_request("/peer?space=x").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 429 "), "{answer}");
    assert_eq!(host.limited("new_per_address"), 1);
}

#[tokio::test]
async fn connections_that_only_speak_http_are_bounded_too() {
    let host = Host::start(|config| config.limits.http_connections = 1).await;
    let mut idle = TcpStream::connect(host.address).await.unwrap();
    // Answered, so it was accepted; kept alive, so it still counts.
    idle.write_all(b"GET /health HTTP/1.1\r\nHost: host\r\n\r\n")
        .await
        .unwrap();
    let mut byte = [0];
    idle.read_exact(&mut byte).await.unwrap();
    let mut over = TcpStream::connect(host.address).await.unwrap();
    let _ = over
        .write_all(b"GET /health HTTP/1.1\r\nHost: host\r\n\r\n")
        .await;
    let mut answer = Vec::new();
    let _ = over.read_to_end(&mut answer).await;
    assert_eq!(answer, b"");
    assert_eq!(host.limited("http_connections"), 1);
}

#[tokio::test]
async fn connections_that_only_speak_http_are_bounded_by_address_but_not_the_proxys() {
    for is_proxy in [false, true] {
        let host = Host::start(|config| {
            config.limits.http_connections_per_address = 0;
            config.trusted_proxy = is_proxy.then(|| TrustedProxy {
                addresses: vec!["127.0.0.1".parse().unwrap()],
                header: http::HeaderName::from_static("x-forwarded-for"),
            });
        })
        .await;
        let mut stream = TcpStream::connect(host.address).await.unwrap();
        let _ = stream.write_all(&closing("GET /health")).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert_eq!(!answer.is_empty(), is_proxy);
        let dropped = u64::from(!is_proxy);
        assert_eq!(host.limited("http_connections_per_address"), dropped);
    }
}

#[tokio::test]
async fn a_client_that_does_not_read_its_answer_is_ended() {
    let host = Host::start(|config| {
        config.waits.http = Duration::from_millis(200);
        let route = get(|| async { vec![b'x'; 32 << 20] });
        config.extra_routes = Some(Router::new().route("/large", route));
        config.limits.http_connections = 1;
    })
    .await;
    let mut deaf = TcpStream::connect(host.address).await.unwrap();
    deaf.write_all(&closing("GET /large")).await.unwrap();
    deaf.readable().await.unwrap();
    // Its place comes free, though it never read.
    loop {
        let mut stream = TcpStream::connect(host.address).await.unwrap();
        let _ = stream.write_all(&closing("GET /health")).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        if !answer.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(deaf);
}

#[tokio::test]
async fn other_routes_can_be_served_beside() {
    let host = Host::start(|config| {
        let route = get(|| async { "described" });
        config.extra_routes = Some(Router::new().route("/.well-known/minca-host", route));
    })
    .await;
    let answer = plain(host.address, &closing("GET /.well-known/minca-host")).await;
    assert!(answer.ends_with("described"), "{answer}");
    let answer = plain(host.address, &closing("GET /elsewhere")).await;
    assert!(answer.starts_with("HTTP/1.1 426 "), "{answer}");
}
