//! The task that hears the link: it knows which connection is in which space,
//! and has spaces opened and closed. It never waits for any of them.

use std::collections::HashMap;
use std::sync::Arc;

use link::channel::{LinkReceiver, LinkSender};
use link::message::DoorAnswer;
use link::{ConnectionId, ToFront, ToWorker};
use minca_record::content_id::ContentId;
use minca_sync::close::Close;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;

use crate::connection::{BIG_AT_ONCE, Connection, Proven};
use crate::opening;
use crate::shared::Shared;
use crate::space::{self, Input, LetGo};

/// What the rest of the process asks of the router.
#[derive(Debug)]
pub(crate) enum Order {
    /// Let go of those in a space, because it is held no more or its read key changed.
    LetGo {
        space: ContentId,
        who: LetGo,
        done: oneshot::Sender<()>,
    },
}

/// A space's task that ended, with its receiver: it may hold a peer that came in
/// the last moment.
type EndedTask = (ContentId, mpsc::Receiver<Input>);

/// See the module's documentation.
pub(crate) struct Router {
    shared: Arc<Shared>,
    to_front: LinkSender<ToFront>,
    /// Spaces with a task. One stays here until its task has ended, so that there are
    /// never two of one space.
    spaces: HashMap<ContentId, mpsc::Sender<Input>>,
    tasks: JoinSet<EndedTask>,
    connections: HashMap<ConnectionId, Connection>,
    big: Arc<Semaphore>,
}

impl Router {
    pub(crate) fn new(shared: Arc<Shared>, to_front: LinkSender<ToFront>) -> Router {
        Router {
            shared,
            to_front,
            spaces: HashMap::new(),
            tasks: JoinSet::new(),
            connections: HashMap::new(),
            big: Arc::new(Semaphore::new(BIG_AT_ONCE)),
        }
    }

    /// Runs until the link is down; then waits for the spaces' tasks to end.
    pub(crate) async fn run(
        mut self,
        mut from_front: LinkReceiver<ToWorker>,
        mut orders: mpsc::Receiver<Order>,
    ) {
        loop {
            tokio::select! {
                message = from_front.recv() => match message {
                    Some(message) => self.heard(message),
                    None => break,
                },
                Some(order) = orders.recv() => self.ordered(order),
                Some(ended) = self.tasks.join_next(), if !self.tasks.is_empty() => self.ended(ended),
            }
        }
        self.connections.clear();
        self.spaces.clear();
        while self.tasks.join_next().await.is_some() {}
    }

    fn heard(&mut self, message: ToWorker) {
        match message {
            ToWorker::Ask { ask, space } => {
                tokio::spawn(answer(
                    Arc::clone(&self.shared),
                    self.to_front.clone(),
                    ask,
                    space,
                ));
            }
            ToWorker::Admit {
                connection,
                space,
                peer,
                read_key,
            } => {
                let proven = Proven {
                    connection,
                    did: peer,
                    read_key,
                };
                let space = self.task_of(space);
                let to_front = self.to_front.clone();
                let connected = Connection::start(proven, space, to_front, Arc::clone(&self.big));
                self.connections.insert(connection, connected);
            }
            ToWorker::Message { connection, bytes } => {
                let fits = self
                    .connections
                    .get(&connection)
                    .is_none_or(|it| it.message(bytes));
                if !fits {
                    self.connections.remove(&connection);
                    tracing::warn!("a front-end sent more than a connection's window holds");
                    self.close(connection, Close::InternalError);
                }
            }
            ToWorker::Room { connection, bytes } => {
                if let Some(connection) = self.connections.get(&connection) {
                    connection.took(bytes as usize);
                }
            }
            ToWorker::Gone { connection } => {
                self.connections.remove(&connection);
            }
        }
    }

    /// Closes a socket without waiting for room in the link.
    fn close(&self, connection: ConnectionId, close: Close) {
        let to_front = self.to_front.clone();
        tokio::spawn(async move {
            let _ = to_front
                .send(ToFront::Close {
                    connection,
                    code: close.code(),
                })
                .await;
        });
    }

    fn ordered(&mut self, order: Order) {
        let Order::LetGo { space, who, done } = order;
        match self.spaces.get(&space).cloned() {
            Some(task) => {
                tokio::spawn(async move {
                    let _ = task.send(Input::LetGo { who, done }).await;
                });
            }
            None => {
                let _ = done.send(());
            }
        }
    }

    /// The channel to a space's task, which is started if there is none.
    fn task_of(&mut self, space: ContentId) -> mpsc::Sender<Input> {
        if let Some(task) = self.spaces.get(&space) {
            return task.clone();
        }
        let (task, inputs) = space::channel();
        self.spaces.insert(space, task.clone());
        self.start(space, inputs);
        task
    }

    fn start(&mut self, space: ContentId, inputs: mpsc::Receiver<Input>) {
        let shared = Arc::clone(&self.shared);
        let to_front = self.to_front.clone();
        self.tasks.spawn(async move {
            let inputs = opening::open_and_run(shared, space, inputs, to_front).await;
            (space, inputs)
        });
    }

    /// A space's task ended: it is forgotten, unless a connection still has its channel
    /// and may yet say something over it.
    fn ended(&mut self, ended: Result<EndedTask, tokio::task::JoinError>) {
        let Ok((space, inputs)) = ended else {
            // Its channel is closed, so its connections close and whoever comes next
            // finds the space opened anew.
            tracing::error!("a space's task failed; its peers will dial again");
            self.spaces.retain(|_, task| !task.is_closed());
            return;
        };
        // One sender is the router's own.
        if inputs.sender_strong_count() > 1 || !inputs.is_empty() {
            self.start(space, inputs);
        } else {
            self.spaces.remove(&space);
        }
    }
}

/// Says what a proof for a space is judged against. The cost is the same where
/// there is no such space.
async fn answer(shared: Arc<Shared>, to_front: LinkSender<ToFront>, ask: u64, space: ContentId) {
    let door = match shared.store.door(&space).await {
        Ok(Some(door)) => {
            door.read_key
                .map_or(DoorAnswer::Public, |read_key| DoorAnswer::Private {
                    read_key,
                })
        }
        Ok(None) => DoorAnswer::NotHeld,
        Err(error) => {
            tracing::error!(%error, "the store could not say whether a space is held");
            DoorAnswer::NotHeld
        }
    };
    let _ = to_front.send(ToFront::Door { ask, door }).await;
}
