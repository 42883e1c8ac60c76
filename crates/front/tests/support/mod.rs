//! A front-end on a real port, a worker at the other end of its link, and a client that
//! writes its frames by hand.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::expect_used)]

use bytes::Bytes;
use front::{Front, FrontConfig, FrontHandle, FrontMetrics, HostIdentity, tcp};
use link::channel::LinkSender;
use link::{ConnectionId, DoorAnswer, ToFront, ToWorker, WorkerEnd, encoded};
use minca_record::base64url;
use minca_record::content_id::ContentId;
use minca_record::signing::SigningKey;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Longer than anything here takes; a test that waits so long has failed.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub const TEXT: u8 = 1;
pub const BINARY: u8 = 2;
pub const CLOSE: u8 = 8;
pub const PING: u8 = 9;
pub const PONG: u8 = 10;

pub fn key(byte: u8) -> SigningKey {
    SigningKey::from_scalar(&[byte; 32]).unwrap()
}

pub fn public_space() -> ContentId {
    ContentId::of(b"public")
}

pub fn private_space() -> ContentId {
    ContentId::of(b"private")
}

pub fn unheld_space() -> ContentId {
    ContentId::of(b"unheld")
}

/// The read key of the private space.
pub fn read_key() -> SigningKey {
    key(40)
}

/// What the worker does when it is asked to admit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Admits {
    All,
    None(u16),
    Silently,
}

pub struct Habits {
    pub admits: Admits,
    /// Whether it gives the bytes of a message back at once.
    pub gives_room: bool,
    /// Whether it answers what a proof is judged against.
    pub answers: bool,
}

impl Default for Habits {
    fn default() -> Self {
        Self {
            admits: Admits::All,
            gives_room: true,
            answers: true,
        }
    }
}

/// The other end of the link.
pub struct Worker {
    pub says: LinkSender<ToFront>,
    pub heard: mpsc::Receiver<ToWorker>,
    task: tokio::task::JoinHandle<()>,
}

impl Worker {
    fn start(end: WorkerEnd, habits: Habits) -> Self {
        let (says, mut hears) = end.split();
        let (tell, heard) = mpsc::channel(100_000);
        let sender = says.clone();
        let doors = HashMap::from([
            (public_space(), DoorAnswer::Public),
            (
                private_space(),
                DoorAnswer::Private {
                    read_key: read_key().did(),
                },
            ),
        ]);
        let task = tokio::spawn(async move {
            while let Some(message) = hears.recv().await {
                let answer = match &message {
                    ToWorker::Ask { ask, space } if habits.answers => Some(ToFront::Door {
                        ask: *ask,
                        door: doors.get(space).copied().unwrap_or(DoorAnswer::NotHeld),
                    }),
                    ToWorker::Admit { connection, .. } => match habits.admits {
                        Admits::All => Some(ToFront::Admitted {
                            connection: *connection,
                        }),
                        Admits::None(code) => Some(ToFront::Refused {
                            connection: *connection,
                            code,
                        }),
                        Admits::Silently => None,
                    },
                    ToWorker::Message { connection, bytes } if habits.gives_room => {
                        Some(ToFront::Room {
                            connection: *connection,
                            bytes: bytes.len() as u32,
                        })
                    }
                    _ => None,
                };
                if let Some(answer) = answer {
                    sender.send(answer).await.unwrap();
                }
                tell.send(message).await.unwrap();
            }
        });
        Self { says, heard, task }
    }

    /// What the front-end says next.
    pub async fn hears(&mut self) -> ToWorker {
        timeout(PATIENCE, self.heard.recv()).await.unwrap().unwrap()
    }

    /// The next of what the front-end says that `wanted` picks.
    pub async fn hears_of<T>(&mut self, wanted: impl Fn(&ToWorker) -> Option<T>) -> T {
        loop {
            if let Some(value) = wanted(&self.hears().await) {
                return value;
            }
        }
    }

    pub async fn admits(&mut self) -> ConnectionId {
        self.hears_of(|message| match message {
            ToWorker::Admit { connection, .. } => Some(*connection),
            _ => None,
        })
        .await
    }

    pub async fn message(&mut self) -> Bytes {
        self.hears_of(|message| match message {
            ToWorker::Message { bytes, .. } => Some(bytes.clone()),
            _ => None,
        })
        .await
    }

    pub async fn gone(&mut self) -> ConnectionId {
        self.hears_of(|message| match message {
            ToWorker::Gone { connection } => Some(*connection),
            _ => None,
        })
        .await
    }

    pub async fn sends(&self, connection: ConnectionId, bytes: impl Into<Bytes>) {
        let bytes = bytes.into();
        let message = ToFront::Send { connection, bytes };
        self.says.send(message).await.unwrap();
    }

    pub async fn closes(&self, connection: ConnectionId, code: u16) {
        let message = ToFront::Close { connection, code };
        self.says.send(message).await.unwrap();
    }

    /// Goes away, and the link with it.
    pub fn dies(self) {
        self.task.abort();
    }
}

