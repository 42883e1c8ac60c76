//! Collection definitions: what their bodies say and when they count (02 §6).

mod network;
mod rules;
mod schema;

pub use rules::{KeyPart, Rules};

use crate::json::{Object, Value};
use crate::links::is_rel;
use crate::topics::Topic;

pub use crate::required::DEFINITIONS;
/// How the key of a definition's record begins; the name it defines follows.
pub const DEFINITION_KEY: &str = "collection:";

/// The largest `screen`, in bytes of UTF-8 (02 §10).
pub const MAX_SCREEN: usize = 49_152;

/// The most topics a collection has (02 §8.1).
pub const MAX_TOPICS: usize = 8;

/// What a host reads of a valid definition: the rules and topics of one
/// collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definition {
    /// The collection it defines.
    pub name: Box<str>,
    /// Its rules; [`Rules::default`] when it has none.
    pub rules: Rules,
    /// Its topics, at most 8.
    pub topics: Vec<Topic>,
}

/// The member of a definition's body that makes it invalid: it then counts as
/// none, and the version is kept all the same (02 §6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDefinition {
    /// The body is no object.
    #[error("a definition's body is a JSON object")]
    NotObject,
    /// `name`.
    #[error("`name` must be dotted lower-case words and not begin with `sys.`")]
    Name,
    /// The record key.
    #[error("the record key must be `collection:` and the name")]
    Key,
    /// `version`.
    #[error("`version` must be an integer from 1")]
    Version,
    /// `schema`.
    #[error("`schema` must be a schema of the dialect of 02 §6.2")]
    Schema,
    /// `title`.
    #[error("`title` must be a string")]
    Title,
    /// `description`.
    #[error("`description` must be a string")]
    Description,
    /// `history`.
    #[error("`history` must be `latest` or `all`")]
    History,
    /// `links`.
    #[error("`links` must say, for each role, what it links to")]
    Links,
    /// `rules`.
    #[error("`rules` may have `onePer`, `fixed` and `final` and nothing else")]
    Rules,
    /// `contract`.
    #[error("`contract` must be an object")]
    Contract,
    /// `topics`.
    #[error("`topics` must be at most {MAX_TOPICS} distinct field paths or link roles")]
    Topics,
    /// `screen`.
    #[error("`screen` must be a string that isn't blank, of at most {MAX_SCREEN} bytes")]
    Screen,
    /// `network`.
    #[error("`network` must be at most 8 distinct origins, beside a `screen`")]
    Network,
}

impl InvalidDefinition {
    /// One word for it: the member at fault.
    pub fn reason(&self) -> &'static str {
        match self {
            InvalidDefinition::NotObject => "not-object",
            InvalidDefinition::Name => "name",
            InvalidDefinition::Key => "key",
            InvalidDefinition::Version => "version",
            InvalidDefinition::Schema => "schema",
            InvalidDefinition::Title => "title",
            InvalidDefinition::Description => "description",
            InvalidDefinition::History => "history",
            InvalidDefinition::Links => "links",
            InvalidDefinition::Rules => "rules",
            InvalidDefinition::Contract => "contract",
            InvalidDefinition::Topics => "topics",
            InvalidDefinition::Screen => "screen",
            InvalidDefinition::Network => "network",
        }
    }
}

