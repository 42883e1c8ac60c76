//! What a record's writer saw, and what of it counts: `seenAs(seen)` and
//! `at(seen)` (03 §4.6).

use std::collections::HashMap;
use std::sync::Arc;

use minca_record::content_id::ContentId;

use super::Index;
use super::arena::Arena;
use super::bit_set::BitSet;
use super::state::State;
use super::strikes::{Reach, Struck};
use super::validity::{Lens, Revalidation, Validity};
use super::view::View;
use super::work::Work;

/// What was seen, with the two states a record is judged by.
#[derive(Debug)]
pub(super) struct SeenView {
    /// What `seen` names and all that saw.
    pub(super) saw: BitSet,
    /// The merge of what of it is valid in the whole history.
    at: State,
    /// What of it is valid judged among itself alone, and the merge of that; `None`
    /// where that is the same.
    alone: Option<(Validity, State)>,
    /// The revision of the whole history's validity that `at` is of.
    revision: u64,
}

impl SeenView {
    /// `at(seen)`.
    pub(super) fn at<'a>(&'a self, arena: &'a Arena, whole: &'a Validity) -> View<'a> {
        View {
            arena,
            lens: Lens::Among(whole),
            state: &self.at,
            scope: Some(&self.saw),
        }
    }

    /// `seenAs(seen)`.
    pub(super) fn seen_as<'a>(&'a self, arena: &'a Arena, whole: &'a Validity) -> View<'a> {
        match &self.alone {
            None => self.at(arena, whole),
            Some((validity, state)) => View {
                arena,
                lens: Lens::Among(validity),
                state,
                scope: Some(&self.saw),
            },
        }
    }

    /// Whether `seenAs(seen)` is `at(seen)`.
    pub(super) fn is_seen_as_it_is(&self) -> bool {
        self.alone.is_none()
    }

    /// What is valid among what was seen, judged alone.
    pub(super) fn alone<'a>(&'a self, whole: &'a Validity) -> &'a Validity {
        self.alone.as_ref().map_or(whole, |(validity, _)| validity)
    }

    fn bytes(&self) -> usize {
        let alone = self.alone.as_ref();
        let alone = alone.map_or(0, |(validity, state)| validity.bytes() + state.bytes());
        size_of::<SeenView>() + self.saw.bytes() + self.at.bytes() + alone
    }
}

/// The history as views are made from it.
#[derive(Clone, Copy)]
pub(super) struct Of<'a> {
    pub(super) arena: &'a Arena,
    pub(super) reach: &'a Reach,
    pub(super) whole: &'a Validity,
    /// Grows whenever what was valid before is no longer, or the other way round.
    pub(super) revision: u64,
}

/// The indexes of what `seen` names, but for the constitution and what another of
/// them saw; or the ids that aren't placed.
pub(super) fn heads_of(arena: &Arena, seen: &[ContentId]) -> Result<Vec<Index>, Vec<ContentId>> {
    let mut heads = Vec::with_capacity(seen.len());
    let mut missing = Vec::new();
    for id in seen.iter().filter(|id| **id != arena.space) {
        match arena.by_id.get(id) {
            Some(index) => heads.push(*index),
            None => missing.push(*id),
        }
    }
    if !missing.is_empty() {
        return Err(missing);
    }
    Ok(without_seen(arena, heads))
}

/// Without those that another of them saw; descending.
pub(super) fn without_seen(arena: &Arena, mut heads: Vec<Index>) -> Vec<Index> {
    heads.sort_unstable_by(|a, b| b.cmp(a));
    heads.dedup();
    let mut kept: Vec<Index> = Vec::with_capacity(heads.len());
    for head in heads {
        if !kept.iter().any(|later| arena.saw(*later, head)) {
            kept.push(head);
        }
    }
    kept
}

/// The heads and all they saw.
pub(super) fn closure(arena: &Arena, heads: &[Index]) -> BitSet {
    let mut saw = BitSet::default();
    for head in heads {
        saw.unite(&arena.event(*head).saw);
        saw.insert(*head);
    }
    saw
}

/// Views made before, up to a budget of bytes.
#[derive(Debug)]
pub(super) struct Remembered {
    by_heads: HashMap<Vec<Index>, Kept>,
    bytes: usize,
    budget: usize,
    /// Counts uses, to tell what was used last.
    clock: u64,
    /// The last view that had a validity of its own: what the next starts from, if
    /// it saw all that.
    last_alone: Option<Arc<SeenView>>,
}

#[derive(Debug)]
struct Kept {
    view: Arc<SeenView>,
    bytes: usize,
    used: u64,
}

