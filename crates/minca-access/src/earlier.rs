//! The earlier keys a key change carries for whoever holds the new one (03 §9.3).
//!
//! A member's: a host holds no space key, and judges a change all the same.

use minca_record::base64url;
use minca_record::content_id::ContentId;
use minca_record::derive::SpaceKey;
use minca_record::did::Did;
use minca_record::envelope::{self, EARLIER_KEYS, SealError};
use minca_record::json::{self, MESSAGE_DEPTH, Object, Value};

/// The most keys taken from one `earlier`: those that come first.
pub const MAX_EARLIER: usize = 1_000;

/// Why a key change is malformed to a reader, who then takes no key from it.
/// It counts in the access history all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MalformedEarlier {
    /// It isn't sealed under the key it is for, or is bound to something else.
    #[error("`earlier` must be an envelope under the new key, bound to the space and its key id")]
    NotOpened,
    /// What is inside.
    #[error("`earlier` must hold a JSON list of keys")]
    NoList,
    /// The space's first key isn't among them.
    #[error("`earlier` must hold the space's first key")]
    FirstKeyMissing,
}

/// A key change as somebody who holds its key reads it.
#[derive(Clone, Copy, Debug)]
pub struct KeyChange<'a> {
    /// The space.
    pub space: ContentId,
    /// The change's `keyId`.
    pub key_id: &'a str,
    /// The change's `earlier`.
    pub earlier: &'a str,
}

impl KeyChange<'_> {
    /// The keys that `earlier` holds, as they come. `first_key_id` is the
    /// constitution's `encryptionKeyId`; `names` says whether the history
    /// names a key id with a read key. Keys it doesn't name, and entries that
    /// are no keys, are passed over.
    ///
    /// # Errors
    /// Why nothing is taken.
    pub fn open(
        &self,
        key: &SpaceKey,
        first_key_id: &str,
        names: impl Fn(&str, &Did) -> bool,
    ) -> Result<Vec<SpaceKey>, MalformedEarlier> {
        let bound = bound(self.space, self.key_id);
        let sealed = base64url::decode(self.earlier).map_err(|_| MalformedEarlier::NotOpened)?;
        let opened = envelope::open(&key.seal_key(), EARLIER_KEYS, &bound, &sealed)
            .map_err(|_| MalformedEarlier::NotOpened)?;
        let list = json::read(&opened, MESSAGE_DEPTH).map_err(|_| MalformedEarlier::NoList)?;
        let entries = list.as_array().ok_or(MalformedEarlier::NoList)?;
        let is_named = |key: &SpaceKey| names(&key.key_id(), &key.read_key().did());
        let keys: Vec<SpaceKey> = entries
            .iter()
            .take(MAX_EARLIER)
            .filter_map(space_key)
            .filter(is_named)
            .collect();
        if keys.iter().any(|key| key.key_id() == first_key_id) {
            Ok(keys)
        } else {
            Err(MalformedEarlier::FirstKeyMissing)
        }
    }
}

/// Why a member can't change the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeKeyError {
    /// It doesn't hold the space's first key, which every reader needs.
    #[error("changing the key takes holding the space's first key")]
    FirstKeyMissing,
    /// `earlier` is too long to seal.
    #[error(transparent)]
    Seal(#[from] SealError),
}

/// The body of a change of the key to `new` (03 §9.3, steps 2 and 3), whose
/// record is at [`keys::SPACE_KEY`](crate::keys::SPACE_KEY). `held` is every key
/// the writer holds; the first, which `first_key_id` names, is put before the
/// others, since a reader takes no more than [`MAX_EARLIER`]. `nonce` must be
/// random. Handing `new` on is [`seal_box`](crate::seal_box)'s.
///
/// # Errors
/// [`ChangeKeyError`].
pub fn change_key<'a>(
    space: ContentId,
    new: &SpaceKey,
    held: impl IntoIterator<Item = &'a SpaceKey>,
    first_key_id: &str,
    nonce: [u8; 12],
) -> Result<Object, ChangeKeyError> {
    let held = held.into_iter();
    let (first, others): (Vec<_>, Vec<_>) = held.partition(|key| key.key_id() == first_key_id);
    if first.is_empty() {
        return Err(ChangeKeyError::FirstKeyMissing);
    }
    let keys = first.iter().chain(&others);
    let keys: Vec<Value> = keys
        .map(|key| base64url::encode(key.bytes()).into())
        .collect();
    let key_id = new.key_id();
    let bound = bound(space, &key_id);
    let keys = Value::from(keys).canonical();
    let earlier = envelope::seal(&new.seal_key(), EARLIER_KEYS, &bound, &keys, nonce)?;
    Ok(Object::from([
        ("keyId", key_id),
        ("readKey", new.read_key().did().to_string()),
        ("earlier", base64url::encode(&earlier)),
    ]))
}

/// What `earlier` is bound to.
fn bound(space: ContentId, key_id: &str) -> Object {
    Object::from([("space", space.to_string()), ("keyId", key_id.to_owned())])
}

fn space_key(entry: &Value) -> Option<SpaceKey> {
    let bytes = base64url::decode_exact(entry.as_str()?).ok()?;
    Some(SpaceKey::new(bytes))
}
