//! The state of a set of events (03 §4.4).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use minca_access::Kind;
use minca_record::json::Text;

use super::state::{Collection, Definition, Invite, Key, State};
use super::{Model, Set};

/// A view for each event, in which its definitions are judged.
pub(super) type Views = BTreeMap<usize, Rc<State>>;

impl Model {
    /// Merges `set`, whose role definitions are judged in `views`.
    pub(super) fn merge(&self, set: &Set, views: &Views) -> State {
        let mut state = (*self.start).clone();
        // Removals end what the constitution assigned; assignments then say again.
        for &event in set {
            match self.kind(event) {
                Kind::Remove { did } => {
                    state.assigned.remove(did);
                    if self.root(event) == did {
                        state.founders.remove(did);
                    }
                }
                Kind::StepDown { did } => {
                    state.founders.remove(did);
                }
                Kind::Succeed { space } => {
                    let by = state.successors.entry(*space).or_default();
                    by.insert(self.root(event).clone());
                }
                _ => {}
            }
        }
        let mut by_key: BTreeMap<&str, Set> = BTreeMap::new();
        for &event in set {
            let all = by_key.entry(&self.events[event].key).or_default();
            all.insert(event);
        }
        for all in by_key.values() {
            self.merge_key(&mut state, set, all, views);
        }
        state.assigned.retain(|_, roles| !roles.is_empty());
        state
    }

    /// The events of `set` that no other of it saw, by id.
    fn latest(&self, set: &Set) -> Vec<usize> {
        let was_seen = |event: &usize| set.iter().any(|other| self.did_see(*other, *event));
        let latest = set.iter().copied().filter(|it| !was_seen(it)).collect();
        self.by_id(latest)
    }

    fn by_id(&self, mut events: Vec<usize>) -> Vec<usize> {
        events.sort_by_key(|event| self.id(*event));
        events
    }

    /// Merges the events `all` of one record key.
    fn merge_key(&self, state: &mut State, set: &Set, all: &Set, views: &Views) {
        let latest = self.latest(all);
        let first = latest[0];
        match self.kind(first) {
            Kind::Role(role) => {
                let definitions = latest.iter().map(|it| Rc::new(self.definition(*it, views)));
                state
                    .roles
                    .insert((&*role.name).into(), definitions.collect());
            }
            Kind::Assign { .. } => self.merge_assignments(state, set, &latest),
            Kind::Invite { invite_key, .. } => {
                state
                    .invites
                    .insert(invite_key.clone(), self.invite(&latest));
            }
            Kind::Definition { name, .. } => {
                self.merge_collection(state, &(&**name).into(), all, &latest);
            }
            Kind::Key { .. } => {
                let others = all.iter().copied().filter(|it| *it != first).collect();
                let keys = self.by_id(others).into_iter().chain([first]);
                state.keys.extend(keys.map(|event| self.key(event)));
            }
            Kind::Relays { relays } => state.relays.clone_from(relays),
            Kind::Keepers { keepers, copies } => {
                state.keepers.clone_from(keepers);
                state.copies = *copies;
            }
            Kind::Remove { .. }
            | Kind::StepDown { .. }
            | Kind::Succeed { .. }
            | Kind::Revoke { .. }
            | Kind::Fork { .. } => {}
        }
    }

    fn definition(&self, event: usize, views: &Views) -> Definition {
        let Kind::Role(role) = self.kind(event) else {
            unreachable!("a record key has events of one kind");
        };
        Definition {
            event: self.id(event),
            by: Some(self.root(event).clone()),
            title: role.title.clone(),
            grants: self.words[event].grants.clone(),
            nests: role.nests.iter().map(|it| (&**it).into()).collect(),
            view: Some(Rc::clone(&views[&event])),
        }
    }

