//! The history itself: taking events in, and working out what they come to.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::Text;

use super::arena::{Arena, Change, founding_definitions};
use super::bit_set::BitSet;
use super::names::{ByName, Name};
use super::refusal::refusal;
use super::seen::{Of, Remembered, SeenView, closure, heads_of};
use super::snapshot::RoleState;
use super::state::State;
use super::strikes::{Reach, Struck};
use super::validity::{Lens, Revalidation, Validity};
use super::view::View;
use super::work::Work;
use super::{Index, snapshot};
use crate::event::{Event, Kind};

/// Bytes of views remembered, unless said otherwise.
const REMEMBERED_BYTES: usize = 4 << 20;

/// A space's access history: its constitution and the events held.
#[derive(Debug)]
pub struct History {
    pub(super) arena: Arena,
    pub(super) reach: Reach,
    pub(super) founding: BTreeMap<Text, RoleState>,

    /// Events all of whose `seen` is placed or before them here.
    pub(super) ready: VecDeque<Arc<Event>>,
    ready_ids: HashSet<ContentId>,
    /// Events whose `seen` names what isn't held, or waits, or themselves.
    pub(super) waiting: HashMap<ContentId, Waiting>,
    /// By the id they miss.
    waiting_for: HashMap<ContentId, Vec<ContentId>>,
    /// Accounts that any event held assigns a role, and keys that any invite names.
    pub(super) named: ByName<()>,
    pub(super) known_invites: ByName<()>,

    /// What is valid of the first `settled` events placed.
    pub(super) whole: Validity,
    settled: Index,
    /// Whether an event was placed since that bears on earlier ones.
    is_stale: bool,
    revalidation: Option<Revalidation>,
    revision: u64,
    /// The heads and the current state.
    pub(super) heads: Vec<Index>,
    pub(super) current: State,
    pub(super) key_due: Option<bool>,

    remembered: Remembered,
    pub(super) work: Work,
}

/// An event that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    event: Arc<Event>,
    /// Ids it waits for, each once.
    missing: usize,
}

impl History {
    /// The history of a space before anything happened.
    pub fn new(constitution: &Constitution) -> History {
        History::with_budget(constitution, REMEMBERED_BYTES)
    }

    /// One that remembers views of records' `seen` up to so many bytes.
    pub fn with_budget(constitution: &Constitution, remembered_bytes: usize) -> History {
        let mut arena = Arena::new(constitution);
        let mut work = Work::default();
        let mut named = ByName::default();
        let assigned = constitution.assigned().iter().map(|one| &one.account);
        for account in constitution.founders().iter().chain(assigned) {
            *named.entry(arena.names.of(account)) = Some(());
        }
        History {
            current: State::start(arena.founders.len()),
            founding: founding_definitions(constitution),
            named,
            arena,
            reach: Reach::default(),
            ready: VecDeque::new(),
            ready_ids: HashSet::new(),
            waiting: HashMap::new(),
            waiting_for: HashMap::new(),
            known_invites: ByName::default(),
            whole: Validity::new(&mut work),
            settled: 0,
            is_stale: false,
            revalidation: None,
            revision: 0,
            heads: Vec::new(),
            key_due: None,
            remembered: Remembered::new(remembered_bytes),
            work,
        }
    }

    /// Takes an event in; false if one with its id is held. Cheap: what it comes to is
    /// worked out by [`History::advance`], or when it is first asked for.
    pub fn add(&mut self, event: impl Into<Arc<Event>>) -> bool {
        let event = event.into();
        let id = event.id;
        if self.holds(&id) {
            return false;
        }
        match &event.kind {
            Kind::Assign {
                did,
                assigned: true,
                ..
            } => {
                *self.named.entry(self.arena.names.of(did)) = Some(());
            }
            Kind::Invite { invite_key, .. } => {
                let invite = self.arena.names.of(invite_key);
                *self.known_invites.entry(invite) = Some(());
            }
            _ => {}
        }
        let missing: HashSet<ContentId> = event
            .seen
            .iter()
            .filter(|seen| !self.is_placeable(seen))
            .copied()
            .collect();
        if missing.is_empty() {
            self.make_ready(event);
            return true;
        }
        for seen in &missing {
            self.waiting_for.entry(*seen).or_default().push(id);
        }
        let missing = missing.len();
        self.waiting.insert(id, Waiting { event, missing });
        true
    }

    /// Whether an event with this id is held, waiting or not.
    pub fn holds(&self, id: &ContentId) -> bool {
        self.arena.by_id.contains_key(id)
            || self.ready_ids.contains(id)
            || self.waiting.contains_key(id)
    }

