//! Which reductions strike which events, and which events are left unstruck
//! (03 §4.3 steps 2 to 4).

use std::collections::HashMap;

use super::Index;
use super::arena::{Arena, Change, Placed};
use super::bit_set::BitSet;
use super::names::Name;

/// Where to look for what reaches an event, and for what a reduction reaches. Holds
/// allowed events only.
#[derive(Debug, Default)]
pub(super) struct Reach {
    /// What can be struck, by its account, by the key that signed it, by its invite.
    by_root: HashMap<Name, Vec<Index>>,
    by_author: HashMap<Name, Vec<Index>>,
    joins: HashMap<Name, Vec<Index>>,
    /// By the key that signed them.
    step_downs: HashMap<Name, Vec<Index>>,
    /// Removals, unassignments and stepdowns, by the account they take from.
    pub(super) takers: HashMap<Name, Vec<Index>>,
    /// By the key revoked and the account.
    pub(super) revokes: HashMap<(Name, Name), Vec<Index>>,
    /// By the key and the collection.
    pub(super) forks: HashMap<(Name, Name), Vec<Index>>,
    closings: HashMap<Name, Vec<Index>>,
    /// The events that strike anything.
    pub(super) strikers: BitSet,
    /// Stepdowns that some revoke or fork proof reaches.
    disarmable: Vec<Index>,
}

/// Whether a change leaves an event standing by its cutoff (03 §6.3).
fn covers(arena: &Arena, reduction: &Placed, event: &Placed) -> bool {
    let cutoff = &reduction.event.cutoff;
    !cutoff.is_empty()
        && cutoff.covers(
            arena.names.text(event.author),
            arena.names.text(event.collection),
            event.event.log_place,
        )
}

/// Whether nothing strikes the event, ever.
fn is_never_struck(change: &Change) -> bool {
    matches!(
        change,
        Change::Revoke { .. } | Change::Fork { .. } | Change::StepDown { .. }
    )
}

impl Reach {
    /// Takes in an allowed event just placed: who strikes it, and whom it strikes. True
    /// when that bears on what was placed before.
    pub(super) fn take_in(&mut self, arena: &mut Arena, index: Index, spent: &mut u64) -> bool {
        let strikers = self.strikers_of(arena, index, spent);
        let struck = self.struck_by(arena, index, spent);
        let disarmed = self.disarmed_by(arena, index);
        for striker in &strikers {
            arena.events[*striker as usize].strikes.insert(index);
            arena.events[index as usize].struck_by.insert(*striker);
            self.strikers.insert(*striker);
        }
        for event in &struck {
            arena.events[index as usize].strikes.insert(*event);
            arena.events[*event as usize].struck_by.insert(index);
            self.strikers.insert(index);
        }
        for step_down in &disarmed {
            let set = &mut arena.events[*step_down as usize].disarmed_by;
            if set.is_empty() {
                self.disarmable.push(*step_down);
            }
            set.insert(index);
        }
        self.register(arena, index);
        !struck.is_empty() || !disarmed.is_empty()
    }

    /// The earlier events that strike this one. Those that disarm it, if it is a
    /// stepdown, are noted at once: nothing else comes of them.
    fn strikers_of(&mut self, arena: &mut Arena, index: Index, spent: &mut u64) -> Vec<Index> {
        let event = arena.event(index);
        let revokes = self.revokes.get(&(event.author, event.root));
        let revokes = revokes.into_iter().flatten().copied();
        let forks = self.forks.get(&(event.author, event.collection));
        let forks = forks.into_iter().flatten().copied();
        let forks = forks.filter(|fork| proves_from(arena, *fork) <= event.event.log_place);
        if matches!(event.change, Change::StepDown { .. }) {
            let disarming: BitSet = revokes.chain(forks).collect();
            if !disarming.is_empty() {
                self.disarmable.push(index);
            }
            arena.events[index as usize].disarmed_by = disarming;
            return Vec::new();
        }
        if is_never_struck(&event.change) {
            return Vec::new();
        }
        let is_unseen = |other: &Index| !event.saw.contains(*other);
        let is_uncovered = |other: &Index| !covers(arena, arena.event(*other), event);
        let takers = self.takers.get(&event.root).into_iter().flatten().copied();
        let closings = via_invite(&event.change).and_then(|invite| self.closings.get(&invite));
        let closings = closings.into_iter().flatten().copied();
        let unseen = takers.chain(closings).filter(is_unseen);
        let strikers = unseen.chain(revokes).chain(forks).filter(is_uncovered);
        let strikers: Vec<Index> = strikers.collect();
        *spent += strikers.len() as u64 + 4;
        strikers
    }

