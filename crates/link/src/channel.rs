//! The two ends of a link, and the link between two halves of one process.
//!
//! The ends are the same whatever carries the messages: [`encoded`](crate::encoded)
//! gives them over a byte stream.

use crate::message::{ToFront, ToWorker};
use tokio::sync::mpsc;

/// Messages that wait in the link each way, of all connections together. What they may
/// weigh is bounded by the credits.
pub const LINK_QUEUE: usize = 1024;

/// The link is down: the other end is gone, or the stream between broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the link is down")]
pub struct LinkDown;

/// Why a message could not be sent at once. It comes back.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrySendError<M> {
    /// The link takes no more right now.
    #[error("the link is full")]
    Full(M),
    /// The other end is gone.
    #[error("the link is down")]
    Down(M),
}

/// The sending half of an end. Clones send into the same link.
#[derive(Debug)]
pub struct LinkSender<M> {
    queue: mpsc::Sender<M>,
}

impl<M> Clone for LinkSender<M> {
    fn clone(&self) -> Self {
        Self {
            queue: self.queue.clone(),
        }
    }
}

/// Room for one message in the link.
pub struct Slot<'a, M>(mpsc::Permit<'a, M>);

impl<M> Slot<'_, M> {
    /// Sends into the room held.
    pub fn send(self, message: M) {
        self.0.send(message);
    }
}

impl<M> LinkSender<M> {
    /// Sends, waiting while the link is full. Dropping the future before it is done
    /// loses the message; [`reserve`](Self::reserve) is for whoever may have to.
    pub async fn send(&self, message: M) -> Result<(), LinkDown> {
        self.queue.send(message).await.map_err(|_| LinkDown)
    }

    /// Waits for room for one message. Nothing is lost if the future is dropped.
    pub async fn reserve(&self) -> Result<Slot<'_, M>, LinkDown> {
        self.queue.reserve().await.map(Slot).map_err(|_| LinkDown)
    }

    /// Sends if there is room now.
    pub fn try_send(&self, message: M) -> Result<(), TrySendError<M>> {
        self.queue.try_send(message).map_err(|error| match error {
            mpsc::error::TrySendError::Full(message) => TrySendError::Full(message),
            mpsc::error::TrySendError::Closed(message) => TrySendError::Down(message),
        })
    }

    /// Whether the other end is gone.
    pub fn is_down(&self) -> bool {
        self.queue.is_closed()
    }
}

/// The receiving half of an end.
#[derive(Debug)]
pub struct LinkReceiver<M> {
    queue: mpsc::Receiver<M>,
}

impl<M> LinkReceiver<M> {
    /// The next message, or `None` once the link is down and all that had come was
    /// taken. Nothing is lost if the future is dropped.
    pub async fn recv(&mut self) -> Option<M> {
        self.queue.recv().await
    }
}

/// Takes what a worker says.
pub type FrontReceiver = LinkReceiver<ToFront>;

/// Takes what a front-end says.
pub type WorkerReceiver = LinkReceiver<ToWorker>;

/// One end of a link: says `S`, hears `R`.
#[derive(Debug)]
pub struct End<S, R> {
    sender: LinkSender<S>,
    receiver: LinkReceiver<R>,
}

/// The front-end's end.
pub type FrontEnd = End<ToWorker, ToFront>;

/// The worker's end.
pub type WorkerEnd = End<ToFront, ToWorker>;

impl<S, R> End<S, R> {
    /// As [`LinkSender::send`].
    pub async fn send(&self, message: S) -> Result<(), LinkDown> {
        self.sender.send(message).await
    }

    /// As [`LinkSender::try_send`].
    pub fn try_send(&self, message: S) -> Result<(), TrySendError<S>> {
        self.sender.try_send(message)
    }

    /// As [`LinkReceiver::recv`].
    pub async fn recv(&mut self) -> Option<R> {
        self.receiver.recv().await
    }

    /// The two halves, to be used by different tasks. The end is gone when the receiver
    /// and every clone of the sender are.
    pub fn split(self) -> (LinkSender<S>, LinkReceiver<R>) {
        (self.sender, self.receiver)
    }
}

/// Both ends of a link within one process.
pub fn pair() -> (FrontEnd, WorkerEnd) {
    let (to_worker, from_front) = mpsc::channel(LINK_QUEUE);
    let (to_front, from_worker) = mpsc::channel(LINK_QUEUE);
    (end(to_worker, from_worker), end(to_front, from_front))
}

pub(crate) fn end<S, R>(sender: mpsc::Sender<S>, receiver: mpsc::Receiver<R>) -> End<S, R> {
    End {
        sender: LinkSender { queue: sender },
        receiver: LinkReceiver { queue: receiver },
    }
}
