//! What of a replay explains its answers: what an author was where its event was
//! judged, what it asked for, what strikes it and what it strikes.

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{Object, Text};
use minca_record::required::COLLECTION_DEFINE;

use super::arena::{Change, Placed};
use super::names::Name;
use super::refusal::{
    KEY_CHANGE, MEMBER_REMOVE, ROLE_ASSIGN, ROLE_DEFINE, ROLE_UNASSIGN, SPACE_KEEPERS,
    SPACE_RELAYS, SPACE_SUCCEED, target_arguments,
};
use super::seen::{closure, heads_of};
use super::validity::Lens;
use super::view::View;
use super::work::Work;
use super::{History, Index};

/// What an account is in a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// A founder may do everything.
    pub is_founder: bool,
    /// The roles it is assigned, sorted by name.
    pub roles: Vec<HeldRole>,
}

impl Place {
    /// Whether it is a member (03 §4.1).
    pub fn is_member(&self) -> bool {
        self.is_founder || !self.roles.is_empty()
    }
}

/// A role an account is assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldRole {
    /// Its name.
    pub role: Text,
    /// The event that assigns it; the space's id for the constitution.
    pub by: ContentId,
}

/// What a change needs of who makes it (03 §4.5).
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// A command its author's roles must hold, with the arguments a policy reads
    /// (03 §2.3).
    Command {
        /// The command.
        command: &'static str,
        /// Its arguments.
        arguments: Object,
    },
    /// A join: each account that opened the invite must have been able to assign the
    /// role, and this is what it is asked for. Empty where there is no such invite.
    OfOpeners {
        /// The command.
        command: &'static str,
        /// The accounts, and the arguments for each.
        openers: Vec<(Text, Object)>,
    },
    /// Only that its author is a member: a revoke, a fork proof.
    Membership,
    /// What an account may always do to itself: leave, leave a role, step down.
    OwnChoice,
}

/// What an event's author was as it was judged, and what the event asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedIn {
    /// In its own view, among all allowed events it saw.
    pub author: Place,
    /// Among the valid events it saw, where that is another view.
    pub author_among_valid: Option<Place>,
    /// What it asked for, in its own view.
    pub asked: Asked,
}

/// One event that strikes another (03 §4.3 step 3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strike {
    /// The other event.
    pub event: ContentId,
    /// Whether both are in a circle of reductions that strike each other, which counts
    /// for nothing (03 §4.3 step 4).
    pub is_mutual: bool,
    /// Whether it takes effect: the striker isn't struck itself, and they aren't mutual.
    pub takes_effect: bool,
}

impl History {
    /// How an event was judged; `None` if it isn't held, or waits.
    pub fn judged_in(&mut self, id: &ContentId) -> Option<JudgedIn> {
        self.settle();
        let index = *self.arena.by_id.get(id)?;
        let event = self.arena.event(index);
        let view = |lens: Lens<'_>, work: &mut Work| {
            let view = View {
                arena: &self.arena,
                lens,
                state: lens.before(&self.arena, index),
                scope: Some(&event.saw),
            };
            place_of(view, event.root, work)
        };
        let work = &mut self.work;
        let author_among_valid = match self.whole.states.contains_key(&index) {
            true => Some(view(Lens::Among(&self.whole), work)),
            false => None,
        };
        let own = View {
            arena: &self.arena,
            lens: Lens::Own,
            state: &event.own,
            scope: Some(&event.saw),
        };
        Some(JudgedIn {
            author: place_of(own, event.root, work),
            author_among_valid,
            asked: asked(own, event, work),
        })
    }

    /// What an account was as a writer that named `seen` saw it, and counting only what
    /// stands of that: `seenAs(seen)` and `at(seen)` (03 §4.6).
    ///
    /// # Errors
    /// The ids named that are missing or wait.
    pub fn places_as_of(
        &mut self,
        account: &Did,
        seen: &[ContentId],
    ) -> Result<(Place, Place), Vec<ContentId>> {
        self.settle();
        let heads = heads_of(&self.arena, seen)?;
        let seen = self.seen(&heads);
        let Some(account) = self.arena.names.known_did(account) else {
            return Ok((Place::default(), Place::default()));
        };
        let work = &mut self.work;
        let as_seen = place_of(seen.seen_as(&self.arena, &self.whole), account, work);
        let at = place_of(seen.at(&self.arena, &self.whole), account, work);
        Ok((as_seen, at))
    }

    /// The allowed events that don't count, struck or resting on what is, among what
    /// `seen` names and all that saw; sorted. What isn't placed is passed over.
    pub fn struck_among(&mut self, seen: &[ContentId]) -> Vec<ContentId> {
        self.settle();
        let placed = seen.iter().filter_map(|id| self.arena.by_id.get(id));
        let heads: Vec<Index> = placed.copied().collect();
        let saw = closure(&self.arena, &heads);
        let allowed = saw.intersection(&self.arena.allowed);
        self.sorted_ids(allowed.difference(&self.whole.valid))
    }

    /// The events that reach an event as reductions do, sorted by id.
    pub fn struck_by(&mut self, id: &ContentId) -> Vec<Strike> {
        self.settle();
        let Some(index) = self.arena.by_id.get(id).copied() else {
            return Vec::new();
        };
        let strikers = self.arena.event(index).struck_by.iter();
        self.strikes_of(strikers.map(|striker| (striker, striker, index)))
    }

    /// The events an event reaches as a reduction does, sorted by id.
    pub fn strikes(&mut self, id: &ContentId) -> Vec<Strike> {
        self.settle();
        let Some(index) = self.arena.by_id.get(id).copied() else {
            return Vec::new();
        };
        let reached = self.arena.event(index).strikes.iter();
        self.strikes_of(reached.map(|event| (event, index, event)))
    }

    /// Of each, which to name, which strikes and which is struck.
    fn strikes_of(&self, pairs: impl Iterator<Item = (Index, Index, Index)>) -> Vec<Strike> {
        let strikes = pairs.map(|(named, striker, event)| {
            let is_mutual = self.are_mutual(striker, event);
            Strike {
                event: *self.arena.id(named),
                is_mutual,
                takes_effect: !is_mutual && self.whole.struck.strikers.contains(striker),
            }
        });
        let mut strikes: Vec<Strike> = strikes.collect();
        strikes.sort_by_key(|strike| strike.event);
        strikes
    }

    /// The revokes and fork proofs that reach a stepping down: it ends its account's
    /// founder status and does nothing more (03 §4.3). Sorted; none for any other event.
    pub fn disarmed_by(&mut self, id: &ContentId) -> Vec<ContentId> {
        self.settle();
        let Some(index) = self.arena.by_id.get(id) else {
            return Vec::new();
        };
        self.sorted_ids(self.arena.event(*index).disarmed_by.iter())
    }
}

