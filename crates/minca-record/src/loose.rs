//! Loose versions: signed statements of no space, such as invitations (02
//! §3.5).

use crate::base64url;
use crate::content_id::ContentId;
use crate::did::Did;
use crate::json::{Object, Text, Value};
use crate::note::{Note, NoteError};
use crate::signing::SigningKey;
use crate::time::parse_date_time;
use crate::version::{
    Refusal, ShapeError, UNSIGNED, Version, author_key, check_body, check_id, check_signature,
};

/// The collection of invitations (03 §7.4).
pub const INVITATIONS: &str = "sys.invitation";

/// What only a version of a space has.
const NOT_IN_A_LOOSE_ONE: [&str; 7] = [
    "space", "prev", "genesis", "seen", "log", "retain", "deleted",
];

/// A loose version that is valid. It never joins a space's records.
#[derive(Clone, Debug)]
pub struct Loose {
    version: Version,
    author: Did,
    note: Option<Note>,
}

/// Why a value is no valid loose version (02 §3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LooseRefusal {
    /// It isn't well-formed.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// It has what only a version of a space has, or lacks its body.
    #[error(
        "a loose version has a body, `seq` 0, and none of `space`, `prev`, `genesis`, `seen`, \
         `log`, `retain` and `deleted`"
    )]
    NotLoose,
    /// Its signature or body don't check out.
    #[error(transparent)]
    Signature(Refusal),
    /// Its note doesn't check out.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// Its note isn't in time.
    #[error("`createdAt` must be a time at which the note is valid")]
    NoteTime,
}

impl LooseRefusal {
    /// One word for it, the protocol's where it has one.
    pub fn reason(&self) -> &'static str {
        match self {
            LooseRefusal::Shape(error) => error.reason(),
            LooseRefusal::NotLoose => "not-loose",
            LooseRefusal::Signature(refusal) => refusal.reason(),
            LooseRefusal::Note(error) => Refusal::Note(*error).reason(),
            LooseRefusal::NoteTime => "note-time",
        }
    }
}

impl Loose {
    /// Checks a loose version (02 §3.5). What its note must grant depends on
    /// its use, and is left to the caller: [`Loose::note`].
    ///
    /// # Errors
    /// The first check that fails.
    pub fn check(value: Value) -> Result<Loose, LooseRefusal> {
        let version = Version::loose_shape(value)?;
        let has_more = NOT_IN_A_LOOSE_ONE
            .iter()
            .any(|name| version.object().contains(name));
        if has_more || version.seq() > 0 || version.body().is_none() {
            return Err(LooseRefusal::NotLoose);
        }
        let author = check_signed(&version).map_err(LooseRefusal::Signature)?;
        let note = match version.proof() {
            None => None,
            Some(proof) => Some(Note::check(proof, &author)?),
        };
        if note
            .as_ref()
            .is_some_and(|note| !is_in_time(note, version.created_at()))
        {
            return Err(LooseRefusal::NoteTime);
        }
        Ok(Loose {
            version,
            author,
            note,
        })
    }

    /// Its collection, which says what it is.
    pub fn collection(&self) -> &str {
        self.version.collection()
    }

    /// Its body.
    pub fn body(&self) -> &Value {
        self.version.body().unwrap_or(&Value::Null)
    }

    /// What the writer's clock said.
    pub fn created_at(&self) -> &Text {
        self.version.created_at()
    }

    /// The key that signed.
    pub fn author(&self) -> Did {
        self.author
    }

    /// The account it speaks for.
    pub fn root(&self) -> Did {
        self.note.as_ref().map_or(self.author, Note::root)
    }

    /// The note its author signed under, valid at `createdAt`; `None` when the
    /// author is the account itself.
    pub fn note(&self) -> Option<&Note> {
        self.note.as_ref()
    }
}

/// A loose version to be signed, as a member does. Nothing of it is checked; a
/// reader will.
#[derive(Clone, Debug)]
pub struct LooseDraft<'a> {
    /// Its collection.
    pub collection: &'a str,
    /// Its record key, which nobody else is to have.
    pub key: &'a str,
    /// When it is signed, as `toISOString` writes it.
    pub created_at: &'a str,
    /// The note to sign under; `None` for the account itself.
    pub note: Option<Value>,
    /// Its body.
    pub body: Value,
}

impl LooseDraft<'_> {
    /// Signs it as `author` (02 §3.2).
    pub fn sign(self, author: &SigningKey) -> Object {
        let body_hash = ContentId::of(&self.body.canonical());
        let mut version = Object::from([
            ("author", Value::from(author.did().to_string())),
            ("collection", self.collection.into()),
            ("createdAt", self.created_at.into()),
            ("key", self.key.into()),
            ("seq", 0u32.into()),
            ("bodyHash", body_hash.to_string().into()),
            ("body", self.body),
        ]);
        if let Some(note) = self.note {
            version.insert("proof", note);
        }
        let mut signed = Vec::new();
        version.write_canonical_without(&UNSIGNED, &mut signed);
        version.insert("id", ContentId::of(&signed).to_string());
        version.insert("signature", base64url::encode(&author.sign(&signed)));
        version
    }
}

fn check_signed(version: &Version) -> Result<Did, Refusal> {
    check_id(version)?;
    let key = author_key(version)?;
    check_signature(version, &key)?;
    check_body(version)?;
    Ok(key.did())
}

/// Whether the note is in time at `created_at`, which must be a time (01
/// §7.6).
fn is_in_time(note: &Note, created_at: &Text) -> bool {
    let Some(ms) = created_at.as_str().and_then(parse_date_time) else {
        return false;
    };
    // Notes count from 1970; before that, ours, none is in time.
    u64::try_from(ms.div_euclid(1000)).is_ok_and(|at| note.in_time(at))
}
