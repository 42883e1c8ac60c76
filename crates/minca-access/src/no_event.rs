//! Why a version is no change of access.

use minca_record::fork::NoProof;

/// Why a version yields no event (03 §3.3). Its words are for logs: to a peer
/// every one of them is `no-event`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoEvent {
    /// Its collection is no access collection, or its key has another's prefix.
    #[error("the record key must begin with the prefix of its access collection")]
    Prefix,
    /// It isn't retained.
    #[error("an access change must carry `retain`")]
    NotRetained,
    /// It is a delete. Access is taken by writing a change.
    #[error("an access change is no delete")]
    Deleted,
    /// Its body is sealed.
    #[error("the body of an access change is in the clear")]
    Sealed,
    /// Its body is no object.
    #[error("the body of an access change is a JSON object")]
    Body,
    /// `cutoff`, malformed or of a kind that has none.
    #[error("`cutoff` must map keys to collections to places, 1,024 in all, where there is one")]
    Cutoff,
    /// A member of the body.
    #[error("a member of the body is missing or malformed")]
    Fields,
    /// A role's definition.
    #[error("a role's definition must be as 03 §2.1 and §2.2 have it")]
    Definition,
    /// Its key isn't the one its body gives.
    #[error("the record key must be the one derived from the body")]
    Key,
    /// `invite` of an assignment.
    #[error("`invite` must have the strings `key` and `signature`")]
    Invite,
    /// The signature in `invite`.
    #[error("`invite.signature` doesn't verify under `invite.key`")]
    InviteSignature,
    /// `a` and `b` of a fork.
    #[error("`a` and `b` prove no fork: {0}")]
    Proof(NoProof),
}

impl NoEvent {
    /// One word for it.
    pub fn reason(&self) -> &'static str {
        match self {
            NoEvent::Prefix => "prefix",
            NoEvent::NotRetained => "not-retained",
            NoEvent::Deleted => "deleted",
            NoEvent::Sealed => "sealed",
            NoEvent::Body => "body",
            NoEvent::Cutoff => "cutoff",
            NoEvent::Fields => "fields",
            NoEvent::Definition => "definition",
            NoEvent::Key => "key",
            NoEvent::Invite => "invite",
            NoEvent::InviteSignature => "invite-signature",
            NoEvent::Proof(no_proof) => no_proof.reason(),
        }
    }
}
