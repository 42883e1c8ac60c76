//! Access changes as a member writes them (03 §3.1): the record each goes into, and its body.
//!
//! What comes out is a [`Write`] like any other. Who may make the change is for the space to say;
//! `seen` is for the caller to set.

use minca_access::{ChangeKeyError, join_body, keys};
use minca_record::base64url;
use minca_record::content_id::ContentId;
use minca_record::definition::DEFINITION_KEY;
use minca_record::derive::SpaceKey;
use minca_record::did::Did;
use minca_record::json::{Object, Value};

use crate::randomness::{Randomness, random_bytes};
use crate::replica::Write;
use crate::space::{Space, SpaceError};

/// Assigns a role to an account, or takes it away.
pub fn assign(account: &str, role: &str, assigned: bool) -> Write {
    let body = Object::from([
        ("did", Value::from(account)),
        ("role", Value::from(role)),
        ("assigned", Value::from(assigned)),
    ]);
    let key = keys::assign(&account.into(), &role.into());
    change("sys.assign", key, body)
}

/// Joins by an invite's secret: the account's own assignment of the role the invite opens
/// (03 §7.3).
pub fn join(space: ContentId, account: &Did, role: &str, secret: &[u8; 32]) -> Write {
    let key = keys::assign(&account.to_string().into(), &role.into());
    let body = join_body(space, account, role, secret);
    change("sys.assign", key, body)
}

/// Removes an account from the space; one's own: leaves it.
pub fn remove(account: &str) -> Write {
    change(
        "sys.remove",
        keys::remove(&account.into()),
        Object::from([("did", account)]),
    )
}

/// Steps down as a founder.
pub fn step_down(account: &str) -> Write {
    let key = keys::step_down(&account.into());
    change("sys.stepdown", key, Object::from([("did", account)]))
}

/// Opens an invite to a role, or closes it.
pub fn invite(invite: &Did, role: &str, open: bool) -> Write {
    let invite = invite.to_string();
    let key = keys::invite(&invite.as_str().into());
    let body = Object::from([
        ("key", Value::from(invite)),
        ("role", Value::from(role)),
        ("open", Value::from(open)),
    ]);
    change("sys.invite", key, body)
}

/// Revokes one of an account's keys.
pub fn revoke(key: &Did, account: &Did) -> Write {
    let key = key.to_string();
    let record = keys::revoke(&key.as_str().into(), account);
    change("sys.revoke", record, Object::from([("key", key)]))
}

/// A grant of a role: a command, and a policy on its arguments.
pub type Grant<'a> = (&'a str, Value);

