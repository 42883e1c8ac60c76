//! The shape of a version: what can be told from it alone (02 §4.6).

use super::{Chain, LogPlace, UNSIGNED, Version, as_id};
use crate::base64url::is_base64url;
use crate::content_id::ContentId;
use crate::json::{Object, Text, Value};
use crate::links::are_links;
use crate::record_key::is_record_key;
use crate::signature::{Signature, parse_signature};

/// The deepest a version may nest, itself being 1 (02 §10).
pub const MAX_DEPTH: usize = 64;

/// The largest version, in bytes of its whole canonical form (02 §10).
pub const MAX_VERSION_BYTES: usize = 1_048_576;

/// The longest collection name, in UTF-16 code units (02 §10).
pub const MAX_COLLECTION: usize = 128;

/// The longest `createdAt`, in UTF-16 code units (02 §10).
pub const MAX_CREATED_AT: usize = 64;

/// The most heads in `seen` (03 §3.2).
pub const MAX_SEEN: usize = 64;

/// The most tags (02 §10).
pub const MAX_TAGS: usize = 64;

/// The signed part of most versions is smaller, note and all.
const USUAL_BYTES: usize = 2048;

/// The longest `bodyHash`, in UTF-16 code units.
const MAX_BODY_HASH: usize = 128;

/// The length of a tag: 16 bytes in base64url.
const TAG_LEN: usize = 22;

/// Why a JSON value is no version: the first check of 02 §4.6 that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// It is no JSON object.
    #[error("a version is a JSON object, and this is another JSON value")]
    NotObject,
    /// It nests too deep.
    #[error("a version nests at most {MAX_DEPTH} deep, and this one nests {0} deep")]
    TooDeep(usize),
    /// It is too large.
    #[error("a version has at most {MAX_VERSION_BYTES} canonical bytes, and this one has {0}")]
    TooLarge(usize),
    /// `id` is no content id.
    #[error("`id` must be a content id")]
    Id,
    /// `author` is no string.
    #[error("`author` must be a string")]
    Author,
    /// `collection` is no collection name.
    #[error(
        "`collection` must be a string of 1 to {MAX_COLLECTION} characters without control \
         characters or lone surrogates"
    )]
    Collection,
    /// `createdAt` is no string, or too long, or empty.
    #[error("`createdAt` must be a string of 1 to {MAX_CREATED_AT} characters")]
    CreatedAt,
    /// `key` is no record key.
    #[error("`key` must be 1 to 128 of the characters a-z, 0-9, `:`, `.`, `_` and `-`")]
    Key,
    /// `seq` is no integer in range.
    #[error("`seq` must be an integer from 0 to 2^53 - 1")]
    Seq,
    /// `prev` and `genesis` don't go with `seq`.
    #[error(
        "a version with `seq` 0 has no `prev` and no `genesis`, any other has both, as ids that \
         aren't its own"
    )]
    Chain,
    /// `seen` is no list of ids, or too long.
    #[error("`seen` must be a list of at most {MAX_SEEN} content ids")]
    Seen,
    /// `deleted` or `retain` is something else than `true`.
    #[error("`deleted` and `retain` are `true` or absent")]
    Flag,
    /// `body` and `bodyHash` don't go with `deleted`.
    #[error(
        "a delete has no `bodyHash` and no `body` but null, any other version has a `bodyHash` of \
         1 to {MAX_BODY_HASH} characters"
    )]
    Body,
    /// `links` is no list of links, or too long.
    #[error("`links` must be a list of at most 32 objects with exactly `rel` and `to`")]
    Links,
    /// `tags` is no list of tags, or too long.
    #[error("`tags` must be a list of at most {MAX_TAGS} strings of 22 base64url characters")]
    Tags,
    /// `log` is no place in a line.
    #[error(
        "`log` must be an object with an integer `n` from 0 to 2^53 - 1 and, unless `n` is 0, a \
         `prev` that is an id and not the version's own"
    )]
    Log,
    /// `proof` is no object.
    #[error("`proof` must be an object")]
    Proof,
    /// `signature` isn't 64 bytes in base64url's one spelling.
    #[error("`signature` must be 64 bytes as base64url: 86 characters, no padding")]
    SignatureForm,
}

