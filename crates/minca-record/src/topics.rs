//! Topics and the blind tags they give (02 §8).

use std::collections::BTreeSet;

use aws_lc_rs::hmac;

use crate::base64url;
use crate::content_id::ContentId;
use crate::derive::{SpaceKey, hkdf};
use crate::json::Value;
use crate::links::{Link, is_rel};

/// The most tags a version carries (02 §8.3).
pub use crate::version::MAX_TAGS;

/// The most parts of a field path.
const MAX_PATH_PARTS: usize = 4;

/// The longest part of a field path.
const MAX_PATH_PART: usize = 64;

/// How many bytes of the MAC make a tag.
const TAG_BYTES: usize = 16;

/// Labels of ours, by substitution (02 §8.2).
const PUBLIC_TOPICS: &str = "minca/public-topics/v1|";
const TOPIC_TAGS: &str = "minca/topic-tags/v1";

/// A topic: where in a version the values are that it is found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topic {
    /// A path of 1 to 4 field names, as it is written.
    Path(Box<str>),
    /// A role of links, without the `link:` before it.
    Link(Box<str>),
}

impl Topic {
    /// Reads a topic (02 §8.1): names joined by `.`, or `link:` and a role.
    pub fn parse(text: &str) -> Option<Topic> {
        if let Some(rel) = text.strip_prefix("link:") {
            return is_rel(rel).then(|| Topic::Link(rel.into()));
        }
        let is_path =
            text.split('.').count() <= MAX_PATH_PARTS && text.split('.').all(is_path_part);
        is_path.then(|| Topic::Path(text.into()))
    }

    /// The topic as it is written.
    fn text(&self) -> String {
        match self {
            Topic::Path(path) => path.to_string(),
            Topic::Link(rel) => format!("link:{rel}"),
        }
    }

    /// The canonical forms of the topic's values in a version (02 §8.1).
    fn values(&self, body: &Value, links: &[Link<'_>]) -> Vec<Vec<u8>> {
        match self {
            Topic::Link(rel) => links
                .iter()
                .filter(|link| link.rel == &**rel)
                .map(|link| Value::from(link.to).canonical())
                .collect(),
            Topic::Path(path) => path_values(body, path),
        }
    }
}

fn is_path_part(part: &str) -> bool {
    let is_first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let mut bytes = part.bytes();
    part.len() <= MAX_PATH_PART
        && bytes.next().is_some_and(is_first)
        && bytes.all(|byte| is_first(byte) || byte.is_ascii_digit())
}

fn path_values(body: &Value, path: &str) -> Vec<Vec<u8>> {
    let mut value = body;
    for name in path.split('.') {
        match value.as_object().and_then(|object| object.get(name)) {
            Some(inner) => value = inner,
            None => return Vec::new(),
        }
    }
    let is_one =
        |value: &&Value| matches!(value, Value::String(_) | Value::Bool(_) | Value::Number(_));
    match value {
        Value::Array(list) => list.iter().filter(is_one).map(Value::canonical).collect(),
        value => Some(value)
            .filter(is_one)
            .into_iter()
            .map(Value::canonical)
            .collect(),
    }
}

/// The key that tags are made with (02 §8.2).
#[derive(Clone)]
pub struct TagKey([u8; 32]);

impl TagKey {
    /// The tag key of a public space, which anyone can make.
    pub fn of_public_space(space: ContentId) -> TagKey {
        TagKey::derived(format!("{PUBLIC_TOPICS}{space}").as_bytes())
    }

    /// The tag key in a private space, from the space key that the body's
    /// `keyId` names.
    pub fn of_space_key(space_key: &SpaceKey) -> TagKey {
        TagKey::derived(space_key.bytes())
    }

    /// The key itself.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    fn derived(secret: &[u8]) -> TagKey {
        TagKey(hkdf(secret, TOPIC_TAGS))
    }
}

/// The tags a version has under `topics` (02 §8.3): of every value of every
/// topic, each once, ascending, the first 64.
pub fn tags(
    key: &TagKey,
    collection: &str,
    topics: &[Topic],
    body: &Value,
    links: &[Link<'_>],
) -> BTreeSet<String> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key.0);
    let mut tags = BTreeSet::new();
    for topic in topics {
        let mut mac = hmac::Context::with_key(&key);
        mac.update(collection.as_bytes());
        mac.update(&[0]);
        mac.update(topic.text().as_bytes());
        mac.update(&[0]);
        for value in topic.values(body, links) {
            tags.insert(tag(mac.clone(), &value));
            // A body may hold any number of values; only the first 64 count.
            if tags.len() > MAX_TAGS {
                tags.pop_last();
            }
        }
    }
    tags
}

/// The tag of a value; `mac` has had all that comes before it.
fn tag(mut mac: hmac::Context, value: &[u8]) -> String {
    mac.update(value);
    base64url::encode(mac.sign().as_ref().get(..TAG_BYTES).unwrap_or_default())
}
