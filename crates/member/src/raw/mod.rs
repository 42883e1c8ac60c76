//! The test client of 04 §8: a socket that says anything, at any moment and in any form, or
//! nothing, and reports exactly what came.

mod frame;
mod hello;

use std::io;
use std::time::Duration;

use minca_record::base64url;
use minca_record::did::Did;
use minca_record::json::{MESSAGE_DEPTH, Value, read};
use minca_sync::handshake::Nonce;
use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, ToSocketAddrs};
use tokio::time::Instant;

pub use frame::{
    BINARY, CLOSE, CONTINUATION, PING, PONG, RawFrame, ReceivedFrame, TEXT, USUAL_MASK, read_frame,
};
pub use hello::{RawHello, repeat_member};

/// Bytes of an HTTP answer's head that are read.
const MAX_HEAD: usize = 64 * 1024;

/// An HTTP answer that was no `101`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// The reason beside it.
    pub reason: String,
    /// Names, in lower case, and values, in the order they came.
    pub headers: Vec<(String, String)>,
    /// What followed until the host closed, or the wait was over.
    pub body: Vec<u8>,
}

impl HttpAnswer {
    /// The first header with this name, in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Why no WebSocket is open.
#[derive(Debug, Error)]
pub enum RawOpenError {
    /// The connection couldn't be made, or broke.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The upgrade was refused.
    #[error("the host answered {} {}", .0.status, .0.reason)]
    Refused(Box<HttpAnswer>),
    /// What came is no HTTP answer.
    #[error("expected an HTTP answer")]
    NotHttp,
    /// Nothing came in time.
    #[error("no answer in time")]
    TimedOut,
}

/// The head of an upgrade request; every header can be another.
#[derive(Clone, Debug)]
pub struct Upgrade {
    /// The method.
    pub method: String,
    /// The target, as it is sent: the path and its query.
    pub target: String,
    /// The headers, in order.
    pub headers: Vec<(String, String)>,
}

impl Upgrade {
    /// A well-formed upgrade request.
    pub fn new(target: &str) -> Upgrade {
        let headers = [
            ("Host", "localhost"),
            ("Connection", "Upgrade"),
            ("Upgrade", "websocket"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        Upgrade {
            method: "GET".to_owned(),
            target: target.to_owned(),
            headers: headers
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .to_vec(),
        }
    }

    /// One for a space at `/peer`.
    pub fn for_space(space: &str) -> Upgrade {
        Upgrade::new(&format!("/peer?space={space}"))
    }

    /// Sets a header, or adds it.
    pub fn header(mut self, name: &str, value: &str) -> Upgrade {
        let without = self.without(name);
        self = without;
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Leaves a header out.
    pub fn without(mut self, name: &str) -> Upgrade {
        self.headers
            .retain(|(own, _)| !own.eq_ignore_ascii_case(name));
        self
    }

    /// The bytes on the wire.
    pub fn bytes(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += "\r\n";
        head.into_bytes()
    }
}

/// A node's challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawChallenge {
    /// The DID it names.
    pub node: Did,
    /// Its nonce.
    pub nonce: Nonce,
}

/// What came, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// Since the `101`.
    pub at: Duration,
    /// What it is.
    pub what: What,
}

/// What came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A whole text message, whatever bytes it is.
    Text(Vec<u8>),
    /// A whole binary message.
    Binary(Vec<u8>),
    /// A ping; it is answered unless told otherwise.
    Ping(Vec<u8>),
    /// A pong.
    Pong(Vec<u8>),
    /// A close: its code, if it has one, and its reason.
    Close(Option<u16>, String),
    /// A frame that a server doesn't send: masked, of another opcode, or with reserved bits.
    Strange(ReceivedFrame),
    /// The stream ended.
    End,
    /// The stream was reset, or broke otherwise.
    Reset,
}

/// A socket after the `101`.
#[derive(Debug)]
pub struct RawSocket {
    stream: TcpStream,
    unread: Vec<u8>,
    message: Option<(u8, Vec<u8>)>,
    opened: Instant,
    /// Whether pings are answered, as they are at first.
    pub answers_pings: bool,
}

impl RawSocket {
    /// Connects over plain TCP, upgrades, and says nothing more.
    ///
    /// # Errors
    /// [`RawOpenError`].
    pub async fn open(
        address: impl ToSocketAddrs,
        upgrade: &Upgrade,
        wait: Duration,
    ) -> Result<RawSocket, RawOpenError> {
        let stream = TcpStream::connect(address).await?;
        RawSocket::open_on(stream, upgrade, wait).await
    }

