//! Writing by the definition in force: the record key that `onePer` derives, and the tags of a
//! collection's topics (02 §7.3, §8).

use minca_record::definition::Definition;
use minca_record::derive::SpaceKey;
use minca_record::did::Did;
use minca_record::json::Value;
use minca_record::links::Link;
use minca_record::one_per::{OnePerKey, derived_key};
use minca_record::topics::{TagKey, tags};

use super::{Write, WriteError};
use crate::space::{Space, SpaceError};

/// The key of a new record under `onePer`; `None` where the definition has no such rule, and for a
/// delete.
pub(super) fn one_per_key(
    space: &Space,
    definition: &Definition,
    write: &Write,
    root: &Did,
) -> Result<Option<String>, WriteError> {
    let (Some(parts), Some(body)) = (&definition.rules.one_per, &write.body) else {
        return Ok(None);
    };
    let with = match space.constitution().encryption_key_id() {
        None => OnePerKey::public(),
        Some(first) => {
            let first = space.held_key(first).ok_or(WriteError::FirstKeyMissing)?;
            OnePerKey::of_first_space_key(first)
        }
    };
    let (root, links) = (root.to_string(), links(write));
    derived_key(&with, &write.collection, parts, &root, body, &links)
        .map(Some)
        .ok_or(WriteError::NoOnePerKey)
}

/// The tags a version is to have.
pub(super) fn tags_due(
    space: &Space,
    definition: &Definition,
    write: &Write,
) -> Result<Vec<Value>, WriteError> {
    let Some(body) = write
        .body
        .as_ref()
        .filter(|_| !definition.topics.is_empty())
    else {
        return Ok(Vec::new());
    };
    let key = match (space.is_private(), space.current_key()) {
        (false, _) => TagKey::of_public_space(space.id()),
        (true, Some(key)) => TagKey::of_space_key(key),
        (true, None::<&SpaceKey>) => return Err(SpaceError::CurrentKeyMissing.into()),
    };
    let due = tags(
        &key,
        &write.collection,
        &definition.topics,
        body,
        &links(write),
    );
    Ok(due.into_iter().map(Value::from).collect())
}

fn links(write: &Write) -> Vec<Link<'_>> {
    write.links.iter().filter_map(Link::read).collect()
}