pub struct Host {
    pub address: SocketAddr,
    pub handle: FrontHandle,
    pub worker: Worker,
    pub metrics: FrontMetrics,
    pub node: String,
}

impl Host {
    pub async fn start(change: impl FnOnce(&mut FrontConfig)) -> Self {
        Self::with(change, Habits::default()).await
    }

    pub async fn with(change: impl FnOnce(&mut FrontConfig), habits: Habits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut config = FrontConfig::default();
        change(&mut config);
        let (front, worker) = encoded::pair();
        let metrics = FrontMetrics::register(&prometheus::Registry::new()).unwrap();
        let identity = HostIdentity::of(key(1));
        let node = identity.did.to_string();
        let handle = Front::start(
            vec![tcp(listener)],
            config,
            identity,
            front,
            metrics.clone(),
        );
        Self {
            address,
            handle,
            worker: Worker::start(worker, habits),
            metrics,
            node,
        }
    }

    /// A socket to `/peer` for this space, challenged or not.
    pub async fn dial(&self, space: &str) -> Client {
        Client::upgrade(self.address, &format!("/peer?space={space}")).await
    }

    /// A socket admitted to the public space, and the worker's name for it.
    pub async fn admitted(&mut self, session: u8) -> (Client, ConnectionId) {
        let mut client = self.dial(&public_space().to_string()).await;
        client.log_in(&public_space(), session, None).await;
        let connection = self.worker.admits().await;
        (client, connection)
    }

    pub fn handshakes(&self, result: &str) -> u64 {
        self.metrics.handshakes.with_label_values(&[result]).get()
    }

    pub fn limited(&self, limit: &str) -> u64 {
        self.metrics.limited.with_label_values(&[limit]).get()
    }

    pub fn sockets(&self, state: &str) -> i64 {
        self.metrics.sockets.with_label_values(&[state]).get()
    }
}

/// Sends `request` and gives back all that is answered, until the other side ends.
pub async fn plain(address: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request).await.unwrap();
    read_to_end(&mut stream).await
}

pub async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut answer))
        .await
        .unwrap()
        .unwrap();
    String::from_utf8(answer).unwrap()
}

