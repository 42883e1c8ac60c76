//! Invitations: what an invite says, signed by who invites (03 §7.4 to §7.6).

mod check;
mod text;
mod write;

pub use check::{MAX_ROLE_SHOWN, check_invitation};
pub use text::{Invite, encode_invite, invite_in};
pub use write::InvitationDraft;

use minca_record::constitution::{Constitution, ConstitutionError};
use minca_record::derive::SpaceKey;
use minca_record::did::Did;
use minca_record::json::Text;
use minca_record::loose::LooseRefusal;
use minca_record::url::{NodeUrl, RelayUrl};

/// An invitation that may be joined with. Whether its invite is open, only the
/// space's history says.
#[derive(Clone)]
pub struct Invitation {
    /// The space.
    pub space: Constitution,
    /// A key of the space; `None` in a public one, and where the inviter gave none.
    pub key: Option<SpaceKey>,
    /// Who invited: the account it speaks for.
    pub by: Did,
    /// The role it names, for display: the invite's record is what counts.
    pub role: Option<Text>,
    /// The secret beside it, to join with.
    pub secret: Option<[u8; 32]>,
    /// Where the space's members meet; empty when the list isn't to be used.
    pub relays: Vec<RelayUrl>,
    /// Nodes that hold the space, each pinned; empty when the list isn't to be
    /// used. They are the inviter's word, never to be passed on.
    pub nodes: Vec<NodeUrl>,
}

impl Invitation {
    /// Whether it is to a role. A view-only one lets its holder read and write
    /// nothing (03 §7.5).
    pub fn is_to_a_role(&self) -> bool {
        self.role.is_some() || self.secret.is_some()
    }
}

/// Shows the space and who invited: keys and secrets belong in no log.
impl std::fmt::Debug for Invitation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Invitation")
            .field("space", &self.space)
            .field("by", &self.by)
            .finish_non_exhaustive()
    }
}

/// Why nobody may join with an invite: the first rule of 03 §7.6 that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InviteRefusal {
    /// It is no invite at all.
    #[error(
        "expected base64url of the JSON of a version in sys.invitation with `space.id` and \
         `space.name`, and at most one `.` behind it"
    )]
    NoInvite,
    /// The secret beside it.
    #[error("expected a secret of 32 bytes, in 43 characters of base64url")]
    Secret,
    /// It is no loose version, or not signed as it says.
    #[error(transparent)]
    Signed(#[from] LooseRefusal),
    /// Its body has something else.
    #[error("expected `space`, `key`, `role`, `relays`, `nodes` and no other member")]
    Member,
    /// `key`.
    #[error("expected `key`, if there, to be base64url of 32 bytes")]
    Key,
    /// `role`.
    #[error("expected `role`, if there, to be a string of at most {MAX_ROLE_SHOWN} characters")]
    Role,
    /// `relays`.
    #[error("expected `relays`, if there, to be a list of strings")]
    Relays,
    /// `nodes`.
    #[error("expected `nodes`, if there, to be a list of strings")]
    Nodes,
    /// Its note lets its key do other things.
    #[error("the note must let its key invite to this space in this way")]
    NoteScope,
    /// The space is no good, or can't be judged.
    #[error(transparent)]
    Space(#[from] ConstitutionError),
    /// A key that a public space can't have.
    #[error("expected no `key` for a public space")]
    KeyOfPublic,
}

impl InviteRefusal {
    /// One word for it, or two.
    pub fn reason(&self) -> String {
        let word = match self {
            InviteRefusal::NoInvite => "parse",
            InviteRefusal::Secret => "secret",
            InviteRefusal::Signed(refusal) => refusal.reason(),
            InviteRefusal::Member => "member",
            InviteRefusal::Key => "key",
            InviteRefusal::Role => "role",
            InviteRefusal::Relays => "relays",
            InviteRefusal::Nodes => "nodes",
            InviteRefusal::NoteScope => "note-scope",
            InviteRefusal::Space(ConstitutionError::NotJudged(_)) => "space:not-judged",
            InviteRefusal::Space(error) => return format!("space:{}", error.reason()),
            InviteRefusal::KeyOfPublic => "key-of-public",
        };
        word.to_owned()
    }
}
