//! Events: the changes a space's access history is made of (03 §3.3).

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::Text;
use minca_record::policy::Policy;

use crate::cutoff::Cutoff;

/// A change of access, as one version says it. Whether it counts is for the
/// replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The version's id.
    pub id: ContentId,
    /// The record's key.
    pub key: Box<str>,
    /// The account the version speaks for.
    pub root: Did,
    /// The key that signed it.
    pub author: Did,
    /// Heads of the history its writer knew; the space's id stands for the
    /// constitution. As written; empty when absent.
    pub seen: Vec<ContentId>,
    /// Its place in its author's line for its collection, which a cutoff counts in.
    pub log_place: u64,
    /// What of the account it takes from stands. Empty for most kinds.
    pub cutoff: Cutoff,
    /// The change itself.
    pub kind: Kind,
}

/// What an event changes. Accounts, keys and role names are what bodies say:
/// where this has a [`Text`] it need be no P-256 key and no role that exists.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `sys.role`.
    Role(RoleDefinition),
    /// `sys.assign`.
    Assign {
        /// The account; begins `did:key:`.
        did: Text,
        /// The role.
        role: Text,
        /// Whether it is given or taken.
        assigned: bool,
        /// The invite whose key signed for the account to join.
        via_invite: Option<Did>,
    },
    /// `sys.remove`.
    Remove {
        /// The account.
        did: Text,
    },
    /// `sys.invite`.
    Invite {
        /// The invite's public key.
        invite_key: Text,
        /// The role it gives.
        role: Text,
        /// Whether it can be joined by.
        open: bool,
    },
    /// `sys.revoke`.
    Revoke {
        /// The key revoked; begins `did:key:`.
        target: Text,
    },
    /// `sys.collection`. The body may be anything.
    Definition {
        /// The collection, definable or not.
        name: Box<str>,
        /// Whether the definition is deleted.
        deleted: bool,
    },
    /// `sys.key`.
    Key {
        /// The new space key's id, at most 64 characters.
        key_id: Text,
        /// The new read key; begins `did:key:`.
        read_key: Text,
    },
    /// `sys.relays`.
    Relays {
        /// At most 8, not yet looked at (03 §10).
        relays: Vec<Text>,
    },
    /// `sys.keepers`.
    Keepers {
        /// At most 16, no account twice.
        keepers: Vec<Keeper>,
        /// How many a write should reach, 1 to 16.
        copies: Option<u8>,
    },
    /// `sys.fork`, proven.
    Fork {
        /// The key whose line is not one.
        writer: Did,
        /// The line's collection.
        collection: Box<str>,
        /// The place from which on it is withdrawn.
        from: u64,
    },
    /// `sys.stepdown`.
    StepDown {
        /// The founder.
        did: Text,
    },
    /// `sys.succeed`.
    Succeed {
        /// The successor, another space than this one.
        space: ContentId,
    },
}

impl Kind {
    /// The access collection its version is in (03 §3.1).
    pub fn collection(&self) -> &'static str {
        match self {
            Kind::Role(_) => "sys.role",
            Kind::Assign { .. } => "sys.assign",
            Kind::Remove { .. } => "sys.remove",
            Kind::Invite { .. } => "sys.invite",
            Kind::Revoke { .. } => "sys.revoke",
            Kind::Definition { .. } => "sys.collection",
            Kind::Key { .. } => "sys.key",
            Kind::Relays { .. } => "sys.relays",
            Kind::Keepers { .. } => "sys.keepers",
            Kind::Fork { .. } => "sys.fork",
            Kind::StepDown { .. } => "sys.stepdown",
            Kind::Succeed { .. } => "sys.succeed",
        }
    }

    /// The kind's name (03 §3.1).
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Role(_) => "role",
            Kind::Assign { .. } => "assign",
            Kind::Remove { .. } => "remove",
            Kind::Invite { .. } => "invite",
            Kind::Revoke { .. } => "revoke",
            Kind::Definition { .. } => "definition",
            Kind::Key { .. } => "key",
            Kind::Relays { .. } => "relays",
            Kind::Keepers { .. } => "keepers",
            Kind::Fork { .. } => "fork",
            Kind::StepDown { .. } => "stepdown",
            Kind::Succeed { .. } => "succeed",
        }
    }
}

/// What a role is from this definition on (03 §2.4).
#[derive(Clone, Debug, PartialEq)]
pub struct RoleDefinition {
    /// The role.
    pub name: Box<str>,
    /// What people read.
    pub title: Option<Text>,
    /// At most 64.
    pub grants: Vec<Grant>,
    /// At most 16 other roles.
    pub nests: Vec<Box<str>>,
}

/// A grant in a role's definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// The command path, known or not.
    pub cmd: Text,
    /// What must hold of its arguments.
    pub pol: Policy,
    /// The canonical JSON of `{ cmd, pol }`, by which rival definitions'
    /// grants are compared (03 §2.4).
    pub canonical: Vec<u8>,
}

/// A node that keeps the whole space (03 §10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keeper {
    /// The node; begins `did:key:`.
    pub did: Text,
    /// What people read.
    pub name: Text,
}
