//! The client over a real socket, against a small host of the tests' own.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{Host, Manner};
use member::client::redial::Ended;
use member::client::{ConnectError, Connection, ConnectionError, DialError, Options, Seen};
use member::clock::UnixTime;
use member::holdings::Holdings;
use member::identity::{Account, Device};
use member::randomness::FixedRandomness;
use member::raw::{
    BINARY, RawChallenge, RawFrame, RawHello, RawOpenError, RawSocket, TEXT, Upgrade, What, http,
};
use member::replica::Replica;
use member::space::{Space, Visibility};
use member::sync::Standing;
use minca_record::content_id::ContentId;
use minca_record::json::{MESSAGE_DEPTH, Object, Value, read};
use minca_record::url::NodeUrl;
use minca_sync::envelope::write_who;
use minca_sync::handshake::Nonce;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const LONG: Duration = Duration::from_secs(30);

fn account() -> Account {
    Account::from_seed([5; 16])
}

fn space(visibility: Visibility) -> Space {
    let founder = account().did().to_string();
    let now = UnixTime::from_milliseconds(1_790_424_000_000);
    Space::found(
        "Notes",
        visibility,
        &founder,
        now,
        &mut FixedRandomness::new(1),
    )
    .unwrap()
}

fn replica(space: Space, number: u64) -> Replica {
    let mut randomness = FixedRandomness::new(number);
    let device = account().new_device(&mut randomness).unwrap();
    Replica::new(space, device, Holdings::in_memory(), Box::new(randomness))
}

fn body(text: &str) -> Value {
    Object::from([("text", text)]).into()
}

async fn open(host: &Host, replica: &mut Replica) -> Connection {
    let url = NodeUrl::parse(&host.url()).unwrap();
    Connection::open(&url, replica, Options::default())
        .await
        .unwrap()
}

#[tokio::test]
async fn what_one_device_writes_another_reads_and_both_know_it_is_stored() {
    for visibility in [Visibility::Public, Visibility::Private] {
        let space = space(visibility);
        let host = Host::start(space.as_handed_around(), Manner::Well).await;
        let mut first = replica(space.clone(), 11);
        let mut keys = Vec::new();
        for number in 0..50 {
            let version = first.create("app.note", body(&number.to_string()), UnixTime::now());
            keys.push(version.unwrap().key().to_owned());
        }
        let mut connection = open(&host, &mut first).await;
        assert_eq!(connection.node(), host.node);
        connection.sync_until_level(&mut first, LONG).await.unwrap();
        let version = first
            .edit(&keys[0], body("edited"), UnixTime::now())
            .unwrap();
        connection.push(&mut first, &version).await.unwrap();
        let id = version.id();
        let stored = |replica: &Replica| replica.holdings().is_stored_by(&id, &host.node);
        connection.drive(&mut first, LONG, stored).await.unwrap();
        assert_eq!(first.holdings().unconfirmed(&first.device().did()), []);
        connection.close(&mut first).await;

        let mut second = replica(space, 12);
        let mut connection = open(&host, &mut second).await;
        connection
            .sync_until_level(&mut second, LONG)
            .await
            .unwrap();
        assert_eq!(second.records(None), first.records(None));
        assert_eq!(second.records(None).len(), 50);
        connection.drop_silently(&mut second);
        assert_eq!(second.sync().standing(&host.node), Standing::Unheard);
    }
}

#[tokio::test]
async fn everything_is_seen_with_its_time_who_first() {
    let space = space(Visibility::Public);
    let host = Host::start(space.as_handed_around(), Manner::Well).await;
    let mut device = replica(space, 11);
    let seen: Arc<Mutex<Vec<(Duration, Seen)>>> = Arc::default();
    let log = Arc::clone(&seen);
    let watch = move |at: Duration, seen: &Seen| log.lock().unwrap().push((at, seen.clone()));
    let options = Options {
        watch: Some(Box::new(watch)),
        ..Options::default()
    };
    let url = NodeUrl::parse(&host.url()).unwrap();
    let mut connection = Connection::open(&url, &mut device, options).await.unwrap();
    connection
        .sync_until_level(&mut device, LONG)
        .await
        .unwrap();
    let seen = seen.lock().unwrap();
    let kinds = |sent: bool| -> Vec<String> {
        let of = |seen: &Seen| match seen {
            Seen::Sent(bytes) if sent => Some(bytes.clone()),
            Seen::Received(bytes) if !sent => Some(bytes.clone()),
            _ => None,
        };
        let kind = |bytes: Vec<u8>| {
            let message = read(&bytes, MESSAGE_DEPTH).unwrap().into_object().unwrap();
            message.get("type").unwrap().as_str().unwrap().to_owned()
        };
        seen.iter()
            .filter_map(|(_, seen)| of(seen))
            .map(kind)
            .collect()
    };
    assert_eq!(kinds(true)[..2], ["who", "sync"]);
    assert_eq!(kinds(false)[..2], ["who", "sync"]);
    assert!(seen.is_sorted_by_key(|(at, _)| *at));
}

