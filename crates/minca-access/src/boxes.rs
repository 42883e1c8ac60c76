//! Boxes: a space's key, sealed to one member's key (03 §9.4).

use std::collections::BTreeSet;

use minca_record::agreement::{AgreementKey, AgreementPublic};
use minca_record::base64url;
use minca_record::content_id::ContentId;
use minca_record::derive::SpaceKey;
use minca_record::did::Did;
use minca_record::envelope::SealError;
use minca_record::hpke::{self, SPACE_KEY_BOX};
use minca_record::json::{self, MESSAGE_DEPTH, Object, Value};

/// The collection of boxes.
pub const BOXES: &str = "sys.box";

/// Why no key is taken from a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoxRefusal {
    /// It is somebody else's.
    #[error("`to` must be the account that opens the box")]
    NotTheirs,
    /// It was sealed to another key, or bound to something else.
    #[error("`sealed` must open with the member key, bound to the space, key id and account")]
    NotOpened,
    /// What is inside.
    #[error("a box must hold a JSON object with a `key` of 32 bytes")]
    NoKey,
    /// The key inside has another id.
    #[error("the key in a box must be the one `keyId` names")]
    OtherKey,
    /// The history doesn't name the key, or names it with another read key.
    #[error("the history must name the key in a box, with its read key")]
    NotNamed,
}

/// A box in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyBox<'a> {
    /// The space.
    pub space: ContentId,
    /// The id of the key inside.
    pub key_id: &'a str,
    /// The account it is for.
    pub to: &'a str,
    /// The key, sealed; base64url.
    pub sealed: &'a str,
}

impl<'a> KeyBox<'a> {
    /// Reads a box's body; `None` when it is none. That members it doesn't know are
    /// ignored is ours.
    pub fn read(space: ContentId, body: &'a Value) -> Option<KeyBox<'a>> {
        let body = body.as_object()?;
        let text = |name| body.get(name).and_then(Value::as_str);
        Some(KeyBox {
            space,
            key_id: text("keyId")?,
            to: text("to")?,
            sealed: text("sealed")?,
        })
    }

    /// Opens it with `account`'s member key. `names` says whether the history
    /// names a key id with a read key. Who sealed it doesn't matter.
    ///
    /// # Errors
    /// Why no key is taken.
    pub fn open(
        &self,
        account: &Did,
        member_key: &AgreementKey,
        names: impl FnOnce(&str, &Did) -> bool,
    ) -> Result<SpaceKey, BoxRefusal> {
        if self.to != account.to_string() {
            return Err(BoxRefusal::NotTheirs);
        }
        let sealed = base64url::decode(self.sealed).map_err(|_| BoxRefusal::NotOpened)?;
        let bound = bound(self.space, self.key_id, self.to);
        let opened = hpke::open(member_key, SPACE_KEY_BOX, &bound, &sealed)
            .map_err(|_| BoxRefusal::NotOpened)?;
        let key = key_inside(&opened).ok_or(BoxRefusal::NoKey)?;
        if key.key_id() != self.key_id {
            return Err(BoxRefusal::OtherKey);
        }
        if !names(self.key_id, &key.read_key().did()) {
            return Err(BoxRefusal::NotNamed);
        }
        Ok(key)
    }
}

/// The body of a box of `key` for `to`, whose member key is `member_key`; its
/// record is at [`keys::box_for`](crate::keys::box_for). `ephemeral` must be
/// random, and never used twice.
///
/// # Errors
/// [`SealError`], which so short a text doesn't meet.
pub fn seal_box(
    space: ContentId,
    key: &SpaceKey,
    to: &Did,
    member_key: &AgreementPublic,
    ephemeral: &AgreementKey,
) -> Result<Object, SealError> {
    let (key_id, to) = (key.key_id(), to.to_string());
    let inside = Object::from([("key", base64url::encode(key.bytes()))]).canonical();
    let bound = bound(space, &key_id, &to);
    let sealed = hpke::seal(member_key, SPACE_KEY_BOX, &bound, &inside, ephemeral)?;
    Ok(Object::from([
        ("keyId", key_id),
        ("to", to),
        ("sealed", base64url::encode(&sealed)),
    ]))
}

/// The readers to whom somebody granted `/key/change` is to seal the key
/// `key_id`: those with a member key who have no box of it, by themselves or by
/// anyone `may_change_key` holds for. `boxes` are those that stand, each with the
/// account it speaks for.
pub fn lacking_boxes<'a>(
    readers: impl IntoIterator<Item = (Did, AgreementPublic)>,
    key_id: &str,
    boxes: impl IntoIterator<Item = (Did, KeyBox<'a>)>,
    may_change_key: impl Fn(&Did) -> bool,
) -> Vec<(Did, AgreementPublic)> {
    let boxes = boxes.into_iter().filter(|(_, it)| it.key_id == key_id);
    let served: BTreeSet<&str> = boxes
        .filter(|(by, it)| by.to_string() == it.to || may_change_key(by))
        .map(|(_, it)| it.to)
        .collect();
    let mut lacking: Vec<(Did, AgreementPublic)> = readers.into_iter().collect();
    lacking.retain(|(reader, _)| !served.contains(&*reader.to_string()));
    lacking
}

/// What a box is bound to.
fn bound(space: ContentId, key_id: &str, to: &str) -> Object {
    Object::from([
        ("space", space.to_string()),
        ("keyId", key_id.to_owned()),
        ("to", to.to_owned()),
    ])
}

fn key_inside(opened: &[u8]) -> Option<SpaceKey> {
    let inside = json::read(opened, MESSAGE_DEPTH).ok()?;
    let key = inside.as_object()?.get("key")?;
    let bytes = base64url::decode_exact(key.as_str()?).ok()?;
    Some(SpaceKey::new(bytes))
}
