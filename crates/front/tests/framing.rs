//! The WebSocket after admission, byte by byte (04 §4, RFC 6455).

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use link::{OUTBOUND_WINDOW, ToFront, ToWorker, Window};
use std::collections::VecDeque;
use support::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// 04 §7.1.
const MAX_MESSAGE: usize = 16_777_216;

#[tokio::test]
async fn binary_messages_go_both_ways_and_the_worker_hears_what_was_taken() {
    let mut host = Host::start(|_| {}).await;
    let (mut client, connection) = host.admitted(2).await;
    client.send(FIN | BINARY, b"to the host").await;
    assert_eq!(host.worker.message().await, "to the host");
    for size in [0, 1, 125, 126, 65_535, 65_536, 3_000_000] {
        let message = vec![size as u8; size];
        host.worker.sends(connection, message.clone()).await;
        assert_eq!(client.read_binary().await, message);
        if size > 0 {
            let room = host
                .worker
                .hears_of(|message| match message {
                    ToWorker::Room { bytes, .. } => Some(*bytes),
                    _ => None,
                })
                .await;
            assert_eq!(room as usize, size);
        }
    }
    assert_eq!(host.metrics.sync_bytes.with_label_values(&["in"]).get(), 11);
}

#[tokio::test]
async fn text_after_the_handshake_is_ignored_and_counted() {
    let mut host = Host::start(|_| {}).await;
    let (mut client, _) = host.admitted(2).await;
    client.send(FIN | TEXT, "grüße".as_bytes()).await;
    client
        .send(TEXT, "gr\u{fc}".as_bytes().split_last().unwrap().1)
        .await;
    client.send(FIN, &["ü".as_bytes()[1]]).await;
    client.send(FIN | BINARY, b"data").await;
    assert_eq!(host.worker.message().await, "data");
    assert_eq!(host.metrics.messages.with_label_values(&["text"]).get(), 2);
}

#[tokio::test]
async fn a_ping_is_answered_with_what_it_carried() {
    let mut host = Host::start(|_| {}).await;
    let (mut client, _) = host.admitted(2).await;
    client.send(FIN | PING, &[9; 125]).await;
    assert_eq!(client.read_frame().await, Some((FIN | PONG, vec![9; 125])));
}

#[tokio::test]
async fn one_message_in_4096_fragments_with_pings_between_is_one_message() {
    let mut host = Host::start(|config| config.limits.read_messages.burst = 5000).await;
    let (mut client, _) = host.admitted(2).await;
    let mut bytes = frame(BINARY, &[0]);
    for n in 1..4095u32 {
        bytes.extend(frame(0, &[n as u8]));
        if n % 1000 == 0 {
            bytes.extend(frame(FIN | PING, b"between"));
        }
    }
    bytes.extend(frame(FIN, &[255]));
    client.send_raw(&bytes).await;
    let message = host.worker.message().await;
    let expected: Vec<u8> = (0..4096u32).map(|n| n as u8).collect();
    assert_eq!(message, expected);
}

