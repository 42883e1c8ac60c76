//! Which access events are taken in from outside (03 §3.4), and what one may cost.

use minca_record::content_id::ContentId;
use minca_record::did::Did;

use super::History;
use crate::event::{Event, Kind};

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
