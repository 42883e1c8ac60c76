//! The earlier keys a key change carries for whoever holds the new one (03 §9.3).
//!
//! A member's: a host holds no space key, and judges a change all the same.

use minca_record::base64url;
use minca_record::content_id::ContentId;
use minca_record::derive::SpaceKey;
use minca_record::did::Did;
use minca_record::envelope::{self, EARLIER_KEYS};
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
        let bound = Object::from([
            ("space", self.space.to_string()),
            ("keyId", self.key_id.to_owned()),
        ]);
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

fn space_key(entry: &Value) -> Option<SpaceKey> {
    let bytes = base64url::decode_exact(entry.as_str()?).ok()?;
    Some(SpaceKey::new(bytes))
}
