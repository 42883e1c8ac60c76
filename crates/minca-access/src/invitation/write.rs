//! Writing an invitation, as a member does (03 §7.4).

use data_encoding::BASE32_NOPAD;
use minca_record::base64url;
use minca_record::constitution::Constitution;
use minca_record::derive::SpaceKey;
use minca_record::json::{Object, Value};
use minca_record::loose::{INVITATIONS, LooseDraft};
use minca_record::signing::SigningKey;

/// What an invitation is to say. Nothing of it is checked; a joiner will.
#[derive(Clone, Copy, Debug)]
pub struct InvitationDraft<'a> {
    /// The space.
    pub space: &'a Constitution,
    /// The current key of a private space.
    pub key: Option<&'a SpaceKey>,
    /// The role, of a role invite.
    pub role: Option<&'a str>,
    /// The space's relays, else the inviter's own; may be empty.
    pub relays: &'a [&'a str],
    /// Nodes that hold the space, pinned: the inviter's and the space's, none
    /// that another invite named; may be empty.
    pub nodes: &'a [&'a str],
}

impl InvitationDraft<'_> {
    /// Signs it as `author`, under `note` unless it is the account itself.
    /// `created_at` is the time as `toISOString` writes it, and `random` names the
    /// version.
    pub fn sign(
        &self,
        author: &SigningKey,
        note: Option<Value>,
        created_at: &str,
        random: [u8; 16],
    ) -> Object {
        let draft = LooseDraft {
            collection: INVITATIONS,
            key: &BASE32_NOPAD.encode(&random).to_ascii_lowercase(),
            created_at,
            note,
            body: self.body().into(),
        };
        draft.sign(author)
    }

    fn body(&self) -> Object {
        let mut body = Object::from([("space", self.space.as_handed_around())]);
        if let Some(key) = self.key {
            body.insert("key", base64url::encode(key.bytes()));
        }
        if let Some(role) = self.role {
            body.insert("role", role);
        }
        for (name, list) in [("relays", self.relays), ("nodes", self.nodes)] {
            if !list.is_empty() {
                let list: Vec<Value> = list.iter().map(|url| Value::from(*url)).collect();
                body.insert(name, list);
            }
        }
        body
    }
}