#[tokio::test]
async fn bytes_that_come_one_by_one_make_the_same_message() {
    let mut host = Host::start(|_| {}).await;
    let (mut client, _) = host.admitted(2).await;
    client.stream.set_nodelay(true).unwrap();
    let mut bytes = frame(BINARY, b"slow");
    bytes.extend(frame(FIN, b" and steady"));
    for byte in bytes {
        client.send_raw(&[byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(host.worker.message().await, "slow and steady");
}

#[tokio::test]
async fn sixteen_mib_are_taken() {
    let mut host = Host::start(|_| {}).await;
    let (mut client, _) = host.admitted(2).await;
    let message = vec![5; MAX_MESSAGE];
    client.send(FIN | BINARY, &message).await;
    assert!(host.worker.message().await == message);
}

#[tokio::test]
async fn one_byte_over_sixteen_mib_is_refused_before_it_is_kept() {
    let mut host = Host::start(|_| {}).await;
    // As one frame: its header is enough.
    let (mut client, _) = host.admitted(2).await;
    client
        .send_raw(&frame_head(FIN | BINARY, MAX_MESSAGE as u64 + 1))
        .await;
    assert_eq!(client.closed().await, Some(1009));
    // As fragments: the sum counts, when the header that goes over comes.
    let (mut client, _) = host.admitted(3).await;
    client.send(BINARY, &vec![0; MAX_MESSAGE]).await;
    client.send_raw(&frame_head(0, 1)).await;
    assert_eq!(client.closed().await, Some(1009));
    // A length no memory could hold.
    let (mut client, _) = host.admitted(4).await;
    client.send_raw(&frame_head(FIN | BINARY, u64::MAX)).await;
    assert_eq!(client.closed().await, Some(1009));
}

#[tokio::test]
async fn broken_framing_closes_1002() {
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("rsv1", frame(FIN | 0x40 | BINARY, b"x")),
        ("rsv2", frame(FIN | 0x20 | BINARY, b"x")),
        ("rsv3 on a control frame", frame(FIN | 0x10 | PING, b"x")),
        ("unmasked", vec![FIN | BINARY, 1, b'x']),
        ("a reserved data opcode", frame(FIN | 3, b"x")),
        ("a reserved control opcode", frame(FIN | 11, b"x")),
        ("a fragmented control frame", frame(PING, b"x")),
        ("a long control frame", frame(FIN | PING, &[0; 126])),
        ("a continuation of nothing", frame(FIN, b"x")),
        (
            "a message within a message",
            [frame(BINARY, b"x"), frame(FIN | BINARY, b"y")].concat(),
        ),
        ("a close of one byte", frame(FIN | CLOSE, b"x")),
        (
            "a close with no code of anyone's",
            frame(FIN | CLOSE, &999u16.to_be_bytes()),
        ),
        (
            "a close with a code not to be sent",
            frame(FIN | CLOSE, &1006u16.to_be_bytes()),
        ),
    ];
    let mut host = Host::start(|_| {}).await;
    for (session, (why, bytes)) in cases.into_iter().enumerate() {
        let (mut client, _) = host.admitted(session as u8 + 2).await;
        client.send_raw(&bytes).await;
        assert_eq!(client.closed().await, Some(1002), "{why}");
    }
}

#[tokio::test]
async fn broken_framing_closes_1002_before_admission_too() {
    let host = Host::start(|_| {}).await;
    let mut client = host.dial(&public_space().to_string()).await;
    client.challenge().await;
    client.send_raw(&[FIN | TEXT, 1, b'x']).await;
    assert_eq!(client.closed().await, Some(1002));
    assert_eq!(host.handshakes("framing"), 1);
}

#[tokio::test]
async fn text_that_is_not_utf8_closes_1007() {
    let mut host = Host::start(|_| {}).await;
    let cases: [Vec<u8>; 3] = [
        frame(FIN | TEXT, &[0xff]),
        [frame(TEXT, &[0xc3]), frame(FIN, b"x")].concat(),
        frame(FIN | CLOSE, &[3, 232, 0xff]),
    ];
    for (session, bytes) in cases.into_iter().enumerate() {
        let (mut client, _) = host.admitted(session as u8 + 2).await;
        client.send_raw(&bytes).await;
        assert_eq!(client.closed().await, Some(1007));
    }
}

#[tokio::test]
async fn a_peers_close_is_answered_with_its_code_and_the_worker_hears() {
    let mut host = Host::start(|_| {}).await;
    let (mut client, connection) = host.admitted(2).await;
    client
        .send(FIN | CLOSE, &[&1000u16.to_be_bytes()[..], b"bye"].concat())
        .await;
    let answer = client.read_message().await;
    assert_eq!(answer, Some((CLOSE, 1000u16.to_be_bytes().to_vec())));
    assert_eq!(client.read_frame().await, None);
    assert_eq!(host.worker.gone().await, connection);
    let (mut client, _) = host.admitted(3).await;
    client.send(FIN | CLOSE, &[]).await;
    assert_eq!(client.read_message().await, Some((CLOSE, vec![])));
}

#[tokio::test]
async fn a_close_goes_out_after_what_was_sent_before_it() {
    let mut host = Host::start(|_| {}).await;
    let (mut client, connection) = host.admitted(2).await;
    let message = vec![1; 5_000_000];
    host.worker.sends(connection, message.clone()).await;
    host.worker.sends(connection, "last words").await;
    host.worker.closes(connection, 4003).await;
    host.worker.sends(connection, "too late").await;
    // What the peer still sends is thrown away, so that the close arrives.
    client.try_send(FIN | BINARY, &vec![0; 200_000]).await;
    assert!(client.read_binary().await == message);
    assert_eq!(client.read_binary().await, b"last words");
    assert_eq!(client.closed().await, Some(4003));
    assert_eq!(host.worker.gone().await, connection);
}

/// Sizes all over the range, always the same ones.
fn sizes(count: u64) -> impl Iterator<Item = usize> {
    (1..=count).map(|n| {
        let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        // Most are small, some are many times the window of reads and writes.
        (mixed % (1 << (mixed % 21))) as usize
    })
}

#[tokio::test]
async fn a_worker_that_echoes_gives_every_message_back_in_order() {
    const MESSAGES: u64 = 400;
    let mut host = Host::start(|config| config.limits.read_messages.burst = 1000).await;
    let (client, connection) = host.admitted(2).await;
    let (mut client, mut writer) = client.writer();
    let writing = tokio::spawn(async move {
        for (n, size) in sizes(MESSAGES).enumerate() {
            let message = vec![n as u8; size];
            let (first, rest) = message.split_at(size / 3);
            let frames = [frame(BINARY, first), frame(FIN, rest)].concat();
            writer.write_all(&frames).await.unwrap();
        }
        writer
    });
    let mut worker = host.worker;
    let echoing = tokio::spawn(async move {
        let mut window = Window::new(OUTBOUND_WINDOW);
        let mut waiting = VecDeque::new();
        let mut echoed = 0;
        while echoed < MESSAGES {
            match worker.hears().await {
                ToWorker::Message { bytes, .. } => waiting.push_back(bytes),
                ToWorker::Room { bytes, .. } => window.returned(bytes as usize),
                _ => {}
            }
            while let Some(bytes) = waiting.pop_front_if(|bytes| window.may_send(bytes.len())) {
                window.sent(bytes.len());
                let message = ToFront::Send { connection, bytes };
                worker.says.send(message).await.unwrap();
                echoed += 1;
            }
        }
        worker
    });
    for (n, size) in sizes(MESSAGES).enumerate() {
        assert!(
            client.read_binary().await == vec![n as u8; size],
            "message {n}"
        );
    }
    writing.await.unwrap();
    echoing.await.unwrap();
}

#[tokio::test]
async fn what_comes_with_the_request_itself_is_not_lost() {
    let host = Host::start(|_| {}).await;
    let mut stream = TcpStream::connect(host.address).await.unwrap();
    let mut request = upgrade_request("/peer?space=x").into_bytes();
    request.extend(frame(FIN | PING, b"with the request"));
    stream.write_all(&request).await.unwrap();
    let mut came = Vec::new();
    let pong = [&[FIN | PONG, 16][..], b"with the request"].concat();
    while !came.windows(pong.len()).any(|window| window == pong) {
        let mut chunk = [0; 1024];
        let read = stream.read(&mut chunk).await.unwrap();
        assert_ne!(read, 0, "the connection ended early");
        came.extend_from_slice(&chunk[..read]);
    }
}
