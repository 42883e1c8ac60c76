//! What the worker's tests share: a worker over SQLite and a folder, and the
//! front-end's end of its link, played by hand.
#![allow(dead_code, unreachable_pub, clippy::expect_used, clippy::unwrap_used)]

#[path = "../../../engine/tests/support/pen.rs"]
pub mod pen;
pub mod store;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ::store::{Holder, NewSpace, SqliteStore};
use bucket::{Bucket, FolderStore};
use bytes::Bytes;
use link::{ConnectionId, FrontEnd, ToFront, ToWorker};
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::Object;
use minca_sync::envelope::{Envelope, write_sync};
use minca_sync::frame::Frame;
use minca_sync::message::{Hello, Message, write_push_update, write_versions};
use prometheus::Registry;
use tokio::time::timeout;
use worker::{Worker, WorkerConfig, WorkerMetrics};

use pen::key;
use store::Faulty;

/// A test that waits longer than this hangs.
const HANGS: Duration = Duration::from_secs(20);

/// A worker and what it works over.
pub struct Running {
    pub worker: Worker,
    pub front: Front,
    pub store: Arc<Faulty>,
    pub folder: tempfile::TempDir,
    pub metrics: WorkerMetrics,
}

impl Running {
    /// One over SQLite.
    pub async fn start(config: WorkerConfig) -> Running {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("db");
        std::fs::create_dir(&database).unwrap();
        let store = Arc::new(SqliteStore::open(&database).await.unwrap());
        Running::start_in(folder, config, store, Holder([7; 16])).await
    }

    /// One over a store that others may have open.
    pub async fn start_on(
        config: WorkerConfig,
        store: Arc<dyn ::store::Store>,
        holder: Holder,
    ) -> Running {
        let folder = tempfile::tempdir().unwrap();
        Running::start_in(folder, config, store, holder).await
    }

    async fn start_in(
        folder: tempfile::TempDir,
        config: WorkerConfig,
        store: Arc<dyn ::store::Store>,
        holder: Holder,
    ) -> Running {
        std::fs::create_dir(folder.path().join("bucket")).unwrap();
        let store = Arc::new(Faulty::new(store));
        let objects = FolderStore::open(folder.path().join("bucket"), "test")
            .await
            .unwrap();
        let bucket = Bucket::new(Arc::new(objects), "").unwrap();
        let (front, end) = link::pair();
        let metrics = WorkerMetrics::register(&Registry::new()).unwrap();
        let worker = Worker::start(
            config,
            key(900).did(),
            holder,
            Arc::clone(&store) as Arc<dyn ::store::Store>,
            bucket,
            end,
            metrics.clone(),
        )
        .await
        .unwrap();
        Running {
            worker,
            front: Front::new(front),
            store,
            folder,
            metrics,
        }
    }

    pub async fn carry(&self, space: &Constitution) {
        self.carry_with(space, None).await;
    }

    pub async fn carry_with(&self, space: &Constitution, read_key: Option<Did>) {
        let space = NewSpace {
            space: space.id(),
            constitution: space.canonical(),
            read_key,
        };
        self.worker.carry(&space).await.unwrap();
    }

    /// Waits until so many spaces are open.
    pub async fn open_spaces(&self, count: i64) {
        let open = self.metrics.spaces.with_label_values(&["open"]);
        timeout(HANGS, async {
            while open.get() != count {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
        .expect("spaces open or close");
    }

    pub fn segments(&self) -> usize {
        files(self.folder.path().join("bucket"))
            .iter()
            .filter(|path| path.extension().is_some_and(|it| it == "seg"))
            .count()
    }

    /// Drops the link and stops the worker.
    pub async fn stop(self) -> (bool, Arc<Faulty>, tempfile::TempDir) {
        drop(self.front);
        let flushed = timeout(HANGS, self.worker.stop()).await.expect("stops");
        (flushed, self.store, self.folder)
    }
}

fn files(folder: PathBuf) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(path));
        } else {
            found.push(path);
        }
    }
    found
}

/// A front-end's end, played by hand.
pub struct Front {
    end: FrontEnd,
    /// What came for other connections than the one that was waited for.
    kept: BTreeMap<ConnectionId, Vec<ToFront>>,
}

impl Front {
    fn new(end: FrontEnd) -> Front {
        Front {
            end,
            kept: BTreeMap::new(),
        }
    }