    /// Merges the latest changes on an assignment's key, which as a rule are of one role of
    /// one account.
    fn merge_assignments(&self, state: &mut State, set: &Set, latest: &[usize]) {
        let of = |event: usize| match self.kind(event) {
            Kind::Assign { did, role, .. } => (did, role),
            _ => unreachable!("a record key has events of one kind"),
        };
        for (did, role) in latest.iter().map(|it| of(*it)) {
            let alike = latest.iter().copied();
            let alike: Vec<usize> = alike.filter(|it| of(*it) == (did, role)).collect();
            let roles = state.assigned.entry(did.clone()).or_default();
            roles.remove(role);
            if let Some(event) = self.assignment(set, did, &alike) {
                roles.insert(role.clone(), self.id(event));
            }
        }
    }

    /// Which of the latest changes of one assignment assigns, if the role is held.
    fn assignment(&self, set: &Set, account: &Text, latest: &[usize]) -> Option<usize> {
        let assigns =
            |event: &usize| matches!(self.kind(*event), Kind::Assign { assigned: true, .. });
        if !latest.iter().all(assigns) {
            return None;
        }
        let is_removal =
            |event: &usize| matches!(self.kind(*event), Kind::Remove { did } if did == account);
        let removals = self.latest(&set.iter().copied().filter(is_removal).collect());
        let saw_them = |event: &usize| removals.iter().all(|it| self.did_see(*event, *it));
        latest.iter().copied().find(saw_them)
    }

    fn invite(&self, latest: &[usize]) -> Invite {
        let said = |event: usize| match self.kind(event) {
            Kind::Invite { role, open, .. } => (role, *open),
            _ => unreachable!("a record key has events of one kind"),
        };
        let closed = latest.iter().copied().find(|it| !said(*it).1);
        let named = closed.unwrap_or(latest[0]);
        let (role, _) = said(named);
        Invite {
            role: role.clone(),
            open: closed.is_none() && latest.iter().all(|it| said(*it).0 == role),
            event: self.id(named),
            by: latest.iter().map(|it| self.root(*it).clone()).collect(),
        }
    }

    fn is_deleted(&self, event: usize) -> bool {
        matches!(self.kind(event), Kind::Definition { deleted: true, .. })
    }

    fn merge_collection(&self, state: &mut State, name: &Text, all: &Set, latest: &[usize]) {
        let roots: BTreeSet<&Text> = latest.iter().map(|it| self.root(*it)).collect();
        let definers: BTreeSet<Option<Text>> =
            latest.iter().map(|it| self.defined_by(*it, all)).collect();
        let none_deletes = !latest.iter().any(|it| self.is_deleted(*it));
        let one_definer = definers.len() == 1 && !definers.contains(&None);
        if roots.len() > 1 && !(none_deletes && one_definer) {
            let ids = latest.iter().map(|it| self.id(*it)).collect();
            state.contested.insert(name.clone(), ids);
        } else if !self.is_deleted(latest[0]) {
            let collection = Collection {
                event: self.id(latest[0]),
                defined_by: self.defined_by(latest[0], all),
            };
            state.definitions.insert(name.clone(), collection);
        }
    }

    /// Who first defined the collection that `winner` defines, if it is one
    /// account. A removal is a delete of the definition, and a delete is no first
    /// definition.
    fn defined_by(&self, winner: usize, all: &Set) -> Option<Text> {
        let is_removal = |event: &&usize| self.is_deleted(**event) && self.did_see(winner, **event);
        let removals: Vec<usize> = all.iter().filter(is_removal).copied().collect();
        let saw_removals = |event: usize| removals.iter().all(|it| self.did_see(event, *it));
        let candidates: Set = all
            .iter()
            .copied()
            .filter(|it| !self.is_deleted(*it) && saw_removals(*it))
            .collect();
        let saw_none = |event: &&usize| !candidates.iter().any(|it| self.did_see(**event, *it));
        let firsts: BTreeSet<Text> = candidates
            .iter()
            .filter(saw_none)
            .map(|it| self.root(*it).clone())
            .collect();
        if firsts.len() == 1 {
            firsts.into_iter().next()
        } else {
            None
        }
    }

    fn key(&self, event: usize) -> Key {
        match self.kind(event) {
            Kind::Key { key_id, read_key } => Key {
                key_id: key_id.clone(),
                read_key: read_key.clone(),
                event: self.id(event),
            },
            _ => unreachable!("a record key has events of one kind"),
        }
    }
}
