//! Dialling a node (04 §5.2): TCP, TLS where the URL asks for it, the upgrade, and the handshake.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::SinkExt;
use futures::StreamExt;
use minca_record::did::Did;
use minca_record::json::Value;
use minca_record::signing::SigningKey;
use minca_record::url::NodeUrl;
use minca_sync::close::Close;
use minca_sync::envelope::MAX_MESSAGE_BYTES;
use minca_sync::frame::Frame;
use minca_sync::handshake::{
    ClientView, HELLO_WAIT_MS, Nonce, check_welcome, read_challenge, write_hello,
};
use rustls::pki_types::{CertificateDer, ServerName};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Message};

use super::redial::Ended;

/// What is waited for at most, for each of: TCP and TLS and the upgrade together, the challenge,
/// the welcome.
const WAIT: Duration = Duration::from_millis(HELLO_WAIT_MS);

/// A byte stream to a node, plain or in TLS.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

pub(super) type Socket = WebSocketStream<Box<dyn Stream>>;

/// Why a node couldn't be reached, or was not the one that was meant.
#[derive(Debug, Error)]
pub enum DialError {
    /// The connection couldn't be made, or broke.
    #[error("connecting: {0}")]
    Io(#[from] io::Error),
    /// The URL's host is no name a certificate can be for.
    #[error("expected a host name or an address in the node URL")]
    Host,
    /// The upgrade was refused.
    #[error("the host answered {status} to the upgrade")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What `Retry-After` says, in seconds.
        retry_after: Option<u64>,
    },
    /// The host closed before its welcome.
    #[error("the host closed before its welcome{}", how_closed(*code, reason))]
    Closed {
        /// The close code, if there was one.
        code: Option<u16>,
        /// The reason.
        reason: String,
    },
    /// Another node answers there than the pinned one.
    #[error("expected the pinned node {pin}, found {found}")]
    Pin {
        /// The DID the URL is pinned to.
        pin: Box<Did>,
        /// The DID that answers.
        found: Box<Did>,
    },
    /// The node's challenge is none.
    #[error("expected a challenge from another node than this client itself")]
    Challenge,
    /// The node's welcome doesn't prove that it is who its challenge says.
    #[error("expected a welcome signed by the node of the challenge")]
    Welcome,
    /// Nothing came in time.
    #[error("waited {} s for {for_what}", WAIT.as_secs())]
    TimedOut {
        /// What was waited for.
        for_what: &'static str,
    },
    /// The WebSocket protocol was broken.
    #[error("the socket: {0}")]
    WebSocket(#[source] Box<tungstenite::Error>),
}

impl DialError {
    /// How the try ended, for [`Redial`](super::redial::Redial).
    pub fn ended(&self) -> Ended {
        match self {
            DialError::Refused {
                status,
                retry_after,
            } => Ended::Refused {
                status: *status,
                retry_after: retry_after.map(Duration::from_secs),
            },
            DialError::Closed {
                code: Some(code), ..
            } => Ended::Closed(*code),
            DialError::Pin { .. } | DialError::Challenge | DialError::Welcome => Ended::NodeRefused,
            _ => Ended::Lost,
        }
    }
}

impl From<tungstenite::Error> for DialError {
    fn from(error: tungstenite::Error) -> DialError {
        match error {
            tungstenite::Error::Io(error) => DialError::Io(error),
            tungstenite::Error::Http(response) => {
                let retry_after = response.headers().get("retry-after");
                DialError::Refused {
                    status: response.status().as_u16(),
                    retry_after: retry_after.and_then(|value| value.to_str().ok()?.parse().ok()),
                }
            }
            error => DialError::WebSocket(Box::new(error)),
        }
    }
}

/// A close code and a reason, for people: both may be missing, and the reason is a stranger's.
pub(super) fn how_closed(code: Option<u16>, reason: &str) -> String {
    match (code, reason) {
        (None, _) => String::new(),
        (Some(code), "") => format!(", with {code}"),
        (Some(code), reason) => format!(", with {code} {reason:?}"),
    }
}

/// Who dials, and how.
#[derive(Clone, Debug)]
pub struct Caller<'a> {
    /// The space's id, as it goes into the request.
    pub space: &'a str,
    /// The session key.
    pub session: &'a SigningKey,
    /// The read keys it holds of a private space, newest first.
    pub read_keys: Vec<&'a SigningKey>,
    /// A fresh nonce.
    pub nonce: Nonce,
    /// Certificates to trust besides those every browser does.
    pub extra_roots: Vec<CertificateDer<'static>>,
}

