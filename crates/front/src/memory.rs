//! All messages in memory, of all sockets: how much there may be, and whose go when there
//! is too much (04 §7.2).

use crate::address::AddressKey;
use crate::mailbox::{Mailbox, Order};
use crate::metrics::FrontMetrics;
use link::ConnectionId;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

#[derive(Debug)]
pub(crate) struct MessageMemory {
    limit: usize,
    limit_per_address: usize,
    inner: Mutex<Inner>,
    metrics: FrontMetrics,
}

#[derive(Debug, Default)]
struct Inner {
    total: usize,
    per_address: HashMap<AddressKey, usize>,
    unfinished: BTreeMap<(Instant, ConnectionId), (AddressKey, Arc<Mailbox>)>,
    /// The socket that was told to end, until it did: one at a time, since its memory
    /// comes back only then.
    ending: Option<ConnectionId>,
}

/// One socket's share. Gives everything back when it goes.
#[derive(Debug)]
pub(crate) struct MemoryShare {
    memory: Arc<MessageMemory>,
    connection: ConnectionId,
    address: AddressKey,
    bytes: usize,
    unfinished_since: Option<Instant>,
}

impl MessageMemory {
    pub(crate) fn new(limit: usize, limit_per_address: usize, metrics: FrontMetrics) -> Self {
        Self {
            limit,
            limit_per_address,
            inner: Mutex::default(),
            metrics,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is no room for another socket's messages.
    pub(crate) fn is_full(&self) -> bool {
        self.lock().total >= self.limit
    }

    pub(crate) fn share(
        self: &Arc<Self>,
        connection: ConnectionId,
        address: AddressKey,
    ) -> MemoryShare {
        MemoryShare {
            memory: Arc::clone(self),
            connection,
            address,
            bytes: 0,
            unfinished_since: None,
        }
    }
}

impl Inner {
    fn change(&mut self, address: AddressKey, from: usize, to: usize) {
        self.total = (self.total + to).saturating_sub(from);
        let of_address = self.per_address.entry(address).or_default();
        *of_address = (*of_address + to).saturating_sub(from);
        if *of_address == 0 {
            self.per_address.remove(&address);
        }
    }

    fn of(&self, address: AddressKey) -> usize {
        self.per_address.get(&address).copied().unwrap_or(0)
    }
}

impl MemoryShare {
    /// What the socket's messages weigh now, and since when one of them is unfinished.
    pub(crate) fn set(
        &mut self,
        bytes: usize,
        unfinished_since: Option<Instant>,
        mailbox: &Arc<Mailbox>,
    ) {
        if bytes == self.bytes && unfinished_since == self.unfinished_since {
            return;
        }
        let mut inner = self.memory.lock();
        inner.change(self.address, self.bytes, bytes);
        self.bytes = bytes;
        if unfinished_since != self.unfinished_since {
            if let Some(since) = self.unfinished_since {
                inner.unfinished.remove(&(since, self.connection));
            }
            if let Some(since) = unfinished_since {
                let entry = (self.address, Arc::clone(mailbox));
                inner.unfinished.insert((since, self.connection), entry);
            }
            self.unfinished_since = unfinished_since;
        }
        self.memory.metrics.message_memory.set(inner.total as i64);
    }

    /// Whether the socket may be read. Where it may not, the oldest unfinished message of
    /// all, or of the address that has too much, goes with its socket.
    pub(crate) fn may_read(&self) -> bool {
        let mut inner = self.memory.lock();
        let all_full = inner.total >= self.memory.limit;
        let address_full = inner.of(self.address) >= self.memory.limit_per_address;
        if !all_full && !address_full {
            return true;
        }
        if inner.ending.is_none() {
            let mut unfinished = inner.unfinished.iter();
            let oldest = unfinished
                .find(|(_, (address, _))| all_full || *address == self.address)
                .map(|((_, connection), (_, mailbox))| (*connection, Arc::clone(mailbox)));
            if let Some((connection, mailbox)) = oldest {
                inner.ending = Some(connection);
                drop(inner);
                mailbox.order(Order::Drop);
                self.memory.metrics.limit_took_effect("message_memory");
            }
        }
        false
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        let mut inner = self.memory.lock();
        inner.change(self.address, self.bytes, 0);
        if let Some(since) = self.unfinished_since {
            inner.unfinished.remove(&(since, self.connection));
        }
        if inner.ending == Some(self.connection) {
            inner.ending = None;
        }
        self.memory.metrics.message_memory.set(inner.total as i64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn address(last: u8) -> AddressKey {
        AddressKey::of([192, 0, 2, last].into())
    }

    fn memory() -> Arc<MessageMemory> {
        let metrics = FrontMetrics::register(&prometheus::Registry::new()).unwrap();
        Arc::new(MessageMemory::new(100, 40, metrics))
    }

    #[test]
    fn the_socket_with_the_oldest_unfinished_message_goes_and_only_that_one() {
        let memory = memory();
        let start = Instant::now();
        let boxes: Vec<_> = (0..3).map(|_| Arc::new(Mailbox::default())).collect();
        let mut shares: Vec<_> = (0..3u8)
            .map(|n| memory.share(ConnectionId(n.into()), address(n)))
            .collect();
        for (n, share) in shares.iter_mut().enumerate() {
            let since = start + Duration::from_secs(10 - n as u64);
            share.set(33, Some(since), &boxes[n]);
        }
        assert!(shares[0].may_read());
        shares[0].set(34, Some(start + Duration::from_secs(10)), &boxes[0]);
        assert!(memory.is_full());
        assert!(!shares[0].may_read());
        assert!(!shares[1].may_read());
        assert_eq!(boxes[2].ordered(), Some(Order::Drop));
        assert_eq!(boxes[0].ordered(), None);
        assert_eq!(boxes[1].ordered(), None);
        shares.pop();
        assert!(shares[0].may_read());
        assert!(!memory.is_full());
    }

    #[test]
    fn an_address_has_its_own_share_and_pays_for_it_itself() {
        let memory = memory();
        let start = Instant::now();
        let (greedy, other) = (Arc::new(Mailbox::default()), Arc::new(Mailbox::default()));
        let mut older = memory.share(ConnectionId(1), address(2));
        older.set(10, Some(start), &other);
        let mut share = memory.share(ConnectionId(2), address(1));
        share.set(40, Some(start + Duration::from_secs(1)), &greedy);
        assert!(older.may_read());
        assert!(!share.may_read());
        assert_eq!(greedy.ordered(), Some(Order::Drop));
        assert_eq!(other.ordered(), None);
    }
}