    /// Whether `seen` may name it: it is the space's id, or a held event that doesn't wait.
    pub(super) fn is_placeable(&self, id: &ContentId) -> bool {
        *id == self.arena.space || self.arena.by_id.contains_key(id) || self.ready_ids.contains(id)
    }

    /// Lines an event up to be placed, and after it those that waited for it alone.
    fn make_ready(&mut self, event: Arc<Event>) {
        let mut next = vec![event];
        while let Some(event) = next.pop() {
            self.ready_ids.insert(event.id);
            let waiters = self.waiting_for.remove(&event.id).unwrap_or_default();
            self.ready.push_back(event);
            for waiter in waiters {
                let Some(waiting) = self.waiting.get_mut(&waiter) else {
                    continue;
                };
                waiting.missing -= 1;
                if waiting.missing == 0
                    && let Some(waiting) = self.waiting.remove(&waiter)
                {
                    next.push(waiting.event);
                }
            }
        }
    }

    /// Works out what the events come to, until about `fuel` steps are spent
    /// ([`History::spent`]) or there is nothing left to do. True in the second case.
    /// It oversteps by no more than what one event takes.
    pub fn advance(&mut self, fuel: u64) -> bool {
        let limit = self.work.spent.saturating_add(fuel);
        loop {
            if self.is_settled() {
                return true;
            }
            if self.work.spent >= limit {
                return false;
            }
            self.step();
        }
    }

    /// Whether nothing is left to work out.
    pub fn is_settled(&self) -> bool {
        self.ready.is_empty() && !self.is_stale && self.revalidation.is_none()
    }

    pub(super) fn settle(&mut self) {
        self.advance(u64::MAX);
    }

    /// Steps spent so far. A step is a lookup, a word of a set, or a statement of a
    /// policy judged for one value.
    pub fn spent(&self) -> u64 {
        self.work.spent
    }

    /// About how many bytes the views remembered take.
    pub fn remembered_bytes(&self) -> usize {
        self.remembered.bytes()
    }

    /// How many events are held: placed, and waiting.
    pub fn len(&self) -> usize {
        self.arena.events.len() + self.ready.len() + self.waiting.len()
    }

