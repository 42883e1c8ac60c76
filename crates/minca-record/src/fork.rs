//! Judging a pair of versions: whether they prove that a key's line is not one
//! line (02 §4.10, 03 §6.5).

use crate::content_id::ContentId;
use crate::did::Did;
use crate::json::Value;
use crate::version::{Refusal, Version, author_key, check_id, check_signature};

/// How a line is not one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Two versions at one place.
    Fork,
    /// A version whose place before is no place before it.
    Break,
}

/// What a pair of versions proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineProof {
    /// How the line is not one.
    pub kind: Kind,
    /// The key whose line it is.
    pub writer: Did,
    /// The line's collection.
    pub collection: Box<str>,
    /// The place from which on what the key wrote there is withdrawn.
    pub from: u64,
}

/// Why a pair proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoProof {
    /// One carries a `body`.
    #[error("both versions must be without a `body`")]
    HasBody,
    /// One isn't well-formed, of the space, or signed.
    #[error(transparent)]
    Version(#[from] Refusal),
    /// Both are the same.
    #[error("the versions must be two")]
    SameId,
    /// They are the wrong way round.
    #[error("`a` must be the version with the lower id")]
    Order,
    /// They can both be on one line.
    #[error("both versions can be on one line")]
    OneLine,
}

impl NoProof {
    /// The protocol's word for it (02 §4.10).
    pub fn reason(&self) -> &'static str {
        match self {
            NoProof::HasBody => "has-body",
            NoProof::Version(refusal) => refusal.reason(),
            NoProof::SameId => "same-id",
            NoProof::Order => "order",
            NoProof::OneLine => "one-line",
        }
    }
}

/// Judges the pair in the body of a `sys.fork` record of `space`. Notes are
/// not looked at.
///
/// # Errors
/// The first step of 02 §4.10 that fails.
pub fn judge_pair(a: &Value, b: &Value, space: ContentId) -> Result<LineProof, NoProof> {
    let has_body = |value: &Value| {
        value
            .as_object()
            .is_some_and(|object| object.contains("body"))
    };
    if has_body(a) || has_body(b) {
        return Err(NoProof::HasBody);
    }
    let (a, a_author) = signed(a)?;
    let (b, b_author) = signed(b)?;
    if a.space() != Some(space) || b.space() != Some(space) {
        return Err(Refusal::WrongSpace.into());
    }
    if a.id() == b.id() {
        return Err(NoProof::SameId);
    }
    if a.id() > b.id() {
        return Err(NoProof::Order);
    }
    let proof = |kind, version: &Version, writer| LineProof {
        kind,
        writer,
        collection: version.collection().into(),
        from: version.log().n,
    };
    if is_break(&a, &b) {
        return Ok(proof(Kind::Break, &a, a_author));
    }
    if is_break(&b, &a) {
        return Ok(proof(Kind::Break, &b, b_author));
    }
    if is_one_line(&a, &b) && a.log().n == b.log().n {
        return Ok(proof(Kind::Fork, &a, a_author));
    }
    Err(NoProof::OneLine)
}

fn signed(value: &Value) -> Result<(Version, Did), Refusal> {
    let version = Version::shape(value.clone())?;
    check_id(&version)?;
    let key = author_key(&version)?;
    check_signature(&version, &key)?;
    Ok((version, key.did()))
}

/// Whether `version` names `before` as the place before it, and it is not.
fn is_break(version: &Version, before: &Version) -> bool {
    let log = version.log();
    let is_before = is_one_line(version, before) && log.n.checked_sub(1) == Some(before.log().n);
    log.prev == Some(before.id()) && !is_before
}

/// Whether both are of one key in one collection.
fn is_one_line(a: &Version, b: &Version) -> bool {
    a.author() == b.author() && a.collection() == b.collection()
}
