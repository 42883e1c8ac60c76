//! A constitution of a few bytes.

use arbitrary::{Arbitrary, Result, Unstructured};
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::json::{Object, Value};

use super::pool::{ROLES, accounts, grant, read_keys};

/// One that passes its check whatever the bytes.
pub(super) fn constitution(bytes: &mut Unstructured<'_>) -> Result<Constitution> {
    let shape = u8::arbitrary(bytes)?;
    let is_private = shape & 1 != 0;
    let founders = usize::from(shape >> 1) % 4;
    let roles: Vec<Value> = ROLES[..3]
        .iter()
        .map(|name| role(name, bytes))
        .collect::<Result<_>>()?;
    let mut assigned = Object::new();
    for (place, account) in accounts().iter().enumerate() {
        let mask = u8::arbitrary(bytes)?;
        // Somebody must be there where there are no founders.
        let mask = if founders == 0 && place == 0 {
            mask | 1
        } else {
            mask
        };
        let given = ROLES[..3].iter().enumerate();
        let given = given.filter(|(bit, _)| mask & (1 << bit) != 0);
        let given: Vec<Value> = given.map(|(_, role)| Value::from(*role)).collect();
        if !given.is_empty() {
            assigned.insert(account.to_string(), given);
        }
    }
    let top = match founders {
        0 => Value::from("none"),
        _ => {
            let founders = accounts()[..founders].iter();
            let founders: Vec<Value> = founders.map(|it| it.to_string().into()).collect();
            Value::Object(Object::from([("founders", founders)]))
        }
    };
    let visibility = if is_private { "private" } else { "public" };
    let mut object = Object::from([
        ("minca", Value::from("constitution/1")),
        ("name", "A fuzzed space".into()),
        ("visibility", visibility.into()),
        ("resolver", "strong-remove/1".into()),
        ("top", top),
        ("roles", roles.into()),
        ("createdAt", "2026-01-01T00:00:00.000Z".into()),
        ("nonce", "AAECAwQFBgcICQoL".into()),
    ]);
    if !assigned.is_empty() {
        object.insert("assigned", assigned);
    }
    if is_private {
        object.insert("readKey", read_keys()[0].to_string());
        object.insert("encryptionKeyId", "A".repeat(22));
    }
    let id = ContentId::of(&object.canonical());
    object.insert("id", id.to_string());
    Ok(Constitution::check(object.into()).expect("a good constitution"))
}

fn role(name: &str, bytes: &mut Unstructured<'_>) -> Result<Value> {
    let mut role = Object::from([("name", Value::from(name))]);
    role.insert("grants", grants(bytes)?);
    let nests: Vec<Value> = nests(name, bytes)?.into_iter().map(Value::from).collect();
    if !nests.is_empty() {
        role.insert("nests", nests);
    }
    Ok(role.into())
}

/// Up to three grants.
pub(super) fn grants(bytes: &mut Unstructured<'_>) -> Result<Vec<Value>> {
    let count = u8::arbitrary(bytes)? % 4;
    (0..count)
        .map(|_| Ok(grant(usize::from(u8::arbitrary(bytes)?))))
        .collect()
}

/// Roles that the role called `own` nests. Nothing keeps nests from looping.
pub(super) fn nests(own: &str, bytes: &mut Unstructured<'_>) -> Result<Vec<&'static str>> {
    let mask = u8::arbitrary(bytes)?;
    let nested = ROLES.iter().enumerate();
    let nested = nested.filter(|(bit, name)| mask & (1 << bit) != 0 && **name != own);
    Ok(nested.map(|(_, name)| *name).collect())
}