    /// As [`open`](RawSocket::open), on a connection there is.
    ///
    /// # Errors
    /// [`RawOpenError`].
    pub async fn open_on(
        mut stream: TcpStream,
        upgrade: &Upgrade,
        wait: Duration,
    ) -> Result<RawSocket, RawOpenError> {
        stream.set_nodelay(true)?;
        stream.write_all(&upgrade.bytes()).await?;
        let opening = read_answer(&mut stream, wait);
        let (answer, unread) = tokio::time::timeout(wait, opening)
            .await
            .unwrap_or(Err(RawOpenError::TimedOut))?;
        if answer.status != 101 {
            return Err(RawOpenError::Refused(Box::new(answer)));
        }
        Ok(RawSocket {
            stream,
            unread,
            message: None,
            opened: Instant::now(),
            answers_pings: true,
        })
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// Where the connection is gone.
    pub async fn send(&mut self, frame: &RawFrame) -> io::Result<()> {
        self.send_bytes(&frame.bytes()).await
    }

    /// Sends a whole text message.
    ///
    /// # Errors
    /// Where the connection is gone.
    pub async fn send_text(&mut self, text: &str) -> io::Result<()> {
        self.send(&RawFrame::new(TEXT, text)).await
    }

    /// Sends a whole binary message.
    ///
    /// # Errors
    /// Where the connection is gone.
    pub async fn send_binary(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.send(&RawFrame::new(BINARY, bytes)).await
    }

    /// Sends any bytes.
    ///
    /// # Errors
    /// Where the connection is gone.
    pub async fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Sends bytes one by one, with a pause after each.
    ///
    /// # Errors
    /// Where the connection is gone.
    pub async fn send_byte_by_byte(&mut self, bytes: &[u8], pause: Duration) -> io::Result<()> {
        for byte in bytes {
            self.stream.write_all(&[*byte]).await?;
            tokio::time::sleep(pause).await;
        }
        Ok(())
    }

    /// The next thing that comes, if it does in time. Whoever doesn't call this reads nothing.
    pub async fn hear(&mut self, wait: Duration) -> Option<Heard> {
        let what = tokio::time::timeout(wait, self.next()).await.ok()?;
        Some(Heard {
            at: self.opened.elapsed(),
            what,
        })
    }

    /// Everything that comes until a close or the end, or nothing for `quiet`.
    pub async fn hear_all(&mut self, quiet: Duration) -> Vec<Heard> {
        let mut all = Vec::new();
        while let Some(heard) = self.hear(quiet).await {
            let is_last = matches!(heard.what, What::End | What::Reset);
            all.push(heard);
            if is_last {
                break;
            }
        }
        all
    }

    /// The next text message, within `wait`; what else comes is passed over.
    pub async fn hear_text(&mut self, wait: Duration) -> Option<String> {
        let deadline = Instant::now() + wait;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.hear(left).await?.what {
                What::Text(text) => return String::from_utf8(text).ok(),
                What::End | What::Reset | What::Close(..) => return None,
                _ => {}
            }
        }
    }

    /// The node's challenge, within `wait`; what else comes is passed over. `None` where none
    /// comes, or a text that is none.
    pub async fn hear_challenge(&mut self, wait: Duration) -> Option<RawChallenge> {
        let text = self.hear_text(wait).await?;
        let object = read(text.as_bytes(), MESSAGE_DEPTH).ok()?.into_object()?;
        let member = |name| object.get(name).and_then(Value::as_str);
        Some(RawChallenge {
            node: Did::parse(member("did")?).ok()?,
            nonce: Nonce::parse(member("nonce")?)?,
        })
    }

    /// Takes the challenge, says the hello that `hello` makes of it, and hears the outcome: the
    /// text of the welcome, which isn't checked.
    ///
    /// # Errors
    /// How the host ended the socket instead; `None` where nothing came within `wait`.
    pub async fn enter(
        &mut self,
        wait: Duration,
        hello: impl FnOnce(&RawChallenge) -> RawHello,
    ) -> Result<String, Option<What>> {
        let challenge = self.hear_challenge(wait).await.ok_or(None)?;
        let sent = self.send_text(&hello(&challenge).text()).await;
        sent.map_err(|_| Some(What::Reset))?;
        loop {
            match self.hear(wait).await.ok_or(None)?.what {
                What::Text(text) => return Ok(String::from_utf8_lossy(&text).into_owned()),
                end @ (What::Close(..) | What::End | What::Reset) => return Err(Some(end)),
                _ => {}
            }
        }
    }

    /// How the host ends the socket, within `wait`: its close code and reason, or that it just
    /// ended. What else comes is passed over.
    pub async fn hear_end(&mut self, wait: Duration) -> Option<What> {
        let deadline = Instant::now() + wait;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let what = self.hear(left).await?.what;
            if matches!(what, What::Close(..) | What::End | What::Reset) {
                return Some(what);
            }
        }
    }

    /// Gives the TCP connection up, with what was read of it and not heard yet.
    pub fn into_stream(self) -> (TcpStream, Vec<u8>) {
        (self.stream, self.unread)
    }