impl ShapeError {
    /// The protocol's word for it (02 §4.6).
    pub fn reason(&self) -> &'static str {
        match self {
            ShapeError::NotObject => "not-object",
            ShapeError::TooDeep(_) => "too-deep",
            ShapeError::TooLarge(_) => "too-large",
            ShapeError::Id => "bad-id",
            ShapeError::Author => "bad-author",
            ShapeError::Collection => "bad-collection",
            ShapeError::CreatedAt => "bad-created-at",
            ShapeError::Key => "bad-key",
            ShapeError::Seq => "bad-seq",
            ShapeError::Chain => "bad-chain",
            ShapeError::Seen => "bad-seen",
            ShapeError::Flag => "bad-flag",
            ShapeError::Body => "bad-body",
            ShapeError::Links => "bad-links",
            ShapeError::Tags => "bad-tags",
            ShapeError::Log => "bad-log",
            ShapeError::Proof => "bad-proof",
            ShapeError::SignatureForm => "bad-signature-form",
        }
    }
}

/// Whether check 16 applies: a version of a space has a `log`, a loose one
/// must have none, which its own check sees to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LogRule {
    Required,
    NotRead,
}

/// Makes the checks of 02 §4.6 in their order.
pub(super) fn read(value: Value, log_rule: LogRule) -> Result<Version, ShapeError> {
    let object = value.into_object().ok_or(ShapeError::NotObject)?;
    let depth = object.depth();
    if depth > MAX_DEPTH {
        return Err(ShapeError::TooDeep(depth));
    }
    let mut signed_part = Vec::with_capacity(USUAL_BYTES);
    object.write_canonical_without(&UNSIGNED, &mut signed_part);
    let body_canonical = object.get("body").map(Value::canonical);
    let size = canonical_size(&object, &signed_part, body_canonical.as_deref());
    if size > MAX_VERSION_BYTES {
        return Err(ShapeError::TooLarge(size));
    }

    let id = object.get("id").and_then(as_id).ok_or(ShapeError::Id)?;
    let author = object
        .get("author")
        .and_then(Value::as_text)
        .cloned()
        .ok_or(ShapeError::Author)?;
    let collection = collection(&object).ok_or(ShapeError::Collection)?;
    let created_at =
        short_text(&object, "createdAt", MAX_CREATED_AT).ok_or(ShapeError::CreatedAt)?;
    let created_at = created_at.clone();
    let key = key(&object).ok_or(ShapeError::Key)?;
    let seq = object
        .get("seq")
        .and_then(Value::whole_number)
        .ok_or(ShapeError::Seq)?;
    let chain = chain(&object, seq, id)?;
    let seen = seen(&object)?;
    let deleted = flag(&object, "deleted")?;
    let retain = flag(&object, "retain")?;
    check_body(&object, deleted)?;
    if object.get("links").is_some_and(|links| !are_links(links)) {
        return Err(ShapeError::Links);
    }
    if object.get("tags").is_some_and(|tags| !are_tags(tags)) {
        return Err(ShapeError::Tags);
    }
    let log = match log_rule {
        LogRule::Required => log(&object, id).ok_or(ShapeError::Log)?,
        LogRule::NotRead => LogPlace { n: 0, prev: None },
    };
    if object
        .get("proof")
        .is_some_and(|proof| proof.as_object().is_none())
    {
        return Err(ShapeError::Proof);
    }
    let signature = signature(&object).ok_or(ShapeError::SignatureForm)?;

    Ok(Version {
        object,
        signed_part,
        body_canonical,
        id,
        author,
        collection,
        key,
        created_at,
        seq,
        chain,
        seen,
        retain,
        deleted,
        log,
        signature,
    })
}

