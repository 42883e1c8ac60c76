//! Judging a version by the definition in force: `final`, tags, `retain`,
//! `onePer` and `fixed` (02 §7, §8.4; steps 4 and 6–9 of §9.4 B).

use std::collections::BTreeSet;

use crate::definition::{DEFINITIONS, Definition, is_sealed_body, read_definition};
use crate::json::{Text, Value};
use crate::one_per::{OnePerKey, derived_key};
use crate::topics::{TagKey, tags};
use crate::version::Version;

/// The rule a version breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleRefusal {
    /// `final` takes no later version.
    #[error("the collection is final: it takes first versions only")]
    Final,
    /// `tags` aren't those of its topics.
    #[error("`tags` must be those that the collection's topics give")]
    Tags,
    /// A first version that others are measured by isn't kept whole.
    #[error("a first version under `onePer` or `fixed` must carry `retain`")]
    NotRetained,
    /// The key isn't the derived one.
    #[error("the key of a first version must be the one that `onePer` derives")]
    OnePer,
    /// A field isn't the first version's.
    #[error("a field under `fixed` must be as it is in the first version")]
    Fixed,
}

impl RuleRefusal {
    /// The protocol's word for it (02 §9.4).
    pub fn reason(&self) -> &'static str {
        match self {
            RuleRefusal::Final => "final",
            RuleRefusal::Tags => "tags",
            RuleRefusal::NotRetained => "not-retained",
            RuleRefusal::OnePer => "one-per",
            RuleRefusal::Fixed => "fixed",
        }
    }
}

/// What the host can read of a space's bodies (02 §7.2).
#[derive(Clone)]
pub enum Sight {
    /// A public space: every body it has, and the tags they must have.
    Public(TagKey),
    /// A private space of which the host has no key: only bodies that aren't
    /// sealed, and no tags or derived keys.
    Blind,
}

impl Sight {
    /// The body as far as it can be read.
    pub fn body<'a>(&self, body: Option<&'a Value>) -> Option<&'a Value> {
        match self {
            Sight::Public(_) => body,
            Sight::Blind => body.filter(|body| !is_sealed_body(body)),
        }
    }

    /// What the version of a definition says, as far as it can be read. `None`
    /// for what counts as no definition: a delete, an invalid one, one whose
    /// body is sealed or isn't held (02 §6.1).
    pub fn definition(&self, version: &Version) -> Option<Definition> {
        if version.deleted() || version.collection() != DEFINITIONS {
            return None;
        }
        read_definition(version.key(), self.body(version.body())?).ok()
    }
}

/// Reads what is held of a record's first version, for `fixed`.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstVersion<'a> {
    /// Whether it carries `retain`: otherwise nothing is compared.
    pub retain: bool,
    /// Its body, if it is held whole.
    pub body: Option<&'a Value>,
}

impl<'a> From<&'a Version> for FirstVersion<'a> {
    fn from(version: &'a Version) -> FirstVersion<'a> {
        FirstVersion {
            retain: version.retain(),
            body: version.body(),
        }
    }
}

/// Whether rules and topics apply in a collection at all: not in `sys.*`.
pub fn has_rules(collection: &str) -> bool {
    !collection.starts_with("sys.")
}

/// Step 4 of 02 §9.4 B: `final`. `definition` is the one in force as of the
/// version's `seen`, if any is.
///
/// # Errors
/// [`RuleRefusal::Final`].
pub fn check_final(definition: Option<&Definition>, version: &Version) -> Result<(), RuleRefusal> {
    let is_final = definition.is_some_and(|definition| definition.rules.is_final);
    if is_final && version.seq() > 0 && has_rules(version.collection()) {
        return Err(RuleRefusal::Final);
    }
    Ok(())
}

/// Steps 6–9 of 02 §9.4 B, in their order: tags, `retain`, `onePer`, `fixed`.
/// They apply outside `sys.*`, with a definition in force, and not to deletes;
/// and to a version that is withdrawn like to one that stands.
///
/// `root` is the DID of the version's account, `first` the version its
/// `genesis` names, which isn't read for a first version.
///
/// # Errors
/// The first rule that is broken.
pub fn check_rules(
    sight: &Sight,
    definition: Option<&Definition>,
    version: &Version,
    root: &str,
    first: FirstVersion<'_>,
) -> Result<(), RuleRefusal> {
    let Some(definition) = definition else {
        return Ok(());
    };
    if version.deleted() || !has_rules(version.collection()) {
        return Ok(());
    }
    check_tags(sight, definition, version)?;
    check_retain(definition, version)?;
    check_one_per(sight, definition, version, root)?;
    check_fixed(sight, definition, version, first)
}

/// 02 §8.4.
fn check_tags(
    sight: &Sight,
    definition: &Definition,
    version: &Version,
) -> Result<(), RuleRefusal> {
    let (Sight::Public(tag_key), Some(body)) = (sight, version.body()) else {
        return Ok(());
    };
    let due = tags(
        tag_key,
        version.collection(),
        &definition.topics,
        body,
        &version.links().collect::<Vec<_>>(),
    );
    let has: BTreeSet<&str> = version.tags().collect();
    if due.iter().map(String::as_str).eq(has) {
        Ok(())
    } else {
        Err(RuleRefusal::Tags)
    }
}

/// 02 §4.5: a first version that `onePer` or `fixed` measure others by.
fn check_retain(definition: &Definition, version: &Version) -> Result<(), RuleRefusal> {
    let rules = &definition.rules;
    let is_measure = rules.one_per.is_some() || rules.fixed.is_some();
    if version.seq() == 0 && is_measure && !version.retain() {
        return Err(RuleRefusal::NotRetained);
    }
    Ok(())
}

/// 02 §7.3.
fn check_one_per(
    sight: &Sight,
    definition: &Definition,
    version: &Version,
    root: &str,
) -> Result<(), RuleRefusal> {
    let (Sight::Public(_), Some(parts), Some(body)) =
        (sight, &definition.rules.one_per, version.body())
    else {
        return Ok(());
    };
    if version.seq() > 0 {
        return Ok(());
    }
    let key = derived_key(
        &OnePerKey::public(),
        version.collection(),
        parts,
        root,
        body,
        &version.links().collect::<Vec<_>>(),
    );
    if key.as_deref() == Some(version.key()) {
        Ok(())
    } else {
        Err(RuleRefusal::OnePer)
    }
}

/// 02 §7.4.
fn check_fixed(
    sight: &Sight,
    definition: &Definition,
    version: &Version,
    first: FirstVersion<'_>,
) -> Result<(), RuleRefusal> {
    let (Some(fields), true) = (&definition.rules.fixed, version.seq() > 0 && first.retain) else {
        return Ok(());
    };
    let (Some(body), Some(first)) = (sight.body(version.body()), sight.body(first.body)) else {
        return Ok(());
    };
    let all_kept = fields
        .iter()
        .all(|name| field(body, name) == field(first, name));
    if all_kept {
        Ok(())
    } else {
        Err(RuleRefusal::Fixed)
    }
}

/// A top-level field; a body that is no object has none.
fn field<'a>(body: &'a Value, name: &Text) -> Option<&'a Value> {
    body.as_object()?.get_text(name)
}
