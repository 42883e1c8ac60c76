//! Checking a constitution, rule by rule (03 §1.2).

use super::role::{self, FoundingRole};
use super::{Assigned, Constitution, FirstKeys};
use crate::base64url::is_base64url;
use crate::content_id::ContentId;
use crate::did::Did;
use crate::json::{Object, Text, Value};
use crate::time::is_iso_string;

/// The only format known.
const FORMAT: &str = "constitution/1";

/// The only resolver known (03 §4).
const RESOLVER: &str = "strong-remove/1";

/// The members of 03 §1.1, and `id`.
const MEMBERS: [&str; 13] = [
    "assigned",
    "createdAt",
    "encryptionKeyId",
    "id",
    "minca",
    "name",
    "nonce",
    "readKey",
    "resolver",
    "roles",
    "succeeds",
    "top",
    "visibility",
];

const MAX_NAME: usize = 100;
const MAX_FOUNDERS: usize = 16;
const MAX_ROLES: usize = 64;
const MAX_ASSIGNED: usize = 64;
const MAX_ROLES_ASSIGNED: usize = 16;
const NONCE_LEN: usize = 16;
const KEY_ID_LEN: usize = 22;

/// Why a space was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConstitutionError {
    /// It is of another version of the protocol, and says nothing to this one.
    #[error("this peer can't judge the space: {0}")]
    NotJudged(Unknown),
    /// It is bad under the rules it names.
    #[error("the constitution is no good: {0}")]
    Refused(Rule),
}

/// What makes a constitution one that this peer can't judge (03 §1.2, 1–3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// Its `minca`.
    #[error("its format isn't `constitution/1`")]
    Format,
    /// Its `resolver`.
    #[error("its resolver isn't `strong-remove/1`")]
    Resolver,
    /// A member.
    #[error("it has a member that `constitution/1` doesn't have")]
    Member,
}

/// The rule a constitution breaks (03 §1.2, 4–10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rule {
    /// It is no object at all.
    #[error("a space is a JSON object")]
    NotObject,
    /// `name`.
    #[error("`name` must be a string of at most 100 code points")]
    Name,
    /// `visibility`.
    #[error("`visibility` must be `public` or `private`")]
    Visibility,
    /// `createdAt`.
    #[error("`createdAt` must be a time written YYYY-MM-DDTHH:mm:ss.sssZ")]
    CreatedAt,
    /// `nonce`.
    #[error("`nonce` must be 16 base64url characters")]
    Nonce,
    /// `top`.
    #[error("`top` must be `none` or an object with only `founders`, 1 to 16 distinct did:key")]
    Top,
    /// `roles`.
    #[error("`roles` must be at most 64 well-formed roles with distinct names")]
    Roles,
    /// `assigned`.
    #[error(
        "`assigned` must give 1 to 64 did:key accounts 1 to 16 distinct founding roles each, and \
         be there when nobody is at the top"
    )]
    Assigned,
    /// `succeeds`.
    #[error("`succeeds` must be a space id")]
    Succeeds,
    /// `readKey` of a private space.
    #[error("`readKey` of a private space must be a P-256 did:key")]
    ReadKey,
    /// `encryptionKeyId` of a private space.
    #[error("`encryptionKeyId` of a private space must be 22 base64url characters")]
    EncryptionKeyId,
    /// Keys in a public space.
    #[error("a public space has no `readKey` and no `encryptionKeyId`")]
    Keys,
    /// `id`.
    #[error("`id` must be the content id of the constitution")]
    Id,
}

impl ConstitutionError {
    /// One word for it: the member or matter at fault.
    pub fn reason(&self) -> &'static str {
        match self {
            ConstitutionError::NotJudged(Unknown::Format) => "format",
            ConstitutionError::NotJudged(Unknown::Resolver) => "resolver",
            ConstitutionError::NotJudged(Unknown::Member) => "member",
            ConstitutionError::Refused(rule) => rule.reason(),
        }
    }
}

impl Rule {
    fn reason(&self) -> &'static str {
        match self {
            Rule::NotObject => "not-object",
            Rule::Name => "name",
            Rule::Visibility => "visibility",
            Rule::CreatedAt => "createdAt",
            Rule::Nonce => "nonce",
            Rule::Top => "top",
            Rule::Roles => "roles",
            Rule::Assigned => "assigned",
            Rule::Succeeds => "succeeds",
            Rule::ReadKey => "readKey",
            Rule::EncryptionKeyId => "encryptionKeyId",
            Rule::Keys => "keys",
            Rule::Id => "id",
        }
    }
}

impl From<Unknown> for ConstitutionError {
    fn from(unknown: Unknown) -> ConstitutionError {
        ConstitutionError::NotJudged(unknown)
    }
}

impl From<Rule> for ConstitutionError {
    fn from(rule: Rule) -> ConstitutionError {
        ConstitutionError::Refused(rule)
    }
}

