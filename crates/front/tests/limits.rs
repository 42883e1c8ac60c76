//! What one side may cost the other (04 §7).

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use front::Rate;
use link::{INBOUND_WINDOW, ToFront, ToWorker};
use std::time::Duration;
use support::*;
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

/// Long enough for what must not happen to happen on a slow machine, too.
const A_WHILE: Duration = Duration::from_millis(300);

#[tokio::test]
async fn a_silent_peer_is_pinged_and_ended_without_a_close() {
    let mut host = Host::start(|config| config.waits.ping = Duration::from_millis(100)).await;
    let (mut client, connection) = host.admitted(2).await;
    let mut pings = 0;
    while let Some((first, payload)) = client.read_frame().await {
        assert_eq!((first, payload), (FIN | PING, vec![]));
        pings += 1;
    }
    assert_eq!(pings, 2);
    assert_eq!(host.worker.gone().await, connection);
    assert_eq!(host.metrics.closes.with_label_values(&["ended"]).get(), 1);
}

#[tokio::test]
async fn a_long_frame_that_trickles_in_is_a_sign_of_life() {
    let mut host = Host::start(|config| config.waits.ping = Duration::from_millis(500)).await;
    let (mut client, _) = host.admitted(2).await;
    let message = vec![3; 80];
    for part in frame(FIN | BINARY, &message).chunks(4) {
        client.send_raw(part).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(host.worker.message().await, message);
}

#[tokio::test]
async fn a_message_that_takes_too_long_to_arrive_ends_the_connection() {
    let mut host = Host::start(|config| config.waits.arrival = A_WHILE).await;
    let (mut client, connection) = host.admitted(2).await;
    client.send_raw(&frame_head(FIN | BINARY, 1000)).await;
    let trickle = tokio::spawn(async move {
        // A byte now and then, and pings between, help nothing.
        while client.stream.write_all(&[0]).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    assert_eq!(host.worker.gone().await, connection);
    timeout(PATIENCE, trickle).await.unwrap().unwrap();
    // One that is whole in time starts a new clock.
    let (mut client, _) = host.admitted(3).await;
    for _ in 0..5 {
        client.send(FIN | BINARY, b"in time").await;
        assert_eq!(host.worker.message().await, "in time");
        tokio::time::sleep(A_WHILE / 3).await;
    }
}

#[tokio::test]
async fn a_peer_that_never_reads_is_ended_and_costs_at_most_its_window() {
    let mut host = Host::start(|config| config.waits.stalled = A_WHILE).await;
    let (client, connection) = host.admitted(2).await;
    for _ in 0..8 {
        host.worker.sends(connection, vec![0; 1 << 20]).await;
    }
    // The system takes some of it; then nothing moves any more.
    assert_eq!(host.worker.gone().await, connection);
    assert_eq!(host.metrics.message_memory.get(), 0);
    drop(client);
}

#[tokio::test]
async fn a_peer_that_never_reads_does_not_hold_up_another() {
    let mut host = Host::start(|_| {}).await;
    let (_deaf, first) = host.admitted(2).await;
    let (mut client, second) = host.admitted(3).await;
    for _ in 0..8 {
        host.worker.sends(first, vec![0; 1 << 20]).await;
        host.worker.sends(second, "over here").await;
    }
    for _ in 0..8 {
        assert_eq!(client.read_binary().await, b"over here");
    }
}

#[tokio::test]
async fn a_worker_that_sends_beyond_the_window_loses_the_connection() {
    let mut host = Host::start(|_| {}).await;
    let (mut client, connection) = host.admitted(2).await;
    for _ in 0..3 {
        host.worker.sends(connection, vec![0; 16 << 20]).await;
    }
    // The client takes nothing until the host has had enough.
    let closed = host.metrics.closes.with_label_values(&["1011"]);
    while closed.get() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // The message begun is finished; the others are not.
    assert_eq!(client.read_binary().await.len(), 16 << 20);
    assert_eq!(client.closed().await, Some(1011));
}

#[tokio::test]
async fn a_worker_without_room_is_a_socket_not_read() {
    let habits = Habits {
        gives_room: false,
        ..Habits::default()
    };
    let mut host = Host::with(|_| {}, habits).await;
    let (client, connection) = host.admitted(2).await;
    let size = 300_000;
    let writing = tokio::spawn(async move {
        let mut client = client;
        for n in 0..40u8 {
            client.send(FIN | BINARY, &vec![n; size]).await;
        }
        client
    });
    // Three fit the window; the fourth does not.
    for n in 0..3 {
        assert_eq!(host.worker.message().await[0], n);
    }
    assert!(3 * size <= INBOUND_WINDOW && 4 * size > INBOUND_WINDOW);
    assert!(timeout(A_WHILE, host.worker.heard.recv()).await.is_err());
    assert!(!writing.is_finished());
    // What is in memory is the window and one message read ahead.
    while host.metrics.message_memory.get() != 4 * size as i64 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    for n in 3..40 {
        let bytes = size as u32;
        let room = ToFront::Room { connection, bytes };
        host.worker.says.send(room).await.unwrap();
        assert_eq!(host.worker.message().await[0], n);
    }
    timeout(PATIENCE, writing).await.unwrap().unwrap();
}

#[tokio::test]
async fn what_the_host_holds_up_is_not_the_peers_silence() {
    let habits = Habits {
        gives_room: false,
        ..Habits::default()
    };
    let mut host = Host::with(
        |config| {
            config.waits.ping = Duration::from_millis(400);
            config.waits.arrival = Duration::from_millis(600);
        },
        habits,
    )
    .await;
    let (mut client, connection) = host.admitted(2).await;
    client.send(FIN | BINARY, &vec![1; INBOUND_WINDOW]).await;
    client.send(FIN | BINARY, b"waits for room").await;
    client.send_raw(&frame(FIN | BINARY, b"half")[..7]).await;
    assert_eq!(host.worker.message().await.len(), INBOUND_WINDOW);
    // Far more than its times, in which it says nothing, and is not read.
    tokio::time::sleep(Duration::from_millis(2000)).await;
    let bytes = INBOUND_WINDOW as u32;
    let room = ToFront::Room { connection, bytes };
    host.worker.says.send(room).await.unwrap();
    assert_eq!(host.worker.message().await, "waits for room");
    client.send_raw(&frame(FIN | BINARY, b"half")[7..]).await;
    assert_eq!(host.worker.message().await, "half");
}

#[tokio::test]
async fn over_a_rate_the_socket_is_not_read_and_nothing_is_lost() {
    let mut host = Host::start(|config| {
        config.limits.read_messages = Rate {
            per_second: 40,
            burst: 20,
        };
    })
    .await;
    let (mut client, _) = host.admitted(2).await;
    for n in 0..40u8 {
        client.send(FIN | BINARY, &[n]).await;
    }
    for n in 0..40 {
        assert_eq!(host.worker.message().await[0], n);
    }
    assert!(host.limited("read_messages") > 0);
}

#[tokio::test]
async fn a_socket_too_many_before_admission_costs_the_oldest_its_place() {
    let mut host = Host::start(|config| config.limits.unadmitted = 2).await;
    let (_admitted, _) = host.admitted(2).await;
    let mut oldest = host.dial(&public_space().to_string()).await;
    let mut second = host.dial(&public_space().to_string()).await;
    let mut third = host.dial(&public_space().to_string()).await;
    oldest.challenge().await;
    assert_eq!(oldest.closed().await, Some(4008));
    second.log_in(&public_space(), 3, None).await;
    third.log_in(&public_space(), 4, None).await;
    assert_eq!(host.limited("unadmitted"), 1);
}

#[tokio::test]
async fn half_open_sockets_do_not_delay_a_good_one() {
    let mut host = Host::start(|config| {
        config.limits.unadmitted_per_address = 500;
        config.limits.new_per_address.burst = 500;
    })
    .await;
    let mut half_open = Vec::new();
    for _ in 0..200 {
        half_open.push(host.dial(&public_space().to_string()).await);
    }
    let (_client, _) = host.admitted(2).await;
    assert_eq!(host.sockets("handshake"), 200);
}

#[tokio::test]
async fn over_the_memory_the_oldest_unfinished_message_goes_with_its_socket() {
    let mut host = Host::start(|config| {
        config.limits.message_memory = 3 << 20;
        config.limits.message_memory_per_address = 3 << 20;
    })
    .await;
    let (mut first, oldest) = host.admitted(2).await;
    let unfinished = frame(BINARY, &vec![0; 1 << 20]);
    first.send_raw(&unfinished).await;
    while host.metrics.message_memory.get() < 1 << 20 {
        tokio::task::yield_now().await;
    }
    let (mut second, _) = host.admitted(3).await;
    second.send_raw(&unfinished).await;
    while host.metrics.message_memory.get() < 2 << 20 {
        tokio::task::yield_now().await;
    }
    second.send_raw(&frame(0, &vec![0; 1 << 20])).await;
    assert_eq!(host.worker.gone().await, oldest);
    second.send(FIN, b"").await;
    assert_eq!(host.worker.message().await.len(), 2 << 20);
    assert_eq!(host.limited("message_memory"), 1);
}

#[tokio::test]
async fn a_node_whose_memory_is_full_takes_no_new_socket() {
    let habits = Habits {
        gives_room: false,
        ..Habits::default()
    };
    let mut host = Host::with(|config| config.limits.message_memory = 1000, habits).await;
    let (mut client, _) = host.admitted(2).await;
    client.send(FIN | BINARY, &[0; 1000]).await;
    host.worker
        .hears_of(|message| matches!(message, ToWorker::Message { .. }).then_some(()))
        .await;
    while host.metrics.message_memory.get() < 1000 {
        tokio::task::yield_now().await;
    }
    let answer = plain(host.address, upgrade_request("/peer?space=x").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 503 Node full"), "{answer}");
}
