//! What a host asks of the history beside a verdict.

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::Text;

use super::refusal::key_of;
use super::seen::heads_of;
use super::validity::Lens;
use super::view::{DefinitionState, View};
use super::{History, Index};

impl History {
    /// The definition in force for a collection as of `at(seen)` (03 §5.2 step 9):
    /// `None` where there is none, it is contested, or `seen` names what isn't placed.
    pub fn definition_in_force(
        &mut self,
        collection: &str,
        seen: &[ContentId],
    ) -> Option<ContentId> {
        self.settle();
        let name = self.arena.names.known(&Text::from(collection))?;
        self.arena.definition_at.get(name)?;
        let heads = heads_of(&self.arena, seen).ok()?;
        let seen = self.seen(&heads);
        let at = seen.at(&self.arena, &self.whole);
        match at.definition(name, &mut self.work) {
            DefinitionState::InForce { event, .. } => Some(*self.arena.id(event)),
            DefinitionState::None | DefinitionState::Contested(_) => None,
        }
    }

    /// Whether an account was a member as a writer that named `seen` saw it; `None`
    /// where `seen` names what isn't placed.
    pub fn was_member(&mut self, account: &Did, seen: &[ContentId]) -> Option<bool> {
        self.settle();
        let heads = heads_of(&self.arena, seen).ok()?;
        let seen = self.seen(&heads);
        let view = seen.seen_as(&self.arena, &self.whole);
        let account = self.arena.names.known_did(account);
        Some(account.is_some_and(|account| view.is_member(account, &mut self.work)))
    }

    /// Whether an account read the space once and does no more (03 §9.2, 04 §6.3): an
    /// applied assignment, unassignment or removal names it, or an applied stepping
    /// down, or the constitution does, and it is no reader now.
    pub fn is_former_member(&mut self, account: &Did) -> bool {
        self.settle();
        let Some(account) = self.arena.names.known_did(account) else {
            return false;
        };
        let (arena, whole) = (&self.arena, &self.whole);
        let is_applied = |index: &Index| whole.valid.contains(*index);
        let assignments = arena.assignments_at.get(account).into_iter().flatten();
        let mut assignments = assignments.copied();
        let mut takers = self.reach.takers.get(&account).into_iter().flatten();
        let was_reader = arena.founders.contains(&account)
            || takers.any(is_applied)
            || assignments.any(|at| {
                let mut events = arena.on_key[at.key as usize].iter();
                at.is_founding
                    || events.any(|index| {
                        is_applied(index) && arena.assigns(*index, account, at.role).is_some()
                    })
            });
        let now = View::bare(arena, Lens::Among(whole), &self.current);
        was_reader && !now.is_member(account, &mut self.work)
    }

    /// The read keys of a private space, the current one last. None in a public space.
    pub fn read_keys(&mut self) -> Vec<Text> {
        self.settle();
        let Some((_, first)) = &self.arena.first_key else {
            return Vec::new();
        };
        let view = View::bare(&self.arena, Lens::Among(&self.whole), &self.current);
        let changes = view.key_changes(&mut self.work).into_iter();
        let changes = changes.filter_map(|index| Some(key_of(self.arena.event(index))?.1));
        std::iter::once(first).chain(changes).cloned().collect()
    }
}
