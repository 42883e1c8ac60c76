//! From a version to an event (03 §3.3).

use minca_record::content_id::ContentId;
use minca_record::definition::is_sealed_body;
use minca_record::fork::judge_pair;
use minca_record::json::{Object, Value};
use minca_record::required::DEFINITIONS;
use minca_record::version::Checked;

use crate::cutoff::Cutoff;
use crate::event::{Event, Kind};
use crate::fields::{boolean, did_key, text};
use crate::no_event::NoEvent;
use crate::{join, keepers, keys, relays, role};

/// The longest id of a space key, in UTF-16 code units.
pub const MAX_KEY_ID: usize = 64;

/// What of its space decides what a version says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Its id.
    pub id: ContentId,
    /// Whether the bodies of its records are sealed.
    pub is_private: bool,
}

/// What of the signatures inside a body is checked: those of joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signatures {
    Verify,
    /// They were verified when the version was taken in.
    Trust,
}

/// The event a version of `space` yields, when it passed steps 1 to 6 of 02 §9
/// there: its signature, its body's hash and what its note grants are taken as
/// checked.
///
/// # Errors
/// Why it yields none. No order among several reasons is promised.
pub fn event_of(checked: &Checked, space: Space) -> Result<Event, NoEvent> {
    read(checked, space, Signatures::Verify)
}

/// The event of a version that was taken in before by whoever asks: what an invite's
/// key signed is not verified again.
///
/// # Errors
/// As [`event_of`].
pub fn event_of_kept(checked: &Checked, space: Space) -> Result<Event, NoEvent> {
    read(checked, space, Signatures::Trust)
}

fn read(checked: &Checked, space: Space, signatures: Signatures) -> Result<Event, NoEvent> {
    let version = &checked.version;
    let prefix = prefix_of(version.collection()).ok_or(NoEvent::Prefix)?;
    let Some(name) = version.key().strip_prefix(prefix) else {
        return Err(NoEvent::Prefix);
    };
    if !version.retain() {
        return Err(NoEvent::NotRetained);
    }
    let (kind, cutoff) = if version.collection() == DEFINITIONS {
        let kind = Kind::Definition {
            name: name.into(),
            deleted: version.deleted(),
        };
        (kind, Cutoff::default())
    } else {
        change_of(checked, space, signatures)?
    };
    Ok(Event {
        id: version.id(),
        key: version.key().into(),
        root: checked.root,
        author: checked.author,
        seen: version.seen().to_vec(),
        log_place: version.log().n,
        cutoff,
        kind,
    })
}

/// How the record keys of an access collection begin.
fn prefix_of(collection: &str) -> Option<&'static str> {
    Some(match collection {
        "sys.role" => "role:",
        "sys.assign" => "assign:",
        "sys.remove" => "remove:",
        "sys.invite" => "invite:",
        "sys.revoke" => "revoke:",
        DEFINITIONS => minca_record::definition::DEFINITION_KEY,
        "sys.key" => "key:",
        "sys.relays" => "relays:",
        "sys.keepers" => "keepers:",
        "sys.fork" => "fork:",
        "sys.stepdown" => "stepdown:",
        "sys.succeed" => "succeed:",
        _ => return None,
    })
}

/// The change in the body of any access version but a definition.
fn change_of(
    checked: &Checked,
    space: Space,
    signatures: Signatures,
) -> Result<(Kind, Cutoff), NoEvent> {
    let version = &checked.version;
    if version.deleted() {
        return Err(NoEvent::Deleted);
    }
    let body = version.body().ok_or(NoEvent::Body)?;
    if space.is_private && is_sealed_body(body) {
        return Err(NoEvent::Sealed);
    }
    let body = body.as_object().ok_or(NoEvent::Body)?;
    let cutoff = match version.collection() {
        "sys.assign" | "sys.remove" | "sys.revoke" | "sys.stepdown" => Cutoff::read(body)?,
        "sys.role" | "sys.invite" | "sys.succeed" => Cutoff::none_in(body)?,
        // Where one is neither allowed nor forbidden, it isn't read.
        _ => Cutoff::default(),
    };
    let (kind, key) = match version.collection() {
        "sys.role" => {
            let definition = role::read(body, &checked.root, space.id);
            let definition = definition.ok_or(NoEvent::Definition)?;
            let key = keys::role(&definition.name);
            (Kind::Role(definition), key)
        }
        "sys.assign" => {
            return Ok((assign(body, version.key(), space.id, signatures)?, cutoff));
        }
        "sys.remove" => {
            let did = text(body, "did")?;
            let key = keys::remove(&did);
            (Kind::Remove { did }, key)
        }
        "sys.invite" => invite_opened(body)?,
        "sys.revoke" => {
            let target = did_key(body, "key")?;
            let key = keys::revoke(&target, &checked.root);
            (Kind::Revoke { target }, key)
        }
        "sys.key" => (key_change(body)?, keys::SPACE_KEY.to_owned()),
        "sys.relays" => (relays::read(body)?, keys::RELAYS.to_owned()),
        "sys.keepers" => (keepers::read(body)?, keys::KEEPERS.to_owned()),
        "sys.fork" => fork(body, space.id)?,
        "sys.stepdown" => {
            let did = text(body, "did")?;
            let key = keys::step_down(&did);
            (Kind::StepDown { did }, key)
        }
        "sys.succeed" => succeed(body, space.id)?,
        _ => return Err(NoEvent::Prefix),
    };
    if version.key() != key {
        return Err(NoEvent::Key);
    }
    Ok((kind, cutoff))
}

/// Looks at the key first: verifying is what costs.
fn assign(
    body: &Object,
    key: &str,
    space: ContentId,
    signatures: Signatures,
) -> Result<Kind, NoEvent> {
    let did = did_key(body, "did")?;
    let role = text(body, "role")?;
    let assigned = boolean(body, "assigned")?;
    if key != keys::assign(&did, &role) {
        return Err(NoEvent::Key);
    }
    let via_invite = join::read(body, space, &did, signatures)?;
    Ok(Kind::Assign {
        did,
        role,
        assigned,
        via_invite,
    })
}

fn invite_opened(body: &Object) -> Result<(Kind, String), NoEvent> {
    let invite_key = text(body, "key")?;
    let key = keys::invite(&invite_key);
    let kind = Kind::Invite {
        invite_key,
        role: text(body, "role")?,
        open: boolean(body, "open")?,
    };
    Ok((kind, key))
}

fn key_change(body: &Object) -> Result<Kind, NoEvent> {
    let key_id = text(body, "keyId")?;
    if key_id.utf16_len() > MAX_KEY_ID {
        return Err(NoEvent::Fields);
    }
    let read_key = did_key(body, "readKey")?;
    Ok(Kind::Key { key_id, read_key })
}

fn fork(body: &Object, space: ContentId) -> Result<(Kind, String), NoEvent> {
    let member = |name| body.get(name).unwrap_or(&Value::Null);
    let proof = judge_pair(member("a"), member("b"), space).map_err(NoEvent::Proof)?;
    let key = keys::fork(&proof.writer);
    let kind = Kind::Fork {
        writer: proof.writer,
        collection: proof.collection,
        from: proof.from,
    };
    Ok((kind, key))
}

fn succeed(body: &Object, own: ContentId) -> Result<(Kind, String), NoEvent> {
    let space = body.get("space").and_then(Value::as_str);
    let space = space.and_then(|space| ContentId::parse(space).ok());
    let space = space.filter(|space| *space != own).ok_or(NoEvent::Fields)?;
    Ok((Kind::Succeed { space }, keys::succeed(space)))
}
