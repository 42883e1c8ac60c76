//! Founding a space, and handing it to another device (03 §1.3, §8.1).

use minca_record::base64url;
use minca_record::constitution::{Constitution, ConstitutionError};
use minca_record::content_id::ContentId;
use minca_record::derive::SpaceKey;
use minca_record::envelope::{self, RECORD_BODY, SealError};
use minca_record::json::{MESSAGE_DEPTH, Object, Value, read};
use minca_record::signing::SigningKey;
use minca_record::version::Version;
use thiserror::Error;

use crate::clock::UnixTime;
use crate::randomness::{Randomness, RandomnessError, random_bytes};

/// Collections whose bodies are in the clear in a private space too (03 §8.2).
const IN_THE_CLEAR: [&str; 13] = [
    "sys.role",
    "sys.assign",
    "sys.remove",
    "sys.invite",
    "sys.revoke",
    "sys.key",
    "sys.box",
    "sys.memberkey",
    "sys.relays",
    "sys.keepers",
    "sys.fork",
    "sys.stepdown",
    "sys.succeed",
];

/// Why a space isn't one this device can open.
#[derive(Debug, Error)]
pub enum SpaceError {
    /// The constitution is none, or one this device can't judge.
    #[error(transparent)]
    Constitution(#[from] ConstitutionError),
    /// A private space came without a key, or a public one with one.
    #[error("expected a space key in a private space, and none in a public one")]
    Key,
    /// The key isn't the one the constitution names.
    #[error("expected the space key that the constitution's encryptionKeyId and readKey name")]
    OtherKey,
    /// The key changed, and this device wasn't given the new one.
    #[error("this device doesn't hold the space's current key")]
    CurrentKeyMissing,
    /// A space card isn't formed as one.
    #[error("expected a space card: JSON with a space and, in a private one, its spaceKey")]
    Card,
    /// A body is longer than can be sealed.
    #[error(transparent)]
    TooLong(#[from] SealError),
    /// There were no random bytes.
    #[error(transparent)]
    Randomness(#[from] RandomnessError),
}

/// Whether a space's bodies are sealed.
pub use minca_record::constitution::Visibility;

/// A space as a member holds it: its constitution and, in a private one, its keys.
#[derive(Clone, Debug)]
pub struct Space {
    constitution: Constitution,
    /// Those that are held, oldest first; none in a public space.
    keys: Vec<Keys>,
    /// The id of the key to seal with, held or not; `None` in a public space.
    current_key_id: Option<String>,
}

/// A private space's key and what is derived from it.
#[derive(Clone, Debug)]
struct Keys {
    space_key: SpaceKey,
    key_id: String,
    seal_key: [u8; 32],
    read_key: SigningKey,
}

impl Keys {
    fn new(space_key: SpaceKey) -> Keys {
        Keys {
            key_id: space_key.key_id(),
            seal_key: space_key.seal_key(),
            read_key: space_key.read_key(),
            space_key,
        }
    }
}

impl Space {
    /// Founds a space with one founder, who may do everything, and one role, `editor`, that may
    /// write records and define collections.
    ///
    /// # Errors
    /// [`SpaceError::Constitution`] for a `name` over 100 code points;
    /// [`SpaceError::Randomness`].
    pub fn found(
        name: &str,
        visibility: Visibility,
        founder: &str,
        now: UnixTime,
        randomness: &mut dyn Randomness,
    ) -> Result<Space, SpaceError> {
        let members = Space::founding_members(name, founder);
        Space::found_with(members, visibility, now, randomness)
    }

    /// What [`found`](Space::found) founds a space with, for [`found_with`](Space::found_with).
    pub fn founding_members(name: &str, founder: &str) -> Object {
        let grant = |command: &str| {
            let grant = [
                ("cmd", Value::from(command)),
                ("pol", Value::Array(Vec::new())),
            ];
            Value::from(Object::from(grant))
        };
        let grants = vec![grant("/record"), grant("/collection/define")];
        let editor = Object::from([
            ("name", Value::from("editor")),
            ("title", Value::from("Editor")),
            ("grants", Value::from(grants)),
        ]);
        let founders = vec![Value::from(founder)];
        Object::from([
            ("minca", Value::from("constitution/1")),
            ("resolver", Value::from("strong-remove/1")),
            ("name", Value::from(name)),
            ("top", Value::from(Object::from([("founders", founders)]))),
            ("roles", Value::from(vec![Value::from(editor)])),
        ])
    }

    /// Founds a space with these members of its constitution, and the ones every space has anew:
    /// `visibility`, `createdAt`, `nonce` and, in a private one, the first keys.
    ///
    /// # Errors
    /// [`SpaceError::Constitution`] where the members make none; [`SpaceError::Randomness`].
    pub fn found_with(
        mut constitution: Object,
        visibility: Visibility,
        now: UnixTime,
        randomness: &mut dyn Randomness,
    ) -> Result<Space, SpaceError> {
        let nonce = base64url::encode(&random_bytes::<12>(randomness)?);
        let space_key = match visibility {
            Visibility::Public => None,
            Visibility::Private => Some(SpaceKey::new(random_bytes(randomness)?)),
        };
        constitution.insert("nonce", nonce);
        constitution.insert("createdAt", now.to_string());
        match &space_key {
            None => constitution.insert("visibility", "public"),
            Some(key) => {
                constitution.insert("readKey", key.read_key().did().to_string());
                constitution.insert("encryptionKeyId", key.key_id());
                constitution.insert("visibility", "private")
            }
        };
        let id = ContentId::of(&constitution.canonical());
        constitution.insert("id", id.to_string());
        Space::import(Value::from(constitution), space_key)
    }

    /// Takes a space as it is handed around, its constitution with its `id`, and its key.
    ///
    /// # Errors
    /// [`SpaceError`] where the constitution is none, or the key isn't the one it names.
    pub fn import(space: Value, space_key: Option<SpaceKey>) -> Result<Space, SpaceError> {
        let constitution = Constitution::check(space)?;
        match (constitution.first_keys(), &space_key) {
            (None, None) => {}
            (Some(first), Some(key)) => {
                let is_named = *first.encryption_key_id == *key.key_id()
                    && first.read_key == key.read_key().did();
                if !is_named {
                    return Err(SpaceError::OtherKey);
                }
            }
            _ => return Err(SpaceError::Key),
        }
        Ok(Space::holding(constitution, space_key))
    }

    /// The space with these of its keys, of which none need be the first: an invitation carries
    /// the one that was current (03 §7.6). They are passed over in a public space.
    pub fn holding(constitution: Constitution, keys: impl IntoIterator<Item = SpaceKey>) -> Space {
        let mut space = Space {
            current_key_id: constitution.encryption_key_id().map(str::to_owned),
            constitution,
            keys: Vec::new(),
        };
        for key in keys {
            space.hold_key(key);
        }
        space
    }

    /// The space's id.
    pub fn id(&self) -> ContentId {
        self.constitution.id()
    }

    /// Its constitution.
    pub fn constitution(&self) -> &Constitution {
        &self.constitution
    }

    /// Its constitution with its `id`, as it is handed to a host.
    pub fn as_handed_around(&self) -> Value {
        Value::from(self.constitution.as_handed_around())
    }

    /// The key that proves one may read it, the newest; `None` in a public one.
    pub fn read_key(&self) -> Option<&SigningKey> {
        self.read_keys().next()
    }

    /// All read keys, newest first.
    pub fn read_keys(&self) -> impl Iterator<Item = &SigningKey> {
        self.keys.iter().rev().map(|keys| &keys.read_key)
    }

    /// Whether the bodies of its records are sealed.
    pub fn is_private(&self) -> bool {
        self.constitution.is_private()
    }

    /// The key bodies are sealed with; `None` where it isn't held, and in a public one.
    pub fn current_key(&self) -> Option<&SpaceKey> {
        self.held_key(self.current_key_id.as_deref()?)
    }

    /// The key with this id, if it is held.
    pub fn held_key(&self, key_id: &str) -> Option<&SpaceKey> {
        let held = self.keys.iter().find(|keys| keys.key_id == key_id);
        held.map(|keys| &keys.space_key)
    }

    /// All its keys that are held, oldest first.
    pub fn space_keys(&self) -> impl Iterator<Item = &SpaceKey> {
        self.keys.iter().map(|keys| &keys.space_key)
    }

    /// Holds another key of the space, as its newest until [`go_by`](Space::go_by) says more;
    /// `false` where it is held already, or the space is public.
    pub fn hold_key(&mut self, key: SpaceKey) -> bool {
        let keys = Keys::new(key);
        if !self.is_private() || self.held_key(&keys.key_id).is_some() {
            return false;
        }
        self.keys.push(keys);
        true
    }

    /// Goes by the keys the space's history names, oldest first: the last is the one to seal
    /// with (03 §8.3). Keys it doesn't name count as newer than all it does.
    pub fn go_by(&mut self, named: &[String]) {
        self.current_key_id = named.last().cloned();
        let place = |keys: &Keys| named.iter().position(|id| *id == keys.key_id);
        self.keys
            .sort_by_key(|keys| place(keys).unwrap_or(usize::MAX));
    }

    /// The space card: what another device needs to open the space, as JSON in one line.
    ///
    /// **In a private space it holds the space key:** whoever gets it reads everything. It is for
    /// a local file that only its owner may read, or for a person's own way from one device to
    /// the other; it is no invitation as part 03 has them.
    pub fn card(&self) -> Object {
        let mut card = Object::from([("space", self.constitution.as_handed_around())]);
        let mut later: Vec<Value> = Vec::new();
        for keys in &self.keys {
            let key = base64url::encode(keys.space_key.bytes());
            if self.constitution.encryption_key_id() == Some(&*keys.key_id) {
                card.insert("spaceKey", key);
            } else {
                later.push(key.into());
            }
        }
        if !later.is_empty() {
            card.insert("laterKeys", later);
        }
        card
    }

    /// Reads a space card. Members it doesn't know are ignored.
    ///
    /// # Errors
    /// [`SpaceError`].
    pub fn from_card(card: &Object) -> Result<Space, SpaceError> {
        let space = card.get("space").ok_or(SpaceError::Card)?.clone();
        let key = |key: &Value| {
            let bytes = key
                .as_str()
                .and_then(|key| base64url::decode_exact(key).ok());
            bytes.map(SpaceKey::new).ok_or(SpaceError::Card)
        };
        let first = card.get("spaceKey").map(key).transpose()?;
        let later = card.get("laterKeys").and_then(Value::as_array);
        let later = later.unwrap_or_default();
        let mut space = match first {
            // Who was invited under a later key may hold no first one.
            None if !later.is_empty() => {
                let constitution = Constitution::check(space)?;
                if !constitution.is_private() {
                    return Err(SpaceError::Key);
                }
                Space::holding(constitution, [])
            }
            first => Space::import(space, first)?,
        };
        for later in later {
            space.hold_key(key(later)?);
        }
        Ok(space)
    }

    /// Whether bodies of this collection are sealed here (03 §8.2).
    pub fn seals(&self, collection: &str) -> bool {
        self.is_private() && !IN_THE_CLEAR.contains(&collection)
    }

    /// Seals a body under the current key (03 §8.3), with its links inside. The body as it is
    /// where it isn't sealed.
    ///
    /// # Errors
    /// [`SpaceError::CurrentKeyMissing`], [`SpaceError::Randomness`], [`SpaceError::TooLong`].
    pub fn seal(
        &self,
        collection: &str,
        key: &str,
        body: Value,
        links: Vec<Value>,
        randomness: &mut dyn Randomness,
    ) -> Result<Value, SpaceError> {
        if !self.seals(collection) {
            return Ok(body);
        }
        let current = self.current_key_id.as_deref();
        let keys = self
            .keys
            .iter()
            .find(|keys| current == Some(&*keys.key_id))
            .ok_or(SpaceError::CurrentKeyMissing)?;
        let mut inside = Object::from([("body", body)]);
        if !links.is_empty() {
            inside.insert("links", links);
        }
        let bound = self.bound(collection, key, &keys.key_id);
        let nonce = random_bytes(randomness)?;
        let sealed = envelope::seal(
            &keys.seal_key,
            RECORD_BODY,
            &bound,
            &inside.canonical(),
            nonce,
        )?;
        Ok(Value::from(Object::from([
            ("sealed", base64url::encode(&sealed)),
            ("keyId", keys.key_id.clone()),
        ])))
    }

    /// The body of a version as its members read it.
    pub fn open(&self, version: &Version) -> Opened {
        if version.deleted() {
            return Opened::Deleted;
        }
        let Some(body) = version.body() else {
            return Opened::Absent;
        };
        let text = |name| body.as_object().and_then(|body| body.get(name)?.as_str());
        let (false, Some(sealed), Some(key_id)) =
            (!self.is_private(), text("sealed"), text("keyId"))
        else {
            return Opened::Body(body.clone());
        };
        let Some(keys) = self.keys.iter().find(|keys| keys.key_id == key_id) else {
            return Opened::Unreadable;
        };
        let bound = self.bound(version.collection(), version.key(), key_id);
        let opened = base64url::decode(sealed)
            .ok()
            .and_then(|sealed| envelope::open(&keys.seal_key, RECORD_BODY, &bound, &sealed).ok())
            .and_then(|plaintext| read(&plaintext, MESSAGE_DEPTH).ok())
            .and_then(|inside| inside.into_object()?.remove("body"));
        opened.map_or(Opened::Unreadable, Opened::Body)
    }

    fn bound(&self, collection: &str, key: &str, key_id: &str) -> Object {
        Object::from([
            ("space", self.id().to_string()),
            ("collection", collection.to_owned()),
            ("key", key.to_owned()),
            ("keyId", key_id.to_owned()),
        ])
    }
}

/// A body as a member reads it.
#[derive(Clone, Debug, PartialEq)]
pub enum Opened {
    /// The content.
    Body(Value),
    /// The version deletes its record.
    Deleted,
    /// The version is held as a stub.
    Absent,
    /// It is sealed, and doesn't open with the keys this device holds.
    Unreadable,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::FixedRandomness;
    use crate::write::{Draft, Position};
    use minca_record::version::LogPlace;

    const FOUNDER: &str = "did:key:zDnaed8DYZ8Hx21hjLc7fE9TXMkDUV65S3ys8HtLrnPC1piwd";

    fn space(visibility: Visibility) -> Space {
        let now = UnixTime::from_milliseconds(1_767_225_600_000);
        Space::found(
            "Chess club",
            visibility,
            FOUNDER,
            now,
            &mut FixedRandomness::new(7),
        )
        .unwrap()
    }

    #[test]
    fn a_card_gives_the_space_back_with_its_key() {
        for visibility in [Visibility::Public, Visibility::Private] {
            let founded = space(visibility);
            let joined = Space::from_card(&founded.card()).unwrap();
            assert_eq!(joined.id(), founded.id());
            assert_eq!(
                joined.read_key().map(SigningKey::did),
                founded.read_key().map(SigningKey::did)
            );
            assert_eq!(
                joined.read_key().is_some(),
                visibility == Visibility::Private
            );
        }
    }

    #[test]
    fn a_private_space_without_its_key_or_with_another_is_refused() {
        let mut card = space(Visibility::Private).card();
        card.insert("spaceKey", base64url::encode(&[7; 32]));
        assert!(matches!(Space::from_card(&card), Err(SpaceError::OtherKey)));
        card.remove("spaceKey");
        assert!(matches!(Space::from_card(&card), Err(SpaceError::Key)));
        let mut public = space(Visibility::Public).card();
        public.insert("spaceKey", base64url::encode(&[7; 32]));
        assert!(matches!(Space::from_card(&public), Err(SpaceError::Key)));
    }

    #[test]
    fn after_a_key_change_both_keys_open_and_a_card_carries_both() {
        let mut space = space(Visibility::Private);
        let mut randomness = FixedRandomness::new(8);
        let sealed = |space: &Space, randomness: &mut FixedRandomness| {
            let body = Value::from("hello");
            let sealed = space.seal("app.note", "k", body, Vec::new(), randomness);
            let log = LogPlace { n: 0, prev: None };
            let now = UnixTime::from_milliseconds(0);
            let draft = Draft::new(space.id(), "app.note", "k", Position::FIRST, log, now);
            let object = draft.body(sealed.unwrap()).sign(space.read_key().unwrap());
            Version::shape(object.into()).unwrap()
        };
        let before = sealed(&space, &mut randomness);
        let old = space.clone();
        let new = SpaceKey::new([9; 32]);
        let first = space.current_key().unwrap().key_id();
        assert!(space.hold_key(new.clone()) && !space.hold_key(new.clone()));
        space.go_by(&[first.clone(), new.key_id()]);
        let after = sealed(&space, &mut randomness);
        assert_eq!(space.read_key().unwrap().did(), new.read_key().did());
        let joined = Space::from_card(&space.card()).unwrap();
        for space in [&space, &joined] {
            assert_eq!(space.open(&before), Opened::Body("hello".into()));
            assert_eq!(space.open(&after), Opened::Body("hello".into()));
        }
        assert_eq!(old.open(&after), Opened::Unreadable);

        // Who has no key that the history names as current seals nothing.
        let mut behind = old;
        behind.go_by(&[first, new.key_id()]);
        let sealed = behind.seal("app.note", "k", "x".into(), Vec::new(), &mut randomness);
        assert!(matches!(sealed, Err(SpaceError::CurrentKeyMissing)));
        // Who was invited later may hold the later key alone.
        let mut card = space.card();
        card.remove("spaceKey");
        let invited = Space::from_card(&card).unwrap();
        assert_eq!(invited.open(&before), Opened::Unreadable);
        assert_eq!(invited.open(&after), Opened::Body("hello".into()));
        assert_eq!(invited.card(), card);
    }

    #[test]
    fn a_changed_constitution_is_refused() {
        let mut card = space(Visibility::Public).card();
        let mut changed = card.remove("space").unwrap().into_object().unwrap();
        changed.insert("name", "Another club");
        card.insert("space", changed);
        assert!(matches!(
            Space::from_card(&card),
            Err(SpaceError::Constitution(_))
        ));
    }

    #[test]
    fn only_private_spaces_seal_and_access_collections_stay_in_the_clear() {
        assert!(!space(Visibility::Public).seals("app.note"));
        let private = space(Visibility::Private);
        assert!(private.seals("app.note"));
        assert!(private.seals("sys.collection"));
        assert!(!private.seals("sys.role"));
    }
}
