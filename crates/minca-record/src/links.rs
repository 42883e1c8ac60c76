//! Links between records (02 §5).

use crate::json::Value;
use crate::record_key::is_record_key;

/// The most links a version may have (02 §10).
pub const MAX_LINKS: usize = 32;

/// The longest role of a link, in characters.
const MAX_REL: usize = 64;

/// What a record points at: another record of the same space, by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link<'a> {
    /// What the link means: `^[a-z][a-zA-Z0-9]{0,63}$`.
    pub rel: &'a str,
    /// The record key it points at. That record need not be held.
    pub to: &'a str,
}

impl<'a> Link<'a> {
    /// Reads one link: exactly the members `rel` and `to`, both well-formed.
    pub fn read(value: &'a Value) -> Option<Link<'a>> {
        let object = value.as_object()?;
        if object.len() != 2 {
            return None;
        }
        let rel = object.get("rel")?.as_str()?;
        let to = object.get("to")?.as_str()?;
        (is_rel(rel) && is_record_key(to)).then_some(Link { rel, to })
    }
}

/// Whether `value` is a version's `links`: a list of at most 32 links.
pub fn are_links(value: &Value) -> bool {
    let Some(list) = value.as_array() else {
        return false;
    };
    list.len() <= MAX_LINKS && list.iter().all(|link| Link::read(link).is_some())
}

/// Whether `text` is a link's role: `^[a-z][a-zA-Z0-9]{0,63}$`.
pub fn is_rel(text: &str) -> bool {
    let mut bytes = text.bytes();
    text.len() <= MAX_REL
        && bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::is_rel;

    #[test]
    fn a_role_of_64_characters_is_one_and_of_65_is_none() {
        assert!(is_rel(&"a".repeat(64)));
        assert!(!is_rel(&"a".repeat(65)));
        assert!(!is_rel(""));
        assert!(!is_rel("1a"));
        assert!(!is_rel("a-b"));
    }
}