/// Dials and does the client's part of the handshake. What comes back is open; nothing was said on
/// it yet.
pub(super) async fn dial(url: &NodeUrl, caller: &Caller<'_>) -> Result<(Socket, Did), DialError> {
    let mut socket = within("the upgrade", upgrade(url, caller)).await?;
    let did = caller.session.did();
    let pin = url.pin();
    let mut view = ClientView {
        did: &did,
        space: caller.space,
        nonce: &caller.nonce,
        pin: pin.as_ref(),
    };

    let message = within("the challenge", next_message(&mut socket)).await?;
    let challenge = match read_challenge(as_frame(&message), &view) {
        Ok(challenge) => challenge,
        Err(close) => {
            close_with(&mut socket, close).await;
            view.pin = None;
            return Err(match (read_challenge(as_frame(&message), &view), pin) {
                (Ok(challenge), Some(pin)) if challenge.node != pin => DialError::Pin {
                    pin: Box::new(pin),
                    found: Box::new(challenge.node),
                },
                _ => DialError::Challenge,
            });
        }
    };
    let hello = write_hello(&view, &challenge, caller.session, &caller.read_keys, None);
    socket.send(Message::text(hello)).await?;

    let message = within("the welcome", next_message(&mut socket)).await?;
    if let Err(close) = check_welcome(as_frame(&message), &view, &challenge) {
        close_with(&mut socket, close).await;
        return Err(DialError::Welcome);
    }
    Ok((socket, challenge.node))
}

async fn upgrade(url: &NodeUrl, caller: &Caller<'_>) -> Result<Socket, DialError> {
    let request = url.dial(caller.space).into_client_request()?;
    let uri = request.uri();
    let host = uri.host().ok_or(DialError::Host)?;
    let is_tls = uri.scheme_str() == Some("wss");
    let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
    let bare_host = host.trim_start_matches('[').trim_end_matches(']');
    let tcp = TcpStream::connect((bare_host, port)).await?;
    tcp.set_nodelay(true)?;
    let stream: Box<dyn Stream> = if is_tls {
        let name = ServerName::try_from(bare_host.to_owned()).map_err(|_| DialError::Host)?;
        let connector = tokio_rustls::TlsConnector::from(tls(&caller.extra_roots)?);
        Box::new(connector.connect(name, tcp).await?)
    } else {
        Box::new(tcp)
    };
    let config = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE_BYTES))
        .max_frame_size(Some(MAX_MESSAGE_BYTES));
    let (socket, _) =
        tokio_tungstenite::client_async_with_config(request, stream, Some(config)).await?;
    Ok(socket)
}

fn tls(extra_roots: &[CertificateDer<'static>]) -> Result<Arc<rustls::ClientConfig>, io::Error> {
    let mut roots = rustls::RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    for root in extra_roots {
        roots.add(root.clone()).map_err(io::Error::other)?;
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

async fn within<T>(
    for_what: &'static str,
    what: impl Future<Output = Result<T, DialError>>,
) -> Result<T, DialError> {
    tokio::time::timeout(WAIT, what)
        .await
        .unwrap_or(Err(DialError::TimedOut { for_what }))
}

/// The next text or binary message.
async fn next_message(socket: &mut Socket) -> Result<Message, DialError> {
    loop {
        match socket.next().await {
            None => {
                return Err(DialError::Closed {
                    code: None,
                    reason: String::new(),
                });
            }
            Some(Ok(Message::Close(frame))) => {
                let (code, reason) = frame.map_or((None, String::new()), |frame| {
                    (Some(u16::from(frame.code)), frame.reason.to_string())
                });
                return Err(DialError::Closed { code, reason });
            }
            Some(Ok(message @ (Message::Text(_) | Message::Binary(_)))) => return Ok(message),
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(error.into()),
        }
    }
}

fn as_frame(message: &Message) -> Frame<'_> {
    match message {
        Message::Text(text) => Frame::Text(text.as_bytes()),
        Message::Binary(bytes) => Frame::Binary(bytes),
        _ => Frame::Binary(&[]),
    }
}

async fn close_with(socket: &mut Socket, close: Close) {
    let frame = CloseFrame {
        code: CloseCode::from(close.code()),
        reason: close.reason().into(),
    };
    // The socket is given up whether or not this arrives.
    let _ = tokio::time::timeout(WAIT, socket.close(Some(frame))).await;
}

/// The payload of a `who` this client sends is its note, if it has one.
pub(super) fn who(from: &Did, note: Option<&Value>) -> Vec<u8> {
    minca_sync::envelope::write_who(from, note)
}
