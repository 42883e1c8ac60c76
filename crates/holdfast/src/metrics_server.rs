//! Metrics and health on a port of their own, which only the operator reaches (08 §21).

use std::future::{self, Future, IntoFuture};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus::{Registry, TEXT_FORMAT, TextEncoder};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::sleep;

/// How long requests under way may take to finish once the port is to stop: what the
/// bucket still lacks is written only after that.
const LAST_REQUESTS: Duration = Duration::from_secs(5);

/// What the host still waits for, in words for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotReady(pub String);

/// Says whether the host can take traffic. Called for every request, on a thread
/// that serves sockets: it must not block, so it tells what others found out.
pub type ReadyCheck = Arc<dyn Fn() -> Result<(), NotReady> + Send + Sync>;

/// Answers `/metrics` (Prometheus' text format), `/live` (200 as long as the
/// process answers at all) and `/ready` (200, or 503 and what it waits for).
#[derive(Debug)]
pub struct MetricsServer {
    listener: TcpListener,
}

#[derive(Clone)]
struct Served {
    registry: Registry,
    ready: ReadyCheck,
}

impl MetricsServer {
    /// Takes the port.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        Ok(Self {
            listener: TcpListener::bind(address).await?,
        })
    }

    /// The address it listens on, with the port that was taken where 0 was asked for.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves, with the routes of `more` beside its own, until `stop` comes to an end. Requests under
    /// way are finished then, but none holds the stop up for more than a few seconds.
    pub async fn serve(
        self,
        registry: Registry,
        ready: ReadyCheck,
        more: Router,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> io::Result<()> {
        let routes = Router::new()
            .route("/metrics", get(metrics))
            .route("/live", get(async || "live\n"))
            .route("/ready", get(readiness))
            .with_state(Served { registry, ready })
            .merge(more);
        let (stopping, stopped) = oneshot::channel();
        let serving = axum::serve(self.listener, routes).with_graceful_shutdown(async move {
            stop.await;
            let _ = stopping.send(());
        });
        let out_of_patience = async {
            match stopped.await {
                Ok(()) => sleep(LAST_REQUESTS).await,
                // It ended of itself.
                Err(_) => future::pending().await,
            }
        };
        tokio::select! {
            served = serving.into_future() => served,
            () = out_of_patience => Ok(()),
        }
    }
}

async fn metrics(State(served): State<Served>) -> Response {
    match TextEncoder::new().encode_to_string(&served.registry.gather()) {
        Ok(text) => ([(CONTENT_TYPE, TEXT_FORMAT)], text).into_response(),
        Err(error) => {
            tracing::error!(%error, "the metrics can't be written as text");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

async fn readiness(State(served): State<Served>) -> Response {
    match (served.ready)() {
        Ok(()) => "ready\n".into_response(),
        Err(NotReady(why)) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")).into_response(),
    }
}