impl Remembered {
    pub(super) fn new(budget: usize) -> Remembered {
        Remembered {
            by_heads: HashMap::new(),
            bytes: 0,
            budget,
            clock: 0,
            last_alone: None,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The view of what `heads` are and saw.
    pub(super) fn view(&mut self, of: Of<'_>, heads: &[Index], work: &mut Work) -> Arc<SeenView> {
        self.clock += 1;
        work.spent += 1 + heads.len() as u64;
        let mut stale = None;
        if let Some(kept) = self.by_heads.get_mut(heads) {
            kept.used = self.clock;
            if kept.view.revision == of.revision {
                return Arc::clone(&kept.view);
            }
            stale = Some(Arc::clone(&kept.view));
        }
        let view = Arc::new(self.make(of, heads, stale, work));
        self.keep(heads.to_vec(), &view);
        view
    }

    fn make(
        &mut self,
        of: Of<'_>,
        heads: &[Index],
        stale: Option<Arc<SeenView>>,
        work: &mut Work,
    ) -> SeenView {
        let saw = match &stale {
            Some(stale) => stale.saw.clone(),
            None => closure(of.arena, heads),
        };
        work.spent += saw.words() * (1 + heads.len() as u64);
        let at = State::merged(of.arena, Lens::Among(of.whole), heads, &saw, work);
        let alone = match of.reach.is_self_contained(of.arena, &saw, &mut work.spent) {
            true => None,
            false => Some(
                match stale.as_ref().and_then(|stale| stale.alone.as_ref()) {
                    // What is valid among itself alone never changes.
                    Some(alone) => alone.clone(),
                    None => {
                        let validity = self.validity_among(of, &saw, work);
                        let lens = Lens::Among(&validity);
                        let state = State::merged(of.arena, lens, heads, &saw, work);
                        (validity, state)
                    }
                },
            ),
        };
        SeenView {
            saw,
            at,
            alone,
            revision: of.revision,
        }
    }

    /// What is valid among `scope`, from whichever is nearer: the whole history's
    /// validity, or the last made of a part of this one.
    fn validity_among(&self, of: Of<'_>, scope: &BitSet, work: &mut Work) -> Validity {
        let struck = Struck::among(of.arena, of.reach, scope, &mut work.spent);
        let first_change = |base: &Validity, known: &BitSet| {
            let one_way = struck.events.difference(&base.struck.events).next();
            let gone = base.struck.events.difference(&struck.events);
            let other_way = gone.into_iter().find(|index| known.contains(*index));
            let fresh = scope.difference(known).next();
            [one_way, other_way, fresh].into_iter().flatten().min()
        };
        let mut base = (of.whole, scope);
        let last = self.last_alone.as_deref();
        let last = last.and_then(|last| Some((&last.alone.as_ref()?.0, &last.saw)));
        if let Some(last) = last
            && last.1.difference(scope).next().is_none()
            && first_change(last.0, last.1) > first_change(base.0, base.1)
        {
            base = last;
        }
        work.spent += 8 * scope.words();
        let (validity, known) = base;
        let validity = Validity {
            struck: Struck {
                events: validity.struck.events.intersection(scope),
                ..Struck::default()
            },
            valid: validity.valid.intersection(scope),
            states: validity
                .states
                .iter()
                .filter(|(index, _)| scope.contains(**index))
                .map(|(index, state)| (*index, state.clone()))
                .collect(),
            ..Validity::default()
        };
        let mut revalidation = Revalidation::new(validity, known.clone(), scope, struck, work);
        loop {
            if let Some(validity) = revalidation.step(of.arena, work) {
                return validity;
            }
        }
    }

    fn keep(&mut self, heads: Vec<Index>, view: &Arc<SeenView>) {
        if view.alone.is_some() {
            self.last_alone = Some(Arc::clone(view));
        }
        let bytes = view.bytes() + heads.len() * size_of::<Index>() + size_of::<Kept>();
        let kept = Kept {
            view: Arc::clone(view),
            bytes,
            used: self.clock,
        };
        if let Some(old) = self.by_heads.insert(heads, kept) {
            self.bytes -= old.bytes;
        }
        self.bytes += bytes;
        if self.bytes > self.budget {
            self.forget_half();
        }
    }

    /// Forgets what was used longest ago, down to half the budget.
    fn forget_half(&mut self) {
        let mut by_use: Vec<(u64, Vec<Index>)> = self
            .by_heads
            .iter()
            .map(|(heads, kept)| (kept.used, heads.clone()))
            .collect();
        by_use.sort_unstable();
        for (_, heads) in by_use {
            if self.bytes <= self.budget / 2 {
                return;
            }
            if let Some(kept) = self.by_heads.remove(&heads) {
                self.bytes -= kept.bytes;
            }
        }
    }
}
