//! The task that hears the link: it knows which connection is in which space,
//! and has spaces opened and closed. It never waits for any of them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
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
use crate::space::{self, Input};

/// What the rest of the process asks of the router.
#[derive(Debug)]
pub(crate) enum Order {
    /// Let go of everyone in a space, because it is held no more or its read key changed.
    LetGo {
        space: ContentId,
        done: oneshot::Sender<()>,
    },
}

/// A space's task that ended, with its receiver: it may hold a peer that came in
/// the last moment.
type EndedTask = (TaskNumber, ContentId, mpsc::Receiver<Input>);

/// Number of a space's task; each opening has its own.
type TaskNumber = u64;

/// See the module's documentation.
pub(crate) struct Router {
    shared: Arc<Shared>,
    to_front: LinkSender<ToFront>,
    spaces: HashMap<ContentId, (TaskNumber, mpsc::Sender<Input>)>,
    next_task: TaskNumber,
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
            next_task: 0,
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
                let connected = Connection::start(proven, space, Arc::clone(&self.big));
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
        let Order::LetGo { space, done } = order;
        match self.spaces.remove(&space) {
            Some((_, task)) => {
                tokio::spawn(async move {
                    let _ = task.send(Input::Stop { done }).await;
                });
            }
            None => {
                let _ = done.send(());
            }
        }
    }

    /// The channel to a space's task, which is started if there is none.
    fn task_of(&mut self, space: ContentId) -> mpsc::Sender<Input> {
        if let Some((_, task)) = self.spaces.get(&space) {
            return task.clone();
        }
        let (task, inputs) = space::channel();
        self.start(space, task.clone(), inputs);
        task
    }

    fn start(
        &mut self,
        space: ContentId,
        task: mpsc::Sender<Input>,
        inputs: mpsc::Receiver<Input>,
    ) {
        let number = self.next_task;
        self.next_task += 1;
        self.spaces.insert(space, (number, task));
        let shared = Arc::clone(&self.shared);
        let to_front = self.to_front.clone();
        self.shared
            .metrics
            .spaces
            .with_label_values(&["open"])
            .inc();
        self.tasks.spawn(async move {
            let inputs = opening::open_and_run(shared, space, inputs, to_front).await;
            (number, space, inputs)
        });
    }

    /// A space's task ended: it is forgotten, unless someone came meanwhile.
    fn ended(&mut self, ended: Result<EndedTask, tokio::task::JoinError>) {
        self.shared
            .metrics
            .spaces
            .with_label_values(&["open"])
            .dec();
        let Ok((number, space, inputs)) = ended else {
            // Its channel is closed, so whoever comes next finds the space opened anew.
            tracing::error!("a space's task failed; its peers will dial again");
            self.spaces.retain(|_, (_, task)| !task.is_closed());
            return;
        };
        match self.spaces.entry(space) {
            Entry::Occupied(current) if current.get().0 == number => {
                let (_, task) = current.remove();
                if !inputs.is_empty() {
                    self.start(space, task, inputs);
                }
            }
            // It was let go of: whoever was on the way in dials again.
            _ => {
                let to_front = self.to_front.clone();
                tokio::spawn(opening::refuse_all(inputs, to_front, Close::NotAReader));
            }
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
