//! A deliberately dumb model of `strong-remove/1` and of judging records: 03 §4 and
//! §5, sentence by sentence.
//!
//! Everything is worked out anew from plain sets and nothing is kept from one
//! question to the next, but what depends only on what was seen: each event's own
//! view (03 §4.3 step 1), which could strike which, and what is valid among a set.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    dead_code,
    reason = "a test's support, which not every test uses all of"
)]

pub mod dump;
mod judge;
mod key_due;
pub mod may;
mod merge;
pub mod refusal;
pub mod state;
mod strikes;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use minca_access::{Event, Kind};
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::json::{MESSAGE_DEPTH, Text, read};

use merge::Views;
use refusal::is_granted;
use state::{Granted, State};

/// Events by their place in the model's list.
pub type Set = BTreeSet<usize>;

/// What becomes of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Applied,
    /// Not allowed.
    Refused,
    /// Allowed, and not valid.
    Struck,
    Waiting,
}

/// What an event says, as others name it.
struct Words {
    root: Text,
    author: Text,
    collection: Text,
    /// A role definition's.
    grants: Vec<Rc<Granted>>,
}

/// A replayed history.
pub struct Model {
    space: ContentId,
    is_private: bool,
    start: Rc<State>,
    /// Each id once, the first kept.
    events: Vec<Event>,
    /// What each event says in the words of bodies.
    words: Vec<Words>,
    by_id: BTreeMap<ContentId, usize>,
    /// The placeable ones, each after all it saw.
    order: Vec<usize>,
    /// What each placeable event saw.
    saw: BTreeMap<usize, Set>,
    /// `V(e)` of each placeable event.
    own_views: Views,
    allowed: Set,
    /// For each allowed event, those that strike it if they are reductions.
    strikers: BTreeMap<usize, Set>,
    /// The valid ones of the whole history, with their `W(e)`.
    valid: Set,
    valid_views: Views,
    current: Rc<State>,
    /// What is valid among sets asked about before.
    known: RefCell<BTreeMap<Set, (Set, Views)>>,
}

impl Model {
    /// Replays a history.
    pub fn of(constitution: &Constitution, events: &[Event]) -> Model {
        let mut model = Model::without_events(constitution);
        for event in events {
            model.take(event);
        }
        model.place();
        model.strikers = model.possible_strikers();
        let everything = model.order.iter().copied().collect();
        (model.valid, model.valid_views) = model.valid_among(&everything);
        model.current = Rc::new(model.merge(&model.valid, &model.valid_views));
        model
    }

    /// A history to [`Model::write`] in.
    pub fn without_events(constitution: &Constitution) -> Model {
        let start = Rc::new(State::start(constitution));
        Model {
            space: constitution.id(),
            is_private: constitution.is_private(),
            current: Rc::clone(&start),
            start,
            events: Vec::new(),
            words: Vec::new(),
            by_id: BTreeMap::new(),
            order: Vec::new(),
            saw: BTreeMap::new(),
            own_views: Views::new(),
            allowed: Set::new(),
            strikers: BTreeMap::new(),
            valid: Set::new(),
            valid_views: Views::new(),
            known: RefCell::default(),
        }
    }

    /// Adds an event that names none to come, to know what is allowed and no more.
    pub fn write(&mut self, event: &Event) {
        self.take(event);
        self.place();
    }

    /// The own view of an event with this `seen`; `None` where it would wait.
    pub fn own_view(&self, seen: &[ContentId]) -> Option<State> {
        let seen = self.closure(seen)?;
        Some(self.merge(&(&seen & &self.allowed), &self.own_views))
    }

    /// What an event saw; `None` where it waits.
    pub fn seen_by(&self, event: usize) -> Option<&Set> {
        self.saw.get(&event)
    }

    /// Whether an event is allowed (03 §4.3 step 1).
    pub fn is_allowed(&self, event: usize) -> bool {
        self.allowed.contains(&event)
    }