/// The length of the whole canonical form, from that of its parts: every
/// member that isn't signed adds its name, a colon, its value and a comma.
fn canonical_size(object: &Object, signed_part: &[u8], body: Option<&[u8]>) -> usize {
    let mut size = signed_part.len();
    let mut members = 0;
    for name in UNSIGNED {
        let value_size = match (name, object.get(name)) {
            (_, None) => continue,
            ("body", Some(_)) => body.map_or(0, <[u8]>::len),
            (_, Some(value)) => value.canonical().len(),
        };
        size += name.len() + "\"\":,".len() + value_size;
        members += 1;
    }
    // With nothing else in the object, the first member needs no comma.
    if members > 0 && members == object.len() {
        size -= 1;
    }
    size
}

fn collection(object: &Object) -> Option<Box<str>> {
    let text = short_text(object, "collection", MAX_COLLECTION)?.as_str()?;
    let is_plain = text.bytes().all(|byte| byte >= 0x20 && byte != 0x7f);
    is_plain.then(|| text.into())
}

fn key(object: &Object) -> Option<Box<str>> {
    let key = object.get("key")?.as_str()?;
    is_record_key(key).then(|| key.into())
}

/// A string member of 1 to `max` UTF-16 code units.
fn short_text<'a>(object: &'a Object, name: &str, max: usize) -> Option<&'a Text> {
    let text = object.get(name)?.as_text()?;
    (1..=max).contains(&text.utf16_len()).then_some(text)
}

fn chain(object: &Object, seq: u64, own: ContentId) -> Result<Option<Chain>, ShapeError> {
    match (seq, object.get("prev"), object.get("genesis")) {
        (0, None, None) => Ok(None),
        (1.., Some(prev), Some(genesis)) => {
            let prev = other_id(prev, own).ok_or(ShapeError::Chain)?;
            let genesis = other_id(genesis, own).ok_or(ShapeError::Chain)?;
            Ok(Some(Chain { prev, genesis }))
        }
        _ => Err(ShapeError::Chain),
    }
}

/// An id that isn't the version's own.
fn other_id(value: &Value, own: ContentId) -> Option<ContentId> {
    as_id(value).filter(|id| *id != own)
}

fn seen(object: &Object) -> Result<Vec<ContentId>, ShapeError> {
    let Some(seen) = object.get("seen") else {
        return Ok(Vec::new());
    };
    let list = seen.as_array().ok_or(ShapeError::Seen)?;
    if list.len() > MAX_SEEN {
        return Err(ShapeError::Seen);
    }
    list.iter()
        .map(|id| as_id(id).ok_or(ShapeError::Seen))
        .collect()
}

fn flag(object: &Object, name: &str) -> Result<bool, ShapeError> {
    match object.get(name) {
        None => Ok(false),
        Some(Value::Bool(true)) => Ok(true),
        Some(_) => Err(ShapeError::Flag),
    }
}

fn check_body(object: &Object, deleted: bool) -> Result<(), ShapeError> {
    let good = if deleted {
        let no_content = matches!(object.get("body"), None | Some(Value::Null));
        no_content && object.get("bodyHash").is_none()
    } else {
        short_text(object, "bodyHash", MAX_BODY_HASH).is_some()
    };
    if good { Ok(()) } else { Err(ShapeError::Body) }
}

fn are_tags(value: &Value) -> bool {
    let Some(list) = value.as_array() else {
        return false;
    };
    list.len() <= MAX_TAGS && list.iter().all(|tag| tag.as_str().is_some_and(is_tag))
}

fn is_tag(text: &str) -> bool {
    is_base64url(text, TAG_LEN)
}

fn log(object: &Object, own: ContentId) -> Option<LogPlace> {
    let log = object.get("log")?.as_object()?;
    let n = log.get("n").and_then(Value::whole_number)?;
    let prev = match (n, log.get("prev")) {
        (0, None) => None,
        (1.., Some(prev)) => Some(other_id(prev, own)?),
        _ => return None,
    };
    Some(LogPlace { n, prev })
}

fn signature(object: &Object) -> Option<Signature> {
    parse_signature(object.get("signature")?.as_str()?).ok()
}