#[tokio::test]
async fn another_node_than_the_pinned_one_is_refused() {
    let space = space(Visibility::Public);
    let host = Host::start(space.as_handed_around(), Manner::Well).await;
    let mut device = replica(space, 11);
    let other = Account::from_seed([77; 16]).did();
    let url = NodeUrl::parse(&format!("ws://{}/peer#{other}", host.address)).unwrap();
    let error = Connection::open(&url, &mut device, Options::default())
        .await
        .unwrap_err();
    let ConnectError::Dial(error @ DialError::Pin { .. }) = &error else {
        panic!("{error}");
    };
    assert_eq!(error.ended(), Ended::NodeRefused);
}

#[tokio::test]
async fn a_welcome_by_another_key_is_refused() {
    let space = space(Visibility::Public);
    let host = Host::start(space.as_handed_around(), Manner::WrongWelcome).await;
    let url = NodeUrl::parse(&host.url()).unwrap();
    let mut device = replica(space, 11);
    let error = Connection::open(&url, &mut device, Options::default())
        .await
        .unwrap_err();
    assert!(
        matches!(error, ConnectError::Dial(DialError::Welcome)),
        "{error}"
    );
}

#[tokio::test]
async fn a_refused_read_proof_and_a_later_close_give_their_exact_codes() {
    let space = space(Visibility::Private);
    let host = Host::start(space.as_handed_around(), Manner::Well).await;
    // A public space of the same host's: no read proof, which the private one asks for.
    let other = replica(self::space(Visibility::Public), 11);
    let url = NodeUrl::parse(&host.url()).unwrap();
    let mut other = other;
    let error = Connection::open(&url, &mut other, Options::default())
        .await
        .unwrap_err();
    let ConnectError::Dial(DialError::Closed {
        code: Some(4003),
        reason,
    }) = &error
    else {
        panic!("{error}");
    };
    assert_eq!(reason, "not a reader of this space");

    let host = Host::start(space.as_handed_around(), Manner::ClosesWith(4009)).await;
    let mut device = replica(space, 11);
    let mut connection = open(&host, &mut device).await;
    let error = connection
        .sync_until_level(&mut device, LONG)
        .await
        .unwrap_err();
    assert_eq!(error.ended(), Ended::Closed(4009));
    assert!(matches!(error, ConnectionError::Closed { reason, .. } if reason == "as told"));
}

#[tokio::test]
async fn an_older_read_key_behind_the_newest_is_proven_too() {
    let space = space(Visibility::Private);
    let host = Host::start(space.as_handed_around(), Manner::Well).await;
    let url = NodeUrl::parse(&host.url()).unwrap();
    let newer = Account::from_seed([88; 16]).root_key().clone();
    let current = space.read_key().unwrap().clone();
    for (keys, is_let_in) in [
        (vec![newer.clone(), current], true),
        (vec![newer], false),
        (vec![], false),
    ] {
        let mut device = replica(space.clone(), 11);
        let options = Options {
            read_keys: Some(keys),
            ..Options::default()
        };
        let opened = Connection::open(&url, &mut device, options).await;
        assert_eq!(opened.is_ok(), is_let_in);
    }
}

#[tokio::test]
async fn a_refused_upgrade_gives_its_status_and_retry_after() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 4096]).await;
            let answer = b"HTTP/1.1 503 Node full\r\nRetry-After: 9\r\n\
                Connection: close\r\nContent-Length: 0\r\n\r\n";
            let _ = stream.write_all(answer).await;
        }
    });
    let url = NodeUrl::parse_typed(&format!("ws://{address}/peer")).unwrap();
    let mut device = replica(space(Visibility::Public), 11);
    let error = Connection::open(&url, &mut device, Options::default())
        .await
        .unwrap_err();
    let ConnectError::Dial(error) = error else {
        panic!("{error}");
    };
    let retry_after = Some(Duration::from_secs(9));
    assert_eq!(
        error.ended(),
        Ended::Refused {
            status: 503,
            retry_after
        }
    );

    let raw = RawSocket::open(address, &Upgrade::for_space("b"), LONG)
        .await
        .unwrap_err();
    let RawOpenError::Refused(answer) = raw else {
        panic!("{raw}");
    };
    assert_eq!((answer.status, answer.reason.as_str()), (503, "Node full"));
    assert_eq!(answer.header("retry-after"), Some("9"));
    let answer = http(address, b"GET /health HTTP/1.1\r\n\r\n", LONG)
        .await
        .unwrap();
    assert_eq!((answer.status, answer.body), (503, Vec::new()));
}

/// A raw socket that heard the challenge, and the right hello to say on it.
async fn raw_hello(host: &Host, space: ContentId) -> (RawSocket, RawHello) {
    let mut socket = RawSocket::open(host.address, &upgrade(space), LONG)
        .await
        .unwrap();
    let challenge = socket.hear_challenge(LONG).await.unwrap();
    assert_eq!(challenge.node, host.node);
    (socket, hello_to(&challenge, space))
}