    fn take(&mut self, event: &Event) {
        if !self.by_id.contains_key(&event.id) {
            self.by_id.insert(event.id, self.events.len());
            self.events.push(event.clone());
            self.words.push(Words::of(event));
        }
    }

    pub fn status(&self, id: ContentId) -> Option<Status> {
        let event = *self.by_id.get(&id)?;
        Some(if !self.saw.contains_key(&event) {
            Status::Waiting
        } else if !self.allowed.contains(&event) {
            Status::Refused
        } else if self.valid.contains(&event) {
            Status::Applied
        } else {
            Status::Struck
        })
    }

    /// The state of the whole history.
    pub fn current(&self) -> &State {
        &self.current
    }

    /// The events, each once.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Whether an account may invoke a command now.
    pub fn may(&self, account: &Text, command: &may::Invocation) -> bool {
        self.current.may(account, command)
    }

    /// Finds what waits and what does not (03 §4.2): an event is placed once all
    /// it names is. So events that name each other in a circle wait.
    fn place(&mut self) {
        loop {
            let before = self.order.len();
            for place in 0..self.events.len() {
                if !self.saw.contains_key(&place)
                    && let Some(saw) = self.closure(&self.events[place].seen)
                {
                    self.saw.insert(place, saw);
                    self.order.push(place);
                    self.find_allowed(place);
                }
            }
            if self.order.len() == before {
                return;
            }
        }
    }

    /// What `seen` names and all that saw, without the constitution; `None` where
    /// something is missing or waits.
    fn closure(&self, seen: &[ContentId]) -> Option<Set> {
        let mut closure = Set::new();
        for id in seen.iter().filter(|id| **id != self.space) {
            let place = self.by_id.get(id)?;
            closure.extend(self.saw.get(place)?);
            closure.insert(*place);
        }
        Some(closure)
    }

    /// Whether `event` saw `other`.
    fn did_see(&self, event: usize, other: usize) -> bool {
        self.saw[&event].contains(&other)
    }

    /// 03 §4.3 step 1.
    fn find_allowed(&mut self, event: usize) {
        let known = &self.saw[&event] & &self.allowed;
        let view = Rc::new(self.merge(&known, &self.own_views));
        if is_granted(self.kind(event), self.root(event), &view) {
            self.allowed.insert(event);
        }
        self.own_views.insert(event, view);
    }

    /// What is valid among a set that holds all its members saw, and the `W` of
    /// each (03 §4.3 step 4).
    fn valid_among(&self, set: &Set) -> (Set, Views) {
        let unstruck = self.unstruck(&(set & &self.allowed));
        let mut valid = Set::new();
        let mut views = Views::new();
        for &event in self.order.iter().filter(|it| unstruck.contains(it)) {
            let known = &self.saw[&event] & &valid;
            let view = Rc::new(self.merge(&known, &views));
            if is_granted(self.kind(event), self.root(event), &view) {
                valid.insert(event);
                views.insert(event, view);
            }
        }
        (valid, views)
    }

    fn root(&self, event: usize) -> &Text {
        &self.words[event].root
    }

    fn kind(&self, event: usize) -> &Kind {
        &self.events[event].kind
    }

    fn id(&self, event: usize) -> ContentId {
        self.events[event].id
    }
}

impl Words {
    fn of(event: &Event) -> Words {
        let grants = match &event.kind {
            Kind::Role(role) => &*role.grants,
            _ => &[],
        };
        let grants = grants
            .iter()
            .map(|it| read(&it.canonical, MESSAGE_DEPTH).unwrap());
        Words {
            root: account(event.root),
            author: account(event.author),
            collection: event.kind.collection().into(),
            grants: grants.map(|it| Rc::new(Granted::of(it))).collect(),
        }
    }
}

/// An account or a key, as bodies name it.
pub fn account(did: minca_record::did::Did) -> Text {
    did.to_string().into()
}
