//! Which access events are taken in from outside (03 §3.4), and the most one may
//! take to work out.

use minca_record::content_id::ContentId;
use minca_record::did::Did;

use super::History;
use crate::event::{Event, Kind, RoleDefinition};

/// Whether a well-formed event from outside may be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It may.
    Admitted,
    /// Its `seen` names these, which aren't held or wait.
    SeenMissing(Vec<ContentId>),
    /// Nothing in the history names its root, nor an invite it joins by.
    RootNotNamed,
}

impl History {
    /// 03 §3.4, 3 and 4. That it is of this space, retained and an event at all, its
    /// being one says.
    pub fn admit(&self, event: &Event) -> Admission {
        let missing = event.seen.iter().filter(|id| !self.is_placeable(id));
        let missing: Vec<ContentId> = missing.copied().collect();
        if !missing.is_empty() {
            return Admission::SeenMissing(missing);
        }
        let joins_by_known = match &event.kind {
            Kind::Assign {
                via_invite: Some(invite),
                ..
            } => self.knows_invite(invite),
            _ => false,
        };
        if joins_by_known || self.names(&event.root) {
            return Admission::Admitted;
        }
        Admission::RootNotNamed
    }

    /// The most steps ([`History::spent`]) placing this event can take, with all that is
    /// held placed before it: from what is held, without looking at any state. That is
    /// also the most by which [`History::advance`] oversteps its fuel.
    ///
    /// Where the event strikes something, each event that saw what changes may take as
    /// much again, one at a time.
    pub fn most_it_takes(&self, event: &Event) -> u64 {
        let Load {
            events,
            definitions,
            grants,
            longest,
        } = self.load();
        let words = (events / 2_048 + 1) * 32;
        // Its own view: the union of what its heads saw, and every event taken in.
        let view = words * (event.seen.len() as u64 + 3) + events * (words + 24);
        // One account's roles, with every event that is latest on any of them against the
        // account's removals, and each of them against what its definitions grant.
        let roles = longest + events * (words + 3) + definitions + 1;
        let granted = definitions * 24 + grants * (longest + 8);
        // Asked once of every definition's author.
        let asked = (definitions + 1) * (roles + granted + 8);
        let on_key = events * (words + 4);
        let asking = match &event.kind {
            Kind::Revoke { .. } | Kind::Fork { .. } | Kind::StepDown { .. } => roles,
            // Every opener of the invite is asked about.
            Kind::Assign {
                via_invite: Some(_),
                ..
            } => events * asked,
            // Every definition is looked at for each that is latest.
            Kind::Definition { .. } => asked + events * on_key,
            // All members' roles are looked up.
            Kind::Succeed { .. } => 2 * asked + (events + 1) * roles,
            _ => 2 * asked + on_key,
        };
        // Twice, as among the valid events it may see another state than on its own; and
        // whom it strikes, and who strikes it.
        2 * (view + asking) + 4 * events + view + 16
    }

    fn load(&self) -> Load {
        let arena = &self.arena;
        let assigned = arena.assignments_at.iter().map(|(_, at)| at.len() as u64);
        let waiting = self.ready.iter().filter_map(|event| match &event.kind {
            Kind::Role(role) => Some(role),
            _ => None,
        });
        let unplaced = |role: &RoleDefinition| {
            let weights = role
                .grants
                .iter()
                .map(|grant| grant.pol.weight() as u64 + 2);
            weights.sum::<u64>()
        };
        Load {
            events: (arena.events.len() + self.ready.len()) as u64 + 1,
            definitions: arena.definitions + waiting.clone().count() as u64,
            grants: arena.granted + waiting.map(unplaced).sum::<u64>(),
            longest: assigned.max().unwrap_or(0) + self.ready.len() as u64 + 1,
        }
    }

    /// Whether the history has heard of an account: a founder, stepped down or not, one
    /// the constitution assigns a role, or any event held does, whatever became of it.
    pub fn names(&self, account: &Did) -> bool {
        let account = self.arena.names.known_did(account);
        account.is_some_and(|account| self.named.contains(account))
    }

    /// Whether some `invite` event held names the invite's key.
    pub fn knows_invite(&self, invite: &Did) -> bool {
        let invite = self.arena.names.known_did(invite);
        invite.is_some_and(|invite| self.known_invites.contains(invite))
    }
}

/// What the cost of an event grows with.
struct Load {
    events: u64,
    /// Role definitions, the constitution's too.
    definitions: u64,
    /// Statements and steps in their policies, with one each for the grant itself.
    grants: u64,
    /// The most roles any account was ever assigned.
    longest: u64,
}
