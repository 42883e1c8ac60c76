//! What a key's note must grant for what the key does (01 §8).

use thiserror::Error;

use crate::definition::DEFINITION_KEY;
use crate::json::{Object, Text};

/// Defines a collection.
pub const COLLECTION_DEFINE: &str = "/collection/define";
/// Changes who may do what in a space.
pub const ACCESS_CHANGE: &str = "/access/change";
/// Writes a record.
pub const RECORD_WRITE: &str = "/record/write";
/// Deletes a record.
pub const RECORD_DELETE: &str = "/record/delete";
/// Reads a space's records.
pub const RECORD_READ: &str = "/record/read";
/// Writes about the account itself.
pub const ACCOUNT_WRITE: &str = "/account/write";

/// The collection of definitions.
pub const DEFINITIONS: &str = "sys.collection";

/// The access collections, the twelve that hold a space's access history (02 §6.4).
pub const ACCESS_COLLECTIONS: [&str; 12] = [
    "sys.role",
    "sys.assign",
    "sys.remove",
    "sys.invite",
    "sys.revoke",
    DEFINITIONS,
    "sys.key",
    "sys.relays",
    "sys.keepers",
    "sys.fork",
    "sys.stepdown",
    "sys.succeed",
];
const ABOUT_THE_ACCOUNT: [&str; 2] = ["sys.memberkey", "sys.profile"];

/// A command and its arguments, all of which a note must grant.
#[derive(Clone, Debug, PartialEq)]
pub struct Required {
    /// The command path.
    pub command: &'static str,
    /// Its arguments.
    pub arguments: Object,
}

/// What of a version decides what its note must grant.
#[derive(Clone, Copy, Debug)]
pub struct VersionAsked<'a> {
    /// Its space's id.
    pub space: &'a str,
    /// Its collection.
    pub collection: &'a Text,
    /// Its record key.
    pub key: &'a str,
    /// Whether it deletes its record.
    pub is_delete: bool,
    /// Whether its space is known to be one of its account's own. A host never knows.
    pub in_own_space: bool,
}

/// A version in `sys.collection` defines nothing: its key doesn't start `collection:`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected a key that starts collection: in sys.collection")]
pub struct NoDefinitionError;

/// Whether `collection` is one of [`ACCESS_COLLECTIONS`].
pub fn is_access_collection(collection: &Text) -> bool {
    is_one_of(collection, &ACCESS_COLLECTIONS)
}

/// What the note of a version in a space must grant. A key without a note needs nothing.
pub fn required_of_version(version: VersionAsked<'_>) -> Result<Vec<Required>, NoDefinitionError> {
    let (command, about) = if version.collection == DEFINITIONS {
        let defined = version
            .key
            .strip_prefix(DEFINITION_KEY)
            .ok_or(NoDefinitionError)?;
        (COLLECTION_DEFINE, Text::from(defined))
    } else if is_access_collection(version.collection) {
        (ACCESS_CHANGE, version.collection.clone())
    } else if version.is_delete {
        (RECORD_DELETE, version.collection.clone())
    } else {
        (RECORD_WRITE, version.collection.clone())
    };
    let arguments = Object::from([("space", Text::from(version.space)), ("collection", about)]);
    let mut required = vec![Required { command, arguments }];
    if version.in_own_space || is_one_of(version.collection, &ABOUT_THE_ACCOUNT) {
        required.push(Required {
            command: ACCOUNT_WRITE,
            arguments: Object::new(),
        });
    }
    Ok(required)
}

/// What a note must grant for its key to invite to a role of `space` (03 §7.4).
pub fn required_to_invite(space: &str) -> Required {
    let arguments = Object::from([("space", space), ("collection", "sys.invite")]);
    Required {
        command: ACCESS_CHANGE,
        arguments,
    }
}

/// What a note must grant for its key to read `space` for the account, or to share reading it.
pub fn required_to_read(space: &str) -> Required {
    Required {
        command: RECORD_READ,
        arguments: Object::from([("space", space)]),
    }
}

fn is_one_of(collection: &Text, names: &[&str]) -> bool {
    names.iter().any(|name| collection == name)
}
