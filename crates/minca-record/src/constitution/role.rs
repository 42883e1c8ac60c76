//! Founding roles and their grants (03 §2.1).

use crate::command::is_command;
use crate::json::{Object, Text, Value};
use crate::policy::Policy;

/// The most grants a role has.
pub const MAX_GRANTS: usize = 64;

/// The most roles a role nests.
pub const MAX_NESTS: usize = 16;

/// The longest title, in UTF-16 code units.
pub const MAX_TITLE: usize = 80;

const MAX_ROLE_NAME: usize = 40;

/// A role a space is founded with: its first definition.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundingRole {
    /// `^[a-z0-9][a-z0-9._-]{0,39}$`.
    pub name: Box<str>,
    /// What people read.
    pub title: Option<Text>,
    /// At most 64.
    pub grants: Vec<FoundingGrant>,
    /// Roles whose grants its members hold too; at most 16, not its own. They
    /// need not be founded.
    pub nests: Vec<Box<str>>,
}

/// A command a role may run, and on which arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundingGrant {
    /// The command path, known or not.
    pub cmd: Text,
    /// What must hold of the arguments.
    pub pol: Policy,
}

/// Reads a founding role, if it is well-formed.
pub(super) fn read(value: &Value) -> Option<FoundingRole> {
    let object = value.as_object()?;
    let known = |name: &Text| {
        name.as_str()
            .is_some_and(|name| matches!(name, "name" | "title" | "grants" | "nests"))
    };
    if !object.iter().all(|(name, _)| known(name)) {
        return None;
    }
    let name = object
        .get("name")?
        .as_str()
        .filter(|name| is_role_name(name))?;
    let title = match object.get("title") {
        None => None,
        Some(title) => Some(title.as_text().filter(|title| is_title(title))?.clone()),
    };
    let grants = object.get("grants")?.as_array()?;
    if grants.len() > MAX_GRANTS {
        return None;
    }
    let grants = grants.iter().map(grant).collect::<Option<_>>()?;
    let nests = match object.get("nests") {
        None => Vec::new(),
        Some(nests) => are_nests(nests, name)?,
    };
    Some(FoundingRole {
        name: name.into(),
        title,
        grants,
        nests,
    })
}

fn grant(value: &Value) -> Option<FoundingGrant> {
    let object: &Object = value.as_object().filter(|object| object.len() == 2)?;
    let cmd = object
        .get("cmd")?
        .as_text()
        .filter(|cmd| is_command(cmd))?
        .clone();
    let pol = Policy::read(object.get("pol")?).ok()?;
    Some(FoundingGrant { cmd, pol })
}

/// Whether `text` is the name of a role: `^[a-z0-9][a-z0-9._-]{0,39}$`.
pub fn is_role_name(text: &str) -> bool {
    let is_first = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9');
    let mut bytes = text.bytes();
    text.len() <= MAX_ROLE_NAME
        && bytes.next().is_some_and(is_first)
        && bytes.all(|byte| is_first(byte) || matches!(byte, b'.' | b'_' | b'-'))
}

/// Whether `text` may be a role's title.
pub fn is_title(text: &Text) -> bool {
    text.utf16_len() <= MAX_TITLE
}

/// Reads `nests`, the roles that the role called `own` nests: at most 16
/// distinct role names, none its own.
pub fn are_nests(value: &Value, own: &str) -> Option<Vec<Box<str>>> {
    let list = value.as_array()?;
    if list.len() > MAX_NESTS {
        return None;
    }
    let mut nests: Vec<Box<str>> = Vec::with_capacity(list.len());
    for name in list {
        let name = name
            .as_str()
            .filter(|name| is_role_name(name) && *name != own)?;
        if nests.iter().any(|other| **other == *name) {
            return None;
        }
        nests.push(name.into());
    }
    Some(nests)
}
