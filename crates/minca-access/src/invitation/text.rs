//! An invite as it is handed around: a text, or a link with it inside (03 §7.4).

use minca_record::base64url;
use minca_record::json::{self, MESSAGE_DEPTH, Object, Value};
use minca_record::loose::INVITATIONS;

use super::InviteRefusal;

/// What an invite stands behind in a link.
const IN_LINKS: [&str; 3] = ["#invite=", "?invite=", "&invite="];

/// Between the invitation and the secret.
const JOINT: char = '.';

/// An invite that was read. Nothing it says is checked yet:
/// [`check_invitation`](super::check_invitation).
#[derive(Clone, PartialEq)]
pub struct Invite {
    pub(super) invitation: Object,
    pub(super) secret: Option<[u8; 32]>,
}

impl Invite {
    /// Reads a bare invite (03 §7.6, step 1). [`invite_in`] finds it in a link.
    ///
    /// # Errors
    /// [`InviteRefusal::NoInvite`] or [`InviteRefusal::Secret`].
    pub fn parse(text: &str) -> Result<Invite, InviteRefusal> {
        let (invitation, secret) = match text.split_once(JOINT) {
            Some((invitation, secret)) => (invitation, Some(secret)),
            None => (text, None),
        };
        if secret.is_some_and(|secret| secret.contains(JOINT)) {
            return Err(InviteRefusal::NoInvite);
        }
        let invitation = base64url::decode(invitation).map_err(|_| InviteRefusal::NoInvite)?;
        let invitation = json::read(&invitation, MESSAGE_DEPTH);
        let invitation = invitation.map_err(|_| InviteRefusal::NoInvite)?;
        let invitation = invitation.into_object().ok_or(InviteRefusal::NoInvite)?;
        let collection = invitation.get("collection").and_then(Value::as_str);
        if collection != Some(INVITATIONS) || space_id(&invitation).is_none() {
            return Err(InviteRefusal::NoInvite);
        }
        let secret = secret.map(base64url::decode_exact).transpose();
        let secret = secret.map_err(|_| InviteRefusal::Secret)?;
        Ok(Invite { invitation, secret })
    }

    /// The id its space claims.
    pub fn space_id(&self) -> &str {
        space_id(&self.invitation).unwrap_or_default()
    }

    /// The secret beside the invitation.
    pub fn secret(&self) -> Option<&[u8; 32]> {
        self.secret.as_ref()
    }

    /// Puts `secret` beside the invitation if its body names a role.
    pub(crate) fn with_secret_for_a_role(mut self, secret: [u8; 32]) -> Invite {
        let body = self.invitation.get("body").and_then(Value::as_object);
        if body.is_some_and(|body| body.contains("role")) {
            self.secret = Some(secret);
        }
        self
    }

    /// As it is handed around.
    pub fn encode(&self) -> String {
        encode_invite(&self.invitation, self.secret.as_ref())
    }
}

/// Shows nothing: an invite to a private space is a secret as a whole.
impl std::fmt::Debug for Invite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Invite(..)")
    }
}

/// `space.id` of the body, if `space.name` is a string too.
fn space_id(invitation: &Object) -> Option<&str> {
    let space = invitation.get("body")?.as_object()?.get("space")?;
    let space = space.as_object()?;
    space.get("name")?.as_text()?;
    space.get("id")?.as_str()
}

/// An invitation, and the secret when it is to a role, as they are handed around.
pub fn encode_invite(invitation: &Object, secret: Option<&[u8; 32]>) -> String {
    let mut text = base64url::encode(&invitation.canonical());
    if let Some(secret) = secret {
        text.push(JOINT);
        text.push_str(&base64url::encode(secret));
    }
    text
}

/// The invite in a text: what is behind the first `invite=` of a link, up to the
/// next `&` or white space; or else the whole text. Short links are found in the
/// same way.
pub fn invite_in(text: &str) -> &str {
    let starts = IN_LINKS
        .iter()
        .filter_map(|mark| Some(text.find(mark)? + mark.len()));
    let Some(start) = starts.min() else {
        return text;
    };
    let invite = &text[start..];
    let end = invite.find(|it: char| it == '&' || it.is_whitespace());
    &invite[..end.unwrap_or(invite.len())]
}
