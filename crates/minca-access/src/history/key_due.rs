//! Whether a private space's key is due for a change (03 §4.4, §9.2).

use super::names::Name;
use super::seen::without_seen;
use super::validity::Lens;
use super::view::View;
use super::{History, Index};

impl History {
    /// `keyDue` of the current state: someone who held the current key reads no more,
    /// or lost reading by a change the key hadn't seen.
    pub fn key_is_due(&mut self) -> bool {
        self.settle();
        if let Some(known) = self.key_due {
            return known;
        }
        let is_due = self.arena.is_private && self.work_out_key_due();
        self.key_due = Some(is_due);
        is_due
    }

    fn work_out_key_due(&mut self) -> bool {
        let key = self.current_view().lowest_latest(self.arena.key_changes_at);
        self.someone_lost_reading_unseen(key) || self.some_holder_reads_no_more(key)
    }

    fn had_seen(&self, key: Option<Index>, event: Index) -> bool {
        key.is_some_and(|key| self.arena.saw(key, event))
    }

    /// Whether some valid event the key had not seen took reading from someone: a
    /// reader in its own view, before and not after.
    fn someone_lost_reading_unseen(&mut self, key: Option<Index>) -> bool {
        let takers: Vec<(Name, Index)> = self
            .reach
            .takers
            .iter()
            .flat_map(|(did, takers)| takers.iter().map(|taker| (*did, *taker)))
            .collect();
        takers.into_iter().any(|(did, taker)| {
            self.whole.valid.contains(taker)
                && !self.had_seen(key, taker)
                && self.takes_reading(did, taker)
        })
    }

    fn takes_reading(&mut self, did: Name, taker: Index) -> bool {
        let (arena, work) = (&self.arena, &mut self.work);
        let lens = Lens::Among(&self.whole);
        let before = lens.before(arena, taker);
        let mut after = before.clone();
        after.take_in(arena, vec![taker], work);
        View::bare(arena, lens, before).is_member(did, work)
            && !View::bare(arena, lens, &after).is_member(did, work)
    }

    /// Whether anyone who held the key is no reader now: a reader as it was made, as
    /// its writer saw it, or assigned a role since that it had not seen.
    fn some_holder_reads_no_more(&mut self, key: Option<Index>) -> bool {
        let heads = key.map_or(Vec::new(), |key| self.arena.event(key).heads.to_vec());
        let made_in = self.seen(&without_seen(&self.arena, heads));
        let as_made = made_in.seen_as(&self.arena, &self.whole);
        let mut holders = as_made.members(&mut self.work);
        for (account, at) in self.arena.assignments_at.iter() {
            let arena = &self.arena;
            let mut events = at.iter().flat_map(|at| {
                let events = arena.on_key[at.key as usize].iter();
                events.map(|index| (*index, at.role))
            });
            let assigns_unseen = |(index, role): (Index, Name)| {
                arena.assigns(index, account, role) == Some(true)
                    && self.whole.valid.contains(index)
                    && !self.had_seen(key, index)
            };
            if events.any(assigns_unseen) {
                holders.push(account);
            }
        }
        let now = View::bare(&self.arena, Lens::Among(&self.whole), &self.current);
        let work = &mut self.work;
        holders
            .into_iter()
            .any(|holder| !now.is_member(holder, work))
    }
}
