//! What a member's folder keeps with a space, beside what is held of it.

use minca_record::base64url;
use minca_record::json::{Object, Value};

use crate::space::{Space, SpaceError};

const NODES: &str = "nodes";
const INVITED_NODES: &str = "inviteNodes";
const INVITE_SECRET: &str = "inviteSecret";

/// A space in a folder.
#[derive(Clone)]
pub struct SpaceEntry {
    /// The space, with its keys.
    pub space: Space,
    /// The nodes it is synced with, as given.
    pub nodes: Vec<String>,
    /// The nodes an invite named. They are the inviter's word, never passed on (03 §7.4).
    pub invited_nodes: Vec<String>,
    /// The secret to join with, until this account has joined (03 §7.3).
    pub invite_secret: Option<[u8; 32]>,
}

impl SpaceEntry {
    /// A space nobody invited to.
    pub fn new(space: Space, nodes: Vec<String>) -> SpaceEntry {
        SpaceEntry {
            space,
            nodes,
            invited_nodes: Vec::new(),
            invite_secret: None,
        }
    }

    /// The card as it is kept: [`Space::card`] and the rest.
    pub fn to_card(&self) -> Object {
        let mut card = self.space.card();
        card.insert(NODES, texts(&self.nodes));
        if !self.invited_nodes.is_empty() {
            card.insert(INVITED_NODES, texts(&self.invited_nodes));
        }
        if let Some(secret) = &self.invite_secret {
            card.insert(INVITE_SECRET, base64url::encode(secret));
        }
        card
    }

    /// The card as it is given to another device: without what came with an invite.
    pub fn to_handed_on_card(&self) -> Object {
        let nodes = self.nodes.clone();
        SpaceEntry::new(self.space.clone(), nodes).to_card()
    }

    /// Reads a card, kept here or written by another device. Members it doesn't know are ignored,
    /// and nodes that are no text.
    ///
    /// # Errors
    /// [`SpaceError`].
    pub fn from_card(card: &Object) -> Result<SpaceEntry, SpaceError> {
        let secret = card.get(INVITE_SECRET).map(|secret| {
            let secret = secret.as_str();
            let secret = secret.and_then(|secret| base64url::decode_exact(secret).ok());
            secret.ok_or(SpaceError::Card)
        });
        Ok(SpaceEntry {
            space: Space::from_card(card)?,
            nodes: list(card, NODES),
            invited_nodes: list(card, INVITED_NODES),
            invite_secret: secret.transpose()?,
        })
    }
}

/// Shows the space: secrets belong in no log.
impl std::fmt::Debug for SpaceEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SpaceEntry")
            .field("space", &self.space.id())
            .field("nodes", &self.nodes)
            .finish_non_exhaustive()
    }
}

fn texts(list: &[String]) -> Vec<Value> {
    list.iter().map(|text| text.as_str().into()).collect()
}

fn list(card: &Object, name: &str) -> Vec<String> {
    let list = card.get(name).and_then(Value::as_array);
    let texts = list.unwrap_or_default().iter().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::UnixTime;
    use crate::randomness::FixedRandomness;
    use crate::space::Visibility;

    #[test]
    fn what_came_with_an_invite_is_kept_and_not_handed_on() {
        let founder = crate::identity::Account::from_seed([5; 16])
            .did()
            .to_string();
        let now = UnixTime::from_milliseconds(0);
        let mut randomness = FixedRandomness::new(1);
        let space = Space::found("Notes", Visibility::Private, &founder, now, &mut randomness);
        let entry = SpaceEntry {
            invited_nodes: vec!["wss://theirs.example/peer".to_owned()],
            invite_secret: Some([7; 32]),
            ..SpaceEntry::new(space.unwrap(), vec!["wss://ours.example/peer".to_owned()])
        };
        let kept = SpaceEntry::from_card(&entry.to_card()).unwrap();
        assert_eq!(kept.to_card(), entry.to_card());
        assert_eq!(kept.invited_nodes, entry.invited_nodes);
        assert_eq!(kept.invite_secret, entry.invite_secret);
        let handed_on = SpaceEntry::from_card(&entry.to_handed_on_card()).unwrap();
        assert_eq!(handed_on.nodes, entry.nodes);
        assert!(handed_on.invited_nodes.is_empty() && handed_on.invite_secret.is_none());
        let mut bad = entry.to_card();
        bad.insert("inviteSecret", "short");
        assert!(matches!(SpaceEntry::from_card(&bad), Err(SpaceError::Card)));
    }
}