    /// The earlier events that this one strikes.
    fn struck_by(&self, arena: &Arena, index: Index, spent: &mut u64) -> Vec<Index> {
        let event = arena.event(index);
        let (reached, whatever_it_saw) = match event.change {
            Change::Remove { did }
            | Change::StepDown { did }
            | Change::Assign {
                did,
                assigned: false,
                ..
            } => (self.by_root.get(&did), false),
            Change::Invite {
                invite,
                open: false,
                ..
            } => (self.joins.get(&invite), false),
            Change::Revoke { target } => (self.by_author.get(&target), true),
            Change::Fork { writer, .. } => (self.by_author.get(&writer), true),
            _ => return Vec::new(),
        };
        let reached = reached.map_or(&[][..], Vec::as_slice);
        *spent += reached.len() as u64;
        let is_struck = |other: &Index| {
            (whatever_it_saw || !event.saw.contains(*other))
                && reaches(event, arena.event(*other))
                && !covers(arena, event, arena.event(*other))
        };
        reached.iter().copied().filter(is_struck).collect()
    }

    /// The earlier stepdowns that this one reaches, if it is a revoke or a fork
    /// proof. Its cutoff isn't asked. [03 §4.3 leaves that open]
    fn disarmed_by(&self, arena: &Arena, index: Index) -> Vec<Index> {
        let event = arena.event(index);
        let key = match event.change {
            Change::Revoke { target } => target,
            Change::Fork { writer, .. } => writer,
            _ => return Vec::new(),
        };
        let step_downs = self.step_downs.get(&key).into_iter().flatten().copied();
        let reached = step_downs.filter(|other| reaches(event, arena.event(*other)));
        reached.collect()
    }

    fn register(&mut self, arena: &Arena, index: Index) {
        let event = arena.event(index);
        if matches!(event.change, Change::StepDown { .. }) {
            self.step_downs.entry(event.author).or_default().push(index);
        }
        if !is_never_struck(&event.change) {
            self.by_root.entry(event.root).or_default().push(index);
            self.by_author.entry(event.author).or_default().push(index);
        }
        if let Some(invite) = via_invite(&event.change) {
            self.joins.entry(invite).or_default().push(index);
        }
        match event.change {
            Change::Remove { did }
            | Change::StepDown { did }
            | Change::Assign {
                did,
                assigned: false,
                ..
            } => self.takers.entry(did).or_default().push(index),
            Change::Invite {
                invite,
                open: false,
                ..
            } => self.closings.entry(invite).or_default().push(index),
            Change::Revoke { target } => self
                .revokes
                .entry((target, event.root))
                .or_default()
                .push(index),
            Change::Fork {
                writer, collection, ..
            } => self
                .forks
                .entry((writer, collection))
                .or_default()
                .push(index),
            _ => {}
        }
    }

    /// The stepdowns that do nothing more among `scope`: some revoke or fork proof in
    /// it reaches them.
    pub(super) fn disarmed(&self, arena: &Arena, scope: &BitSet) -> BitSet {
        let disarmable = self.disarmable.iter().copied();
        let is_disarmed = |index: &Index| arena.event(*index).disarmed_by.meets(scope);
        disarmable.filter(is_disarmed).collect()
    }

    /// Whether what is valid among `scope` is what is valid of it among `all`: nothing
    /// outside strikes into it, nor disarms a stepdown in it.
    pub(super) fn is_self_contained(&self, arena: &Arena, scope: &BitSet, spent: &mut u64) -> bool {
        for striker in self.strikers.difference(scope) {
            *spent += scope.words();
            if arena.event(striker).strikes.meets(scope) {
                return false;
            }
        }
        self.disarmable
            .iter()
            .all(|index| !scope.contains(*index) || arena.event(*index).disarmed_by.meets(scope))
    }
}

/// Whether a revoke or fork proof reaches an event of the key it names; what other
/// reductions reach is by how it is looked up.
fn reaches(reduction: &Placed, event: &Placed) -> bool {
    match reduction.change {
        Change::Revoke { .. } => event.root == reduction.root,
        Change::Fork {
            collection, from, ..
        } => event.collection == collection && event.event.log_place >= from,
        _ => true,
    }
}

fn proves_from(arena: &Arena, fork: Index) -> u64 {
    match arena.event(fork).change {
        Change::Fork { from, .. } => from,
        _ => u64::MAX,
    }
}

