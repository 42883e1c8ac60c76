//! Starting and stopping a front-end.

use crate::address::AddressKey;
use crate::config::{FrontConfig, HostIdentity};
use crate::http_port::{Upgrade, routes, speak};
use crate::mailbox::Order;
use crate::metrics::FrontMetrics;
use crate::peer::Peer;
use crate::router::route;
use crate::shared::{Phase, Shared};
use crate::{closing, handshake, open};
use axum::Router;
use axum::serve::{Listener, ListenerExt};
use link::{FrontEnd, ToWorker};
use minca_sync::close::Close;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

/// How long, once all is over, a connection that is gone still tries to say so.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A TCP listener whose connections send small messages at once.
pub fn tcp(listener: TcpListener) -> impl Listener<Addr = SocketAddr> {
    listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection keeps delaying small messages");
        }
    })
}

/// The front-end itself; see [`Front::start`].
pub struct Front;

/// A front-end that runs. Dropping it ends everything at once.
pub struct FrontHandle {
    shared: Arc<Shared>,
    connections: TaskTracker,
    accepting: Vec<JoinHandle<()>>,
    routing: JoinHandle<()>,
}

impl Front {
    /// Serves the listeners' connections, over `link`, until shut down or dropped. Called
    /// within a tokio runtime.
    ///
    /// # Panics
    ///
    /// If `config.extra_routes` has a fallback or a route of the front-end's own.
    pub fn start<L>(
        listeners: Vec<L>,
        config: FrontConfig,
        identity: HostIdentity,
        link: FrontEnd,
        metrics: FrontMetrics,
    ) -> FrontHandle
    where
        L: Listener<Addr = SocketAddr>,
    {
        let (to_worker, from_worker) = link.split();
        let shared = Arc::new(Shared::new(&config, identity, to_worker, metrics));
        let router = routes(&shared, config.extra_routes);
        let connections = TaskTracker::new();
        let accepting = listeners
            .into_iter()
            .map(|listener| {
                tokio::spawn(accept(
                    listener,
                    Arc::clone(&shared),
                    router.clone(),
                    connections.clone(),
                ))
            })
            .collect();
        let routing = tokio::spawn(route(Arc::clone(&shared), from_worker));
        FrontHandle {
            shared,
            connections,
            accepting,
            routing,
        }
    }
}

impl FrontHandle {
    /// Shuts down (04 §7.4): `/health` says so, no upgrade is taken, every socket is
    /// closed `1001` once what waits for it has gone out, and what is left after
    /// [`Waits::drain`](crate::Waits::drain) is ended.
    ///
    /// The link goes down after that: by then the worker has heard of every connection
    /// that it is gone.
    pub async fn shutdown(mut self) {
        self.shared.enter(Phase::Draining);
        self.shared
            .places
            .order_all(Order::CloseAfter(Close::ShuttingDown.code()));
        self.connections.close();
        let drain = self.shared.waits.drain;
        if timeout(drain, self.connections.wait()).await.is_err() {
            self.shared.enter(Phase::Over);
            self.connections.wait().await;
        }
        for accepting in self.accepting.drain(..) {
            accepting.abort();
        }
    }

    /// Whether the link to the worker is down. Every socket is closed then, and the
    /// front-end is of no more use.
    pub fn is_cut_off(&self) -> bool {
        self.routing.is_finished()
    }
}

impl Drop for FrontHandle {
    fn drop(&mut self) {
        self.shared.enter(Phase::Over);
        for accepting in &self.accepting {
            accepting.abort();
        }
        self.routing.abort();
    }
}

async fn accept<L>(mut listener: L, shared: Arc<Shared>, router: Router, connections: TaskTracker)
where
    L: Listener<Addr = SocketAddr>,
{
    loop {
        let (io, from) = listener.accept().await;
        let Ok(permit) = Arc::clone(&shared.http_connections).try_acquire_owned() else {
            shared.metrics.limit_took_effect("http_connections");
            continue;
        };
        let is_proxy = shared
            .trusted_proxy
            .as_ref()
            .is_some_and(|proxy| proxy.dials_from(from.ip()));
        let most = match is_proxy {
            true => usize::MAX,
            false => shared.limits.http_connections_per_address,
        };
        let address = AddressKey::of(from.ip());
        let Some(counted) = shared.http_per_address.take(address, most) else {
            let limit = "http_connections_per_address";
            shared.metrics.limit_took_effect(limit);
            continue;
        };
        let shared = Arc::clone(&shared);
        let router = router.clone();
        connections.spawn(async move {
            // Boxed, so that what HTTP needs is gone once the socket is a WebSocket.
            let speaking = Box::pin(speak(io, from, Arc::clone(&shared), router));
            let upgrade = tokio::select! {
                upgrade = speaking => upgrade,
                () = shared.reached(Phase::Over) => None,
            };
            drop((permit, counted));
            if let Some(upgrade) = upgrade {
                serve(upgrade, shared).await;
            }
        });
    }
}

/// One socket, from the `101` to its end.
async fn serve<S>(upgrade: Upgrade<S>, shared: Arc<Shared>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let connection = upgrade.place.connection;
    let target = upgrade.target;
    if shared.phase() >= Phase::Draining {
        // It began to shut down after this socket was taken and before it could be told.
        upgrade
            .place
            .mailbox
            .order(Order::CloseAfter(Close::ShuttingDown.code()));
    }
    let mut peer = Peer::new(
        Arc::clone(&shared),
        upgrade.place,
        upgrade.io,
        upgrade.unread,
    );
    tokio::select! {
        () = live(&mut peer, target) => {}
        () = shared.reached(Phase::Over) => {}
    }
    let worker_knows = peer.worker_knows;
    // The worker hears of it when there is nothing left of it.
    drop(peer);
    if worker_knows {
        let gone = ToWorker::Gone { connection };
        tokio::select! {
            _ = shared.link.send(gone) => {}
            () = async {
                shared.reached(Phase::Over).await;
                tokio::time::sleep(LAST_WORDS).await;
            } => {}
        }
    }
}

async fn live<S>(peer: &mut Peer<S>, target: String)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let link = peer.shared.link.clone();
    let metrics = peer.shared.metrics.clone();
    let state = metrics.socket_in("handshake");
    let admitted = Box::pin(handshake::admit(peer, &link, &target)).await;
    drop(target);
    drop(state);
    let result = handshake::result_of(admitted.err(), peer.worker_knows);
    metrics.handshakes.with_label_values(&[result]).inc();
    let end = match admitted {
        Err(end) => end,
        Ok(()) => {
            let _open = metrics.socket_in("open");
            open::carry(peer, &link).await
        }
    };
    tracing::debug!(?end, "a socket ends");
    let _closing = metrics.socket_in("closing");
    Box::pin(closing::close(peer, end)).await;
}