    async fn next(&mut self) -> What {
        loop {
            if let Some((frame, taken)) = read_frame(&self.unread) {
                self.unread.drain(..taken);
                match self.take(frame) {
                    None => continue,
                    Some(What::Ping(payload)) if self.answers_pings => {
                        // Whether it arrives shows in what comes next.
                        let _ = self.send(&RawFrame::new(PONG, payload.clone())).await;
                        return What::Ping(payload);
                    }
                    Some(what) => return what,
                }
            }
            match self.stream.read_buf(&mut self.unread).await {
                Ok(0) => return What::End,
                Ok(_) => {}
                Err(_) => return What::Reset,
            }
        }
    }

    /// What a frame comes to; `None` in the midst of a message.
    fn take(&mut self, frame: ReceivedFrame) -> Option<What> {
        let is_strange = frame.was_masked || frame.reserved != 0;
        match (frame.opcode, self.message.take()) {
            _ if is_strange => Some(What::Strange(frame)),
            (TEXT | BINARY, None) => self.gather(frame.fin, frame.opcode, frame.payload),
            (CONTINUATION, Some((opcode, mut payload))) => {
                payload.extend_from_slice(&frame.payload);
                self.gather(frame.fin, opcode, payload)
            }
            (PING, message) => {
                self.message = message;
                Some(What::Ping(frame.payload))
            }
            (PONG, message) => {
                self.message = message;
                Some(What::Pong(frame.payload))
            }
            (CLOSE, _) => Some(match frame.payload.split_first_chunk() {
                None => What::Close(None, String::new()),
                Some((code, reason)) => What::Close(
                    Some(u16::from_be_bytes(*code)),
                    String::from_utf8_lossy(reason).into_owned(),
                ),
            }),
            _ => Some(What::Strange(frame)),
        }
    }

    fn gather(&mut self, fin: bool, opcode: u8, payload: Vec<u8>) -> Option<What> {
        if !fin {
            self.message = Some((opcode, payload));
            return None;
        }
        Some(if opcode == TEXT {
            What::Text(payload)
        } else {
            What::Binary(payload)
        })
    }
}

/// Sends any bytes to an HTTP port and reads the answer: for requests that are no upgrade.
///
/// # Errors
/// [`RawOpenError`]; never [`Refused`](RawOpenError::Refused).
pub async fn http(
    address: impl ToSocketAddrs,
    request: &[u8],
    wait: Duration,
) -> Result<HttpAnswer, RawOpenError> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request).await?;
    let answering = read_answer(&mut stream, wait);
    let answer = tokio::time::timeout(2 * wait, answering).await;
    Ok(answer.unwrap_or(Err(RawOpenError::TimedOut))?.0)
}

/// Reads an HTTP answer's head, and its body unless it is a `101`; then what was read past it.
async fn read_answer(
    stream: &mut TcpStream,
    wait: Duration,
) -> Result<(HttpAnswer, Vec<u8>), RawOpenError> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if bytes.len() > MAX_HEAD || stream.read_buf(&mut bytes).await? == 0 {
            return Err(RawOpenError::NotHttp);
        }
    };
    let head = std::str::from_utf8(&bytes[..end]).map_err(|_| RawOpenError::NotHttp)?;
    let mut answer = read_head(head).ok_or(RawOpenError::NotHttp)?;
    let mut rest = bytes.split_off(end + 4);
    if answer.status == 101 {
        return Ok((answer, rest));
    }
    let length = answer
        .header("content-length")
        .and_then(|length| length.parse::<usize>().ok());
    let reading = async {
        while length.is_none_or(|length| rest.len() < length)
            && matches!(stream.read_buf(&mut rest).await, Ok(1..))
        {}
    };
    // One that keeps its connection open without saying how much comes has said what it says.
    let _ = tokio::time::timeout(wait / 2, reading).await;
    answer.body = rest;
    Ok((answer, Vec::new()))
}

fn read_head(head: &str) -> Option<HttpAnswer> {
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.splitn(3, ' ');
    first
        .next()
        .filter(|version| version.starts_with("HTTP/1."))?;
    let status = first.next()?.parse().ok()?;
    let reason = first.next().unwrap_or_default().to_owned();
    let headers = lines
        .map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        })
        .collect::<Option<_>>()?;
    Some(HttpAnswer {
        status,
        reason,
        headers,
        body: Vec::new(),
    })
}

/// The `Sec-WebSocket-Key` a fresh 16 bytes make, where one must differ from the usual one's.
pub fn websocket_key(bytes: [u8; 16]) -> String {
    // Padded standard base64 and base64url differ in two characters and the padding.
    base64url::encode(&bytes)
        .replace('-', "+")
        .replace('_', "/")
        + "=="
}
