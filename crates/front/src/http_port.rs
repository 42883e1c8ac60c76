//! HTTP on the host's port (04 §3), up to the point where a socket becomes a WebSocket.

use crate::address::client_address;
use crate::places::{NoPlace, Place};
use crate::shared::{Phase, Shared};
use crate::upgrade::{asks_for_websocket, examine};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::routing::get;
use http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, SEC_WEBSOCKET_ACCEPT,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::ext::ReasonPhrase;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout};
use tower::ServiceExt as _;

/// The longest request target; a longer one is `414`.
const MAX_TARGET: usize = 2048;

/// The most a request's headers may weigh; more is `431`.
const MAX_HEADERS: usize = 16 << 10;

/// What hyper reads of a request's head at most: target and headers, and what stands
/// around them.
const MAX_HEAD: usize = MAX_HEADERS + MAX_TARGET + 64;

/// After a request was refused half read: how long what still comes is thrown away, so
/// that the answer isn't overtaken by a reset.
const LINGER: Duration = Duration::from_secs(1);

/// Set in a response's extensions: what `minca_host_http_requests_total` calls its route.
#[derive(Clone, Copy, Debug)]
pub struct RouteLabel(pub &'static str);

/// A connection that asked for `/peer` and got it.
pub(crate) struct Upgrade<S> {
    pub(crate) io: S,
    /// What was read after the request.
    pub(crate) unread: Vec<u8>,
    pub(crate) place: Place,
    /// The request's target, as sent.
    pub(crate) target: String,
}

/// What a request handler leaves for its connection.
#[derive(Default)]
struct Outcome {
    answered: bool,
    taken: Option<(Place, String)>,
}

struct Connection {
    shared: Arc<Shared>,
    router: Router,
    from: SocketAddr,
    outcome: Mutex<Outcome>,
}

/// The host's own plain routes, and those given besides.
pub(crate) fn routes(shared: &Arc<Shared>, extra: Option<Router>) -> Router {
    let own = Router::new()
        .route("/health", get(health))
        .fallback(upgrade_required)
        .with_state(Arc::clone(shared));
    match extra {
        Some(extra) => own.merge(extra),
        None => own,
    }
}

async fn health(State(shared): State<Arc<Shared>>) -> Response<Body> {
    let (status, body) = match shared.phase() {
        Phase::Serving => (StatusCode::OK, r#"{"ok":true}"#),
        _ => (StatusCode::SERVICE_UNAVAILABLE, r#"{"ok":false}"#),
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.extensions_mut().insert(RouteLabel("health"));
    response
}

async fn upgrade_required() -> Response<Body> {
    let mut response = Response::new(Body::from("This is reached by WebSocket, at /peer.\n"));
    *response.status_mut() = StatusCode::UPGRADE_REQUIRED;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    response
}

/// Speaks HTTP until the connection ends or becomes a WebSocket.
pub(crate) async fn speak<S>(
    io: S,
    from: SocketAddr,
    shared: Arc<Shared>,
    router: Router,
) -> Option<Upgrade<S>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let header_wait = shared.waits.headers;
    let connection = Arc::new(Connection {
        shared: Arc::clone(&shared),
        router,
        from,
        outcome: Mutex::default(),
    });
    let service = service_fn({
        let connection = Arc::clone(&connection);
        move |request| Box::pin(answer(Arc::clone(&connection), request))
    });
    let mut conn = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(header_wait)
        .max_header_size(MAX_HEAD)
        .max_buf_size(2 * MAX_HEAD)
        .serve_connection(TokioIo::new(io), service);
    // One that comes while the front-end shuts down is still told so.
    let drains_on_the_way = shared.phase() < Phase::Draining;
    let patience = shared.waits.http;
    let ended = tokio::select! {
        ended = poll_fn(|cx| conn.poll_without_shutdown(cx)) => Some(ended),
        () = async {
            tokio::select! {
                () = shared.reached(Phase::Draining), if drains_on_the_way => {}
                () = tokio::time::sleep(patience) => {}
            }
        } => {
            std::pin::Pin::new(&mut conn).graceful_shutdown();
            let rest = poll_fn(|cx| conn.poll_without_shutdown(cx));
            timeout(patience, rest).await.ok()
        }
    };
    let ended = ended?;
    let parts = conn.into_parts();
    let mut io = parts.io.into_inner();
    let outcome = {
        let mut outcome = connection.outcome();
        std::mem::take(&mut *outcome)
    };
    if let (Ok(()), Some((place, target))) = (&ended, outcome.taken) {
        return Some(Upgrade {
            io,
            unread: parts.read_buf.to_vec(),
            place,
            target,
        });
    }
    if let Err(error) = &ended {
        tracing::debug!(%error, "an HTTP connection failed");
        // An idle connection that had its answer is just closed.
        if error.is_timeout() && !outcome.answered {
            let status = StatusCode::REQUEST_TIMEOUT;
            shared.metrics.http_answer("other", status, header_wait);
            let _ = io.write_all(REQUEST_TIMEOUT).await;
        }
    }
    let _ = timeout(LINGER, async {
        io.shutdown().await?;
        let mut thrown_away = [0; 1024];
        while ended.is_err() && io.read(&mut thrown_away).await? > 0 {}
        Ok::<_, std::io::Error>(())
    })
    .await;
    None
}

const REQUEST_TIMEOUT: &[u8] =
    b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

impl Connection {
    fn outcome(&self) -> std::sync::MutexGuard<'_, Outcome> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a request for a WebSocket.
    fn upgrade(&self, request: &http::request::Parts) -> Response<Body> {
        let shared = &self.shared;
        if request.uri.path() != "/peer" {
            return refusal(StatusCode::NOT_FOUND);
        }
        let accept = match examine(request) {
            Ok(accept) => accept,
            Err(status) => {
                let mut response = refusal(status);
                let headers = response.headers_mut();
                headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
                return response;
            }
        };
        let unready = shared.phase() != Phase::Serving;
        let full = [
            ("message_memory", shared.memory.is_full()),
            ("signature_queue", shared.checks.is_full()),
        ];
        for (limit, is_full) in full {
            if is_full {
                shared.metrics.limit_took_effect(limit);
            }
        }
        if unready || full.iter().any(|(_, is_full)| *is_full) {
            return self.no_place(NoPlace::Full);
        }
        let address = client_address(self.from, &request.headers, shared.trusted_proxy.as_ref());
        let place = match shared.places.take(address, Instant::now()) {
            Ok(place) => place,
            Err(no_place) => return self.no_place(no_place),
        };
        let target = request
            .uri
            .path_and_query()
            .map_or("", |target| target.as_str());
        self.outcome().taken = Some((place, target.to_owned()));
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
        response
    }

    fn no_place(&self, no_place: NoPlace) -> Response<Body> {
        let (status, reason) = match no_place {
            NoPlace::Full => (StatusCode::SERVICE_UNAVAILABLE, "Node full"),
            NoPlace::Address => (StatusCode::TOO_MANY_REQUESTS, "Too many connections"),
        };
        let mut response = refusal(status);
        let extensions = response.extensions_mut();
        extensions.insert(ReasonPhrase::from_static(reason.as_bytes()));
        let seconds = self.shared.waits.retry_after.as_secs();
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from(seconds));
        response
    }
}

/// A plain answer without a body, after which the connection closes.
fn refusal(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from_static("0"));
    response
}

fn headers_weigh(headers: &HeaderMap) -> usize {
    // Name, value, a colon, a space and the line's end.
    headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4)
        .sum()
}