    pub async fn admit(&mut self, connection: u64, space: ContentId, peer: Did) {
        self.say(ToWorker::Admit {
            connection: ConnectionId(connection),
            space,
            peer,
            read_key: None,
        })
        .await;
    }

    pub async fn admit_on(&mut self, connection: u64, space: ContentId, peer: Did, read_key: Did) {
        self.say(ToWorker::Admit {
            connection: ConnectionId(connection),
            space,
            peer,
            read_key: Some(read_key),
        })
        .await;
    }

    /// Admits a peer and waits until it is in.
    pub async fn join(&mut self, connection: u64, space: ContentId, peer: Did) {
        self.admit(connection, space, peer).await;
        let answer = self.next(connection).await;
        let connection = ConnectionId(connection);
        assert_eq!(answer, ToFront::Admitted { connection });
    }

    pub async fn gone(&mut self, connection: u64) {
        let connection = ConnectionId(connection);
        self.say(ToWorker::Gone { connection }).await;
    }

    pub async fn say(&mut self, message: ToWorker) {
        self.end.send(message).await.unwrap();
    }

    pub async fn say_sync(&mut self, connection: u64, write: impl FnOnce(&mut Vec<u8>)) {
        let bytes = Bytes::from(write_sync(&key(1).did(), write));
        let connection = ConnectionId(connection);
        self.say(ToWorker::Message { connection, bytes }).await;
    }

    pub async fn push(&mut self, connection: u64, version: &Object) {
        let version = version.canonical();
        self.say_sync(connection, |out| write_push_update(out, &version))
            .await;
    }

    pub async fn send_versions(&mut self, connection: u64, versions: &[Object]) {
        let versions: Vec<Vec<u8>> = versions.iter().map(Object::canonical).collect();
        self.say_sync(connection, |out| {
            write_versions(out, None, versions.iter().map(Vec::as_slice));
        })
        .await;
    }

    /// What comes next for a connection; bytes given back are passed over, and what
    /// is sent to it is taken at once.
    pub async fn next(&mut self, connection: u64) -> ToFront {
        let wanted = ConnectionId(connection);
        if let Some(kept) = self.kept.get_mut(&wanted).filter(|kept| !kept.is_empty()) {
            return kept.remove(0);
        }
        loop {
            let message = timeout(HANGS, self.end.recv()).await;
            let message = message.expect("an answer").expect("the link is up");
            let of = match &message {
                ToFront::Door { ask, .. } => ConnectionId(*ask),
                ToFront::Room { .. } => continue,
                ToFront::Admitted { connection }
                | ToFront::Refused { connection, .. }
                | ToFront::Close { connection, .. } => *connection,
                ToFront::Send { connection, bytes } => {
                    let (connection, bytes) = (*connection, bytes.len() as u32);
                    self.say(ToWorker::Room { connection, bytes }).await;
                    connection
                }
            };
            if of == wanted {
                return message;
            }
            self.kept.entry(of).or_default().push(message);
        }
    }

    /// The next sync message to a connection.
    pub async fn next_sync(&mut self, connection: u64) -> Message {
        loop {
            match self.next(connection).await {
                ToFront::Send { bytes, .. } => {
                    let envelope = Envelope::read(Frame::Binary(&bytes)).unwrap().unwrap();
                    if let Ok(message) = Message::read(envelope.payload) {
                        return message;
                    }
                }
                other => panic!("expected a message, got {other:?}"),
            }
        }
    }

    pub async fn next_hello(&mut self, connection: u64) -> Hello {
        loop {
            if let Message::Hello(hello) = self.next_sync(connection).await {
                return hello;
            }
        }
    }

    pub async fn next_stored(&mut self, connection: u64) -> Vec<ContentId> {
        loop {
            if let Message::Stored(stored) = self.next_sync(connection).await {
                return stored.ids;
            }
        }
    }

    pub async fn next_pushed(&mut self, connection: u64) -> ContentId {
        loop {
            if let Message::PushUpdate(push) = self.next_sync(connection).await {
                return pen::id_of(&push.version);
            }
        }
    }

    /// The code a connection is closed or refused with, whatever comes before.
    pub async fn next_code(&mut self, connection: u64) -> u16 {
        loop {
            match self.next(connection).await {
                ToFront::Close { code, .. } | ToFront::Refused { code, .. } => return code,
                _ => {}
            }
        }
    }
}
