//! Calls to a running host by its operator's commands (see [`crate::admin`]).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::{Method, Request, StatusCode, header};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::de::DeserializeOwned;

use crate::admin::TOKEN_FILE;

/// No answer is longer.
const MOST_ANSWER_BYTES: usize = 16 << 20;

/// Why a call got no good answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// No host answers there.
    #[error("no host answers on {0}")]
    NoHost(SocketAddr),
    /// The token of the data folder can't be read.
    #[error("the data folder's {TOKEN_FILE} can't be read: {0}")]
    Token(#[source] std::io::Error),
    /// A host answers, and this data folder isn't its.
    #[error(
        "the host on {address} doesn't take the token of the data folder {}: it is the host of another data folder. \
         Give the folder and the port of the same host (`--data`, `--metrics-listen`)", data.display()
    )]
    OtherHost { address: SocketAddr, data: PathBuf },
    /// The host said no, and why.
    #[error("{1} ({0})")]
    Refused(StatusCode, String),
    /// What came is no answer of a host.
    #[error("what answers on {address} is not this host: {why}")]
    Strange { address: SocketAddr, why: String },
}

/// Makes calls to one host.
pub struct AdminClient {
    client: Client<HttpConnector, Full<Bytes>>,
    address: SocketAddr,
    data: PathBuf,
    token: Result<String, std::io::Error>,
}

impl AdminClient {
    /// Calls the host whose metrics are at `address`, with the token of its data folder.
    pub fn new(address: SocketAddr, data: &Path) -> AdminClient {
        AdminClient {
            client: Client::builder(TokioExecutor::new()).build_http(),
            address: reachable(address),
            data: data.to_owned(),
            token: std::fs::read_to_string(data.join(TOKEN_FILE)),
        }
    }

    /// Makes a call and reads its answer.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn call<T: DeserializeOwned>(
        self,
        method: Method,
        path: &str,
        body: Vec<u8>,
    ) -> Result<T, CallError> {
        let address = self.address;
        let answer = self.send(method, path, body).await?;
        serde_json::from_slice(&answer).map_err(|error| CallError::Strange {
            address,
            why: error.to_string(),
        })
    }

    /// Makes a call whose answer is empty.
    ///
    /// # Errors
    /// [`CallError`].
    pub async fn send(self, method: Method, path: &str, body: Vec<u8>) -> Result<Bytes, CallError> {
        let address = self.address;
        let strange = |why: String| CallError::Strange { address, why };
        let token = match &self.token {
            Ok(token) => token.clone(),
            // A host that answers is another's, and one that doesn't is not there.
            Err(_) if tokio::net::TcpStream::connect(address).await.is_err() => {
                return Err(CallError::NoHost(address));
            }
            Err(error) => return Err(CallError::Token(std::io::Error::from(error.kind()))),
        };
        let request = Request::builder()
            .method(method)
            .uri(format!("http://{address}{path}"))
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| strange(error.to_string()))?;
        let response = match self.client.request(request).await {
            Ok(response) => response,
            Err(error) if error.is_connect() => return Err(CallError::NoHost(address)),
            Err(error) => return Err(strange(error.to_string())),
        };
        let status = response.status();
        let body = Limited::new(response.into_body(), MOST_ANSWER_BYTES)
            .collect()
            .await;
        let body = body.map_err(|error| strange(error.to_string()))?.to_bytes();
        if status.is_success() {
            return Ok(body);
        }
        if status == StatusCode::UNAUTHORIZED {
            return Err(CallError::OtherHost {
                address,
                data: self.data,
            });
        }
        Err(CallError::Refused(
            status,
            String::from_utf8_lossy(&body).trim().to_owned(),
        ))
    }
}

/// An address a host listens on, as one that can be called.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        // It may listen for IPv6 alone.
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        other => other,
    };
    SocketAddr::new(ip, address.port())
}
