//! What an access change is about: accounts, keys, roles, collections and spaces, and
//! nothing else of its body.

use minca_access::Kind;
use minca_record::json::{Object, Text, Value};

use super::write_text::{shown, shown_text};

/// What a change is about, by the names events have for it (03 §3.3).
pub(super) fn about(kind: &Kind) -> Object {
    let account = |did: &Text| ("did", Value::from(did.clone()));
    match kind {
        Kind::Role(role) => Object::from([("name", &*role.name)]),
        Kind::Assign {
            did,
            role,
            assigned,
            via_invite,
        } => {
            let mut about = Object::from([
                account(did),
                ("role", role.clone().into()),
                ("assigned", (*assigned).into()),
            ]);
            if let Some(invite) = via_invite {
                about.insert("viaInvite", invite.to_string());
            }
            about
        }
        Kind::Remove { did } | Kind::StepDown { did } => Object::from([account(did)]),
        Kind::Invite {
            invite_key,
            role,
            open,
        } => Object::from([
            ("inviteKey", Value::from(invite_key.clone())),
            ("role", role.clone().into()),
            ("open", (*open).into()),
        ]),
        Kind::Revoke { target } => Object::from([("target", target.clone())]),
        Kind::Definition { name, deleted } => Object::from([
            ("name", Value::from(&**name)),
            ("deleted", (*deleted).into()),
        ]),
        Kind::Key { key_id, .. } => Object::from([("keyId", key_id.clone())]),
        Kind::Relays { .. } | Kind::Keepers { .. } => Object::new(),
        Kind::Fork {
            writer,
            collection,
            from,
        } => Object::from([
            ("writer", Value::from(writer.to_string())),
            ("collection", (&**collection).into()),
            ("from", (*from).into()),
        ]),
        Kind::Succeed { space } => Object::from([("space", space.to_string())]),
    }
}

/// The same in words, which go on after the change itself was named.
pub(super) fn says(kind: &Kind) -> String {
    match kind {
        Kind::Role(role) => format!("defines the role {}", role.name),
        Kind::Assign {
            did,
            role,
            assigned: true,
            via_invite: Some(invite),
        } => format!(
            "joins {} to the role {} by the invite {invite}",
            shown_text(did),
            shown_text(role)
        ),
        Kind::Assign {
            did,
            role,
            assigned: true,
            via_invite: None,
        } => format!(
            "assigns the role {} to {}",
            shown_text(role),
            shown_text(did)
        ),
        Kind::Assign { did, role, .. } => format!(
            "takes the role {} from {}",
            shown_text(role),
            shown_text(did)
        ),
        Kind::Remove { did } => format!("removes {}", shown_text(did)),
        Kind::Invite {
            invite_key,
            role,
            open,
        } => format!(
            "{} the invite {} to the role {}",
            if *open { "opens" } else { "closes" },
            shown_text(invite_key),
            shown_text(role)
        ),
        Kind::Revoke { target } => format!("revokes the key {}", shown_text(target)),
        Kind::Definition { name, deleted } => format!(
            "{} {}",
            if *deleted {
                "deletes the definition of"
            } else {
                "defines the collection"
            },
            shown(name)
        ),
        Kind::Key { key_id, .. } => format!("changes the key to {}", shown_text(key_id)),
        Kind::Relays { .. } => "names the relays the members meet on".to_owned(),
        Kind::Keepers { .. } => "names the nodes that keep the space whole".to_owned(),
        Kind::Fork {
            writer,
            collection,
            from,
        } => format!(
            "proves that the line of {writer} in {} is not one from place {from} on",
            shown(collection)
        ),
        Kind::StepDown { did } => format!("has {} step down as a founder", shown_text(did)),
        Kind::Succeed { space } => format!("names the space {space} a successor"),
    }
}