fn via_invite(change: &Change) -> Option<Name> {
    match change {
        Change::Assign { via_invite, .. } => *via_invite,
        _ => None,
    }
}

/// What is struck among a set.
#[derive(Clone, Debug, Default)]
pub(super) struct Struck {
    pub(super) events: BitSet,
    /// The reductions that are not struck, and strike.
    pub(super) strikers: BitSet,
    /// Stepdowns that are no reductions.
    pub(super) disarmed: BitSet,
    /// Reductions that strike each other in a circle, and so all stand as far as each
    /// other goes; two or more in each.
    pub(super) mutual: Vec<Vec<Index>>,
}

impl Struck {
    /// What is struck among `scope`, which holds all its events saw.
    ///
    /// The strongly connected components come in the order of Kosaraju's algorithm: a
    /// search forward, then one back from what was left last, so that each comes
    /// after those that strike into it. Both look for what isn't reached yet word by
    /// word, so however many strikes there are the cost is that of the sets.
    pub(super) fn among(arena: &Arena, reach: &Reach, scope: &BitSet, spent: &mut u64) -> Struck {
        let disarmed = reach.disarmed(arena, scope);
        let nodes: BitSet = reach
            .strikers
            .intersection(scope)
            .difference(&disarmed)
            .collect();
        let mut struck = Struck {
            disarmed,
            ..Struck::default()
        };
        if nodes.is_empty() {
            return struck;
        }
        *spent += 4 * nodes.len() as u64 * nodes.words();
        for component in components(arena, &nodes) {
            let members: BitSet = component.iter().copied().collect();
            let standing: Vec<Index> = component
                .iter()
                .copied()
                .filter(|index| !arena.event(*index).struck_by.meets(&struck.strikers))
                .collect();
            if standing.len() < component.len() {
                struck.events.unite(&members);
                standing
                    .iter()
                    .for_each(|index| struck.events.remove(*index));
            }
            struck.strikers.unite(&standing.into_iter().collect());
            if component.len() > 1 {
                struck.mutual.push(component);
            }
        }
        let mut reached = BitSet::default();
        for striker in struck.strikers.iter() {
            reached.unite(&arena.event(striker).strikes);
        }
        let others: BitSet = reached.intersection(scope).difference(&nodes).collect();
        struck.events.unite(&others);
        struck
    }

    /// Takes in an event that strikes and disarms nothing.
    fn is_struck(&self, arena: &Arena, index: Index) -> bool {
        arena.event(index).struck_by.meets(&self.strikers)
    }

    pub(super) fn extend(&mut self, arena: &Arena, index: Index) {
        let event = arena.event(index);
        // Earlier reductions may strike this one alone, and were no strikers before.
        for striker in event.struck_by.iter() {
            if !self.disarmed.contains(striker) && !self.events.contains(striker) {
                self.strikers.insert(striker);
            }
        }
        if !event.disarmed_by.is_empty() {
            self.disarmed.insert(index);
        }
        if self.is_struck(arena, index) {
            self.events.insert(index);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let mutual: usize = self.mutual.iter().map(Vec::len).sum();
        self.events.bytes() + self.strikers.bytes() + self.disarmed.bytes() + 4 * mutual
    }
}

/// The strongly connected components of the strikes among `nodes`, each after those
/// that strike into it; each ascending.
fn components(arena: &Arena, nodes: &BitSet) -> Vec<Vec<Index>> {
    let mut reached = BitSet::default();
    let mut finished = Vec::new();
    for start in nodes.iter() {
        if reached.contains(start) {
            continue;
        }
        reached.insert(start);
        let mut path = vec![start];
        while let Some(top) = path.last() {
            match arena.event(*top).strikes.last_common(nodes, &reached) {
                Some(next) => {
                    reached.insert(next);
                    path.push(next);
                }
                None => {
                    finished.push(*top);
                    path.pop();
                }
            }
        }
    }
    let mut placed = BitSet::default();
    let mut components = Vec::new();
    for start in finished.into_iter().rev() {
        if placed.contains(start) {
            continue;
        }
        placed.insert(start);
        let mut component = vec![start];
        let mut path = vec![start];
        while let Some(top) = path.last() {
            match arena.event(*top).struck_by.last_common(nodes, &placed) {
                Some(next) => {
                    placed.insert(next);
                    component.push(next);
                    path.push(next);
                }
                None => {
                    path.pop();
                }
            }
        }
        component.sort_unstable();
        components.push(component);
    }
    components
}
