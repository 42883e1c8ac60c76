//! Access changes as a member writes them (03 §3.1): the record each goes into, and its body.
//!
//! What comes out is a [`Write`] like any other. Who may make the change is for the space's history
//! to say.

use minca_access::{BOXES, MEMBER_KEYS, join_body, keys, member_key_body};
use minca_record::agreement::AgreementPublic;
use minca_record::base64url;
use minca_record::content_id::ContentId;
use minca_record::definition::DEFINITION_KEY;
use minca_record::derive::SpaceKey;
use minca_record::did::Did;
use minca_record::json::{Object, Value};

use crate::randomness::{Randomness, random_bytes};
use crate::replica::{Write, WriteError};
use crate::space::{Space, SpaceError};

/// Assigns a role to an account.
pub fn assign(account: &str, role: &str) -> Write {
    change(
        "sys.assign",
        keys::assign(&account.into(), &role.into()),
        assignment(account, role, true),
    )
}

/// Takes a role from an account; one's own: leaves it. What `cutoff` covers stays as it is.
pub fn unassign(account: &str, role: &str, cutoff: Object) -> Write {
    let body = assignment(account, role, false);
    change(
        "sys.assign",
        keys::assign(&account.into(), &role.into()),
        with_cutoff(body, cutoff),
    )
}

fn assignment(account: &str, role: &str, assigned: bool) -> Object {
    Object::from([
        ("did", Value::from(account)),
        ("role", Value::from(role)),
        ("assigned", Value::from(assigned)),
    ])
}

/// Joins by an invite's secret: the account's own assignment of the role the invite opens
/// (03 §7.3).
pub fn join(space: ContentId, account: &Did, role: &str, secret: &[u8; 32]) -> Write {
    let key = keys::assign(&account.to_string().into(), &role.into());
    change("sys.assign", key, join_body(space, account, role, secret))
}

/// Removes an account from the space; one's own: leaves it.
pub fn remove(account: &str, cutoff: Object) -> Write {
    let body = with_cutoff(Object::from([("did", account)]), cutoff);
    change("sys.remove", keys::remove(&account.into()), body)
}

/// Steps down as a founder.
pub fn step_down(account: &str, cutoff: Object) -> Write {
    let body = with_cutoff(Object::from([("did", account)]), cutoff);
    change("sys.stepdown", keys::step_down(&account.into()), body)
}

/// Opens an invite to a role, or closes it.
pub fn invite(invite: &str, role: &str, open: bool) -> Write {
    let body = Object::from([
        ("key", Value::from(invite)),
        ("role", Value::from(role)),
        ("open", Value::from(open)),
    ]);
    change("sys.invite", keys::invite(&invite.into()), body)
}

/// Revokes one of an account's keys.
pub fn revoke(key: &Did, account: &Did, cutoff: Object) -> Write {
    let key = key.to_string();
    let record = keys::revoke(&key.as_str().into(), account);
    change(
        "sys.revoke",
        record,
        with_cutoff(Object::from([("key", key)]), cutoff),
    )
}

/// A grant of a role: a command, and a policy on its arguments.
pub type Grant<'a> = (&'a str, Value);

/// What a role is to be from now on.
#[derive(Clone, Debug)]
pub struct RoleDraft<'a> {
    /// Its name.
    pub name: &'a str,
    /// What people read.
    pub title: Option<&'a str>,
    /// What its holders may do.
    pub grants: &'a [Grant<'a>],
    /// Roles whose holders' powers its holders have too.
    pub nests: &'a [&'a str],
}