pub fn upgrade_request(target: &str) -> String {
    format!(
        "GET {target} HTTP/1.1\r\nHost: host\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
}

/// A frame as a client sends it.
pub fn frame(first_byte: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = frame_head(first_byte, payload.len() as u64);
    out.extend(
        payload
            .iter()
            .zip(MASK.iter().cycle())
            .map(|(byte, mask)| byte ^ mask),
    );
    out
}

const MASK: [u8; 4] = [0x11, 0xa2, 0x33, 0xf4];

pub fn frame_head(first_byte: u8, length: u64) -> Vec<u8> {
    let mut out = vec![first_byte];
    match length {
        0..=125 => out.push(0x80 | length as u8),
        126..=65_535 => {
            out.push(0x80 | 126);
            out.extend((length as u16).to_be_bytes());
        }
        _ => {
            out.push(0x80 | 127);
            out.extend(length.to_be_bytes());
        }
    }
    out.extend(MASK);
    out
}

pub const FIN: u8 = 0x80;

/// A hello for this challenge, by part 04's text.
pub fn hello(
    space: &str,
    session: &SigningKey,
    read: Option<&SigningKey>,
    node: &str,
    challenge: &str,
) -> String {
    let did = session.did();
    let label = format!("minca-peer/v3|client|{space}|{did}|{node}|{challenge}");
    let sign = |key: &SigningKey| base64url::encode(&key.sign(label.as_bytes()));
    let read = read.map_or(String::new(), |read| {
        format!(r#","read":"{}","readKey":"{}""#, sign(read), read.did())
    });
    format!(
        r#"{{"type":"hello","did":"{did}","nonce":"sLGys7S1tre4ubq7vL2-vw","sig":"{}"{read}}}"#,
        sign(session)
    )
}

/// A WebSocket whose frames are written and read by hand.
pub struct Client {
    pub stream: TcpStream,
    unread: Vec<u8>,
}

impl Client {
    pub async fn upgrade(address: SocketAddr, target: &str) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = upgrade_request(target);
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut client = Self {
            stream,
            unread: Vec::new(),
        };
        let head = client.read_head().await;
        assert!(head.starts_with("HTTP/1.1 101"), "{head}");
        let lower = head.to_lowercase();
        assert!(lower.contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="));
        assert!(!lower.contains("sec-websocket-extensions"));
        assert!(!lower.contains("sec-websocket-protocol"));
        client
    }

    /// A second hand on the same connection, to write with while the first one reads.
    pub fn writer(self) -> (Self, TcpStream) {
        let stream = self.stream.into_std().unwrap();
        let writer = stream.try_clone().unwrap();
        let client = Self {
            stream: TcpStream::from_std(stream).unwrap(),
            unread: self.unread,
        };
        (client, TcpStream::from_std(writer).unwrap())
    }

    async fn read_head(&mut self) -> String {
        loop {
            let mut ends = self.unread.windows(4);
            if let Some(end) = ends.position(|window| window == b"\r\n\r\n") {
                let rest = self.unread.split_off(end + 4);
                let head = std::mem::replace(&mut self.unread, rest);
                return String::from_utf8(head).unwrap();
            }
            assert!(self.read_more().await, "the connection ended early");
        }
    }

    async fn read_more(&mut self) -> bool {
        let mut chunk = vec![0; 65_536];
        let read = timeout(PATIENCE, self.stream.read(&mut chunk))
            .await
            .unwrap();
        match read {
            Ok(0) | Err(_) => false,
            Ok(read) => {
                self.unread.extend_from_slice(&chunk[..read]);
                true
            }
        }
    }

    /// The next frame's first byte and payload; `None` at the end of the connection.
    pub async fn read_frame(&mut self) -> Option<(u8, Vec<u8>)> {
        loop {
            if let Some((first, head, length)) = server_head(&self.unread)
                && self.unread.len() >= head + length
            {
                let rest = self.unread.split_off(head + length);
                let mut whole = std::mem::replace(&mut self.unread, rest);
                return Some((first, whole.split_off(head)));
            }
            if !self.read_more().await {
                return None;
            }
        }
    }

    /// The next message: pings and pongs are passed over, pings answered.
    pub async fn read_message(&mut self) -> Option<(u8, Vec<u8>)> {
        loop {
            let (first, payload) = self.read_frame().await?;
            assert_eq!(first & 0xf0, FIN, "hosts don't split, compress or reserve");
            match first & 0x0f {
                PING => self.send(FIN | PONG, &payload).await,
                PONG => {}
                opcode => return Some((opcode, payload)),
            }
        }
    }

    pub async fn read_text(&mut self) -> serde_json::Value {
        let (opcode, payload) = self.read_message().await.expect("a message");
        assert_eq!(opcode, TEXT);
        serde_json::from_slice(&payload).unwrap()
    }

    pub async fn read_binary(&mut self) -> Vec<u8> {
        let (opcode, payload) = self.read_message().await.expect("a message");
        assert_eq!(opcode, BINARY);
        payload
    }

    /// Reads to the end of the connection: the code it was closed with, and all bytes
    /// that came. A close is answered.
    pub async fn closed(&mut self) -> Option<u16> {
        let mut code = None;
        while let Some((opcode, payload)) = self.read_message().await {
            if opcode == CLOSE {
                code = Some(u16::from_be_bytes([payload[0], payload[1]]));
                self.try_send(FIN | CLOSE, &payload).await;
            }
        }
        code
    }

    /// As [`closed`](Self::closed), once this message came.
    pub async fn closed_after(&mut self, message: &[u8]) -> Option<u16> {
        assert_eq!(self.read_binary().await, message);
        self.closed().await
    }

    pub async fn send(&mut self, first_byte: u8, payload: &[u8]) {
        self.stream
            .write_all(&frame(first_byte, payload))
            .await
            .unwrap();
    }

    /// Sends, if the other side still takes anything.
    pub async fn try_send(&mut self, first_byte: u8, payload: &[u8]) {
        let _ = self.stream.write_all(&frame(first_byte, payload)).await;
    }

    pub async fn send_raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// Reads the challenge: node and nonce.
    pub async fn challenge(&mut self) -> (String, String) {
        let challenge = self.read_text().await;
        assert_eq!(challenge["type"], "challenge");
        let text = |name: &str| challenge[name].as_str().unwrap().to_owned();
        (text("did"), text("nonce"))
    }

    pub async fn say_hello(&mut self, space: &str, session: u8, read: Option<&SigningKey>) {
        let (node, nonce) = self.challenge().await;
        let hello = hello(space, &key(session), read, &node, &nonce);
        self.send(FIN | TEXT, hello.as_bytes()).await;
    }

    /// Goes through the handshake and checks the welcome.
    pub async fn log_in(&mut self, space: &ContentId, session: u8, read: Option<&SigningKey>) {
        self.say_hello(&space.to_string(), session, read).await;
        let welcome = self.read_text().await;
        assert_eq!(welcome["type"], "welcome");
        let node = key(1).did();
        assert_eq!(welcome["did"], node.to_string());
        let label = format!("minca-peer/v3|server|{space}|{node}|sLGys7S1tre4ubq7vL2-vw");
        let signature = base64url::decode_exact(welcome["sig"].as_str().unwrap()).unwrap();
        assert!(node.public_key().verify(label.as_bytes(), &signature));
    }
}

/// First byte, length of the head and of the payload.
fn server_head(bytes: &[u8]) -> Option<(u8, usize, usize)> {
    let [first, second, rest @ ..] = bytes else {
        return None;
    };
    assert_eq!(second & 0x80, 0, "a host doesn't mask");
    match (second & 0x7f, rest) {
        (126, [a, b, ..]) => Some((*first, 4, u16::from_be_bytes([*a, *b]).into())),
        (127, [a, b, c, d, e, f, g, h, ..]) => {
            let length = u64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, *h]);
            Some((*first, 10, length as usize))
        }
        (126 | 127, _) => None,
        (length, _) => Some((*first, 2, length.into())),
    }
}
