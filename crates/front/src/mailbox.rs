//! What others have for a connection's task: the worker's messages, orders to close.
//!
//! Whoever puts something in never waits. What may lie here is bounded by the credits:
//! a worker that sends beyond them loses the connection.

use bytes::Bytes;
use link::{DoorAnswer, MAX_MESSAGE_BYTES, OUTBOUND_WINDOW};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// An order to end the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Close with this code, once what waits has gone out.
    CloseAfter(u16),
    /// Close with this code at once.
    CloseNow(u16),
    /// End it without a close.
    Drop,
}

/// The worker's answer to an `Admit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Admitted,
    Refused(u16),
}

#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    inner: Mutex<Inner>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    door: Option<DoorAnswer>,
    verdict: Option<Verdict>,
    order: Option<Order>,
    /// Bytes of the peer's messages the worker is done with.
    returned: usize,
    outgoing: VecDeque<Bytes>,
    /// Bytes of `outgoing`, and of what was taken from it and not written yet.
    waiting: usize,
}

/// An emptied queue keeps room for so many messages.
const KEPT_SLOTS: usize = 8;

impl Mailbox {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing is left half done in here, whatever panicked.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something was put in since the last time this ended.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    pub(crate) fn answer_door(&self, door: DoorAnswer) {
        self.lock().door = Some(door);
        self.changed.notify_one();
    }

    pub(crate) fn take_door(&self) -> Option<DoorAnswer> {
        self.lock().door.take()
    }

    pub(crate) fn decide(&self, verdict: Verdict) {
        self.lock().verdict = Some(verdict);
        self.changed.notify_one();
    }

    pub(crate) fn take_verdict(&self) -> Option<Verdict> {
        self.lock().verdict.take()
    }

    /// The first order stands.
    pub(crate) fn order(&self, order: Order) {
        self.lock().order.get_or_insert(order);
        self.changed.notify_one();
    }

    pub(crate) fn ordered(&self) -> Option<Order> {
        self.lock().order
    }

    pub(crate) fn give_back(&self, bytes: usize) {
        let mut inner = self.lock();
        inner.returned = inner.returned.saturating_add(bytes);
        drop(inner);
        self.changed.notify_one();
    }

    pub(crate) fn take_returned(&self) -> usize {
        std::mem::take(&mut self.lock().returned)
    }

    /// Queues a message for the peer. `false` if that is more than the worker's window
    /// lets it send.
    pub(crate) fn send(&self, message: Bytes) -> bool {
        let mut inner = self.lock();
        if inner.order.is_some() {
            // It closes; nobody waits for this any more.
            return true;
        }
        inner.waiting += message.len();
        let within = inner.waiting <= OUTBOUND_WINDOW + MAX_MESSAGE_BYTES;
        inner.outgoing.push_back(message);
        drop(inner);
        self.changed.notify_one();
        within
    }

    pub(crate) fn next_outgoing(&self) -> Option<Bytes> {
        let mut inner = self.lock();
        let message = inner.outgoing.pop_front();
        if inner.outgoing.is_empty() && inner.outgoing.capacity() > KEPT_SLOTS {
            inner.outgoing = VecDeque::new();
        }
        message
    }

    /// A message taken from the queue was written.
    pub(crate) fn written(&self, bytes: usize) {
        let mut inner = self.lock();
        inner.waiting = inner.waiting.saturating_sub(bytes);
    }

    /// Drops what waits.
    pub(crate) fn forget_outgoing(&self) {
        let mut inner = self.lock();
        inner.outgoing = VecDeque::new();
        inner.waiting = 0;
    }

    /// Bytes that wait to be written.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().waiting
    }
}
