//! Whom a host lets in, and how it ends those it doesn't (04 §4, §5.3).

use std::time::Duration;

use holdfast::host::LinkKind;
use member::client::{Connection, Options, Seen};
use member::randomness::SystemRandomness;
use member::raw::{RawChallenge, RawFrame, RawHello, RawSocket, Upgrade, What};
use minca_record::base64url;
use minca_record::constitution::Visibility;
use minca_sync::handshake::Nonce;

use crate::kit::{Connected, Kit, WAIT, body, found, now, replica};

/// How the host ends a socket that says this hello.
async fn end_of(kit: &Kit, space: &str, hello: impl FnOnce(&RawChallenge) -> RawHello) -> What {
    let upgrade = Upgrade::for_space(space);
    let mut socket = RawSocket::open(kit.host().listening(), &upgrade, WAIT)
        .await
        .unwrap();
    socket
        .enter(WAIT, hello)
        .await
        .unwrap_err()
        .expect("an answer")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_space_not_held_one_not_proven_and_a_bad_signature_are_refused_alike() {
    let mut kit = Kit::start(LinkKind::Encoded).await;
    let (account, space) = found(Visibility::Private);
    kit.carry(&space).await;
    let device = account.new_device(&mut SystemRandomness).unwrap();
    let read_key = space.read_key().unwrap().clone();
    let id = space.id().to_string();
    let hello = |space: &str, challenge: &RawChallenge| {
        RawHello::new(
            space,
            &challenge.node,
            &challenge.nonce,
            device.key(),
            &Nonce([7; 16]),
        )
    };
    let refused = What::Close(Some(4003), "not a reader of this space".to_owned());
    let (_, other) = found(Visibility::Private);
    let other_id = other.id().to_string();
    let not_held = end_of(&kit, &other_id, |it| {
        hello(&other_id, it).reads_with(&read_key)
    })
    .await;
    assert_eq!(not_held, refused);
    let no_space = end_of(&kit, "not-a-space", |it| hello("not-a-space", it)).await;
    assert_eq!(no_space, refused);
    assert_eq!(end_of(&kit, &id, |it| hello(&id, it)).await, refused);
    assert_eq!(
        end_of(&kit, &id, |it| hello(&id, it)
            .reads_with(other.read_key().unwrap()))
        .await,
        refused
    );
    let forged = end_of(&kit, &id, |it| {
        hello(&id, it)
            .reads_with(&read_key)
            .set("sig", base64url::encode(&[1; 64]))
    });
    assert_eq!(forged.await, refused);

    let upgrade = Upgrade::for_space(&id);
    let mut socket = RawSocket::open(kit.host().listening(), &upgrade, WAIT)
        .await
        .unwrap();
    let welcome = socket
        .enter(WAIT, |it| hello(&id, it).reads_with(&read_key))
        .await
        .unwrap();
    assert!(
        welcome.contains("\"welcome\""),
        "the same hello, rightly signed: {welcome}"
    );
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_hello_or_comes_too_late_or_too_big_has_its_own_code() {
    let mut kit = Kit::start_with(LinkKind::Channel, &["--limits-hello-seconds", "1"]).await;
    let (_, space) = found(Visibility::Public);
    kit.carry(&space).await;
    let address = kit.host().listening();
    let end = async |upgrade: Upgrade, text: Option<String>| {
        let mut socket = RawSocket::open(address, &upgrade, WAIT).await.unwrap();
        if let Some(text) = text {
            socket.hear_challenge(WAIT).await.unwrap();
            socket.send_text(&text).await.unwrap();
        }
        match socket.hear_end(WAIT).await {
            Some(What::Close(code, reason)) => (code.unwrap_or_default(), reason),
            other => panic!("expected a close, got {other:?}"),
        }
    };
    let id = space.id().to_string();
    let here = || Upgrade::for_space(&id);
    assert_eq!(
        end(Upgrade::new("/peer"), None).await,
        (4000, "missing ?space=".to_owned())
    );
    assert_eq!(
        end(here(), Some("{}".to_owned())).await,
        (4002, "expected a hello frame".to_owned())
    );
    assert_eq!(end(here(), None).await, (4008, "no hello".to_owned()));
    assert_eq!(
        end(here(), Some("x".repeat(65_537))).await,
        (1009, "message too big".to_owned())
    );
    kit.finish().await;
}

/// Text after the handshake means nothing; a message in many fragments is one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_after_the_handshake_is_ignored_and_fragments_are_put_together() {
    let mut kit = Kit::start(LinkKind::Encoded).await;
    let (account, space) = found(Visibility::Public);
    kit.carry(&space).await;
    let device = account.new_device(&mut SystemRandomness).unwrap();
    let id = space.id().to_string();
    let upgrade = Upgrade::for_space(&id);
    let mut socket = RawSocket::open(kit.host().listening(), &upgrade, WAIT)
        .await
        .unwrap();
    let hello =
        |it: &RawChallenge| RawHello::new(&id, &it.node, &it.nonce, device.key(), &Nonce([7; 16]));
    socket.enter(WAIT, hello).await.unwrap();
    socket
        .send_text(r#"{"type":"sync","payload":{"v":8,"type":"want","id":1,"ids":[]}}"#)
        .await
        .unwrap();
    let want = br#"{"type":"sync","payload":{"v":8,"type":"want","id":2,"ids":[]}}"#;
    for frame in RawFrame::fragments(2, want, 1) {
        socket.send(&frame).await.unwrap();
    }
    loop {
        let What::Binary(answer) = socket.hear(WAIT).await.expect("an answer").what else {
            continue;
        };
        let answer = String::from_utf8(answer).unwrap();
        if answer.contains(r#""type":"versions""#) {
            assert!(
                answer.contains(r#""id":2"#),
                "the text was answered: {answer}"
            );
            break;
        }
    }
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_socket_of_one_device_replaces_the_older() {
    let mut older = Connected::start(LinkKind::Channel, Visibility::Private, true).await;
    let mut second = replica(&older.space, older.device.device().clone());
    let mut newer = older.kit.connect(&mut second).await;
    let ended = older.how_it_ends().await;
    assert!(ended.contains("4009"), "{ended}");
    newer.sync_until_level(&mut second, WAIT).await.unwrap();
    newer.close(&mut second).await;
    older.kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn peers_of_a_space_held_no_more_are_let_go() {
    let mut host = Connected::start(LinkKind::Channel, Visibility::Public, true).await;
    let space = host.space.id();
    assert!(host.kit.host().worker().stop_carrying(space).await.unwrap());
    let ended = host.how_it_ends().await;
    assert!(ended.contains("4003"), "{ended}");
    let refused = Connection::open(&host.kit.url(), &mut host.device, Options::default()).await;
    assert!(refused.is_err_and(|error| error.to_string().contains("4003")));

    // Held again, what was stored is there.
    host.kit.carry(&host.space).await;
    let mut connection = host.kit.connect(&mut host.device).await;
    connection
        .sync_until_level(&mut host.device, WAIT)
        .await
        .unwrap();
    connection.close(&mut host.device).await;
    host.kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_stops_says_so() {
    let Connected {
        mut kit,
        mut device,
        mut connection,
        ..
    } = Connected::start(LinkKind::Channel, Visibility::Private, false).await;
    let (_, ended) = tokio::join!(kit.stop(), connection.drive(&mut device, WAIT, |_| false));
    let ended = ended.unwrap_err().to_string();
    assert!(ended.contains("1001"), "{ended}");
    kit.restart().await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_hundred_and_first_malformed_message_closes_the_socket() {
    let mut host = Connected::start(LinkKind::Encoded, Visibility::Public, true).await;
    for _ in 0..100 {
        host.connection
            .send(&mut host.device, b"no json".to_vec())
            .await
            .unwrap();
    }
    host.device
        .create("app.note", body("after them"), now())
        .unwrap();
    host.connection
        .sync_until_level(&mut host.device, WAIT)
        .await
        .unwrap();
    host.connection
        .send(&mut host.device, b"no json".to_vec())
        .await
        .unwrap();
    let ended = host.how_it_ends().await;
    assert!(ended.contains("1008"), "{ended}");
    host.kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_device_that_pushes_itself_out_again_and_again_is_told_to_wait() {
    let host = Connected::start(LinkKind::Encoded, Visibility::Public, true).await;
    let device = host.device.device().clone();
    let mut open = Vec::new();
    let told = loop {
        let mut twin = replica(&host.space, device.clone());
        match Connection::open(&host.kit.url(), &mut twin, Options::default()).await {
            Ok(connection) => open.push((twin, connection)),
            Err(error) => break error.to_string(),
        }
        assert!(open.len() <= 10, "it was let in {} times", open.len());
    };
    assert!(told.contains("1013"), "{told}");
    assert_eq!(open.len(), 10);
    let (twin, last) = open.last_mut().unwrap();
    last.sync_until_level(twin, WAIT).await.unwrap();
    host.kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_of_sixteen_mebibytes_is_taken_and_one_byte_more_is_not() {
    let mut host = Connected::start(LinkKind::Encoded, Visibility::Public, true).await;
    let padded = |bytes: usize| {
        let mut message = br#"{"type":"other","pad":""#.to_vec();
        message.resize(bytes - 2, b'x');
        message.extend_from_slice(b"\"}");
        message
    };
    host.connection
        .send(&mut host.device, padded(16 << 20))
        .await
        .unwrap();
    host.device
        .create("app.note", body("after it"), now())
        .unwrap();
    host.connection
        .sync_until_level(&mut host.device, WAIT)
        .await
        .unwrap();
    let sent = host
        .connection
        .send(&mut host.device, padded((16 << 20) + 1))
        .await;
    let ended = match sent {
        Ok(()) => host.how_it_ends().await,
        Err(error) => error.to_string(),
    };
    assert!(ended.contains("1009"), "{ended}");
    host.kit.finish().await;
}

/// A peer that asks for much and reads nothing holds up nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_never_reads_hurts_nobody_else() {
    let mut kit = Kit::start(LinkKind::Channel).await;
    let (account, space) = found(Visibility::Public);
    kit.carry(&space).await;
    let mut writer = kit.device(&account, &space, true);
    let mut silent = kit.device(&account, &space, true);
    let mut connection = kit.connect(&mut writer).await;
    let mut never_read = kit.connect(&mut silent).await;
    for n in 0..40 {
        let long = format!("{n}{}", "x".repeat(100_000));
        let version = writer.create("app.note", body(&long), now()).unwrap();
        connection.push(&mut writer, &version).await.unwrap();
    }
    connection
        .sync_until_level(&mut writer, WAIT)
        .await
        .unwrap();
    let want = |n: usize| {
        let ids: Vec<String> = writer
            .holdings()
            .current_versions()
            .map(|it| format!("\"{}\"", it.id()))
            .collect();
        format!(
            r#"{{"type":"sync","payload":{{"v":8,"type":"want","id":{n},"ids":[{}]}}}}"#,
            ids.join(",")
        )
    };
    for n in 0..20 {
        never_read
            .send(&mut silent, want(n).into_bytes())
            .await
            .unwrap();
    }
    let mut late = kit.device(&account, &space, false);
    let mut to_late = kit.connect(&mut late).await;
    to_late.sync_until_level(&mut late, WAIT).await.unwrap();
    assert_eq!(late.holdings().len(), 40);
    to_late.close(&mut late).await;
    connection.close(&mut writer).await;
    never_read.drop_silently(&mut silent);
    kit.finish().await;
}

/// The first thing a client hears is that the host shows no account.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_says_an_empty_who_and_then_its_hello() {
    let mut kit = Kit::start(LinkKind::Channel).await;
    let (account, space) = found(Visibility::Private);
    kit.carry(&space).await;
    let mut device = kit.device(&account, &space, true);
    let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let watched = heard.clone();
    let watch = move |_: Duration, seen: &Seen| {
        if let Seen::Received(message) = seen {
            watched
                .lock()
                .unwrap()
                .push(String::from_utf8(message.clone()).unwrap());
        }
    };
    let options = Options {
        watch: Some(Box::new(watch)),
        ..Options::default()
    };
    let mut connection = Connection::open(&kit.url(), &mut device, options)
        .await
        .unwrap();
    connection
        .sync_until_level(&mut device, WAIT)
        .await
        .unwrap();
    connection.close(&mut device).await;
    let heard = heard.lock().unwrap().clone();
    assert!(
        heard[0].starts_with(r#"{"type":"who","#) && heard[0].ends_with(r#""payload":{}}"#),
        "{}",
        heard[0]
    );
    assert!(heard[1].contains(r#""type":"hello""#), "{}", heard[1]);
    kit.finish().await;
}
