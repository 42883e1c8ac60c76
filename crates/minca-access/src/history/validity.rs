//! Which events are valid among a set, and what each saw of the valid ones
//! (03 §4.3 step 4).

use std::collections::HashMap;

use super::Index;
use super::arena::Arena;
use super::bit_set::BitSet;
use super::refusal::{Refusal, refusal};
use super::state::State;
use super::strikes::Struck;
use super::view::View;
use super::work::{Generation, Work};

/// Which events count, and in which views definitions are judged.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lens<'a> {
    /// The allowed ones, and own views `V`.
    Own,
    /// The valid ones, and views `W` of valid events.
    Among(&'a Validity),
}

impl<'a> Lens<'a> {
    pub(super) fn counts(self, arena: &Arena, index: Index) -> bool {
        match self {
            Lens::Own => arena.allowed.contains(index),
            Lens::Among(validity) => validity.valid.contains(index),
        }
    }

    /// Which views these are, for what is remembered of them; `None` for own ones.
    pub(super) fn generation(self) -> Option<Generation> {
        match self {
            Lens::Own => None,
            Lens::Among(validity) => Some(validity.generation),
        }
    }

    /// The merge of what an event saw: `V(e)` or `W(e)`.
    pub(super) fn before(self, arena: &'a Arena, index: Index) -> &'a State {
        let own = &arena.event(index).own;
        match self {
            Lens::Own => own,
            Lens::Among(validity) => validity.states.get(&index).unwrap_or(own),
        }
    }

    /// The lens in an event's view: where nothing it saw is invalid, its own.
    pub(super) fn of_view(self, index: Index) -> Lens<'a> {
        match self {
            Lens::Among(validity) if validity.states.contains_key(&index) => self,
            _ => Lens::Own,
        }
    }
}

/// The events valid among a set closed under what they saw.
///
/// Where all allowed events that an event saw are valid, its `W` is its `V`, and it
/// is valid unless struck. Only the others, few as a rule, have a state here.
#[derive(Clone, Debug, Default)]
pub(super) struct Validity {
    pub(super) struck: Struck,
    pub(super) valid: BitSet,
    /// `W(e)` of the events that saw an allowed one that isn't valid.
    pub(super) states: HashMap<Index, State>,
    /// What answers in its views are remembered by ([`Work::answers`]).
    pub(super) generation: Generation,
}

impl Validity {
    /// Of no events.
    pub(super) fn new(work: &mut Work) -> Validity {
        Validity {
            generation: work.next_generation(),
            ..Validity::default()
        }
    }

    fn is_unclean(&self, arena: &Arena, index: Index) -> bool {
        self.states.contains_key(&index)
            || arena.allowed.contains(index) && !self.valid.contains(index)
    }

    /// Works out whether one event is valid, all it saw being worked out.
    fn judge(&mut self, arena: &Arena, index: Index, work: &mut Work) {
        let event = arena.event(index);
        let is_clean = !event.heads.iter().any(|head| self.is_unclean(arena, *head));
        if is_clean {
            self.states.remove(&index);
        } else {
            let state = State::merged(arena, Lens::Among(self), &event.heads, &event.saw, work);
            self.states.insert(index, state);
        }
        work.spent += 1;
        if self.is_valid(arena, index, is_clean, work) {
            self.valid.insert(index);
        } else {
            self.valid.remove(index);
        }
    }

    fn is_valid(&self, arena: &Arena, index: Index, is_clean: bool, work: &mut Work) -> bool {
        let is_unstruck = arena.allowed.contains(index) && !self.struck.events.contains(index);
        is_unstruck && (is_clean || self.refusal(arena, index, work).is_none())
    }

    /// Why an event is refused among the valid ones it saw.
    pub(super) fn refusal(&self, arena: &Arena, index: Index, work: &mut Work) -> Option<Refusal> {
        let event = arena.event(index);
        let lens = Lens::Among(self);
        let view = View {
            arena,
            lens,
            state: lens.before(arena, index),
            scope: Some(&event.saw),
        };
        refusal(view, event, work)
    }

    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        let states: usize = self.states.values().map(State::bytes).sum();
        self.valid.bytes() + self.struck.bytes() + states
    }

    /// Takes in an event that strikes and disarms nothing, so nothing placed before
    /// it is changed by it.
    pub(super) fn extend(&mut self, arena: &Arena, index: Index, work: &mut Work) {
        self.struck.extend(arena, index);
        self.judge(arena, index, work);
    }
}

/// A validity being brought up to date with what is struck now: event by event, so
/// that it can be left off and gone on with.
#[derive(Debug)]
pub(super) struct Revalidation {
    validity: Validity,
    /// What was struck as `validity` was last up to date, and among which events.
    before: BitSet,
    known: BitSet,
    /// Events whose view or validity is another than it was.
    touched: BitSet,
    /// What is left to be looked at, descending.
    left: Vec<Index>,
}

impl Revalidation {
    /// Of `validity`, right among `known`, for what is struck among `scope`.
    pub(super) fn new(
        mut validity: Validity,
        known: BitSet,
        scope: &BitSet,
        struck: Struck,
        work: &mut Work,
    ) -> Revalidation {
        // The answers in views to come are of this one alone. They are as final as the views
        // are: what is judged asks only about what it saw, all of which is judged before.
        validity.generation = work.next_generation();
        let mut left: Vec<Index> = scope.iter().collect();
        left.reverse();
        let before = std::mem::replace(&mut validity.struck, struck).events;
        Revalidation {
            validity,
            before,
            known,
            touched: BitSet::default(),
            left,
        }
    }

    /// Looks at one more event; the validity, when there is none left.
    pub(super) fn step(&mut self, arena: &Arena, work: &mut Work) -> Option<Validity> {
        let Some(index) = self.left.pop() else {
            return Some(std::mem::take(&mut self.validity));
        };
        work.spent += 1;
        let is_new = !self.known.contains(index);
        let heads = &arena.event(index).heads;
        let is_touched = is_new || heads.iter().any(|head| self.touched.contains(*head));
        let is_struck = self.validity.struck.events.contains(index);
        if is_touched || is_struck != self.before.contains(index) {
            let was_valid = self.validity.valid.contains(index);
            self.validity.judge(arena, index, work);
            if is_touched || was_valid != self.validity.valid.contains(index) {
                self.touched.insert(index);
            }
        }
        None
    }
}
