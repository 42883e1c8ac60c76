//! Steps 1 to 6 of judging a version (02 §9): all that needs nothing but the
//! version and the space's id, so that any thread can make them and their
//! outcome never changes.

use super::{ShapeError, Version};
use crate::content_id::ContentId;
use crate::did::{Did, Dids};
use crate::hash::hex40;
use crate::json::{Text, Value};
use crate::note::{Note, NoteError};
use crate::record_key::owner_part;
use crate::required::{VersionAsked, required_of_version};
use crate::signature::PublicKey;

/// A version that passed [`check`], and whose it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The version.
    pub version: Version,
    /// The key that signed.
    pub author: Did,
    /// The account it speaks for: the note's issuer, or the author itself.
    pub root: Did,
}

impl Checked {
    /// A version that passed [`check`] when it was taken in, and was kept since by
    /// whoever asks: nothing that takes a hash or a signature is checked again.
    /// `None` for one that can't have passed. `dids` are those read before.
    pub fn kept(version: Version, dids: &mut Dids) -> Option<Checked> {
        let author = dids.parse(version.author().as_str()?).ok()?;
        let root = match version.proof() {
            None => author,
            Some(proof) => {
                let payload = proof.as_object()?.get("payload")?.as_object()?;
                dids.parse(payload.get("iss")?.as_str()?).ok()?
            }
        };
        Some(Checked {
            version,
            author,
            root,
        })
    }
}

/// Why a copy of a version is refused, for good: the first of steps 1 to 6 of
/// 02 §9 that fails. Says nothing of other copies with the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It isn't well-formed.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// It is of another space, or of none.
    #[error("`space` must be the id of the space it was sent to")]
    WrongSpace,
    /// It is retained and came without its body.
    #[error("a version with `retain` travels with its body, and this one came without")]
    RetainedStub,
    /// Its id isn't that of what is signed.
    #[error("`id` must be the content id of the version without `id`, `signature` and `body`")]
    IdMismatch,
    /// Its author is no key.
    #[error("`author` must be a P-256 did:key in its one spelling")]
    AuthorNotAKey,
    /// The author didn't sign it.
    #[error("`signature` doesn't verify under `author`")]
    SignatureInvalid,
    /// Its body is another one.
    #[error("`bodyHash` must be the content id of `body`")]
    BodyMismatch,
    /// Its note doesn't check out.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// Its note doesn't grant what it does.
    #[error("the note must grant the command that this version is judged by")]
    NoteScope,
    /// It begins a record at another account's key.
    #[error("a first version at an owned key must be by the owner")]
    KeyOwner,
}

impl Refusal {
    /// The protocol's word for it (02 §9).
    pub fn reason(&self) -> &'static str {
        match self {
            Refusal::Shape(error) => error.reason(),
            Refusal::WrongSpace => "wrong-space",
            Refusal::RetainedStub => "retained-stub",
            Refusal::IdMismatch => "id-mismatch",
            Refusal::AuthorNotAKey => "author-not-a-key",
            Refusal::SignatureInvalid => "signature-invalid",
            Refusal::BodyMismatch => "body-mismatch",
            Refusal::Note(NoteError::Shape(_)) => "note-shape",
            Refusal::Note(NoteError::Subject) => "note-subject",
            Refusal::Note(NoteError::Audience) => "note-audience",
            Refusal::Note(NoteError::Signature) => "note-signature",
            Refusal::NoteScope => "note-scope",
            Refusal::KeyOwner => "key-owner",
        }
    }
}

/// Checks one copy of a version as it arrives in `space`: steps 1 to 6 of
/// 02 §9, in their order.
///
/// The steps are functions of their own too, for whoever remembers keys, notes
/// or passes. A pass may be remembered under (id, signature), never under the
/// id alone; [`check_body`] is made on every copy all the same (02 §3.2, §3.3).
///
/// # Errors
/// The first step that fails.
pub fn check(value: Value, space: ContentId) -> Result<Checked, Refusal> {
    let version = Version::shape(value)?;
    check_place(&version, space)?;
    check_id(&version)?;
    let key = author_key(&version)?;
    check_signature(&version, &key)?;
    check_body(&version)?;
    let author = key.did();
    let root = check_note(&version, &author, space)?;
    check_owner(&version, &root)?;
    Ok(Checked {
        version,
        author,
        root,
    })
}

