//! What strikes what (03 §4.3 steps 2 to 4).

use std::collections::BTreeMap;

use minca_access::Kind;
use minca_record::json::Text;

use super::{Model, Set, account};

impl Model {
    /// Whether an allowed event is a reduction among the allowed events `among`.
    /// What is allowed of these kinds takes something in its own view, but a
    /// stepping down that a revoke or a fork proof reaches does not.
    pub(super) fn is_reduction(&self, event: usize, among: &Set) -> bool {
        match self.kind(event) {
            Kind::Remove { .. }
            | Kind::Assign {
                assigned: false, ..
            }
            | Kind::Revoke { .. }
            | Kind::Fork { .. }
            | Kind::Invite { open: false, .. } => true,
            Kind::StepDown { .. } => !among.iter().any(|other| {
                matches!(self.kind(*other), Kind::Revoke { .. } | Kind::Fork { .. })
                    && self.reaches(*other, event)
            }),
            _ => false,
        }
    }

    /// The account an event takes from, where it takes from one.
    pub(super) fn reduced(&self, event: usize) -> Option<&Text> {
        match self.kind(event) {
            Kind::Remove { did }
            | Kind::StepDown { did }
            | Kind::Assign {
                did,
                assigned: false,
                ..
            } => Some(did),
            _ => None,
        }
    }

    fn reaches(&self, reduction: usize, event: usize) -> bool {
        let reached = &self.events[event];
        match self.kind(reduction) {
            Kind::Revoke { target } => {
                self.words[event].author == *target && reached.root == self.events[reduction].root
            }
            Kind::Fork {
                writer,
                collection,
                from,
            } => {
                reached.author == *writer
                    && self.words[event].collection == **collection
                    && reached.log_place >= *from
            }
            Kind::Invite { invite_key, .. } => matches!(
                self.kind(event),
                Kind::Assign { via_invite: Some(key), .. } if account(*key) == *invite_key
            ),
            _ => self.reduced(reduction) == Some(self.root(event)),
        }
    }

    /// Whether `reduction` strikes `event` if it is a reduction.
    fn would_strike(&self, reduction: usize, event: usize) -> bool {
        let whatever_was_seen = matches!(
            self.kind(reduction),
            Kind::Revoke { .. } | Kind::Fork { .. }
        );
        let is_never_struck = matches!(
            self.kind(event),
            Kind::Revoke { .. } | Kind::Fork { .. } | Kind::StepDown { .. }
        );
        let are_concurrent = !self.did_see(reduction, event) && !self.did_see(event, reduction);
        reduction != event
            && !is_never_struck
            && (whatever_was_seen || are_concurrent)
            && self.reaches(reduction, event)
            && !self.covers(reduction, event)
    }

    /// For each allowed event, those allowed that strike it if they are reductions.
    pub(super) fn possible_strikers(&self) -> BTreeMap<usize, Set> {
        let of = |event: usize| {
            let strikers = self.allowed.iter().copied();
            strikers
                .filter(|it| self.would_strike(*it, event))
                .collect()
        };
        self.allowed.iter().map(|it| (*it, of(*it))).collect()
    }

    fn covers(&self, reduction: usize, event: usize) -> bool {
        let place = self.events[event].log_place;
        let line = &self.words[event];
        self.events[reduction]
            .cutoff
            .covers(&line.author, &line.collection, place)
    }

    /// For each allowed event of `among`, those of it that strike it.
    fn strikers(&self, among: &Set) -> BTreeMap<usize, Set> {
        let reductions: Set = among
            .iter()
            .copied()
            .filter(|it| self.is_reduction(*it, among))
            .collect();
        let of = |event: &usize| &self.strikers[event] & &reductions;
        among.iter().map(|event| (*event, of(event))).collect()
    }

    /// Those of the allowed events `among` that no unstruck event of another
    /// component strikes.
    pub(super) fn unstruck(&self, among: &Set) -> Set {
        let strikers = self.strikers(among);
        let mut known = BTreeMap::new();
        for event in among {
            is_unstruck(*event, &strikers, &mut known);
        }
        among.iter().copied().filter(|it| known[it]).collect()
    }

    /// Groups of events that strike each other, of two or more.
    pub fn mutual(&self) -> Vec<Set> {
        let strikers = self.strikers(&self.allowed);
        let mut groups: Vec<Set> = self
            .allowed
            .iter()
            .map(|it| component(*it, &strikers))
            .collect();
        groups.retain(|group| group.len() > 1);
        groups.sort();
        groups.dedup();
        groups
    }

    /// The applied reductions of the whole history.
    pub(super) fn applied_reductions(&self) -> Set {
        let is_reduction = |event: &usize| self.is_reduction(*event, &self.allowed);
        self.valid.iter().copied().filter(is_reduction).collect()
    }
}

fn is_unstruck(
    event: usize,
    strikers: &BTreeMap<usize, Set>,
    known: &mut BTreeMap<usize, bool>,
) -> bool {
    if let Some(is) = known.get(&event) {
        return *is;
    }
    let others = &strikers[&event] - &component(event, strikers);
    let is = !others.iter().any(|it| is_unstruck(*it, strikers, known));
    known.insert(event, is);
    is
}

/// The events that strike `event` and are struck by it, directly or through
/// others, and `event`.
fn component(event: usize, strikers: &BTreeMap<usize, Set>) -> Set {
    let before = all_before(event, strikers);
    let mut component: Set = before
        .into_iter()
        .filter(|other| all_before(*other, strikers).contains(&event))
        .collect();
    component.insert(event);
    component
}

/// All that strikes `event`, directly or through others.
fn all_before(event: usize, strikers: &BTreeMap<usize, Set>) -> Set {
    let mut before = Set::new();
    let mut next: Vec<usize> = strikers[&event].iter().copied().collect();
    while let Some(one) = next.pop() {
        if before.insert(one) {
            next.extend(&strikers[&one]);
        }
    }
    before
}
