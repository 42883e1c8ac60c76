//! Who has a socket open: the counts 04 §7.2 limits, and the way to each connection.

use crate::address::AddressKey;
use crate::config::Limits;
use crate::mailbox::{Mailbox, Order};
use crate::metrics::FrontMetrics;
use crate::rate::Bucket;
use link::ConnectionId;
use minca_sync::close::Close;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoPlace {
    /// The process is full: `503`.
    Full,
    /// The address has enough: `429`.
    Address,
}

#[derive(Debug)]
pub(crate) struct Places {
    limits: Limits,
    inner: Mutex<Inner>,
    metrics: FrontMetrics,
}

#[derive(Debug, Default)]
struct Inner {
    last: u64,
    connections: HashMap<ConnectionId, Arc<Mailbox>>,
    /// Not yet admitted and not told to go, oldest first.
    unadmitted: BTreeMap<ConnectionId, Arc<Mailbox>>,
    addresses: HashMap<AddressKey, AddressUse>,
    /// Addresses are looked through for forgettable ones when there are this many.
    sweep_at: usize,
}

#[derive(Debug)]
struct AddressUse {
    open: usize,
    unadmitted: usize,
    new: Bucket,
}

/// A socket's place, until it goes.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    pub(crate) connection: ConnectionId,
    pub(crate) address: AddressKey,
    pub(crate) mailbox: Arc<Mailbox>,
    admitted: bool,
}

/// Below so many addresses none is looked for to forget.
const SWEEP_FROM: usize = 1024;

