//! The handshake, as the host must do its part (04 §5.3).

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use link::ToWorker;
use std::time::Duration;
use support::*;

#[tokio::test]
async fn a_reader_of_a_private_space_is_welcomed() {
    let mut host = Host::start(|_| {}).await;
    let space = private_space();
    let mut client = host.dial(&space.to_string()).await;
    client.log_in(&space, 2, Some(&read_key())).await;
    let admit = host
        .worker
        .hears_of(|message| match message {
            ToWorker::Admit {
                space,
                peer,
                read_key,
                ..
            } => Some((*space, *peer, *read_key)),
            _ => None,
        })
        .await;
    assert_eq!(admit, (space, key(2).did(), Some(read_key().did())));
    assert_eq!(host.handshakes("admitted"), 1);
    assert_eq!(host.sockets("open"), 1);
    assert_eq!(host.sockets("handshake"), 0);
}

#[tokio::test]
async fn anyone_is_welcome_in_a_public_space() {
    let mut host = Host::start(|_| {}).await;
    let (_client, _) = host.admitted(2).await;
    assert_eq!(host.handshakes("admitted"), 1);
}

#[tokio::test]
async fn without_exactly_one_space_there_is_no_challenge() {
    let host = Host::start(|_| {}).await;
    for target in [
        "/peer",
        "/peer?space=",
        "/peer?space=a&space=b",
        "/peer?Space=a",
    ] {
        let mut client = Client::upgrade(host.address, target).await;
        let (opcode, payload) = client.read_frame().await.unwrap();
        assert_eq!(opcode, FIN | CLOSE);
        assert_eq!(
            payload,
            [&4000u16.to_be_bytes()[..], b"missing ?space="].concat()
        );
    }
    assert_eq!(host.handshakes("no_space"), 4);
}

