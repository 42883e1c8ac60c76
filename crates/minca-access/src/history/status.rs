//! What became of each event, and the lists the replay exposes (03 §4.6).

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::Text;

use super::arena::Change;
use super::refusal::Refusal;
use super::{History, Index};

/// What became of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// It counts.
    Applied,
    /// Dropped: its author might not, as of its own view. That never changes.
    Refused(Refusal),
    /// Dropped: a reduction strikes it, or it rests on a change that was struck.
    Struck {
        /// The reductions that strike it, sorted; none where it rests on a change
        /// that doesn't count.
        by: Vec<ContentId>,
        /// Why it is refused among the valid events it saw.
        rests: Option<Refusal>,
    },
    /// Its `seen` names what isn't held, or what waits.
    Waiting,
}

impl History {
    /// What became of an event; `None` if it isn't held.
    pub fn status(&mut self, id: &ContentId) -> Option<Status> {
        self.settle();
        if self.waiting.contains_key(id) {
            return Some(Status::Waiting);
        }
        let index = *self.arena.by_id.get(id)?;
        if self.whole.valid.contains(index) {
            return Some(Status::Applied);
        }
        let event = self.arena.event(index);
        if let Some(refusal) = event.refusal {
            return Some(Status::Refused(refusal));
        }
        if self.whole.struck.events.contains(index) {
            let by = event.struck_by.intersection(&self.whole.struck.strikers);
            let by = by
                .iter()
                .filter(|striker| !self.are_mutual(index, *striker));
            return Some(Status::Struck {
                by: self.sorted_ids(by),
                rests: None,
            });
        }
        let rests = self.whole.refusal(&self.arena, index, &mut self.work);
        Some(Status::Struck {
            by: Vec::new(),
            rests,
        })
    }

    pub(super) fn are_mutual(&self, one: Index, other: Index) -> bool {
        let mut mutual = self.whole.struck.mutual.iter();
        let holds = |component: &[Index], index| component.binary_search(&index).is_ok();
        mutual.any(|component| holds(component, one) && holds(component, other))
    }

    pub(super) fn sorted_ids(&self, events: impl IntoIterator<Item = Index>) -> Vec<ContentId> {
        let mut ids: Vec<ContentId> = events.into_iter().map(|it| *self.arena.id(it)).collect();
        ids.sort_unstable();
        ids
    }

    /// The ids of every event held, sorted.
    pub fn ids(&mut self) -> Vec<ContentId> {
        self.settle();
        let placed = self.arena.by_id.keys();
        let mut ids: Vec<ContentId> = placed.chain(self.waiting.keys()).copied().collect();
        ids.sort_unstable();
        ids
    }

    /// What a writer puts in `seen`: the applied events but revokes and fork proofs that
    /// no other such event saw, sorted.
    pub fn heads(&mut self) -> Vec<ContentId> {
        self.settle();
        self.sorted_ids(self.heads.iter().copied())
    }

    /// The applied reductions, revokes, fork proofs and closings, sorted.
    pub fn reductions(&mut self) -> Vec<ContentId> {
        self.settle();
        let is_reduction = |index: &Index| match self.arena.event(*index).change {
            Change::Remove { .. }
            | Change::Revoke { .. }
            | Change::Fork { .. }
            | Change::Assign {
                assigned: false, ..
            }
            | Change::Invite { open: false, .. } => true,
            Change::StepDown { .. } => !self.whole.struck.disarmed.contains(*index),
            _ => false,
        };
        self.sorted_ids(self.whole.valid.iter().filter(is_reduction))
    }

    /// The reductions that strike each other in circles of two or more, and so stand as
    /// far as each other goes; each sorted, and all of them.
    pub fn mutual(&mut self) -> Vec<Vec<ContentId>> {
        self.settle();
        let components = self.whole.struck.mutual.iter();
        let mut mutual: Vec<Vec<ContentId>> = components
            .map(|component| self.sorted_ids(component.iter().copied()))
            .collect();
        mutual.sort_unstable();
        mutual
    }

    /// Every applied revoke: the key, the account and the event; sorted.
    pub fn revokes(&mut self) -> Vec<(Text, Text, ContentId)> {
        self.settle();
        let arena = &self.arena;
        let revokes = self.whole.valid.iter().map(|index| arena.event(index));
        let revokes = revokes.filter_map(|event| match event.change {
            Change::Revoke { target } => {
                let text = |name| arena.names.text(name).clone();
                Some((text(target), text(event.root), event.event.id))
            }
            _ => None,
        });
        let mut revokes: Vec<_> = revokes.collect();
        revokes.sort_unstable();
        revokes
    }

    /// Every applied revoke of a key by an account, sorted.
    pub fn revoked(&mut self, key: &Did, account: &Did) -> Vec<ContentId> {
        self.settle();
        let names = &self.arena.names;
        let pair = names.known_did(key).zip(names.known_did(account));
        let revokes = pair.and_then(|pair| self.reach.revokes.get(&pair));
        let revokes = revokes.into_iter().flatten().copied();
        self.sorted_ids(revokes.filter(|index| self.whole.valid.contains(*index)))
    }

    /// Every applied fork proof: the key, the collection, the place and the event; sorted.
    pub fn forks(&mut self) -> Vec<(Text, Text, u64, ContentId)> {
        self.settle();
        let arena = &self.arena;
        let forks = self.whole.valid.iter().map(|index| arena.event(index));
        let forks = forks.filter_map(|event| match event.change {
            Change::Fork {
                writer,
                collection,
                from,
            } => {
                let text = |name| arena.names.text(name).clone();
                Some((text(writer), text(collection), from, event.event.id))
            }
            _ => None,
        });
        let mut forks: Vec<_> = forks.collect();
        forks.sort_unstable();
        forks
    }
}
