//! A space's constitution and its id (03 §1.1, §1.2).

mod check;
mod role;

pub use check::{ConstitutionError, Rule, Unknown};
pub use role::{
    FoundingGrant, FoundingRole, MAX_GRANTS, MAX_NESTS, MAX_TITLE, are_nests, is_role_name,
    is_title,
};

use crate::content_id::ContentId;
use crate::did::Did;
use crate::json::{Object, Text, Value};

/// Whether the bodies of a space's records are sealed (03 §8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Bodies are in the clear.
    Public,
    /// Bodies are sealed.
    Private,
}

/// The roles the constitution assigns one account (03 §1.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Assigned {
    /// The account, a string that begins `did:key:`.
    pub account: Text,
    /// 1 to 16 names of founding roles, each once.
    pub roles: Vec<Box<str>>,
}

/// The first keys of a private space (03 §1.1).
#[derive(Clone, Debug, PartialEq)]
pub struct FirstKeys {
    /// The public half of the first read key.
    pub read_key: Did,
    /// The id of the first space key, 22 base64url characters.
    pub encryption_key_id: Box<str>,
}

/// A constitution that passed 03 §1.2, and the id of the space it makes.
#[derive(Clone)]
pub struct Constitution {
    id: ContentId,
    object: Object,
    name: Text,
    founders: Vec<Text>,
    roles: Vec<FoundingRole>,
    assigned: Vec<Assigned>,
    succeeds: Option<ContentId>,
    first_keys: Option<FirstKeys>,
}

impl Constitution {
    /// Checks a space as it is handed around: its constitution with one more
    /// member, `id` (03 §1.2).
    ///
    /// # Errors
    /// [`ConstitutionError::NotJudged`] for one of a format, resolver or member
    /// this peer doesn't know: nobody can say whether it is good.
    /// [`ConstitutionError::Refused`] names the first rule that fails.
    pub fn check(space: Value) -> Result<Constitution, ConstitutionError> {
        check::check(space)
    }

    /// The space's id.
    pub fn id(&self) -> ContentId {
        self.id
    }

    /// The constitution itself, without `id`.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// The bytes whose content id is the space's id.
    pub fn canonical(&self) -> Vec<u8> {
        self.object.canonical()
    }

    /// The space as it is handed around, with its `id`.
    pub fn as_handed_around(&self) -> Object {
        let mut space = self.object.clone();
        space.insert("id", self.id.to_string());
        space
    }

    /// The display name, at most 100 code points.
    pub fn name(&self) -> &Text {
        &self.name
    }

    /// Whether bodies are sealed.
    pub fn visibility(&self) -> Visibility {
        if self.first_keys.is_some() {
            Visibility::Private
        } else {
            Visibility::Public
        }
    }

    /// Whether bodies are sealed, as a question.
    pub fn is_private(&self) -> bool {
        self.visibility() == Visibility::Private
    }

    /// Who no one else can remove: 1 to 16 strings that begin `did:key:`, not
    /// all of which need be keys. Empty under `top: "none"`.
    pub fn founders(&self) -> &[Text] {
        &self.founders
    }

    /// The roles it is founded with.
    pub fn roles(&self) -> &[FoundingRole] {
        &self.roles
    }

    /// The roles it assigns, by account in canonical order.
    pub fn assigned(&self) -> &[Assigned] {
        &self.assigned
    }

    /// The space this one succeeds.
    pub fn succeeds(&self) -> Option<ContentId> {
        self.succeeds
    }

    /// The first keys; `None` exactly in a public space.
    pub fn first_keys(&self) -> Option<&FirstKeys> {
        self.first_keys.as_ref()
    }

    /// The first read key of a private space.
    pub fn read_key(&self) -> Option<&Did> {
        self.first_keys().map(|keys| &keys.read_key)
    }

    /// The id of the first space key of a private space.
    pub fn encryption_key_id(&self) -> Option<&str> {
        self.first_keys().map(|keys| &*keys.encryption_key_id)
    }
}

/// Shows the id alone: what a space says of itself belongs in no log.
impl std::fmt::Debug for Constitution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Constitution")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