fn place_of(view: View<'_>, account: Name, work: &mut Work) -> Place {
    let arena = view.arena;
    let held = view.assignments(account, work).map(|(at, by)| HeldRole {
        role: view.text(at.role).clone(),
        by: by.map_or(arena.space, |index| *arena.id(index)),
    });
    Place {
        roles: held.collect(),
        is_founder: view.is_founder(account),
    }
}

/// What [`refusal`](super::refusal::refusal) asks for.
fn asked(view: View<'_>, event: &Placed, work: &mut Work) -> Asked {
    let of = |command, arguments| Asked::Command { command, arguments };
    match &event.change {
        Change::Role { role, .. } => {
            let role = view.text(*role).clone();
            of(ROLE_DEFINE, Object::from([("role", role)]))
        }
        Change::Assign {
            did,
            role,
            assigned,
            via_invite,
        } => {
            let roles = view.roles_of(*did, work);
            let arguments = |by: Name| target_arguments(view, Some(*role), by == *did, &roles);
            match via_invite {
                Some(invite) => Asked::OfOpeners {
                    command: ROLE_ASSIGN,
                    openers: openers(view, *invite, arguments),
                },
                None if *assigned => of(ROLE_ASSIGN, arguments(event.root)),
                None if event.root == *did => Asked::OwnChoice,
                None => of(ROLE_UNASSIGN, arguments(event.root)),
            }
        }
        Change::Remove { did } if *did == event.root => Asked::OwnChoice,
        Change::Remove { did } => {
            let roles = view.roles_of(*did, work);
            of(MEMBER_REMOVE, target_arguments(view, None, false, &roles))
        }
        Change::StepDown { .. } => Asked::OwnChoice,
        Change::Succeed => of(SPACE_SUCCEED, Object::new()),
        Change::Invite { invite, role, open } => {
            let existing = view.invite(*invite).map(|invite| invite.role);
            let role = match open {
                true => *role,
                false => existing.unwrap_or(*role),
            };
            of(ROLE_ASSIGN, target_arguments(view, Some(role), false, &[]))
        }
        Change::Revoke { .. } | Change::Fork { .. } => Asked::Membership,
        Change::Definition { name, .. } => {
            let collection = view.text(*name).clone();
            of(
                COLLECTION_DEFINE,
                Object::from([("collection", collection)]),
            )
        }
        Change::Key => of(KEY_CHANGE, Object::new()),
        Change::Relays => of(SPACE_RELAYS, Object::new()),
        Change::Keepers => of(SPACE_KEEPERS, Object::new()),
    }
}

fn openers(
    view: View<'_>,
    invite: Name,
    arguments: impl Fn(Name) -> Object,
) -> Vec<(Text, Object)> {
    let invite = view.invite(invite);
    let by = invite.iter().flat_map(|invite| &invite.by);
    let mut openers: Vec<Name> = by.map(|opening| view.arena.event(*opening).root).collect();
    openers.sort_unstable();
    openers.dedup();
    let openers = openers.into_iter();
    let openers = openers.map(|opener| (view.text(opener).clone(), arguments(opener)));
    let mut openers: Vec<(Text, Object)> = openers.collect();
    openers.sort_by(|a, b| a.0.cmp(&b.0));
    openers
}