/// Defines a role, or defines it anew. `issuer` is the account that writes it.
///
/// # Errors
/// [`SpaceError::Randomness`].
pub fn define_role(
    space: ContentId,
    issuer: &Did,
    role: &RoleDraft<'_>,
    randomness: &mut dyn Randomness,
) -> Result<Write, SpaceError> {
    let key = keys::role(role.name);
    let mut delegations = Vec::with_capacity(role.grants.len());
    for (command, policy) in role.grants {
        let nonce = random_bytes::<12>(randomness)?;
        delegations.push(Value::from(Object::from([
            ("iss", Value::from(issuer.to_string())),
            ("aud", Value::from(key.as_str())),
            ("sub", Value::from(format!("space:{space}"))),
            ("cmd", Value::from(*command)),
            ("pol", policy.clone()),
            ("nonce", Value::from(base64url::encode(&nonce))),
        ])));
    }
    let nests: Vec<Value> = role.nests.iter().map(|role| Value::from(*role)).collect();
    let mut body = Object::from([
        ("name", Value::from(role.name)),
        ("grants", Value::from(delegations)),
        ("nests", Value::from(nests)),
    ]);
    if let Some(title) = role.title {
        body.insert("title", title);
    }
    Ok(change("sys.role", key, body))
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

/// Proves that the line of a key isn't one, by two versions without their bodies, the one with the
/// lower id first (03 §6.5).
pub fn fork(writer: &Did, a: Object, b: Object) -> Write {
    let body = Object::from([("a", a), ("b", b)]);
    change("sys.fork", keys::fork(writer), body)
}

/// Changes a private space's key to `new` (03 §9.3, steps 2 and 3). Handing it to the readers is
/// [`key_box`]'s.
///
/// # Errors
/// [`SpaceError::Key`] in a public space; [`WriteError::ChangeKey`] for who lacks the first key;
/// [`SpaceError::Randomness`].
pub fn change_key(
    space: &Space,
    new: &SpaceKey,
    randomness: &mut dyn Randomness,
) -> Result<Write, WriteError> {
    let first = space.constitution().encryption_key_id();
    let first = first.ok_or(SpaceError::Key)?;
    let nonce = random_bytes(randomness)?;
    let body = minca_access::change_key(space.id(), new, space.space_keys(), first, nonce)?;
    Ok(change("sys.key", keys::SPACE_KEY.to_owned(), body))
}

/// Hands a space key to a reader; `sealed` is [`seal_box`](minca_access::seal_box)'s.
pub fn key_box(to: &Did, key_id: &str, by: &Did, sealed: Object) -> Write {
    change(BOXES, keys::box_for(to, key_id, by), sealed)
}

/// Publishes an account's member key.
pub fn member_key(account: &Did, key: &AgreementPublic) -> Write {
    change(MEMBER_KEYS, keys::member_key(account), member_key_body(key))
}

fn with_cutoff(mut body: Object, cutoff: Object) -> Object {
    if !cutoff.is_empty() {
        body.insert("cutoff", cutoff);
    }
    body
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
        let cutoff = |kind: &str| {
            let body = at(version(&vectors, kind), &["body"]).as_object().unwrap();
            let cutoff = body.get("cutoff").and_then(Value::as_object);
            cutoff.cloned().unwrap_or_default()
        };
        assert_is(
            &vectors,
            "assign",
            &assign(&body("assign", "did"), "editor"),
        );
        assert_is(
            &vectors,
            "remove",
            &remove(&body("remove", "did"), cutoff("remove")),
        );
        assert_is(
            &vectors,
            "stepdown",
            &step_down(&body("stepdown", "did"), cutoff("stepdown")),
        );
        assert_is(
            &vectors,
            "invite",
            &invite(&body("invite", "key"), "editor", true),
        );
        let account = text(version(&vectors, "revoke"), &["proof", "payload", "iss"]);
        assert_is(
            &vectors,
            "revoke",
            &revoke(
                &did(&body("revoke", "key")),
                &did(account),
                cutoff("revoke"),
            ),
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
        let role = RoleDraft {
            name: "editor",
            title: Some("Editor"),
            grants: &grants,
            nests: &[],
        };
        let write = define_role(space, &issuer, &role, &mut randomness).unwrap();
        let (mut ours, mut theirs) = (write.body.unwrap(), at(version, &["body"]).clone());
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
    fn a_key_change_is_that_of_the_vectors() {
        let vectors = vectors();
        let key = |name: &str| {
            let bytes = base64url::decode_exact(text(&vectors, &["spaceKeys", name, "key"]));
            SpaceKey::new(bytes.unwrap())
        };
        let space = Space::import(private_space(&vectors), Some(key("K0"))).unwrap();
        let new = key("K1");
        let write = change_key(&space, &new, &mut CountingFrom(0xa0)).unwrap();
        assert_is(&vectors, "key", &write);
    }

    fn private_space(vectors: &Object) -> Value {
        let path = ["spaces", "private", "constitution"];
        let mut space = at(vectors, &path).as_object().unwrap().clone();
        space.insert("id", text(vectors, &["spaces", "private", "id"]));
        space.into()
    }
}
