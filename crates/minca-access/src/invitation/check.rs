//! Checking an invitation (03 §7.4, §7.6).

use minca_record::base64url;
use minca_record::constitution::Constitution;
use minca_record::derive::SpaceKey;
use minca_record::json::{Object, Text, Value};
use minca_record::loose::Loose;
use minca_record::required::{required_to_invite, required_to_read};
use minca_record::url::read_nodes;

use super::{Invitation, Invite, InviteRefusal};
use crate::relays::read_relays;

/// The longest `role` of an invitation, in UTF-16 code units.
pub const MAX_ROLE_SHOWN: usize = 64;

/// What the body of an invitation may have.
const MEMBERS: [&str; 5] = ["space", "key", "role", "relays", "nodes"];

/// The members of a body but its space.
struct Body {
    key: Option<SpaceKey>,
    role: Option<Text>,
    relays: Vec<Text>,
    nodes: Vec<Text>,
}

/// Whether an invite may be joined with: steps 2 to 4 of 03 §7.6, in order. Its
/// note must have been in time when the invitation was signed. The key is taken
/// as it is: the history names it, or it opens nothing.
///
/// # Errors
/// The first rule that fails.
pub fn check_invitation(invite: Invite) -> Result<Invitation, InviteRefusal> {
    let loose = Loose::check(invite.invitation.clone().into())?;
    let object = loose.body().as_object().ok_or(InviteRefusal::NoInvite)?;
    let body = read_body(object)?;
    let is_to_a_role = body.role.is_some() || invite.secret.is_some();
    if let Some(note) = loose.note() {
        let space = invite.space_id();
        let required = if is_to_a_role {
            required_to_invite(space)
        } else {
            required_to_read(space)
        };
        if !note.grants_all(&[required]) {
            return Err(InviteRefusal::NoteScope);
        }
    }
    let space = object.get("space").cloned().unwrap_or(Value::Null);
    let space = Constitution::check(space)?;
    if body.key.is_some() && !space.is_private() {
        return Err(InviteRefusal::KeyOfPublic);
    }
    let nodes: Option<Vec<&str>> = body.nodes.iter().map(Text::as_str).collect();
    Ok(Invitation {
        space,
        key: body.key,
        by: loose.root(),
        role: body.role,
        secret: invite.secret,
        relays: read_relays(&body.relays).unwrap_or_default(),
        nodes: nodes.and_then(read_nodes).unwrap_or_default(),
    })
}

/// Step 2 of an invitation's check (03 §7.4).
fn read_body(body: &Object) -> Result<Body, InviteRefusal> {
    let is_known = |name: &Text| MEMBERS.iter().any(|member| name == member);
    if !body.iter().all(|(name, _)| is_known(name)) {
        return Err(InviteRefusal::Member);
    }
    let key = body
        .get("key")
        .map(|key| space_key(key).ok_or(InviteRefusal::Key));
    let key = key.transpose()?;
    let role = body
        .get("role")
        .map(|role| role_shown(role).ok_or(InviteRefusal::Role));
    Ok(Body {
        key,
        role: role.transpose()?,
        relays: strings(body, "relays").ok_or(InviteRefusal::Relays)?,
        nodes: strings(body, "nodes").ok_or(InviteRefusal::Nodes)?,
    })
}

fn space_key(key: &Value) -> Option<SpaceKey> {
    let bytes = base64url::decode_exact(key.as_str()?).ok()?;
    Some(SpaceKey::new(bytes))
}

fn role_shown(role: &Value) -> Option<Text> {
    let role = role.as_text()?;
    (role.utf16_len() <= MAX_ROLE_SHOWN).then(|| role.clone())
}

/// The strings of a list; none where there is no list.
fn strings(body: &Object, name: &str) -> Option<Vec<Text>> {
    let Some(list) = body.get(name) else {
        return Some(Vec::new());
    };
    let list = list.as_array()?.iter();
    list.map(|text| text.as_text().cloned()).collect()
}
