//! A whole host in one process: front-end and worker over a database and a folder,
//! a channel between them, metrics and the operator's calls on a port of their own.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use bucket::{Bucket, BucketError, FolderStore, OpenFolderError, ProbeError};
use front::{Front, FrontHandle, FrontMetrics, HostIdentity};
use minca_record::did::Did;
use prometheus::Registry;
use store::{Holder, Store, StoreError};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use worker::{StartError, Worker, WorkerMetrics};

use crate::admin::{self, AdminToken};
use crate::bucket_writer::{self, BUCKET_WRITER_FILE};
use crate::config::Config;
use crate::database::{Database, DatabaseError};
use crate::host_key::{self, HOST_DID_FACT, HostKeyError, KeptData, Made};
use crate::metrics_server::{MetricsServer, NotReady, ReadyCheck};

/// How front-end and worker of one process are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkKind {
    /// A channel: messages go over as they are.
    #[default]
    Channel,
    /// Every message goes through its bytes, as it would between two processes.
    Encoded,
}

/// Why a host did not start. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The database can't be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The database failed once it was open.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The bucket's folder can't be used.
    #[error("the bucket: {0}")]
    BucketFolder(#[from] OpenFolderError),
    /// The bucket failed.
    #[error("the bucket: {0}")]
    Bucket(#[from] BucketError),
    /// The bucket can't do what a host needs of it.
    #[error("the bucket does not work: {0}")]
    Probe(#[from] ProbeError),
    /// There is no host key to serve with.
    #[error(transparent)]
    HostKey(#[from] HostKeyError),
    /// The port can't be had.
    #[error("can't listen on {address}: {source}")]
    Listen {
        address: SocketAddr,
        #[source]
        source: std::io::Error,
    },
    /// The data folder's name as a writer of the bucket can't be kept.
    #[error("the file {path} can't be read or written: {source}")]
    BucketWriter {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The operator's token can't be kept.
    #[error("the file {path} can't be written: {source}")]
    Token {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The worker could not start.
    #[error(transparent)]
    Worker(#[from] StartError),
    /// A metric is registered twice.
    #[error("the metrics: {0}")]
    Metrics(#[from] prometheus::Error),
    /// The system gave no random bytes.
    #[error("the system gave no random bytes: {0}")]
    Randomness(#[from] getrandom::Error),
}

/// A running host.
pub struct Host {
    did: Did,
    made: Made,
    listening: SocketAddr,
    metrics_listening: SocketAddr,
    front: FrontHandle,
    worker: Arc<Worker>,
    database: Database,
    stop_metrics: watch::Sender<bool>,
    metrics_task: JoinHandle<()>,
}

impl Host {
    /// Starts a host by its configuration. It serves when this returns.
    ///
    /// # Errors
    /// [`HostError`].
    pub async fn start(config: &Config, link: LinkKind) -> Result<Host, HostError> {
        let database = Database::open(config).await?;
        let store = Arc::clone(database.store());
        // Before the key: a start that fails for a port makes no host.
        let listener = listen(config.listen).await?;
        let metrics_server =
            MetricsServer::bind(config.metrics_listen)
                .await
                .map_err(|source| HostError::Listen {
                    address: config.metrics_listen,
                    source,
                })?;
        let bucket = open_bucket(config).await?;
        bucket.probe().await?;
        let (key, made) = open_key(config, &*store, &bucket).await?;
        let did = key.did();
        let token_file = config.data.join(admin::TOKEN_FILE);
        let token =
            AdminToken::make(&token_file, random()?).map_err(|source| HostError::Token {
                path: token_file,
                source,
            })?;
        let address_of = |address: std::io::Result<SocketAddr>, asked| address.unwrap_or(asked);
        let listening = address_of(listener.local_addr(), config.listen);
        let metrics_listening = address_of(metrics_server.local_address(), config.metrics_listen);

        let registry = Registry::new();
        let front_metrics = FrontMetrics::register(&registry)?;
        let worker_metrics = WorkerMetrics::register(&registry)?;
        let (front_end, worker_end) = match link {
            LinkKind::Channel => link::pair(),
            LinkKind::Encoded => link::encoded::pair(),
        };
        let holder = Holder(random()?);
        let worker = Worker::start(
            config.worker(),
            did,
            holder,
            store,
            bucket,
            worker_end,
            worker_metrics,
        )
        .await?;
        let worker = Arc::new(worker);
        let identity = HostIdentity::of(key);
        let front = Front::start(
            vec![front::tcp(listener)],
            config.front(),
            identity,
            front_end,
            front_metrics,
        );

        let (stop_metrics, mut stop) = watch::channel(false);
        let ready: ReadyCheck = {
            let worker = Arc::clone(&worker);
            Arc::new(move || match worker.is_ready() {
                true => Ok(()),
                false => Err(NotReady("a lease of the database".to_owned())),
            })
        };
        let admin_routes = admin::routes(Arc::clone(&worker), token);
        let serving = metrics_server.serve(registry, ready, admin_routes, async move {
            // An error means that the host is gone, which is as good a reason.
            let _ = stop.wait_for(|stop| *stop).await;
        });
        let metrics_task = tokio::spawn(async move {
            if let Err(error) = serving.await {
                tracing::error!(%error, "the port of metrics and health failed");
            }
        });
        Ok(Host {
            did,
            made,
            listening,
            metrics_listening,
            front,
            worker,
            database,
            stop_metrics,
            metrics_task,
        })
    }

    /// The host's DID: what devices pin.
    pub fn did(&self) -> Did {
        self.did
    }

    /// Whether the host key was made at this start.
    pub fn is_new(&self) -> bool {
        self.made == Made::Now
    }

    /// Where devices connect.
    pub fn listening(&self) -> SocketAddr {
        self.listening
    }

    /// Where metrics, health and the operator's calls are.
    pub fn metrics_listening(&self) -> SocketAddr {
        self.metrics_listening
    }

    /// The worker, for what is asked of it within the process.
    pub fn worker(&self) -> &Worker {
        &self.worker
    }

    /// Why it can't go on and is to be stopped, if so.
    pub fn broken(&self) -> Option<&'static str> {
        if self.front.is_cut_off() {
            return Some("front-end and worker lost each other");
        }
        let lost = self.worker.has_lost_its_leases();
        lost.then_some("other processes took over all its leases of the database")
    }

    /// Stops: sockets are closed, open spaces come to rest, the bucket gets what it
    /// lacks, the leases are given back. True when the bucket has everything.
    pub async fn stop(self) -> bool {
        self.front.shutdown().await;
        self.stop_metrics.send_replace(true);
        if let Err(error) = self.metrics_task.await {
            tracing::error!(
                panicked = error.is_panic(),
                "the task of metrics and health failed"
            );
        }
        let flushed = self.worker.stop().await;
        self.database.close().await;
        flushed
    }
}

/// The bucket in its folder. Only for whoever has the data folder: two programs
/// must not write a bucket's folder under one name.
///
/// # Errors
/// [`HostError::BucketWriter`], [`HostError::BucketFolder`], [`HostError::Bucket`].
pub async fn open_bucket(config: &Config) -> Result<Bucket, HostError> {
    let writer = bucket_writer::open_or_make(&config.data, &random()?).map_err(|source| {
        let path = config.data.join(BUCKET_WRITER_FILE);
        HostError::BucketWriter { path, source }
    })?;
    let folder = FolderStore::open(config.bucket_folder(), &writer).await?;
    Ok(Bucket::new(Arc::new(folder), "")?)
}

/// The host key, checked against what is kept, and made where nothing is kept yet:
/// never silently anew.
///
/// # Errors
/// [`HostError::HostKey`], and what stands in the way of looking.
pub async fn open_key(
    config: &Config,
    store: &dyn Store,
    bucket: &Bucket,
) -> Result<(minca_record::signing::SigningKey, Made), HostError> {
    let did = store.host_fact(HOST_DID_FACT).await?;
    let has_spaces = !store.carried(None, 1).await?.is_empty();
    let kept = KeptData {
        is_any: has_spaces || !bucket.is_empty().await?,
        did,
    };
    let (key, made) = host_key::open_or_make(&config.host_key_file(), &kept, &random()?)?;
    store
        .keep_host_fact(HOST_DID_FACT, &key.did().to_string())
        .await?;
    Ok((key, made))
}

async fn listen(address: SocketAddr) -> Result<TcpListener, HostError> {
    TcpListener::bind(address)
        .await
        .map_err(|source| HostError::Listen { address, source })
}

fn random<const LENGTH: usize>() -> Result<[u8; LENGTH], getrandom::Error> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
