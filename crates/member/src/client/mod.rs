//! A connection of a device to a host: dialled, proven, and driven (04 §5.2, §8).

mod dial;
pub mod pushing;
pub mod redial;

use std::collections::VecDeque;
use std::fmt;
use std::task::Poll;
use std::time::Duration;

use futures::future::poll_fn;
use futures::{SinkExt, StreamExt};
use minca_record::did::Did;
use minca_record::files::NamedFile;
use minca_record::signing::SigningKey;
use minca_record::url::NodeUrl;
use minca_record::version::Version;
use minca_sync::envelope::{Envelope, Kind, write_sync};
use minca_sync::frame::Frame;
use minca_sync::handshake::Nonce;
use rustls::pki_types::CertificateDer;
use thiserror::Error;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{self, Message};

pub use dial::{Caller, DialError};

use crate::clock::UnixTime;
use crate::holdings::JournalError;
use crate::randomness::{RandomnessError, random_bytes};
use crate::replica::Replica;
use crate::sync::{Effect, Event, Standing};
use dial::Socket;
use redial::Ended;

/// How often time passes for sync.
const TICK: Duration = Duration::from_secs(1);

/// A hello is said again when so long nothing brought the two level.
const HELLO_AGAIN: Duration = Duration::from_secs(2);

/// Bytes that may wait to be sent. A host that has so much asked for and reads none of it is none.
const MAX_QUEUED: usize = 256 * 1024 * 1024;

/// A side that sent a close waits so long for the other's (04 §4).
const CLOSE_WAIT: Duration = Duration::from_secs(5);

/// How to connect.
#[derive(Default)]
pub struct Options {
    /// Certificates to trust besides those every browser does.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// What the handshake is done with instead of a random nonce. For tests.
    pub nonce: Option<Nonce>,
    /// The read keys to prove instead of the space's own, newest first. For tests.
    pub read_keys: Option<Vec<SigningKey>>,
    /// Is told everything that happens, with the time since the connection was open.
    pub watch: Option<Watch>,
    /// Sends no `who`, and so shows no account. For tests.
    pub without_who: bool,
}

/// Is told what happens on a connection.
pub type Watch = Box<dyn FnMut(Duration, &Seen) + Send>;

/// What happens on a connection.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// A binary message was lined up to be sent.
    Sent(Vec<u8>),
    /// A binary message came.
    Received(Vec<u8>),
    /// A text message came, which means nothing.
    ReceivedText(String),
    /// Sync tells something.
    Event(Event),
    /// The socket is gone.
    Closed {
        /// The close code, if there was one.
        code: Option<u16>,
        /// The reason.
        reason: String,
    },
}

