//! Whether the key is due to change (03 §4.4, §9.2).

use minca_access::Kind;

use super::Model;

impl Model {
    pub fn key_due(&self) -> bool {
        self.is_private && (self.was_reading_taken() || self.reads_a_holder_no_more())
    }

    /// The event of the current key, unless it is the constitution's.
    fn current_key(&self) -> Option<usize> {
        let current = self.current.keys.last()?;
        self.by_id.get(&current.event).copied()
    }

    fn saw_current_key(&self, event: usize) -> bool {
        self.current_key()
            .is_some_and(|key| self.did_see(key, event))
    }

    /// Whether some valid event that the current key had not seen took reading
    /// from someone: a reader in its own view and not with it merged in.
    fn was_reading_taken(&self) -> bool {
        let took = |event: usize| {
            let mut with = &self.saw[&event] & &self.valid;
            with.insert(event);
            let after = self.merge(&with, &self.valid_views).members();
            let before = self.valid_views[&event].members();
            !before.is_subset(&after)
        };
        let mut events = self.valid.iter().copied();
        events.any(|event| !self.saw_current_key(event) && took(event))
    }

    /// Whether someone who held the current key, as its maker saw it or by a valid
    /// assignment the key had not seen, is no reader now.
    fn reads_a_holder_no_more(&self) -> bool {
        let seen = self.current_key().map(|it| self.events[it].seen.clone());
        let as_made = self.seen_as(&seen.unwrap_or_default());
        let mut holders = as_made.map(|it| it.members()).unwrap_or_default();
        for &event in &self.valid {
            if let Kind::Assign {
                did,
                assigned: true,
                ..
            } = self.kind(event)
                && !self.saw_current_key(event)
            {
                holders.insert(did.clone());
            }
        }
        !holders.is_subset(&self.current.members())
    }
}
