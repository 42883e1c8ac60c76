//! Leaving a store alone that failed, longer each time it fails again.

use crate::event::Millis;

/// When something that failed is tried again.
#[derive(Debug)]
pub(crate) struct Backoff {
    first: Millis,
    most: Millis,
    next: Millis,
    until: Option<Millis>,
}

impl Backoff {
    /// After the first failure it is left alone for `first`, then for twice as long
    /// each time, up to `most`.
    pub(crate) fn new(first: Millis, most: Millis) -> Backoff {
        Backoff {
            first,
            most,
            next: first,
            until: None,
        }
    }

    pub(crate) fn failed(&mut self, now: Millis) {
        if self.until.is_none() {
            self.until = Some(now.saturating_add(self.next));
            self.next = self.next.saturating_mul(2).min(self.most);
        }
    }

    pub(crate) fn worked(&mut self) {
        self.next = self.first;
    }

    /// Whether it may be asked.
    pub(crate) fn is_over(&self) -> bool {
        self.until.is_none()
    }

    /// When it may be asked again.
    pub(crate) fn until(&self) -> Option<Millis> {
        self.until
    }

    /// Notes the time; true when it may be asked again from now on.
    pub(crate) fn passed(&mut self, now: Millis) -> bool {
        self.until.take_if(|until| *until <= now).is_some()
    }
}
