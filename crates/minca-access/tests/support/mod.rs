//! What the tests share: the vectors, and versions made without a signature.

#![allow(dead_code, reason = "not every test binary uses all of it")]

use minca_access::{Event, Kind, NoEvent, Space, event_of};
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{MESSAGE_DEPTH, Object, Value};
use minca_record::version::{Checked, Version};

/// The whole vector file of part 03.
pub(crate) fn vectors() -> serde_json::Value {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/vectors/access.json"
    );
    let text = std::fs::read(path).expect("the vector file");
    serde_json::from_slice(&text).expect("a JSON file")
}

/// A vector's JSON value as the crate reads it.
pub(crate) fn read(value: &serde_json::Value) -> Value {
    let text = serde_json::to_vec(value).expect("a JSON text");
    minca_record::json::read(&text, MESSAGE_DEPTH).expect("a JSON value")
}

/// One of the vectors' spaces.
pub(crate) fn space(vectors: &serde_json::Value, name: &str) -> Space {
    let space = &vectors["spaces"][name];
    let id = space["id"].as_str().expect("an id");
    Space {
        id: ContentId::parse(id).expect("a space id"),
        is_private: space["constitution"]["visibility"] == "private",
    }
}

/// An account for versions nobody signed.
pub(crate) fn account() -> Did {
    Did::parse("did:key:zDnaepvP6YSjYyaBgu3v9VSziUgdmpk4t5a4Xw9VVA1e1BEd9").expect("a key")
}

/// A space for versions nobody signed.
pub(crate) fn some_space() -> Space {
    Space {
        id: ContentId::of(b"some space"),
        is_private: false,
    }
}

/// A retained version as if it had passed 02 §9, steps 1 to 6, in
/// [`some_space`], by [`account`] itself.
pub(crate) fn checked(collection: &str, key: &str, body: Value) -> Checked {
    let id = ContentId::of(b"some version").to_string();
    let author = account();
    let version = Object::from([
        ("author", Value::from(&*author.to_string())),
        ("collection", collection.into()),
        ("space", (&*some_space().id.to_string()).into()),
        ("createdAt", "2026-01-02T03:04:05.000Z".into()),
        ("key", key.into()),
        ("seq", 0u32.into()),
        ("log", Object::from([("n", Value::from(0u32))]).into()),
        ("retain", true.into()),
        (
            "bodyHash",
            (&*ContentId::of(&body.canonical()).to_string()).into(),
        ),
        ("body", body),
        ("id", (&*id).into()),
        ("signature", (&*"A".repeat(86)).into()),
    ]);
    Checked {
        version: Version::shape(version.into()).expect("a well-formed version"),
        author,
        root: author,
    }
}

/// What a body says in a collection, at a key.
pub(crate) fn says(collection: &str, key: &str, body: impl Into<Value>) -> Result<Kind, NoEvent> {
    let event = event_of(&checked(collection, key, body.into()), some_space())?;
    Ok(event.kind)
}

/// The event as the vectors write it.
pub(crate) fn as_written(event: &Event) -> Value {
    let strings = |list: Vec<String>| -> Value {
        let list: Vec<Value> = list.iter().map(|it| Value::from(&**it)).collect();
        list.into()
    };
    let mut cutoff = Object::new();
    for (key, lines) in event.cutoff.keys() {
        let lines: Object = lines.iter().map(|(name, n)| (name.clone(), *n)).collect();
        cutoff.insert(key.clone(), lines);
    }
    let seen = event.seen.iter().map(ToString::to_string).collect();
    let mut out = Object::from([
        ("id", Value::from(&*event.id.to_string())),
        ("key", (&*event.key).into()),
        ("root", (&*event.root.to_string()).into()),
        ("author", (&*event.author.to_string()).into()),
        ("seen", strings(seen)),
        ("cutoff", cutoff.into()),
        ("kind", event.kind.name().into()),
    ]);
    match &event.kind {
        Kind::Role(role) => {
            out.insert("name", &*role.name);
            if let Some(title) = &role.title {
                out.insert("title", Value::String(title.clone()));
            }
            let grants: Vec<Value> = role
                .grants
                .iter()
                .map(|it| minca_record::json::read(&it.canonical, MESSAGE_DEPTH).expect("JSON"))
                .collect();
            out.insert("grants", grants);
            let nests = role.nests.iter().map(ToString::to_string).collect();
            out.insert("nests", strings(nests));
        }
        Kind::Assign {
            did,
            role,
            assigned,
            via_invite,
        } => {
            out.insert("did", Value::String(did.clone()));
            out.insert("role", Value::String(role.clone()));
            out.insert("assigned", *assigned);
            if let Some(key) = via_invite {
                out.insert("viaInvite", &*key.to_string());
            }
        }
        Kind::Remove { did } | Kind::StepDown { did } => {
            out.insert("did", Value::String(did.clone()));
        }
        Kind::Invite {
            invite_key,
            role,
            open,
        } => {
            out.insert("inviteKey", Value::String(invite_key.clone()));
            out.insert("role", Value::String(role.clone()));
            out.insert("open", *open);
        }
        Kind::Revoke { target } => {
            out.insert("target", Value::String(target.clone()));
        }
        Kind::Definition { name, deleted } => {
            out.insert("name", &**name);
            out.insert("deleted", *deleted);
        }
        Kind::Key { key_id, read_key } => {
            out.insert("keyId", Value::String(key_id.clone()));
            out.insert("readKey", Value::String(read_key.clone()));
        }
        Kind::Relays { relays } => {
            let relays: Vec<Value> = relays.iter().cloned().map(Value::String).collect();
            out.insert("relays", relays);
        }
        Kind::Keepers { keepers, copies } => {
            let keepers: Vec<Value> = keepers
                .iter()
                .map(|it| {
                    let did = Value::String(it.did.clone());
                    Object::from([("did", did), ("name", Value::String(it.name.clone()))]).into()
                })
                .collect();
            out.insert("keepers", keepers);
            out.insert(
                "copies",
                copies.map_or(Value::Null, |it| u32::from(it).into()),
            );
        }
        Kind::Fork {
            writer,
            collection,
            from,
        } => {
            out.insert("writer", &*writer.to_string());
            out.insert("collection", &**collection);
            out.insert("from", *from);
        }
        Kind::Succeed { space } => {
            out.insert("space", &*space.to_string());
        }
    }
    out.into()
}
