//! How many of something each address has.

use crate::address::AddressKey;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Connections that speak HTTP, by the address they were dialled from.
#[derive(Debug, Default)]
pub(crate) struct PerAddress {
    counts: Mutex<HashMap<AddressKey, usize>>,
}

/// One of them, until it goes.
#[derive(Debug)]
pub(crate) struct Counted {
    all: Arc<PerAddress>,
    address: AddressKey,
}

impl PerAddress {
    fn lock(&self) -> MutexGuard<'_, HashMap<AddressKey, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more, unless the address has `limit`.
    pub(crate) fn take(self: &Arc<Self>, address: AddressKey, limit: usize) -> Option<Counted> {
        let mut counts = self.lock();
        let has = counts.get(&address).copied().unwrap_or(0);
        if has >= limit {
            return None;
        }
        counts.insert(address, has + 1);
        Some(Counted {
            all: Arc::clone(self),
            address,
        })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.all.lock();
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_own_count_and_is_forgotten_with_its_last() {
        let all = Arc::new(PerAddress::default());
        let [one, two] = [1, 2].map(|last| AddressKey::of([192, 0, 2, last].into()));
        let first = all.take(one, 1);
        assert!(first.is_some());
        assert!(all.take(one, 1).is_none());
        let second = all.take(two, 1);
        assert!(second.is_some());
        drop((first, second));
        assert!(all.lock().is_empty());
        assert!(all.take(one, 0).is_none());
    }
}