    /// Whether no event is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn step(&mut self) {
        if let Some(revalidation) = &mut self.revalidation {
            if let Some(validity) = revalidation.step(&self.arena, &mut self.work) {
                self.revalidated(validity);
            }
            return;
        }
        match self.ready.pop_front() {
            Some(event) => self.place(event),
            None => self.begin_revalidation(),
        }
    }

    /// Places an event: works out its own view, whether it is allowed there, and whom
    /// it strikes.
    fn place(&mut self, event: Arc<Event>) {
        self.ready_ids.remove(&event.id);
        let Ok(heads) = heads_of(&self.arena, &event.seen) else {
            return;
        };
        let work = &mut self.work;
        let mut placed = self.arena.prepare(event, heads);
        work.spent += placed.saw.words() * (1 + placed.heads.len() as u64);
        let arena = &self.arena;
        placed.own = State::merged(arena, Lens::Own, &placed.heads, &placed.saw, work);
        let view = View {
            arena,
            lens: Lens::Own,
            state: &placed.own,
            scope: Some(&placed.saw),
        };
        placed.refusal = refusal(view, &placed, work);
        let is_allowed = placed.refusal.is_none();
        let index = self.arena.put(placed);
        let bears_on_others =
            is_allowed && self.reach.take_in(&mut self.arena, index, &mut work.spent);
        self.is_stale |= bears_on_others;
        if !self.is_stale {
            self.whole.extend(&self.arena, index, work);
            self.settled = index + 1;
            self.came_to_count(index);
        }
    }

    /// Notes the last event placed, which changed nothing of the others.
    fn came_to_count(&mut self, index: Index) {
        self.key_due = None;
        if !self.whole.valid.contains(index) {
            return;
        }
        let arena = &self.arena;
        self.current.take_in(arena, vec![index], &mut self.work);
        if is_head_kind(&arena.event(index).change) {
            self.heads.retain(|head| !arena.saw(index, *head));
            self.heads.push(index);
        }
    }

    fn begin_revalidation(&mut self) {
        self.is_stale = false;
        let all: BitSet = (0..self.arena.events.len() as Index).collect();
        let known: BitSet = (0..self.settled).collect();
        self.work.spent += all.len() as u64 / 8;
        let struck = Struck::among(&self.arena, &self.reach, &all, &mut self.work.spent);
        let validity = std::mem::take(&mut self.whole);
        self.revalidation = Some(Revalidation::new(
            validity,
            known,
            &all,
            struck,
            &mut self.work,
        ));
    }

    fn revalidated(&mut self, validity: Validity) {
        self.revalidation = None;
        self.whole = validity;
        self.settled = self.arena.events.len() as Index;
        self.revision += 1;
        self.key_due = None;
        let mut covered = BitSet::default();
        let mut heads = Vec::new();
        let valid: Vec<Index> = self.whole.valid.iter().collect();
        for index in valid.into_iter().rev() {
            let event = self.arena.event(index);
            if is_head_kind(&event.change) && !covered.contains(index) {
                covered.unite(&event.saw);
                heads.push(index);
            }
        }
        let saw = closure(&self.arena, &heads);
        let lens = Lens::Among(&self.whole);
        self.current = State::merged(&self.arena, lens, &heads, &saw, &mut self.work);
        self.heads = heads;
    }

    /// The view of what these heads, none of which saw another, are and saw.
    pub(super) fn seen(&mut self, heads: &[Index]) -> Arc<SeenView> {
        let of = Of {
            arena: &self.arena,
            reach: &self.reach,
            whole: &self.whole,
            revision: self.revision,
        };
        self.remembered.view(of, heads, &mut self.work)
    }

    /// Asks something of `at(seen, within)`.
    pub(super) fn at_within<T>(
        &mut self,
        heads: Vec<Index>,
        within: Vec<Index>,
        ask: impl FnOnce(View<'_>, &mut Work) -> T,
    ) -> T {
        let both = super::seen::without_seen(&self.arena, [&heads[..], &within].concat());
        let both = self.seen(&both);
        let scope = closure(&self.arena, &heads);
        let lens = Lens::Among(both.alone(&self.whole));
        let state = State::merged(&self.arena, lens, &heads, &scope, &mut self.work);
        let view = View {
            arena: &self.arena,
            lens,
            state: &state,
            scope: Some(&scope),
        };
        ask(view, &mut self.work)
    }

    pub(super) fn current_view(&self) -> View<'_> {
        View::bare(&self.arena, Lens::Among(&self.whole), &self.current)
    }

    /// The current state: the merge of the valid events.
    pub fn current(&mut self) -> snapshot::State {
        let key_due = self.key_is_due();
        let view = View::bare(&self.arena, Lens::Among(&self.whole), &self.current);
        snapshot::State::of(view, &self.founding, key_due, &mut self.work)
    }

    /// The state a record is judged by (03 §4.6).
    ///
    /// # Errors
    /// The ids named that are missing or wait.
    pub fn at(
        &mut self,
        seen: &[ContentId],
        within: Option<&[ContentId]>,
    ) -> Result<snapshot::State, Vec<ContentId>> {
        self.settle();
        let heads = heads_of(&self.arena, seen)?;
        let within = within.map(|within| heads_of(&self.arena, within));
        let within = within.transpose()?;
        let founding = self.founding.clone();
        // To cite from what saw nothing is still to cite from somewhere.
        let Some(within) = within else {
            let seen = self.seen(&heads);
            let view = seen.at(&self.arena, &self.whole);
            return Ok(snapshot::State::of(view, &founding, false, &mut self.work));
        };
        Ok(self.at_within(heads, within, |view, work| {
            snapshot::State::of(view, &founding, false, work)
        }))
    }

    /// The state as a record's writer saw it (03 §4.6).
    ///
    /// # Errors
    /// The ids named that are missing or wait.
    pub fn seen_as(&mut self, seen: &[ContentId]) -> Result<snapshot::State, Vec<ContentId>> {
        self.settle();
        let heads = heads_of(&self.arena, seen)?;
        let seen = self.seen(&heads);
        let view = seen.seen_as(&self.arena, &self.whole);
        Ok(snapshot::State::of(
            view,
            &self.founding,
            false,
            &mut self.work,
        ))
    }

    /// Whether an account is a member, and so a reader, in the current state.
    pub fn is_member(&mut self, account: &Did) -> bool {
        self.settle();
        let view = View::bare(&self.arena, Lens::Among(&self.whole), &self.current);
        let account: Option<Name> = self.arena.names.known_did(account);
        account.is_some_and(|account| view.is_member(account, &mut self.work))
    }
}

/// Whether an event of this kind may be a head: not a revoke nor a fork proof, of
/// which anyone may make any number.
fn is_head_kind(change: &Change) -> bool {
    !matches!(change, Change::Revoke { .. } | Change::Fork { .. })
}