pub(super) fn check(space: Value) -> Result<Constitution, ConstitutionError> {
    let mut object = space.into_object().ok_or(Rule::NotObject)?;
    check_known(&object)?;

    let name = name(&object).ok_or(Rule::Name)?;
    let is_private = visibility(&object).ok_or(Rule::Visibility)?;
    let created_at = text_of(&object, "createdAt").ok_or(Rule::CreatedAt)?;
    if !is_iso_string(created_at) {
        return Err(Rule::CreatedAt.into());
    }
    if !is_base64url_of(&object, "nonce", NONCE_LEN) {
        return Err(Rule::Nonce.into());
    }
    let founders = founders(&object).ok_or(Rule::Top)?;
    let roles = roles(&object).ok_or(Rule::Roles)?;
    let assigned = assigned(&object, &roles).ok_or(Rule::Assigned)?;
    if founders.is_empty() && assigned.is_empty() {
        return Err(Rule::Assigned.into());
    }
    let succeeds = succeeds(&object)?;
    let first_keys = first_keys(&object, is_private)?;

    let claimed = object.remove("id");
    let id = ContentId::of(&object.canonical());
    let claims_it = claimed.is_some_and(|claimed| claimed.as_str() == Some(&*id.to_string()));
    if !claims_it {
        return Err(Rule::Id.into());
    }
    Ok(Constitution {
        id,
        object,
        name,
        founders,
        roles,
        assigned,
        succeeds,
        first_keys,
    })
}

/// Whether this peer can judge the constitution at all.
fn check_known(object: &Object) -> Result<(), Unknown> {
    if text_of(object, "minca") != Some(FORMAT) {
        return Err(Unknown::Format);
    }
    if text_of(object, "resolver") != Some(RESOLVER) {
        return Err(Unknown::Resolver);
    }
    let known = |name: &Text| name.as_str().is_some_and(|name| MEMBERS.contains(&name));
    if object.iter().any(|(name, _)| !known(name)) {
        return Err(Unknown::Member);
    }
    Ok(())
}

fn name(object: &Object) -> Option<Text> {
    let name = object.get("name")?.as_text()?;
    (name.code_points() <= MAX_NAME).then(|| name.clone())
}

/// Whether it is private.
fn visibility(object: &Object) -> Option<bool> {
    match text_of(object, "visibility")? {
        "public" => Some(false),
        "private" => Some(true),
        _ => None,
    }
}

/// The founders; none under `top: "none"`.
fn founders(object: &Object) -> Option<Vec<Text>> {
    let top = object.get("top")?;
    if top.as_str() == Some("none") {
        return Some(Vec::new());
    }
    let top = top.as_object().filter(|top| top.len() == 1)?;
    let list = top.get("founders")?.as_array()?;
    if !(1..=MAX_FOUNDERS).contains(&list.len()) {
        return None;
    }
    let founders: Vec<Text> = list
        .iter()
        .map(|did| did.as_text().cloned())
        .collect::<Option<_>>()?;
    (founders.iter().all(is_account) && all_distinct(&founders)).then_some(founders)
}

fn roles(object: &Object) -> Option<Vec<FoundingRole>> {
    let list = object.get("roles")?.as_array()?;
    if list.len() > MAX_ROLES {
        return None;
    }
    let roles: Vec<FoundingRole> = list.iter().map(role::read).collect::<Option<_>>()?;
    let names: Vec<&str> = roles.iter().map(|role| &*role.name).collect();
    all_distinct(&names).then_some(roles)
}

fn assigned(object: &Object, founding: &[FoundingRole]) -> Option<Vec<Assigned>> {
    let Some(assigned) = object.get("assigned") else {
        return Some(Vec::new());
    };
    let assigned = assigned.as_object()?;
    if !(1..=MAX_ASSIGNED).contains(&assigned.len()) {
        return None;
    }
    let one = |(account, names): (&Text, &Value)| {
        let names = names.as_array()?;
        if !is_account(account) || !(1..=MAX_ROLES_ASSIGNED).contains(&names.len()) {
            return None;
        }
        let is_founding = |name: &&str| founding.iter().any(|role| *role.name == **name);
        let names: Vec<&str> = names
            .iter()
            .map(|name| name.as_str().filter(is_founding))
            .collect::<Option<_>>()?;
        let roles = names.iter().map(|name| (*name).into()).collect();
        all_distinct(&names).then(|| Assigned {
            account: account.clone(),
            roles,
        })
    };
    assigned.iter().map(one).collect()
}

fn succeeds(object: &Object) -> Result<Option<ContentId>, Rule> {
    let Some(succeeds) = object.get("succeeds") else {
        return Ok(None);
    };
    let id = succeeds
        .as_str()
        .and_then(|text| ContentId::parse(text).ok());
    id.map(Some).ok_or(Rule::Succeeds)
}

fn first_keys(object: &Object, is_private: bool) -> Result<Option<FirstKeys>, Rule> {
    if !is_private {
        let has_keys = object.contains("readKey") || object.contains("encryptionKeyId");
        return if has_keys { Err(Rule::Keys) } else { Ok(None) };
    }
    let read_key = text_of(object, "readKey").and_then(|text| Did::parse(text).ok());
    let read_key = read_key.ok_or(Rule::ReadKey)?;
    if !is_base64url_of(object, "encryptionKeyId", KEY_ID_LEN) {
        return Err(Rule::EncryptionKeyId);
    }
    let encryption_key_id = text_of(object, "encryptionKeyId")
        .unwrap_or_default()
        .into();
    Ok(Some(FirstKeys {
        read_key,
        encryption_key_id,
    }))
}

/// Whether it is an account as a constitution takes one: any string that
/// begins so, a P-256 key or not (03 §1.2, 5).
fn is_account(text: &Text) -> bool {
    text.as_wtf8().starts_with(b"did:key:")
}

fn text_of<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    object.get(name)?.as_str()
}

fn is_base64url_of(object: &Object, name: &str, len: usize) -> bool {
    text_of(object, name).is_some_and(|text| is_base64url(text, len))
}

fn all_distinct<T: Ord>(items: &[T]) -> bool {
    let mut sorted: Vec<&T> = items.iter().collect();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}