/// Reads the body of a definition, the record at `key` (02 §6.1). Unknown
/// members are ignored.
///
/// # Errors
/// The first member that is not as it must be.
pub fn read_definition(key: &str, body: &Value) -> Result<Definition, InvalidDefinition> {
    let body = body.as_object().ok_or(InvalidDefinition::NotObject)?;
    let name = body
        .get("name")
        .and_then(Value::as_str)
        .filter(|name| is_definable(name));
    let name = name.ok_or(InvalidDefinition::Name)?;
    if key.strip_prefix(DEFINITION_KEY) != Some(name) {
        return Err(InvalidDefinition::Key);
    }
    let version = body.get("version").and_then(Value::as_f64);
    if !version.is_some_and(|version| version >= 1.0 && version.trunc() == version) {
        return Err(InvalidDefinition::Version);
    }
    if !body.get("schema").is_some_and(schema::is_schema) {
        return Err(InvalidDefinition::Schema);
    }
    let is_text = |value: &Value| value.as_text().is_some();
    check(body, "title", is_text, InvalidDefinition::Title)?;
    check(body, "description", is_text, InvalidDefinition::Description)?;
    let is_history = |value: &Value| matches!(value.as_str(), Some("latest" | "all"));
    check(body, "history", is_history, InvalidDefinition::History)?;
    check(
        body,
        "links",
        are_link_declarations,
        InvalidDefinition::Links,
    )?;
    let rules = match body.get("rules") {
        None => Rules::default(),
        Some(rules) => Rules::read(rules).ok_or(InvalidDefinition::Rules)?,
    };
    check(
        body,
        "contract",
        |value| value.as_object().is_some(),
        InvalidDefinition::Contract,
    )?;
    let topics = match body.get("topics") {
        None => Vec::new(),
        Some(topics) => topics_of(topics).ok_or(InvalidDefinition::Topics)?,
    };
    check(
        body,
        "screen",
        network::is_screen,
        InvalidDefinition::Screen,
    )?;
    let has_screen = body.contains("screen");
    let is_network = |value: &Value| network::is_network(value, has_screen);
    check(body, "network", is_network, InvalidDefinition::Network)?;
    Ok(Definition {
        name: name.into(),
        rules,
        topics,
    })
}

/// Whether a collection can be defined by this name:
/// `^[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)+$`, not beginning `sys.` (02 §6.1).
pub fn is_definable(name: &str) -> bool {
    let is_word = |word: &str| {
        let mut bytes = word.bytes();
        bytes.next().is_some_and(|first| first.is_ascii_lowercase())
            && bytes.all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
    };
    name.contains('.') && name.split('.').all(is_word) && !name.starts_with("sys.")
}

/// Whether a body has the form of a sealed one, as it does in a private space
/// (03 §8.3): an object with the strings `sealed` and `keyId`. In a public
/// space such a body is read like any other (02 §6.1).
pub fn is_sealed_body(body: &Value) -> bool {
    let has_text = |object: &Object, name| object.get(name).is_some_and(|v| v.as_text().is_some());
    body.as_object()
        .is_some_and(|object| has_text(object, "sealed") && has_text(object, "keyId"))
}

fn check(
    body: &Object,
    name: &str,
    is_good: impl Fn(&Value) -> bool,
    otherwise: InvalidDefinition,
) -> Result<(), InvalidDefinition> {
    match body.get(name) {
        Some(value) if !is_good(value) => Err(otherwise),
        _ => Ok(()),
    }
}

fn topics_of(value: &Value) -> Option<Vec<Topic>> {
    let list = value.as_array()?;
    if list.len() > MAX_TOPICS {
        return None;
    }
    let mut topics = Vec::with_capacity(list.len());
    for topic in list {
        let topic = Topic::parse(topic.as_str()?)?;
        if topics.contains(&topic) {
            return None;
        }
        topics.push(topic);
    }
    Some(topics)
}

fn are_link_declarations(value: &Value) -> bool {
    let Some(object) = value.as_object() else {
        return false;
    };
    object.iter().all(|(name, declaration)| {
        name.as_str().is_some_and(is_rel) && is_link_declaration(declaration)
    })
}

fn is_link_declaration(value: &Value) -> bool {
    let Some(object) = value.as_object() else {
        return false;
    };
    let is_target = |to: &Value| match to.as_array() {
        Some(list) => !list.is_empty() && list.iter().all(|name| name.as_text().is_some()),
        None => to.as_str() == Some("*"),
    };
    let is_cardinality = |value: &Value| matches!(value.as_str(), Some("one" | "many"));
    object.get("to").is_some_and(is_target)
        && object.get("cardinality").is_none_or(is_cardinality)
        && object
            .get("description")
            .is_none_or(|value| value.as_text().is_some())
}
