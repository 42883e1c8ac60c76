//! The rules of the definition in force (02 §7, §9.4 B steps 4 and 6 to 9), as a host
//! judges them.

use minca_record::content_id::ContentId;
use minca_record::definition::Definition;
use minca_record::rules::{FirstVersion, RuleRefusal, Sight, check_final, check_rules};
use minca_record::version::{Checked, Version};

use super::facts::{DefinitionFacts, Mention};
use super::held::{Access, Held};
use super::step::{Ruling, Verdict, WhichStep};

const FINAL: &str = "final";
const TAGS: &str = "tags";
const ONE_PER: &str = "onePer";
const FIXED: &str = "fixed";

/// What a version's collection asks of it.
pub(super) struct Rules {
    pub(super) facts: Option<DefinitionFacts>,
    /// Rules that can't be checked here, by name.
    pub(super) unchecked: Vec<&'static str>,
    definition: Option<Definition>,
}

impl Rules {
    fn of(facts: Option<DefinitionFacts>) -> Rules {
        Rules {
            facts,
            unchecked: Vec::new(),
            definition: None,
        }
    }

    /// In `sys.*`.
    pub(super) fn none_asked() -> Rules {
        Rules::of(Some(DefinitionFacts::NotAsked))
    }

    /// No definition is in force.
    pub(super) fn none() -> Rules {
        Rules::of(Some(DefinitionFacts::None))
    }

    /// What the version's writer saw isn't known.
    pub(super) fn unknown() -> Rules {
        Rules::of(None)
    }

    pub(super) fn contested(events: Vec<Mention>) -> Rules {
        Rules::of(Some(DefinitionFacts::Contested(events)))
    }

    pub(super) fn in_force(
        event: Mention,
        definition: Option<Definition>,
        sight: &Sight,
        version: &Version,
        first: FirstVersion<'_>,
    ) -> Rules {
        let rules = definition.as_ref().map(names);
        let unchecked = definition.as_ref();
        let unchecked =
            unchecked.map_or_else(Vec::new, |it| unchecked_of(it, sight, version, first));
        Rules {
            facts: Some(DefinitionFacts::InForce { event, rules }),
            unchecked,
            definition,
        }
    }

    /// The first rule the version breaks.
    pub(super) fn broken(
        &self,
        sight: &Sight,
        checked: &Checked,
        first: FirstVersion<'_>,
    ) -> Option<Ruling> {
        let definition = self.definition.as_ref();
        let version = &checked.version;
        let root = checked.root.to_string();
        let broken = check_final(definition, version)
            .and_then(|()| check_rules(sight, definition, version, &root, first))
            .err()?;
        let step = match broken {
            RuleRefusal::Final => "5.2.9",
            RuleRefusal::Tags
            | RuleRefusal::NotRetained
            | RuleRefusal::OnePer
            | RuleRefusal::Fixed => "5.2.11",
        };
        Some(Ruling {
            verdict: Verdict::Refused,
            step: WhichStep::of_03(step),
            reason: Some(broken.reason()),
            rule: broken.to_string(),
        })
    }
}

/// What a definition asks for, by the protocol's names.
fn names(definition: &Definition) -> Vec<&'static str> {
    let rules = &definition.rules;
    let asked = [
        (rules.is_final, FINAL),
        (!definition.topics.is_empty(), TAGS),
        (rules.one_per.is_some(), ONE_PER),
        (rules.fixed.is_some(), FIXED),
    ];
    let asked = asked.into_iter().filter(|(is_asked, _)| *is_asked);
    asked.map(|(_, name)| name).collect()
}

/// What of it would apply to the version and can't be checked with what can be read here
/// (02 §7.2).
fn unchecked_of(
    definition: &Definition,
    sight: &Sight,
    version: &Version,
    first: FirstVersion<'_>,
) -> Vec<&'static str> {
    if version.deleted() {
        return Vec::new();
    }
    let rules = &definition.rules;
    let has_keys = matches!(sight, Sight::Public(_));
    let body_is_read = sight.body(version.body()).is_some();
    let both_are_read = body_is_read && sight.body(first.body).is_some();
    let can_derive = has_keys && body_is_read;
    let is_measured = version.seq() > 0 && first.retain;
    let applying = [
        (!definition.topics.is_empty() && !can_derive, TAGS),
        (
            rules.one_per.is_some() && version.seq() == 0 && !can_derive,
            ONE_PER,
        ),
        (
            rules.fixed.is_some() && is_measured && !both_are_read,
            FIXED,
        ),
    ];
    let unchecked = applying
        .into_iter()
        .filter(|(is_unchecked, _)| *is_unchecked);
    unchecked.map(|(_, name)| name).collect()
}

impl Held {
    /// What a definition's version says, as far as a host of the space reads it.
    pub(super) fn definition(&self, event: &ContentId) -> Option<Definition> {
        match self.access.get(event) {
            Some(Access::Event(both)) => self.sight.definition(&both.0.version),
            _ => None,
        }
    }
}
