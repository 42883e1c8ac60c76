//! The rules a definition may have (02 §7.5).

use crate::json::{Text, Value};

/// The rules of a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// What there is at most one record per; `None` without the rule.
    pub one_per: Option<Vec<KeyPart>>,
    /// Body fields that keep the first version's value; `None` without the
    /// rule. Field names, taken literally.
    pub fixed: Option<Vec<Text>>,
    /// Whether no version but a first one is taken.
    pub is_final: bool,
}

/// One part of `onePer` (02 §7.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPart {
    /// `@author`: the account that writes.
    Author,
    /// `link:<rel>`: what the first link of this role points at.
    Link(Text),
    /// A top-level field of the body, taken literally.
    Field(Text),
}

impl Rules {
    /// Reads `rules`: an object with no members but `onePer` and `fixed`,
    /// non-empty lists of non-empty strings, and `final`, `true`.
    pub fn read(value: &Value) -> Option<Rules> {
        let object = value.as_object()?;
        let mut rules = Rules::default();
        for (name, value) in object.iter() {
            match name.as_str()? {
                "onePer" => {
                    rules.one_per = Some(names(value)?.into_iter().map(KeyPart::read).collect());
                }
                "fixed" => rules.fixed = Some(names(value)?.into_iter().cloned().collect()),
                "final" if value.as_bool() == Some(true) => rules.is_final = true,
                _ => return None,
            }
        }
        Some(rules)
    }
}

impl KeyPart {
    fn read(part: &Text) -> KeyPart {
        match part.as_str() {
            Some("@author") => KeyPart::Author,
            Some(text) => match text.strip_prefix("link:") {
                Some(rel) => KeyPart::Link(rel.into()),
                None => KeyPart::Field(part.clone()),
            },
            // No prefix of ours holds a lone surrogate, and a link's role can't.
            None => KeyPart::Field(part.clone()),
        }
    }
}

/// A non-empty list of non-empty strings.
fn names(value: &Value) -> Option<Vec<&Text>> {
    let list = value.as_array().filter(|list| !list.is_empty())?;
    list.iter()
        .map(|name| name.as_text().filter(|name| !name.is_empty()))
        .collect()
}
