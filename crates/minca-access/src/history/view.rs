//! Reading a state: who is a member, which roles it has, what is in force
//! (03 §4.1, §4.4).

use minca_record::json::Text;

use super::arena::{Arena, AssignmentAt, Change};
use super::bit_set::BitSet;
use super::names::Name;
use super::state::State;
use super::validity::Lens;
use super::work::Work;
use super::{Index, Key};

/// A state with what it is a merge of.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) arena: &'a Arena,
    /// Which events count, here and in the views of definitions.
    pub(super) lens: Lens<'a>,
    pub(super) state: &'a State,
    /// The events merged, of those that count; `None` for all.
    pub(super) scope: Option<&'a BitSet>,
}

/// An invite as the latest events on it make it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InviteState {
    pub(super) role: Name,
    pub(super) is_open: bool,
    pub(super) event: Index,
    /// The latest events on it.
    pub(super) by: Vec<Index>,
}

/// What is in force of a collection's definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DefinitionState {
    /// Nothing, or a delete.
    None,
    /// One, with its first definer, if that is one account.
    InForce {
        event: Index,
        defined_by: Option<Name>,
    },
    /// Several, of which no id decides.
    Contested(Vec<Index>),
}

impl<'a> View<'a> {
    /// For questions that look at latest events alone.
    pub(super) fn bare(arena: &'a Arena, lens: Lens<'a>, state: &'a State) -> View<'a> {
        View {
            arena,
            lens,
            state,
            scope: None,
        }
    }

    fn latest(&self, key: Key) -> &'a [Index] {
        self.state.latest.get(key).as_slice()
    }

    /// The events on a key that are merged here.
    pub(super) fn all_on(&self, key: Key, work: &mut Work) -> Vec<Index> {
        let on_key = &self.arena.on_key[key as usize];
        work.spent += on_key.len() as u64;
        let is_merged = |index: &Index| {
            self.lens.counts(self.arena, *index)
                && self.scope.is_none_or(|scope| scope.contains(*index))
        };
        on_key.iter().copied().filter(is_merged).collect()
    }

    pub(super) fn is_founder(&self, account: Name) -> bool {
        let founders = &self.arena.founders;
        let place = founders.iter().position(|name| *name == account);
        place.is_some_and(|place| self.state.founders & (1 << place) != 0)
    }