async fn answer(
    connection: Arc<Connection>,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    let started = Instant::now();
    let (parts, body) = request.into_parts();
    let target_length = parts
        .uri
        .path_and_query()
        .map_or(0, |target| target.as_str().len());
    let mut response = if target_length > MAX_TARGET {
        refusal(StatusCode::URI_TOO_LONG)
    } else if headers_weigh(&parts.headers) > MAX_HEADERS {
        refusal(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)
    } else if asks_for_websocket(&parts.headers) {
        let mut response = connection.upgrade(&parts);
        if parts.uri.path() == "/peer" {
            response.extensions_mut().insert(RouteLabel("peer"));
        }
        response
    } else {
        let request = Request::from_parts(parts, Body::new(body));
        let Ok(response) = connection.router.clone().oneshot(request).await;
        response
    };
    connection.outcome().answered = true;
    let is_upgrade = response.status() == StatusCode::SWITCHING_PROTOCOLS;
    if connection.shared.phase() >= Phase::Draining && !is_upgrade {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(CONNECTION, close);
    }
    let route = response.extensions().get::<RouteLabel>();
    let route = route.map_or("other", |label| label.0);
    let took = started.elapsed();
    let metrics = &connection.shared.metrics;
    metrics.http_answer(route, response.status(), took);
    Ok(response)
}
