//! Interpreting steps: who writes, from which view, and which kind of change.

use std::collections::BTreeMap;

use minca_access::{Event, Kind, keys};
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::Object;

use super::Step;
use super::dice::Dice;
use super::people::{accounts, keys_of};
use crate::model::may::Invocation;
use crate::model::refusal::is_granted;
use crate::model::state::State;
use crate::model::{Model, Set, account};

/// Kinds of change and how often of a hundred each is tried first.
const KINDS: [(&str, u8); 14] = [
    ("assign", 20),
    ("unassign", 8),
    ("remove", 7),
    ("role", 15),
    ("open", 6),
    ("close", 5),
    ("join", 10),
    ("revoke", 5),
    ("definition", 9),
    ("key", 4),
    ("settings", 3),
    ("fork", 2),
    ("stepdown", 3),
    ("succeed", 3),
];

/// What a writer who may not do the one does instead.
const INSTEAD: [&str; 6] = ["assign", "assign", "role", "definition", "open", "unassign"];

/// How often of a hundred a writer doesn't care what it may.
const RECKLESS: usize = 8;
const ATTEMPTS: usize = 10;

/// A history being written.
pub struct Writing {
    space: ContentId,
    /// Knows what is allowed so far, and no more.
    model: Model,
    /// What each key's node holds.
    held: BTreeMap<Did, Set>,
    /// How far each line is written, sometimes a place twice.
    pub(super) places: BTreeMap<(Did, &'static str), u64>,
    /// Accounts the history has heard of.
    named: Vec<Did>,
}

impl Writing {
    pub fn new(constitution: &Constitution) -> Writing {
        let model = Model::without_events(constitution);
        let is_named = |did: &&Did| model.is_named(&account(**did));
        let named = accounts().iter().filter(is_named).copied().collect();
        Writing {
            space: constitution.id(),
            model,
            held: BTreeMap::new(),
            places: BTreeMap::new(),
            named,
        }
    }

    pub fn into_events(self) -> Vec<Event> {
        self.model.events().to_vec()
    }

    pub fn named(&self) -> &[Did] {
        &self.named
    }

    pub fn events(&self) -> &[Event] {
        self.model.events()
    }

    pub fn space(&self) -> ContentId {
        self.space
    }

    /// Writes one event.
    pub fn write(&mut self, step: &Step) {
        let mut dice = Dice::new(step.seed);
        let mut left = step.kind;
        let name = KINDS.iter().find(|(_, share)| {
            let is_it = left < *share;
            left = left.wrapping_sub(*share);
            is_it
        });
        let name = name.map_or("assign", |(name, _)| *name);
        let mut root = match self
            .named
            .get(usize::from(step.account) % (self.named.len() + 1))
        {
            Some(named) if name != "join" => *named,
            _ => *dice.pick(accounts()).unwrap(),
        };
        let mut author = keys_of(&root)[usize::from(step.device)];
        let seen = self.seen(&author, step.view, &mut dice);
        // One who waits is taken to know nothing.
        let view = self.model.own_view(&seen);
        let view = view.unwrap_or_else(|| self.model.own_view(&[]).unwrap());
        let is_reckless = dice.chance(RECKLESS);
        if !is_reckless && name != "join" && !view.is_member(&account(root)) {
            root = a_member(&view, &mut dice).unwrap_or(root);
            author = keys_of(&root)[usize::from(step.device)];
        }
        let mut kind = self.change(name, &root, &view, &mut dice);
        let root_text = account(root);
        for attempt in 0..2 * ATTEMPTS {
            if is_reckless || is_granted(&kind, &root_text, &view) {
                break;
            }
            let name = if attempt < ATTEMPTS {
                name
            } else {
                dice.pick(&INSTEAD).unwrap()
            };
            kind = self.change(name, &root, &view, &mut dice);
        }
        self.add(root, author, seen, kind, step.seed, &mut dice);
    }

    fn add(
        &mut self,
        root: Did,
        author: Did,
        seen: Vec<ContentId>,
        kind: Kind,
        seed: u64,
        dice: &mut Dice,
    ) {
        let collection = kind.collection();
        let next = self.places.entry((author, collection)).or_default();
        let log_place = if *next > 0 && dice.chance(5) {
            *next - 1
        } else {
            *next
        };
        *next = log_place + 1;
        let cutoff = self.cutoff(&kind, &root, dice);
        let event = Event {
            id: ContentId::of(format!("{seed} {}", self.model.events().len()).as_bytes()),
            key: keys::of(&kind, &root).into(),
            root,
            author,
            seen,
            log_place,
            cutoff,
            kind,
        };
        if let Kind::Assign {
            did,
            assigned: true,
            ..
        } = &event.kind
        {
            let did = did.as_str().and_then(|it| Did::parse(it).ok());
            let did = did.filter(|it| !self.named.contains(it));
            self.named.extend(did);
        }
        let place = self.model.events().len();
        self.model.write(&event);
        let held = self.held.entry(author).or_default();
        held.extend(self.model.seen_by(place).into_iter().flatten());
        held.insert(place);
    }