/// Steps 2 and 3: the version is of this space, and no stub of a version that
/// travels whole.
///
/// # Errors
/// [`Refusal::WrongSpace`], [`Refusal::RetainedStub`].
pub fn check_place(version: &Version, space: ContentId) -> Result<(), Refusal> {
    if version.space() != Some(space) {
        return Err(Refusal::WrongSpace);
    }
    if version.retain() && version.is_stub() {
        return Err(Refusal::RetainedStub);
    }
    Ok(())
}

/// 02 §3.3, 1: the id is that of what is signed.
///
/// # Errors
/// [`Refusal::IdMismatch`].
pub fn check_id(version: &Version) -> Result<(), Refusal> {
    if ContentId::of(version.signed_part()) == version.id() {
        return Ok(());
    }
    Err(Refusal::IdMismatch)
}

/// 02 §3.3, 2: the author is a key.
///
/// # Errors
/// [`Refusal::AuthorNotAKey`].
pub fn author_key(version: &Version) -> Result<PublicKey, Refusal> {
    let author = version.author().as_str().ok_or(Refusal::AuthorNotAKey)?;
    PublicKey::parse(author).map_err(|_| Refusal::AuthorNotAKey)
}

/// 02 §3.3, 3: the author signed it. `key` is the author's, as [`author_key`]
/// or a memory of it gives it.
///
/// # Errors
/// [`Refusal::SignatureInvalid`].
pub fn check_signature(version: &Version, key: &PublicKey) -> Result<(), Refusal> {
    if key.verify(version.signed_part(), version.signature()) {
        return Ok(());
    }
    Err(Refusal::SignatureInvalid)
}

/// 02 §3.3, 4: a body that is there is the one that was signed for. Made on
/// every copy, whatever is remembered of its signature, which doesn't cover
/// the body.
///
/// # Errors
/// [`Refusal::BodyMismatch`].
pub fn check_body(version: &Version) -> Result<(), Refusal> {
    let Some(body) = version.body_canonical().filter(|_| !version.deleted()) else {
        return Ok(());
    };
    let claimed = version.body_hash().and_then(Text::as_str);
    let claimed = claimed.and_then(|hash| ContentId::parse(hash).ok());
    if claimed == Some(ContentId::of(body)) {
        return Ok(());
    }
    Err(Refusal::BodyMismatch)
}

/// Step 5: the note checks out for `author` and grants what the version does.
/// Gives the root, which without a note is the author (02 §9.3).
///
/// # Errors
/// [`Refusal::Note`], [`Refusal::NoteScope`].
pub fn check_note(version: &Version, author: &Did, space: ContentId) -> Result<Did, Refusal> {
    let Some(proof) = version.proof() else {
        return Ok(*author);
    };
    let note = Note::check(proof, author)?;
    check_scope(version, &note, space)?;
    Ok(note.root())
}

/// The second half of step 5, for a note that is known to check out for the
/// version's author: it grants what the version does (01 §8).
///
/// # Errors
/// [`Refusal::NoteScope`].
pub fn check_scope(version: &Version, note: &Note, space: ContentId) -> Result<(), Refusal> {
    let asked = VersionAsked {
        space: &space.to_string(),
        collection: &Text::from(version.collection()),
        key: version.key(),
        is_delete: version.deleted(),
        // A host can't tell an account's own spaces from others (01 §8).
        in_own_space: false,
    };
    let required = required_of_version(asked).map_err(|_| Refusal::NoteScope)?;
    if note.grants_all(&required) {
        Ok(())
    } else {
        Err(Refusal::NoteScope)
    }
}

/// Step 6: a first version at an owned key is by its owner (02 §4.1).
///
/// # Errors
/// [`Refusal::KeyOwner`].
pub fn check_owner(version: &Version, root: &Did) -> Result<(), Refusal> {
    if version.seq() > 0 {
        return Ok(());
    }
    match owner_part(version.key()) {
        Some(owner) if owner != hex40(&root.to_string()) => Err(Refusal::KeyOwner),
        _ => Ok(()),
    }
}