/// Defines a role. `issuer` is the account that writes it.
///
/// # Errors
/// [`SpaceError::Randomness`].
pub fn define_role(
    space: ContentId,
    issuer: &Did,
    name: &str,
    grants: &[Grant<'_>],
    nests: &[&str],
    randomness: &mut dyn Randomness,
) -> Result<Write, SpaceError> {
    let mut delegations = Vec::with_capacity(grants.len());
    for (command, policy) in grants {
        let nonce = random_bytes::<12>(randomness)?;
        delegations.push(Value::from(Object::from([
            ("iss", Value::from(issuer.to_string())),
            ("aud", Value::from(format!("role:{name}"))),
            ("sub", Value::from(format!("space:{space}"))),
            ("cmd", Value::from(*command)),
            ("pol", policy.clone()),
            ("nonce", Value::from(base64url::encode(&nonce))),
        ])));
    }
    let nests: Vec<Value> = nests.iter().map(|role| Value::from(*role)).collect();
    let body = Object::from([
        ("name", Value::from(name)),
        ("grants", Value::from(delegations)),
        ("nests", Value::from(nests)),
    ]);
    Ok(change("sys.role", keys::role(name), body))
}

/// Defines a collection; `definition` is 02 §6.1's, of which `name` says which.
pub fn define_collection(definition: Object) -> Write {
    let name = definition
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let key = format!("{DEFINITION_KEY}{name}");
    change("sys.collection", key, definition)
}

/// Names the nodes that keep the space whole, each a DID and a name, and how many copies there
/// should be.
pub fn keepers(keepers: &[(&str, &str)], copies: Option<u64>) -> Write {
    let keepers: Vec<Value> = keepers
        .iter()
        .map(|(did, name)| Object::from([("did", *did), ("name", *name)]).into())
        .collect();
    let body = Object::from([
        ("keepers", Value::from(keepers)),
        ("copies", copies.map_or(Value::Null, Value::from)),
    ]);
    change("sys.keepers", keys::KEEPERS.to_owned(), body)
}

/// Names the relays the space's members meet on.
pub fn relays(urls: &[&str]) -> Write {
    let urls: Vec<Value> = urls.iter().map(|url| Value::from(*url)).collect();
    change(
        "sys.relays",
        keys::RELAYS.to_owned(),
        Object::from([("relays", urls)]),
    )
}

/// Names a space that succeeds this one.
pub fn succeed(successor: ContentId) -> Write {
    let body = Object::from([("space", successor.to_string())]);
    change("sys.succeed", keys::succeed(successor), body)
}

/// Changes a private space's key to `new` (03 §9.3, steps 2 and 3). The device goes on under it
/// with [`Replica::take_key`](crate::replica::Replica::take_key), and hands it to the others.
///
/// # Errors
/// [`SpaceError::Key`] in a public space; [`SpaceError::Randomness`].
pub fn change_key(
    space: &Space,
    new: &SpaceKey,
    randomness: &mut dyn Randomness,
) -> Result<Write, SpaceError> {
    let first = space.constitution().encryption_key_id();
    let first = first.ok_or(SpaceError::Key)?;
    let nonce = random_bytes(randomness)?;
    let body = minca_access::change_key(space.id(), new, space.space_keys(), first, nonce);
    let body = body.map_err(|error| match error {
        ChangeKeyError::FirstKeyMissing => SpaceError::OtherKey,
        ChangeKeyError::Seal(error) => error.into(),
    })?;
    Ok(change("sys.key", keys::SPACE_KEY.to_owned(), body))
}

fn change(collection: &str, key: String, body: Object) -> Write {
    Write {
        collection: collection.to_owned(),
        key: Some(key),
        body: Some(body.into()),
        ..Write::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use minca_record::json::{MESSAGE_DEPTH, read};

    /// The vectors' nonces: bytes that count up.
    struct CountingFrom(u8);

    impl Randomness for CountingFrom {
        fn fill(&mut self, bytes: &mut [u8]) -> Result<(), crate::randomness::RandomnessError> {
            for (place, byte) in bytes.iter_mut().enumerate() {
                *byte = self.0 + place as u8;
            }
            Ok(())
        }
    }

    fn vectors() -> Object {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/vectors/access.json"
        );
        read(&std::fs::read(path).unwrap(), MESSAGE_DEPTH)
            .unwrap()
            .into_object()
            .unwrap()
    }

    fn at<'a>(value: &'a Object, path: &[&str]) -> &'a Value {
        let (first, rest) = path.split_first().unwrap();
        let value = value.get(first).unwrap();
        if rest.is_empty() {
            value
        } else {
            at(value.as_object().unwrap(), rest)
        }
    }

    fn text<'a>(value: &'a Object, path: &[&str]) -> &'a str {
        at(value, path).as_str().unwrap()
    }

    /// The first version of a kind that yields an event.
    fn version<'a>(vectors: &'a Object, kind: &str) -> &'a Object {
        let cases = at(vectors, &["events", kind]).as_array().unwrap();
        let cases = cases.iter().map(|case| case.as_object().unwrap());
        let good = cases
            .into_iter()
            .find(|case| !case.get("yields").unwrap().is_null());
        at(good.unwrap(), &["version"]).as_object().unwrap()
    }

    fn assert_is(vectors: &Object, kind: &str, write: &Write) {
        let version = version(vectors, kind);
        assert_eq!(write.collection, text(version, &["collection"]), "{kind}");
        assert_eq!(
            write.key.as_deref(),
            Some(text(version, &["key"])),
            "{kind}"
        );
        assert_eq!(write.body.as_ref(), version.get("body"), "{kind}");
    }

    #[test]
    fn changes_are_those_of_the_vectors() {
        let vectors = vectors();
        let body =
            |kind: &str, name: &str| text(version(&vectors, kind), &["body", name]).to_owned();
        let did = |text: &str| Did::parse(text).unwrap();
        assert_is(
            &vectors,
            "assign",
            &assign(&body("assign", "did"), "editor", true),
        );
        assert_is(&vectors, "remove", &remove(&body("remove", "did")));
        assert_is(&vectors, "stepdown", &step_down(&body("stepdown", "did")));
        assert_is(
            &vectors,
            "invite",
            &invite(&did(&body("invite", "key")), "editor", true),
        );
        let account = text(version(&vectors, "revoke"), &["proof", "payload", "iss"]);
        assert_is(
            &vectors,
            "revoke",
            &revoke(&did(&body("revoke", "key")), &did(account)),
        );
        let successor = ContentId::parse(&body("succeed", "space")).unwrap();
        assert_is(&vectors, "succeed", &succeed(successor));
        let named = [
            ("did:key:zKeeper0", "Keeper 0"),
            ("did:key:zKeeper1", "Keeper 1"),
        ];
        assert_is(&vectors, "keepers", &keepers(&named, Some(2)));
        let listed = at(version(&vectors, "relays"), &["body", "relays"])
            .as_array()
            .unwrap();
        let listed: Vec<&str> = listed.iter().filter_map(Value::as_str).collect();
        assert_is(&vectors, "relays", &relays(&listed));
        let definition = at(version(&vectors, "definition"), &["body"])
            .as_object()
            .unwrap();
        assert_is(
            &vectors,
            "definition",
            &define_collection(definition.clone()),
        );
    }

    #[test]
    fn a_role_is_defined_as_in_the_vectors() {
        let vectors = vectors();
        let version = version(&vectors, "role");
        let space = ContentId::parse(text(version, &["space"])).unwrap();
        let issuer = Did::parse(text(version, &["proof", "payload", "iss"])).unwrap();
        let delegations = at(version, &["body", "grants"]).as_array().unwrap();
        let delegations = delegations.iter().map(|grant| grant.as_object().unwrap());
        let grants: Vec<Grant<'_>> = delegations
            .map(|grant| (text(grant, &["cmd"]), at(grant, &["pol"]).clone()))
            .collect();
        let mut randomness = CountingFrom(0);
        let write = define_role(space, &issuer, "editor", &grants, &[], &mut randomness).unwrap();
        let mut body = write.body.unwrap().into_object().unwrap();
        body.insert("title", "Editor");
        let (mut ours, mut theirs) = (Value::from(body), at(version, &["body"]).clone());
        for body in [&mut ours, &mut theirs] {
            drop_nonces(body);
        }
        assert_eq!(ours, theirs);
    }

    /// The vectors' nonces are of another length than ours.
    fn drop_nonces(body: &mut Value) {
        let body = body.as_object_mut().unwrap();
        let Some(Value::Array(mut grants)) = body.remove("grants") else {
            panic!("no grants");
        };
        for grant in &mut grants {
            grant.as_object_mut().unwrap().remove("nonce").unwrap();
        }
        body.insert("grants", grants);
    }

    #[test]
    fn a_key_change_is_that_of_the_vectors_and_what_is_written_after_it_opens() {
        let vectors = vectors();
        let key = |name: &str| {
            let bytes = base64url::decode_exact(text(&vectors, &["spaceKeys", name, "key"]));
            SpaceKey::new(bytes.unwrap())
        };
        let mut space = Space::import(private_space(&vectors), Some(key("K0"))).unwrap();
        let new = key("K1");
        let write = change_key(&space, &new, &mut CountingFrom(0xa0)).unwrap();
        assert_is(&vectors, "key", &write);

        let old_read_key = space.read_key().unwrap().did();
        space.take_key(new.clone());
        let proven: Vec<Did> = space.read_keys().map(|key| key.did()).collect();
        assert_eq!(proven, [new.read_key().did(), old_read_key]);
    }

    fn private_space(vectors: &Object) -> Value {
        let path = ["spaces", "private", "constitution"];
        let mut space = at(vectors, &path).as_object().unwrap().clone();
        space.insert("id", text(vectors, &["spaces", "private", "id"]));
        space.into()
    }
}
