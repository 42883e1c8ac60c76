//! The state of a set of events: what is latest on each record key (03 §4.4), and
//! which founders are left. Everything else is read off these by a [`View`](super::view::View).

use super::arena::{Arena, Change};
use super::bit_set::BitSet;
use super::latest::{Latest, LatestByKey};
use super::validity::Lens;
use super::work::Work;
use super::{Index, Key};

/// How many of a key's events are compared with each other rather than with the union
/// of what all of them saw.
const FEW: usize = 8;

/// A merge of events. Copies share what they have in common.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) latest: LatestByKey,
    /// A bit for each founder of the constitution that is one still.
    pub(super) founders: u16,
    /// Leaves of `latest` that are copies of this state's own, at most.
    copied: u32,
}

impl State {
    /// The start state, of a constitution with so many founders.
    pub(super) fn start(founders: usize) -> State {
        State {
            latest: LatestByKey::default(),
            founders: ((1_u32 << founders) - 1) as u16,
            copied: 0,
        }
    }

    /// The merge of the events that count by `lens` among `heads` and all they saw,
    /// `saw`: the widest head's state, and what it lacks.
    pub(super) fn merged(
        arena: &Arena,
        lens: Lens<'_>,
        heads: &[Index],
        saw: &BitSet,
        work: &mut Work,
    ) -> State {
        let widest = heads
            .iter()
            .copied()
            .max_by_key(|head| (arena.event(*head).saw_count, *head));
        let Some(widest) = widest else {
            return State::start(arena.founders.len());
        };
        let mut state = lens.before(arena, widest).clone();
        state.copied = 0;
        let lacking = saw.difference(&arena.event(widest).saw);
        let lacking: Vec<Index> = lacking.filter(|index| lens.counts(arena, *index)).collect();
        work.spent += saw.words() + lacking.len() as u64;
        state.take_in(arena, lacking, work);
        state
    }

    /// Adds events, ascending, that nothing in the state saw.
    pub(super) fn take_in(&mut self, arena: &Arena, events: Vec<Index>, work: &mut Work) {
        for index in &events {
            self.note_founders(arena, *index);
        }
        if let [one] = events[..] {
            self.copied += 1;
            self.take_in_on(arena, arena.event(one).key, &events, work);
            return;
        }
        let mut by_key: Vec<(Key, Index)> = events
            .iter()
            .map(|index| (arena.event(*index).key, *index))
            .collect();
        by_key.sort_unstable();
        let leaves = by_key.chunk_by(|a, b| LatestByKey::are_together(a.0, b.0));
        self.copied += leaves.count() as u32;
        for group in by_key.chunk_by(|a, b| a.0 == b.0) {
            let events: Vec<Index> = group.iter().map(|(_, index)| *index).collect();
            self.take_in_on(arena, group[0].0, &events, work);
        }
    }

    /// Adds events on one key, ascending.
    fn take_in_on(&mut self, arena: &Arena, key: Key, events: &[Index], work: &mut Work) {
        let held = self.latest.get(key).as_slice();
        let all = held.iter().chain(events).copied();
        let mut latest: Vec<Index>;
        if events.len() <= FEW {
            work.spent += ((held.len() + events.len()) * events.len()) as u64;
            let is_seen = |index: &Index| events.iter().any(|event| arena.saw(*event, *index));
            latest = all.filter(|index| !is_seen(index)).collect();
        } else {
            let mut seen = BitSet::default();
            for event in events {
                seen.unite(&arena.event(*event).saw);
            }
            work.spent += seen.words() * events.len() as u64 + held.len() as u64;
            latest = all.filter(|index| !seen.contains(*index)).collect();
        }
        latest.sort_unstable();
        work.spent += self.latest.bytes_per_change() as u64 / 64 + latest.len() as u64 / 8;
        self.latest.set(key, Latest::of(latest));
    }

    /// Every stepping down ends a founder, and so does a founder's own leaving.
    fn note_founders(&mut self, arena: &Arena, index: Index) {
        let event = arena.event(index);
        let leaving = match event.change {
            Change::StepDown { did } => did,
            Change::Remove { did } if did == event.root => did,
            _ => return,
        };
        if let Some(founder) = arena.founders.iter().position(|name| *name == leaving) {
            self.founders &= !(1 << founder);
        }
    }

    /// About how many bytes it takes beside what it shares with the state before it.
    pub(super) fn bytes(&self) -> usize {
        size_of::<State>() + self.latest.bytes_of(self.copied as usize)
    }
}