fn upgrade(space: ContentId) -> Upgrade {
    Upgrade::for_space(&space.to_string())
}

fn hello_to(challenge: &RawChallenge, space: ContentId) -> RawHello {
    let session = Account::from_seed([42; 16]).root_key().clone();
    let RawChallenge { node, nonce } = challenge;
    RawHello::new(&space.to_string(), node, nonce, &session, &Nonce([3; 16]))
}

#[tokio::test]
async fn the_raw_client_gets_in_with_a_hello_in_fragments_and_byte_by_byte() {
    let space = space(Visibility::Public);
    let host = Host::start(space.as_handed_around(), Manner::Well).await;

    let (mut socket, hello) = raw_hello(&host, space.id()).await;
    for frame in RawFrame::fragments(TEXT, hello.text().as_bytes(), 7) {
        socket.send(&frame).await.unwrap();
    }
    assert!(socket.hear_text(LONG).await.unwrap().contains("welcome"));
    assert!(matches!(
        socket.hear(LONG).await.unwrap().what,
        What::Binary(_)
    ));

    let (mut socket, hello) = raw_hello(&host, space.id()).await;
    let bytes = RawFrame::new(TEXT, hello.text()).bytes();
    socket
        .send_byte_by_byte(&bytes, Duration::ZERO)
        .await
        .unwrap();
    assert!(socket.hear_text(LONG).await.unwrap().contains("welcome"));
    let did = Account::from_seed([42; 16]).did();
    socket
        .send(&RawFrame::new(BINARY, write_who(&did, None)))
        .await
        .unwrap();
    socket.send(&RawFrame::close(1000, "done")).await.unwrap();
    let end = socket.hear_end(LONG).await;
    assert!(matches!(end, Some(What::Close(Some(1000), _))));
}

#[tokio::test]
async fn the_raw_client_hears_the_exact_close_for_a_changed_signature() {
    let space = space(Visibility::Public);
    let host = Host::start(space.as_handed_around(), Manner::Well).await;
    let other = Account::from_seed([43; 16]).root_key().clone();
    let mut socket = RawSocket::open(host.address, &upgrade(space.id()), LONG)
        .await
        .unwrap();
    let entered = socket
        .enter(LONG, |challenge| {
            let hello = hello_to(challenge, space.id());
            let signature = hello.signed_by(&other);
            hello.set("sig", signature)
        })
        .await;
    let refused = What::Close(Some(4003), "not a reader of this space".to_owned());
    assert_eq!(entered, Err(Some(refused)));

    let mut socket = RawSocket::open(host.address, &upgrade(space.id()), LONG)
        .await
        .unwrap();
    let entered = socket
        .enter(LONG, |challenge| hello_to(challenge, space.id()))
        .await;
    assert!(entered.unwrap().contains("welcome"));
}

#[tokio::test]
async fn more_than_the_sockets_buffers_hold_goes_both_ways_at_once() {
    let space = space(Visibility::Public);
    let host = Host::start(space.as_handed_around(), Manner::Well).await;
    let big = "x".repeat(400_000);
    let mut device = replica(space.clone(), 11);
    let mut other = replica(space, 12);
    for _ in 0..20 {
        let version = other
            .create("app.note", body(&big), UnixTime::now())
            .unwrap();
        let mut kept = host.kept.lock().await;
        kept.as_mut().unwrap().holdings.stage(version);
        device
            .create("app.note", body(&big), UnixTime::now())
            .unwrap();
    }
    let mut connection = open(&host, &mut device).await;
    connection
        .sync_until_level(&mut device, LONG)
        .await
        .unwrap();
    assert_eq!(device.holdings().len(), 40);
    assert_eq!(host.kept.lock().await.as_ref().unwrap().holdings.len(), 40);
}

#[tokio::test]
async fn what_the_host_does_not_take_is_told_as_unacknowledged() {
    let space = space(Visibility::Public);
    let host = Host::start(space.as_handed_around(), Manner::Well).await;
    let mut device = replica(space, 11);
    let mut connection = open(&host, &mut device).await;
    connection
        .sync_until_level(&mut device, LONG)
        .await
        .unwrap();
    // Signed by another key than it names as its author.
    let draft = device.draft(
        member::replica::Write {
            collection: "app.note".to_owned(),
            body: Some(body("forged")),
            ..Default::default()
        },
        UnixTime::now(),
    );
    let author = device.device().did().to_string();
    let forger = Device::of_root_key(Account::from_seed([66; 16]));
    let forged = draft.unwrap().set("author", author).sign(forger.key());
    let forged = minca_record::version::Version::shape(forged.into()).unwrap();
    device.adopt(forged.clone()).unwrap();
    connection.push(&mut device, &forged).await.unwrap();
    let error = connection
        .sync_until_level(&mut device, Duration::from_millis(300))
        .await
        .unwrap_err();
    let ConnectionError::TimedOut { standing, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(standing, Standing::Unacknowledged(1));
    assert_eq!(device.sync().unacknowledged(&host.node), [forged.id()]);
}