    /// What a writer names as seen.
    fn seen(&mut self, author: &Did, view: u8, dice: &mut Dice) -> Vec<ContentId> {
        let all: Set = (0..self.model.events().len()).collect();
        let others: Vec<Did> = self.held.keys().copied().collect();
        let held = self.held.entry(*author).or_default().clone();
        let known = match view {
            // In step with everyone.
            0..30 => all,
            // Met one other node.
            30..50 => {
                let other = dice.pick(&others).and_then(|it| self.held.get(it));
                other.map(|it| it | &held).unwrap_or(held)
            }
            // Alone.
            50..72 => held,
            // Naming an old point.
            72..93 => match dice.pick(&Vec::from_iter(&all)) {
                Some(place) => {
                    let mut old = self.model.seen_by(**place).cloned().unwrap_or_default();
                    old.insert(**place);
                    old
                }
                None => Set::new(),
            },
            93..97 => Set::new(),
            _ => {
                let mut seen = self.heads(&all, true);
                seen.truncate(2);
                seen.push(ContentId::of(b"an event nobody has"));
                return seen;
            }
        };
        let mine = self.held.entry(*author).or_default();
        mine.extend(&known);
        let names_dropped = dice.chance(25);
        let mut seen = self.heads(&known, names_dropped);
        if seen.is_empty() && dice.chance(50) {
            seen.push(self.space);
        }
        // Fewer than it knows.
        if seen.len() > 1 && dice.chance(10) {
            seen.remove(dice.roll(seen.len()));
        }
        seen
    }

    /// Those of `known` that no other of it saw: what is allowed and no revoke or
    /// fork proof, or anything.
    fn heads(&self, known: &Set, names_dropped: bool) -> Vec<ContentId> {
        let is_named = |place: &usize| {
            let is_key_change = matches!(
                self.model.events()[*place].kind,
                Kind::Revoke { .. } | Kind::Fork { .. }
            );
            // What waits is named as seldom as what is missing.
            let is_placed = self.model.seen_by(*place).is_some();
            is_placed && (names_dropped || !is_key_change && self.model.is_allowed(*place))
        };
        let known: Set = known.iter().copied().filter(is_named).collect();
        let saw: Set = known
            .iter()
            .filter_map(|it| self.model.seen_by(*it))
            .flatten()
            .copied()
            .collect();
        let heads = known.difference(&saw);
        heads.map(|it| self.model.events()[*it].id).collect()
    }

    /// Some ids for a record to name: heads of all, of what someone holds, of an
    /// old point, or of something missing.
    pub fn some_seen(&self, author: &Did, dice: &mut Dice) -> Vec<ContentId> {
        let all: Set = (0..self.model.events().len()).collect();
        let held = self.held.get(author).cloned().unwrap_or_default();
        let names_dropped = dice.chance(25);
        match dice.roll(100) {
            0..30 => self.heads(&all, names_dropped),
            30..55 => self.heads(&held, names_dropped),
            55..88 => {
                let some = all.iter().copied().filter(|_| dice.chance(12));
                let some: Vec<usize> = some.take(3).collect();
                some.iter().map(|it| self.model.events()[*it].id).collect()
            }
            88..91 => vec![self.space],
            91..94 => Vec::new(),
            _ => vec![ContentId::of(b"an event nobody has")],
        }
    }

    /// An account that some change gave a role, and that change to name.
    pub fn some_assignment(&self, dice: &mut Dice) -> Option<(Did, ContentId)> {
        let assignment = |event: &Event| match &event.kind {
            Kind::Assign {
                did,
                assigned: true,
                ..
            } => Some((Did::parse(did.as_str()?).ok()?, event.id)),
            _ => None,
        };
        let all: Vec<_> = self.model.events().iter().filter_map(assignment).collect();
        dice.pick(&all).copied()
    }

    /// A member as of a record's `seen`, where that is known, and preferably one
    /// who may write in the collection.
    pub fn some_writer(
        &self,
        seen: &[ContentId],
        collection: &str,
        dice: &mut Dice,
    ) -> Option<Did> {
        let view = self.model.own_view(seen)?;
        let arguments = Object::from([("collection", collection), ("body", "text")]);
        let write = Invocation::of("/record/write", arguments);
        let mut writer = None;
        for _ in 0..6 {
            writer = a_member(&view, dice);
            if writer.is_some_and(|it| view.may(&account(it), &write)) {
                break;
            }
        }
        writer
    }
}

/// A member of the view, if it has one that is one of [`accounts`].
pub fn a_member(view: &State, dice: &mut Dice) -> Option<Did> {
    let is_member = |did: &&Did| view.is_member(&account(**did));
    let members: Vec<Did> = accounts().iter().filter(is_member).copied().collect();
    dice.pick(&members).copied()
}
