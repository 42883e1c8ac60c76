//! The record keys of access changes, derived from what they change (03 §3.1),
//! and of the records by which members hand keys to each other (03 §9).

use minca_record::content_id::ContentId;
use minca_record::definition::DEFINITION_KEY;
use minca_record::did::Did;
use minca_record::hash::hex40;
use minca_record::json::Text;

use crate::event::Kind;

/// The one key of key changes.
pub const SPACE_KEY: &str = "key:space";
/// The one key of relay lists.
pub const RELAYS: &str = "relays:space";
/// The one key of keeper lists.
pub const KEEPERS: &str = "keepers:space";

/// What parts of one hashed text are joined by.
const JOINT: &str = "|";

/// Where `root` writes a change (03 §3.1).
pub fn of(kind: &Kind, root: &Did) -> String {
    match kind {
        Kind::Role(definition) => role(&definition.name),
        Kind::Assign { did, role, .. } => assign(did, role),
        Kind::Remove { did } => remove(did),
        Kind::Invite { invite_key, .. } => invite(invite_key),
        Kind::Revoke { target } => revoke(target, root),
        Kind::Definition { name, .. } => format!("{DEFINITION_KEY}{name}"),
        Kind::Key { .. } => SPACE_KEY.to_owned(),
        Kind::Relays { .. } => RELAYS.to_owned(),
        Kind::Keepers { .. } => KEEPERS.to_owned(),
        Kind::Fork { writer, .. } => fork(writer),
        Kind::StepDown { did } => step_down(did),
        Kind::Succeed { space } => succeed(*space),
    }
}

/// Where a role's definition is.
pub fn role(name: &str) -> String {
    format!("role:{name}")
}

/// Where the assignments of a role to an account are.
pub fn assign(did: &Text, role: &Text) -> String {
    let hashed = format!("{}{JOINT}{}", in_utf8(did), in_utf8(role));
    format!("assign:{}", hex40(&hashed))
}

/// Where the removals of an account are.
pub fn remove(did: &Text) -> String {
    format!("remove:{}", hex40(&in_utf8(did)))
}

/// Where an invite is.
pub fn invite(invite_key: &Text) -> String {
    format!("invite:{}", hex40(&in_utf8(invite_key)))
}

/// Where an account revokes a key. The order of the two is ours.
pub fn revoke(target: &Text, account: &Did) -> String {
    let hashed = format!("{}{JOINT}{account}", in_utf8(target));
    format!("revoke:{}", hex40(&hashed))
}

/// Where the fork proofs of a key are.
pub fn fork(writer: &Did) -> String {
    format!("fork:{}", hex40(&writer.to_string()))
}

/// Where a founder steps down.
pub fn step_down(did: &Text) -> String {
    format!("stepdown:{}", hex40(&in_utf8(did)))
}

/// Where a successor is named.
pub fn succeed(space: ContentId) -> String {
    format!("succeed:{}", hex40(&space.to_string()))
}

/// Where an account publishes its member key (03 §9.1).
pub fn member_key(account: &Did) -> String {
    format!("memberkey:{}", hex40(&account.to_string()))
}

/// Where a box is: the account it is for, the id of the key inside, and the
/// account that sealed it (03 §9.4). The third part and the order are ours, and
/// nobody checks where a box is.
pub fn box_for(to: &Did, key_id: &str, by: &Did) -> String {
    format!("box:{}", hex40(&format!("{to}{JOINT}{key_id}{JOINT}{by}")))
}

/// The text as it is hashed: a lone surrogate, which has no UTF-8, becomes
/// U+FFFD, as it does in the encoder of a browser. [ours]
pub(crate) fn in_utf8(text: &Text) -> String {
    match text.as_str() {
        Some(text) => text.to_owned(),
        None => String::from_utf16_lossy(&text.utf16_units().collect::<Vec<_>>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNT_INVITED: &str = "did:key:zDnaepvP6YSjYyaBgu3v9VSziUgdmpk4t5a4Xw9VVA1e1BEd9";

    #[test]
    fn an_invite_is_where_the_protocols_example_has_it() {
        assert_eq!(
            invite(&ACCOUNT_INVITED.into()),
            "invite:13d55f0d88a0d85e161fee68b002cb9a68e8cb45"
        );
    }

    #[test]
    fn a_lone_surrogate_is_hashed_as_the_replacement_character() {
        let lone = Text::from_utf16(&[0xD800, 0x61]);
        assert_eq!(remove(&lone), remove(&"\u{FFFD}a".into()));
    }
}