/// All bytes from the challenge's end to the connection's.
async fn refusal(
    host: &Host,
    space: &str,
    session: u8,
    reader: Option<u8>,
    spoil: bool,
) -> Vec<u8> {
    let mut client = host.dial(space).await;
    let (node, nonce) = client.challenge().await;
    let reader = reader.map(key);
    let mut hello = hello(space, &key(session), reader.as_ref(), &node, &nonce);
    if spoil {
        let place = hello.find(r#""sig":""#).unwrap() + 10;
        let other = if hello.as_bytes()[place] == b'A' {
            "B"
        } else {
            "A"
        };
        hello.replace_range(place..=place, other);
    }
    client.send(FIN | TEXT, hello.as_bytes()).await;
    let mut bytes = Vec::new();
    while let Some((first, payload)) = client.read_frame().await {
        bytes.push(first);
        bytes.extend_from_slice(&payload);
        if first == FIN | CLOSE {
            client.send(FIN | CLOSE, &payload).await;
        }
    }
    bytes
}

#[tokio::test]
async fn one_answer_to_all_who_are_refused() {
    let host = Host::start(|_| {}).await;
    let [unheld, private, public] =
        [unheld_space(), private_space(), public_space()].map(|space| space.to_string());
    let expected = [
        &[FIN | CLOSE][..],
        &4003u16.to_be_bytes(),
        b"not a reader of this space",
    ]
    .concat();
    let cases = [
        (
            "not held",
            refusal(&host, &unheld, 2, Some(40), false).await,
        ),
        (
            "no read proof",
            refusal(&host, &private, 2, None, false).await,
        ),
        (
            "another read key",
            refusal(&host, &private, 2, Some(41), false).await,
        ),
        (
            "a bad signature",
            refusal(&host, &private, 2, Some(40), true).await,
        ),
        (
            "a bad signature, public",
            refusal(&host, &public, 2, None, true).await,
        ),
        (
            "no space id",
            refusal(&host, "nothing", 2, None, false).await,
        ),
        (
            "the host's own key",
            refusal(&host, &public, 1, None, false).await,
        ),
    ];
    let refused = cases.len() as u64;
    for (why, bytes) in cases {
        assert_eq!(bytes, expected, "{why}");
    }
    assert_eq!(host.handshakes("refused"), refused);
}

#[tokio::test]
async fn what_is_no_space_is_asked_about_like_one() {
    let mut host = Host::start(|_| {}).await;
    refusal(&host, "nothing", 2, None, false).await;
    assert!(matches!(host.worker.hears().await, ToWorker::Ask { .. }));
}

#[tokio::test]
async fn a_first_message_that_is_no_hello_closes_4002() {
    let host = Host::start(|_| {}).await;
    let space = public_space().to_string();
    let messages: [(u8, &[u8]); 4] = [
        (TEXT, b"{}"),
        (TEXT, b"not json"),
        (
            TEXT,
            br#"{"type":"hello","did":"did:key:zDn","nonce":"short"}"#,
        ),
        (BINARY, br#"{"type":"hello"}"#),
    ];
    for (opcode, message) in messages {
        let mut client = host.dial(&space).await;
        client.challenge().await;
        client.send(FIN | opcode, message).await;
        assert_eq!(client.closed().await, Some(4002));
    }
    assert_eq!(host.handshakes("malformed"), 4);
}

#[tokio::test]
async fn a_peer_that_says_no_hello_is_closed_4008_whatever_else_it_sends() {
    let host = Host::start(|config| config.waits.hello = Duration::from_millis(200)).await;
    let mut client = host.dial(&public_space().to_string()).await;
    client.challenge().await;
    client.send(FIN | PING, b"still here").await;
    // Half a message doesn't stop the clock.
    client.send(TEXT, b"{").await;
    assert_eq!(client.closed().await, Some(4008));
    assert_eq!(host.handshakes("no_hello"), 1);
}

#[tokio::test]
async fn the_worker_may_refuse_with_a_code_of_its_own() {
    for code in [1013, 1011, 4003] {
        let habits = Habits {
            admits: Admits::None(code),
            ..Habits::default()
        };
        let mut host = Host::with(|_| {}, habits).await;
        let mut client = host.dial(&public_space().to_string()).await;
        client.say_hello(&public_space().to_string(), 2, None).await;
        assert_eq!(client.closed().await, Some(code));
        assert_eq!(host.handshakes("by_worker"), 1);
        // It is told that the socket is gone, as it was told of it.
        let connection = host.worker.admits().await;
        assert_eq!(host.worker.gone().await, connection);
    }
}

#[tokio::test]
async fn a_worker_that_does_not_answer_before_the_proof_is_a_refusal_like_any() {
    let habits = Habits {
        answers: false,
        ..Habits::default()
    };
    let host = Host::with(
        |config| config.waits.door = Duration::from_millis(100),
        habits,
    )
    .await;
    let mut client = host.dial(&public_space().to_string()).await;
    client.say_hello(&public_space().to_string(), 2, None).await;
    assert_eq!(client.closed().await, Some(4003));
}

#[tokio::test]
async fn a_worker_that_does_not_admit_in_time_is_a_failure_of_the_host() {
    let habits = Habits {
        admits: Admits::Silently,
        ..Habits::default()
    };
    let host = Host::with(
        |config| config.waits.verdict = Duration::from_millis(100),
        habits,
    )
    .await;
    let mut client = host.dial(&public_space().to_string()).await;
    client.say_hello(&public_space().to_string(), 2, None).await;
    assert_eq!(client.closed().await, Some(1011));
}

#[tokio::test]
async fn what_came_too_early_is_taken_in_order_after_the_welcome() {
    let mut host = Host::start(|_| {}).await;
    let mut client = host.dial(&public_space().to_string()).await;
    let (node, nonce) = client.challenge().await;
    let hello = hello(&public_space().to_string(), &key(2), None, &node, &nonce);
    let mut early = frame(FIN | TEXT, hello.as_bytes());
    early.extend(frame(FIN | BINARY, b"first"));
    early.extend(frame(FIN | BINARY, &vec![7; 300_000]));
    early.extend(frame(FIN | BINARY, b"third"));
    client.send_raw(&early).await;
    assert_eq!(client.read_text().await["type"], "welcome");
    assert_eq!(host.worker.message().await, "first");
    assert_eq!(host.worker.message().await.len(), 300_000);
    assert_eq!(host.worker.message().await, "third");
}

#[tokio::test]
async fn the_handshake_message_may_have_64_kib_and_not_one_byte_more() {
    let mut host = Host::start(|_| {}).await;
    let space = public_space().to_string();
    for over in [0, 1] {
        let mut client = host.dial(&space).await;
        let (node, nonce) = client.challenge().await;
        let mut hello = hello(&space, &key(2), None, &node, &nonce);
        hello.pop();
        let pad = 65_536 + over - hello.len() - r#","pad":""}"#.len();
        hello.push_str(&format!(r#","pad":"{}"}}"#, "x".repeat(pad)));
        assert_eq!(hello.len(), 65_536 + over);
        client.send(FIN | TEXT, hello.as_bytes()).await;
        if over == 0 {
            assert_eq!(client.read_text().await["type"], "welcome");
            host.worker.admits().await;
        } else {
            assert_eq!(client.closed().await, Some(1009));
        }
    }
}

#[tokio::test]
async fn a_second_socket_of_the_same_key_is_the_workers_to_close_4009() {
    let mut host = Host::start(|_| {}).await;
    let (mut older, first) = host.admitted(2).await;
    let (mut newer, second) = host.admitted(2).await;
    assert_ne!(first, second);
    host.worker.closes(first, 4009).await;
    assert_eq!(older.closed().await, Some(4009));
    assert_eq!(host.worker.gone().await, first);
    host.worker.sends(second, "still here").await;
    assert_eq!(newer.read_binary().await, b"still here");
}