/// Why a connection couldn't be opened.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The node couldn't be reached, or was not the one that was meant.
    #[error(transparent)]
    Dial(#[from] DialError),
    /// There were no random bytes for a nonce.
    #[error(transparent)]
    Randomness(#[from] RandomnessError),
}

/// Why a connection is of no more use, or didn't bring what was waited for.
#[derive(Debug, Error)]
pub enum ConnectionError {
    /// The host closed it.
    #[error("the host closed{}", dial::how_closed(*code, reason))]
    Closed {
        /// The close code; `None` where the stream just ended.
        code: Option<u16>,
        /// The reason.
        reason: String,
    },
    /// The socket broke.
    #[error("the socket: {0}")]
    Broken(#[source] Box<tungstenite::Error>),
    /// What came couldn't be put on disk.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The host asks and asks, and reads nothing.
    #[error("over {MAX_QUEUED} bytes wait to be sent")]
    Stuck,
    /// It didn't come in time. The connection goes on.
    #[error("not in {} s; sync stands at {standing:?}", .waited.as_secs_f32())]
    TimedOut {
        /// How long was waited.
        waited: Duration,
        /// Where sync with the host stands.
        standing: Standing,
    },
}

impl ConnectionError {
    /// How the connection ended, for [`redial::Redial`].
    pub fn ended(&self) -> Ended {
        match self {
            ConnectionError::Closed {
                code: Some(code), ..
            } => Ended::Closed(*code),
            _ => Ended::Lost,
        }
    }
}

/// An open connection. Nothing happens on it but while one of its methods runs, answers to pings
/// included: a host ends one that is silent for some 40 s.
pub struct Connection {
    socket: Socket,
    node: Did,
    session: Did,
    queue: VecDeque<Message>,
    queued: usize,
    opened: Instant,
    watch: Option<Watch>,
}

impl Connection {
    /// Dials, does the handshake, says `who` and the first hello.
    ///
    /// # Errors
    /// [`ConnectError`].
    pub async fn open(
        url: &NodeUrl,
        replica: &mut Replica,
        options: Options,
    ) -> Result<Connection, ConnectError> {
        let nonce = match options.nonce {
            Some(nonce) => nonce,
            None => Nonce(random_bytes(replica.randomness())?),
        };
        let note = replica.note(UnixTime::now())?;
        let space = replica.space().id().to_string();
        let caller = Caller {
            space: &space,
            session: replica.device().key(),
            read_keys: match &options.read_keys {
                Some(keys) => keys.iter().collect(),
                None => replica.space().read_keys().collect(),
            },
            nonce,
            extra_roots: options.extra_roots,
        };
        let (socket, node) = dial::dial(url, &caller).await?;
        let mut connection = Connection {
            socket,
            node,
            session: replica.device().did(),
            queue: VecDeque::new(),
            queued: 0,
            opened: Instant::now(),
            watch: options.watch,
        };
        if !options.without_who {
            let who = dial::who(&connection.session, note.as_ref());
            connection.queue_up(who);
        }
        let effects = replica.connected(node);
        connection.carry_out(effects);
        Ok(connection)
    }

    /// The DID the node proved.
    pub fn node(&self) -> Did {
        self.node
    }

    /// Sends, receives and answers until `done`, which is looked at after every message.
    ///
    /// # Errors
    /// [`ConnectionError::TimedOut`] after `timeout`; the connection goes on then. All others end
    /// it.
    pub async fn drive(
        &mut self,
        replica: &mut Replica,
        timeout: Duration,
        mut done: impl FnMut(&Replica) -> bool,
    ) -> Result<(), ConnectionError> {
        let deadline = Instant::now() + timeout;
        let mut next_tick = Instant::now();
        while !done(replica) {
            if self.queued > MAX_QUEUED {
                return Err(ConnectionError::Stuck);
            }
            let now = Instant::now();
            if now >= deadline {
                let standing = replica.sync().standing(&self.node);
                return Err(ConnectionError::TimedOut {
                    waited: timeout,
                    standing,
                });
            }
            if now >= next_tick {
                next_tick = now + TICK;
                let elapsed = (now - self.opened).as_millis();
                let effects = replica.tick(u64::try_from(elapsed).unwrap_or(u64::MAX));
                self.carry_out(effects);
                continue;
            }
            let wake = deadline.min(next_tick);
            match tokio::time::timeout_at(wake, self.next_message()).await {
                Err(_) => {}
                Ok(Ok(message)) => self.take(message, replica)?,
                Ok(Err(error)) => return Err(self.lost(replica, error)),
            }
        }
        Ok(())
    }

    /// Drives until this device and the host hold the same, and everything sent is stored there.
    ///
    /// # Errors
    /// As [`drive`](Connection::drive). One that timed out with
    /// [`Standing::Unacknowledged`] has something the host doesn't take.
    pub async fn sync_until_level(
        &mut self,
        replica: &mut Replica,
        timeout: Duration,
    ) -> Result<(), ConnectionError> {
        let node = self.node;
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let is_level = |replica: &Replica| replica.sync().standing(&node) == Standing::Level;
            match self.drive(replica, left.min(HELLO_AGAIN), is_level).await {
                Err(ConnectionError::TimedOut { standing, .. }) => {
                    if Instant::now() >= deadline {
                        return Err(ConnectionError::TimedOut {
                            waited: timeout,
                            standing,
                        });
                    }
                    self.say_hello(replica);
                }
                done => return done,
            }
        }
    }

    /// Says hello once more, as is done now and then (05 §6.2). It goes out when the connection is
    /// driven.
    pub fn say_hello(&mut self, replica: &mut Replica) {
        let effects = replica.say_hello(self.node);
        self.carry_out(effects);
    }

    /// Sends a version this device wrote (05 §7).
    ///
    /// # Errors
    /// As [`drive`](Connection::drive).
    pub async fn push(
        &mut self,
        replica: &mut Replica,
        version: &Version,
    ) -> Result<(), ConnectionError> {
        let effects = replica.push(version);
        self.carry_out(effects);
        self.flush(replica).await
    }

    /// Fetches a file from the host; `None` where the host doesn't have it.
    ///
    /// # Errors
    /// As [`drive`](Connection::drive).
    pub async fn fetch_file(
        &mut self,
        replica: &mut Replica,
        named: NamedFile,
        timeout: Duration,
    ) -> Result<Option<Vec<u8>>, ConnectionError> {
        let node = self.node;
        let effects = replica.fetch_file(node, named);
        self.carry_out(effects);
        let is_over = |replica: &Replica| !replica.sync().is_fetching(&node, &named.id);
        self.drive(replica, timeout, is_over).await?;
        Ok(replica.sync().files().get(&named.id).map(<[u8]>::to_vec))
    }

    /// Sends any bytes as a binary message. For tests.
    ///
    /// # Errors
    /// As [`drive`](Connection::drive).
    pub async fn send(
        &mut self,
        replica: &mut Replica,
        bytes: Vec<u8>,
    ) -> Result<(), ConnectionError> {
        self.queue_up(bytes);
        self.flush(replica).await
    }

    /// Closes with `1000`, and waits a while for the host's close.
    pub async fn close(mut self, replica: &mut Replica) {
        replica.disconnected(self.node);
        let frame = CloseFrame {
            code: CloseCode::Normal,
            reason: "".into(),
        };
        let closing = async {
            // Whether the host hears of it is its affair.
            let _ = self.socket.close(Some(frame)).await;
            while let Some(Ok(_)) = self.socket.next().await {}
        };
        let _ = tokio::time::timeout(CLOSE_WAIT, closing).await;
    }

    /// Drops the socket without a close, as a device that loses its network does.
    pub fn drop_silently(self, replica: &mut Replica) {
        replica.disconnected(self.node);
    }

    /// Sends everything lined up, handling what comes meanwhile.
    async fn flush(&mut self, replica: &mut Replica) -> Result<(), ConnectionError> {
        let flushed = poll_fn(|context| {
            while !self.queue.is_empty() {
                match self.socket.poll_ready_unpin(context) {
                    Poll::Ready(Ok(())) => self.start_sending()?,
                    other => return other,
                }
            }
            self.socket.poll_flush_unpin(context)
        });
        match flushed.await {
            Ok(()) => Ok(()),
            Err(error) => Err(self.lost(replica, broken(error))),
        }
    }

    /// The next message, sending meanwhile whatever the host takes: two sides that only sent
    /// would wait for each other.
    async fn next_message(&mut self) -> Result<Message, ConnectionError> {
        let next = poll_fn(|context| {
            while !self.queue.is_empty() {
                match self.socket.poll_ready_unpin(context) {
                    Poll::Ready(Ok(())) => match self.start_sending() {
                        Ok(()) => {}
                        Err(error) => return Poll::Ready(Some(Err(error))),
                    },
                    Poll::Ready(Err(error)) => return Poll::Ready(Some(Err(error))),
                    Poll::Pending => break,
                }
            }
            if let Poll::Ready(Err(error)) = self.socket.poll_flush_unpin(context) {
                return Poll::Ready(Some(Err(error)));
            }
            self.socket.poll_next_unpin(context)
        });
        match next.await {
            None => Err(ConnectionError::Closed {
                code: None,
                reason: String::new(),
            }),
            Some(Ok(Message::Close(frame))) => {
                let (code, reason) = frame.map_or((None, String::new()), |frame| {
                    (Some(u16::from(frame.code)), frame.reason.to_string())
                });
                Err(ConnectionError::Closed { code, reason })
            }
            Some(Ok(message)) => Ok(message),
            Some(Err(error)) => Err(broken(error)),
        }
    }

    fn start_sending(&mut self) -> Result<(), tungstenite::Error> {
        let Some(message) = self.queue.pop_front() else {
            return Ok(());
        };
        self.queued = self.queued.saturating_sub(message.len());
        self.socket.start_send_unpin(message)
    }

    fn take(&mut self, message: Message, replica: &mut Replica) -> Result<(), ConnectionError> {
        let bytes = match message {
            Message::Binary(bytes) => bytes,
            Message::Text(text) => {
                self.see(Seen::ReceivedText(text.to_string()));
                return Ok(());
            }
            _ => return Ok(()),
        };
        if self.watch.is_some() {
            self.see(Seen::Received(bytes.to_vec()));
        }
        // What is malformed, or of a kind not known here, is dropped (04 §9).
        if let Ok(Some(Envelope {
            kind: Kind::Sync,
            payload,
        })) = Envelope::read(Frame::Binary(&bytes))
        {
            let effects = replica.received(self.node, payload)?;
            self.carry_out(effects);
        }
        Ok(())
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                // A replica has one connection at a time; what is for another went with it.
                Effect::Send { to, .. } if to != self.node => {}
                Effect::Send { payload, .. } => {
                    let bytes = write_sync(&self.session, |out| out.extend_from_slice(&payload));
                    self.queue_up(bytes);
                }
                Effect::Event(event) => self.see(Seen::Event(event)),
            }
        }
    }

    fn queue_up(&mut self, bytes: Vec<u8>) {
        if self.watch.is_some() {
            self.see(Seen::Sent(bytes.clone()));
        }
        self.queued += bytes.len();
        self.queue.push_back(Message::binary(bytes));
    }

    fn lost(&mut self, replica: &mut Replica, error: ConnectionError) -> ConnectionError {
        replica.disconnected(self.node);
        let (code, reason) = match &error {
            ConnectionError::Closed { code, reason } => (*code, reason.clone()),
            _ => (None, String::new()),
        };
        self.see(Seen::Closed { code, reason });
        error
    }

    fn see(&mut self, seen: Seen) {
        if let Some(watch) = &mut self.watch {
            watch(self.opened.elapsed(), &seen);
        }
    }
}

/// What an error of the socket means for the connection.
fn broken(error: tungstenite::Error) -> ConnectionError {
    match error {
        tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed => {
            ConnectionError::Closed {
                code: None,
                reason: String::new(),
            }
        }
        error => ConnectionError::Broken(Box::new(error)),
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("queued", &self.queued)
            .finish_non_exhaustive()
    }
}
