//! The events of a case.

use minca_record::command::is_command;
use minca_record::constitution::{MAX_GRANTS, are_nests, is_role_name, is_title};
use minca_record::content_id::ContentId;
use minca_record::json::Object;
use minca_record::policy::Policy;

use super::error::CaseError;
use super::member::Members;
use crate::cutoff::Cutoff;
use crate::event::{Event, Grant, Kind, RoleDefinition};
use crate::read::MAX_KEY_ID;
use crate::{keepers, keys, relays};

/// Reads one event of the space called `space`.
pub(super) fn read(members: &Members<'_>, space: ContentId) -> Result<Event, CaseError> {
    let root = members.did("root")?;
    let kind = kind(members, space)?;
    let key = members.str("key")?;
    if key != keys::of(&kind, &root) {
        return Err(members.unlike("key", "the record key the event's fields give"));
    }
    Ok(Event {
        id: members.id("id")?,
        key: key.into(),
        root,
        author: members.did("author")?,
        seen: members.ids("seen")?,
        log_place: members.place("n")?,
        cutoff: cutoff(members, &kind)?,
        kind,
    })
}

fn kind(members: &Members<'_>, space: ContentId) -> Result<Kind, CaseError> {
    Ok(match members.str("kind")? {
        "role" => Kind::Role(role(members)?),
        "assign" => Kind::Assign {
            did: members.did_key("did")?.clone(),
            role: members.text("role")?.clone(),
            assigned: members.boolean("assigned")?,
            via_invite: match members.optional("viaInvite") {
                None => None,
                Some(_) => Some(members.did("viaInvite")?),
            },
        },
        "remove" => Kind::Remove {
            did: members.text("did")?.clone(),
        },
        "invite" => Kind::Invite {
            invite_key: members.text("inviteKey")?.clone(),
            role: members.text("role")?.clone(),
            open: members.boolean("open")?,
        },
        "revoke" => Kind::Revoke {
            target: members.did_key("target")?.clone(),
        },
        "definition" => Kind::Definition {
            name: members.str("name")?.into(),
            deleted: members.boolean("deleted")?,
        },
        "key" => key(members)?,
        "relays" => relays::read(members.all())
            .map_err(|_| members.unlike("relays", "an array of at most 8 strings"))?,
        "keepers" => keepers::read(members.all()).map_err(|_| {
            members.unlike("keepers", "at most 16 keepers, and copies null or 1 to 16")
        })?,
        "fork" => Kind::Fork {
            writer: members.did("writer")?,
            collection: members.str("collection")?.into(),
            from: members.place("from")?,
        },
        "stepdown" => Kind::StepDown {
            did: members.text("did")?.clone(),
        },
        "succeed" => Kind::Succeed {
            space: successor(members, space)?,
        },
        _ => return Err(members.unlike("kind", "a kind of event (03 §3.1)")),
    })
}

/// The kinds without a cutoff have an empty one.
fn cutoff(members: &Members<'_>, kind: &Kind) -> Result<Cutoff, CaseError> {
    let malformed = || members.unlike("cutoff", "keys, their collections and places, 1024 at most");
    let cutoff = Cutoff::read(members.all()).map_err(|_| malformed())?;
    let may_have_one = matches!(
        kind,
        Kind::Assign { .. } | Kind::Remove { .. } | Kind::Revoke { .. } | Kind::StepDown { .. }
    );
    if may_have_one || cutoff.is_empty() {
        Ok(cutoff)
    } else {
        Err(members.unlike("cutoff", "an empty object, as its kind has no cutoff"))
    }
}

fn role(members: &Members<'_>) -> Result<RoleDefinition, CaseError> {
    let name = members.str("name")?;
    if !is_role_name(name) {
        return Err(members.unlike("name", "the name of a role"));
    }
    let title = match members.optional("title") {
        None => None,
        Some(_) => Some(members.text("title")?.clone()),
    };
    if !title.as_ref().is_none_or(is_title) {
        return Err(members.unlike("title", "a string of at most 80 characters"));
    }
    let grants: Vec<Grant> = members
        .objects("grants")?
        .map(|it| grant(&it?))
        .collect::<Result<_, _>>()?;
    if grants.len() > MAX_GRANTS {
        return Err(members.unlike("grants", "at most 64 grants"));
    }
    let nests = match members.optional("nests") {
        None => Vec::new(),
        Some(nests) => are_nests(nests, name)
            .ok_or_else(|| members.unlike("nests", "at most 16 names of other roles"))?,
    };
    Ok(RoleDefinition {
        name: name.into(),
        title,
        grants,
        nests,
    })
}

fn grant(members: &Members<'_>) -> Result<Grant, CaseError> {
    let cmd = members.text("cmd")?;
    if !is_command(cmd) {
        return Err(members.unlike("cmd", "a command path"));
    }
    let malformed = || members.unlike("pol", "a policy");
    let pol = members.optional("pol").ok_or_else(malformed)?;
    let compared = Object::from([("cmd", cmd.clone().into()), ("pol", pol.clone())]);
    Ok(Grant {
        cmd: cmd.clone(),
        pol: Policy::read(pol).map_err(|_| malformed())?,
        canonical: compared.canonical(),
    })
}

fn key(members: &Members<'_>) -> Result<Kind, CaseError> {
    let key_id = members.text("keyId")?;
    if key_id.utf16_len() > MAX_KEY_ID {
        return Err(members.unlike("keyId", "a string of at most 64 characters"));
    }
    Ok(Kind::Key {
        key_id: key_id.clone(),
        read_key: members.did_key("readKey")?.clone(),
    })
}

fn successor(members: &Members<'_>, own: ContentId) -> Result<ContentId, CaseError> {
    let space = members.id("space")?;
    if space == own {
        return Err(members.unlike("space", "the id of another space"));
    }
    Ok(space)
}