    /// The founders that are left.
    pub(super) fn founders(&self) -> impl Iterator<Item = Name> + '_ {
        let founders = self.arena.founders.iter().copied().enumerate();
        let left = founders.filter(|(place, _)| self.state.founders & (1 << place) != 0);
        left.map(|(_, name)| name)
    }

    /// Whether the account is a founder or holds a role.
    pub(super) fn is_member(&self, account: Name, work: &mut Work) -> bool {
        self.is_founder(account) || self.assignments(account, work).next().is_some()
    }

    /// The roles assigned to an account, sorted by name.
    pub(super) fn roles_of(&self, account: Name, work: &mut Work) -> Vec<Name> {
        let held = self.assignments(account, work);
        held.map(|(at, _)| at.role).collect()
    }

    /// Whether an account holds one role.
    pub(super) fn holds(&self, account: Name, role: Name, work: &mut Work) -> bool {
        let removes = self.removes_of(account, work);
        let at = self.assignments_at(account).iter();
        let at = at.filter(|at| at.role == role);
        at.into_iter()
            .any(|at| self.assigned(account, at, &removes, work).is_some())
    }

    /// The roles assigned to an account, sorted by name, with what assigns each: an
    /// event, or `None` for the constitution.
    pub(super) fn assignments<'b>(
        &'b self,
        account: Name,
        work: &'b mut Work,
    ) -> impl Iterator<Item = (&'a AssignmentAt, Option<Index>)> + 'b {
        let removes = self.removes_of(account, work);
        let all = self.assignments_at(account).iter();
        all.filter_map(move |at| Some((at, self.assigned(account, at, &removes, work)?)))
    }

    fn assignments_at(&self, account: Name) -> &'a [AssignmentAt] {
        let at = self.arena.assignments_at.get(account);
        at.map_or(&[][..], Vec::as_slice)
    }

    /// The latest removals of an account.
    fn removes_of(&self, account: Name, work: &mut Work) -> BitSet {
        let key = self.arena.remove_at.get(account);
        let latest = key.map_or(&[][..], |key| self.latest(*key));
        work.spent += 1 + latest.len() as u64;
        latest.iter().copied().collect()
    }

    /// What assigns a role to the account, the latest `removes` of it given, if it is
    /// assigned: an event, or `Some(None)` for the constitution.
    fn assigned(
        &self,
        account: Name,
        at: &AssignmentAt,
        removes: &BitSet,
        work: &mut Work,
    ) -> Option<Option<Index>> {
        let latest = self.latest(at.key);
        work.spent += 1 + latest.len() as u64 * (1 + removes.words());
        let says = |index: &Index| self.arena.assigns(*index, account, at.role);
        let mut said = latest.iter().filter_map(says).peekable();
        if said.peek().is_none() {
            return (at.is_founding && removes.is_empty()).then_some(None);
        }
        if !said.all(|is_assigned| is_assigned) {
            return None;
        }
        let after_removes = |index: &Index| removes.is_within(&self.arena.event(*index).saw);
        let assigning = latest.iter().copied();
        let assigning = assigning.filter(|index| says(index).is_some() && after_removes(index));
        self.arena.lowest(assigning).map(Some)
    }

    /// Every account that is a member; in no order that means anything.
    pub(super) fn members(&self, work: &mut Work) -> Vec<Name> {
        let mut members: Vec<Name> = self.founders().collect();
        for (account, _) in self.arena.assignments_at.iter() {
            if !self.is_founder(account) && self.is_member(account, work) {
                members.push(account);
            }
        }
        members
    }

    pub(super) fn role_exists(&self, role: Name) -> bool {
        let written = self.arena.role_at.get(role);
        self.arena.founding_roles.get(role).is_some()
            || written.is_some_and(|key| !self.latest(*key).is_empty())
    }

    pub(super) fn invite(&self, invite: Name) -> Option<InviteState> {
        let key = self.arena.invite_at.get(invite)?;
        let latest = self.latest(*key);
        let said = |index: Index| match self.arena.event(index).change {
            Change::Invite { role, open, .. } => Some((role, open)),
            _ => None,
        };
        let closed = latest.iter().copied();
        let closed = closed.filter(|index| said(*index).is_some_and(|(_, open)| !open));
        let closed = self.arena.lowest(closed);
        let event = closed.or_else(|| self.arena.lowest(latest.iter().copied()))?;
        let (role, _) = said(event)?;
        let is_one_role = latest
            .iter()
            .all(|index| said(*index).is_some_and(|(other, _)| other == role));
        Some(InviteState {
            role,
            is_open: closed.is_none() && is_one_role,
            event,
            by: latest.to_vec(),
        })
    }

    /// A collection's definition, by its name.
    pub(super) fn definition(&self, name: Name, work: &mut Work) -> DefinitionState {
        let key = self.arena.definition_at.get(name);
        key.map_or(DefinitionState::None, |key| self.definition_at(*key, work))
    }

    pub(super) fn definition_at(&self, key: Key, work: &mut Work) -> DefinitionState {
        let latest = self.latest(key);
        let Some(winner) = self.arena.lowest(latest.iter().copied()) else {
            return DefinitionState::None;
        };
        if latest.len() > 1 {
            return self.definition_of_rivals(latest, winner, key, work);
        }
        self.definition_by(winner, key, work)
    }

    /// Where several changes are latest. That depends on them alone in views of one kind,
    /// and is remembered: what else was written there one of them saw.
    fn definition_of_rivals(
        &self,
        latest: &[Index],
        winner: Index,
        key: Key,
        work: &mut Work,
    ) -> DefinitionState {
        let generation = self.lens.generation();
        if let Some(known) = work.known_definition(generation, latest) {
            return known.clone();
        }
        let state = if self.has_one_winner(latest, key, work) {
            self.definition_by(winner, key, work)
        } else {
            let mut contested = latest.to_vec();
            contested.sort_by(|a, b| self.arena.id(*a).cmp(self.arena.id(*b)));
            DefinitionState::Contested(contested)
        };
        work.keep_definition(generation, latest, &state);
        state
    }

    fn definition_by(&self, winner: Index, key: Key, work: &mut Work) -> DefinitionState {
        if is_delete(self.arena, winner) {
            return DefinitionState::None;
        }
        DefinitionState::InForce {
            event: winner,
            defined_by: self.first_definer(winner, key, work),
        }
    }

    /// Whether the lowest id wins among several latest changes: when they are one
    /// account's, or none is a delete and all have the same first definer. Two that
    /// have none don't have the same. [03 §4.4 leaves that open]
    fn has_one_winner(&self, latest: &[Index], key: Key, work: &mut Work) -> bool {
        let root = |index: &Index| self.arena.event(*index).root;
        if latest.iter().all(|index| root(index) == root(&latest[0])) {
            return true;
        }
        if latest.iter().any(|index| is_delete(self.arena, *index)) {
            return false;
        }
        let Some(definer) = self.first_definer(latest[0], key, work) else {
            return false;
        };
        // Who first defined it goes by the deletes a change saw, and most saw the same.
        let mut last = self.seen_deletes(latest[0], key, work);
        latest[1..].iter().all(|other| {
            let deletes = self.seen_deletes(*other, key, work);
            let is_same = deletes == last;
            last = deletes;
            is_same || self.first_definer(*other, key, work) == Some(definer)
        })
    }

    /// The deletes on a definition's key, of those merged here, that an event saw.
    fn seen_deletes(&self, winner: Index, key: Key, work: &mut Work) -> Vec<Index> {
        let mut deletes = self.all_on(key, work);
        deletes.retain(|index| is_delete(self.arena, *index) && self.arena.saw(winner, *index));
        deletes
    }

    /// The account of the first definitions: those of the set that saw every delete
    /// the winner saw, and none of each other. `None` if they are several accounts'.
    fn first_definer(&self, winner: Index, key: Key, work: &mut Work) -> Option<Name> {
        let arena = self.arena;
        let all = self.all_on(key, work);
        let seen_deletes: BitSet = self.seen_deletes(winner, key, work).into_iter().collect();
        let saw_deletes = |index: &Index| seen_deletes.is_within(&arena.event(*index).saw);
        let candidates: Vec<Index> = all
            .into_iter()
            .filter(|index| !is_delete(arena, *index) && saw_deletes(index))
            .collect();
        let set: BitSet = candidates.iter().copied().collect();
        work.spent += (set.words() + 1) * candidates.len() as u64;
        let mut first = candidates
            .into_iter()
            .filter(|index| !arena.event(*index).saw.meets(&set))
            .map(|index| arena.event(index).root);
        let definer = first.next()?;
        first.all(|other| other == definer).then_some(definer)
    }

    /// The key changes in their order, the current one last: all by id, but the
    /// lowest of the latest.
    pub(super) fn key_changes(&self, work: &mut Work) -> Vec<Index> {
        let key = self.arena.key_changes_at;
        let Some(current) = self.arena.lowest(self.latest(key).iter().copied()) else {
            return Vec::new();
        };
        let mut changes = self.all_on(key, work);
        changes.retain(|change| *change != current);
        changes.sort_by(|a, b| self.arena.id(*a).cmp(self.arena.id(*b)));
        changes.push(current);
        changes
    }

    /// The lowest of the latest events on a key.
    pub(super) fn lowest_latest(&self, key: Key) -> Option<Index> {
        self.arena.lowest(self.latest(key).iter().copied())
    }

    /// The latest definitions of a role, sorted by id.
    pub(super) fn role_definitions(&self, role: Name) -> Vec<Index> {
        let written = self.arena.role_at.get(role);
        let mut written = written.map_or(Vec::new(), |key| self.latest(*key).to_vec());
        written.sort_by(|a, b| self.arena.id(*a).cmp(self.arena.id(*b)));
        written
    }

    pub(super) fn text(&self, name: Name) -> &'a Text {
        self.arena.names.text(name)
    }
}

fn is_delete(arena: &Arena, index: Index) -> bool {
    let change = &arena.event(index).change;
    matches!(change, Change::Definition { deleted: true, .. })
}