impl Places {
    pub(crate) fn new(limits: Limits, metrics: FrontMetrics) -> Self {
        Self {
            limits,
            inner: Mutex::default(),
            metrics,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a new socket of `address`.
    pub(crate) fn take(
        self: &Arc<Self>,
        address: AddressKey,
        now: Instant,
    ) -> Result<Place, NoPlace> {
        let limits = &self.limits;
        let mut inner = self.lock();
        if inner.connections.len() >= limits.sockets {
            self.metrics.limit_took_effect("sockets");
            return Err(NoPlace::Full);
        }
        inner.forget_idle_addresses(limits, now);
        let of_address = inner
            .addresses
            .entry(address)
            .or_insert_with(|| AddressUse {
                open: 0,
                unadmitted: 0,
                new: Bucket::full(limits.new_per_address, now),
            });
        let over = if of_address.open >= limits.sockets_per_address {
            Some("sockets_per_address")
        } else if of_address.unadmitted >= limits.unadmitted_per_address {
            Some("unadmitted_per_address")
        } else if !of_address.new.try_take(limits.new_per_address, now) {
            Some("new_per_address")
        } else {
            None
        };
        if let Some(limit) = over {
            self.metrics.limit_took_effect(limit);
            return Err(NoPlace::Address);
        }
        of_address.open += 1;
        of_address.unadmitted += 1;
        inner.last += 1;
        let connection = ConnectionId(inner.last);
        let mailbox = Arc::new(Mailbox::default());
        inner.connections.insert(connection, Arc::clone(&mailbox));
        inner.unadmitted.insert(connection, Arc::clone(&mailbox));
        if inner.unadmitted.len() > limits.unadmitted
            && let Some((_, oldest)) = inner.unadmitted.pop_first()
        {
            oldest.order(Order::CloseNow(Close::NoHello.code()));
            self.metrics.limit_took_effect("unadmitted");
        }
        Ok(Place {
            places: Arc::clone(self),
            connection,
            address,
            mailbox,
            admitted: false,
        })
    }

    /// The mailbox of an open connection.
    pub(crate) fn mailbox(&self, connection: ConnectionId) -> Option<Arc<Mailbox>> {
        self.lock().connections.get(&connection).cloned()
    }

    /// Gives every connection an order.
    pub(crate) fn order_all(&self, order: Order) {
        let all: Vec<_> = self.lock().connections.values().cloned().collect();
        for mailbox in all {
            mailbox.order(order);
        }
    }
}

impl Inner {
    fn forget_idle_addresses(&mut self, limits: &Limits, now: Instant) {
        if self.addresses.len() < self.sweep_at.max(SWEEP_FROM) {
            return;
        }
        let rate = limits.new_per_address;
        self.addresses
            .retain(|_, of_address| of_address.open > 0 || !of_address.new.is_full(rate, now));
        self.sweep_at = self.addresses.len() * 2;
    }
}

impl Place {
    /// The socket is admitted: it no longer counts among those that aren't.
    pub(crate) fn admitted(&mut self) {
        self.admitted = true;
        let mut inner = self.places.lock();
        inner.unadmitted.remove(&self.connection);
        if let Some(of_address) = inner.addresses.get_mut(&self.address) {
            of_address.unadmitted -= 1;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut inner = self.places.lock();
        inner.connections.remove(&self.connection);
        inner.unadmitted.remove(&self.connection);
        if let Some(of_address) = inner.addresses.get_mut(&self.address) {
            of_address.open -= 1;
            of_address.unadmitted -= usize::from(!self.admitted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::Rate;
    use std::time::Duration;

    fn address(last: u8) -> AddressKey {
        AddressKey::of([192, 0, 2, last].into())
    }

    fn places(change: impl FnOnce(&mut Limits)) -> Arc<Places> {
        let mut limits = Limits::default();
        change(&mut limits);
        let metrics = FrontMetrics::register(&prometheus::Registry::new()).unwrap();
        Arc::new(Places::new(limits, metrics))
    }

    #[test]
    fn a_full_process_has_no_place_until_one_goes() {
        let places = places(|limits| limits.sockets = 2);
        let now = Instant::now();
        let first = places.take(address(1), now).unwrap();
        let _second = places.take(address(2), now).unwrap();
        assert_eq!(places.take(address(3), now).unwrap_err(), NoPlace::Full);
        drop(first);
        assert!(places.take(address(3), now).is_ok());
    }

    #[test]
    fn an_address_is_counted_apart_from_others() {
        let places = places(|limits| {
            limits.sockets_per_address = 3;
            limits.unadmitted_per_address = 2;
        });
        let now = Instant::now();
        let mut first = places.take(address(1), now).unwrap();
        let _second = places.take(address(1), now).unwrap();
        assert_eq!(places.take(address(1), now).unwrap_err(), NoPlace::Address);
        first.admitted();
        let mut third = places.take(address(1), now).unwrap();
        third.admitted();
        assert_eq!(places.take(address(1), now).unwrap_err(), NoPlace::Address);
        assert!(places.take(address(2), now).is_ok());
        drop(first);
        assert!(places.take(address(1), now).is_ok());
    }

    #[test]
    fn the_oldest_unadmitted_makes_room() {
        let places = places(|limits| limits.unadmitted = 2);
        let now = Instant::now();
        let mut first = places.take(address(1), now).unwrap();
        first.admitted();
        let second = places.take(address(1), now).unwrap();
        let third = places.take(address(1), now).unwrap();
        assert_eq!(second.mailbox.ordered(), None);
        let _fourth = places.take(address(1), now).unwrap();
        assert_eq!(
            second.mailbox.ordered(),
            Some(Order::CloseNow(Close::NoHello.code()))
        );
        assert_eq!(first.mailbox.ordered(), None);
        assert_eq!(third.mailbox.ordered(), None);
    }

    #[test]
    fn addresses_that_left_long_ago_are_forgotten() {
        let places = places(|limits| {
            limits.new_per_address = Rate {
                per_second: 1,
                burst: 2,
            };
        });
        let now = Instant::now();
        for n in 0..SWEEP_FROM {
            let address = AddressKey::of([10, 0, (n >> 8) as u8, n as u8].into());
            drop(places.take(address, now).unwrap());
        }
        assert_eq!(places.lock().addresses.len(), SWEEP_FROM);
        let later = now + Duration::from_secs(60);
        let _stays = places.take(address(1), later).unwrap();
        assert_eq!(places.lock().addresses.len(), 1);
    }
}
