//! Writes versions for tests: a founder with its own key and no note.

use std::collections::HashMap;

use minca_access::keys;
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::hash::{hex40, sha256};
use minca_record::json::{Object, Value};
use minca_record::{base64url, signing::SigningKey};

/// A signing key from a number.
pub fn key(number: u64) -> SigningKey {
    let mut uniform = [0x5a; 48];
    uniform[..32].copy_from_slice(&sha256(&number.to_be_bytes()));
    SigningKey::from_uniform(&uniform)
}

/// A public space founded by these keys' accounts, with one role `guest` assigned
/// to `guests`, which may write and change only what it created in `app.note`.
pub fn space(founders: &[&SigningKey], guests: &[&SigningKey]) -> Constitution {
    space_with(founders, guests, |_| {})
}

/// A private one, whose `guest` may change its key and define collections too.
pub fn private_space(
    founders: &[&SigningKey],
    guests: &[&SigningKey],
    read_key: &Did,
) -> Constitution {
    space_with(founders, guests, |constitution| {
        constitution.insert("visibility", "private");
        constitution.insert("readKey", read_key.to_string());
        constitution.insert("encryptionKeyId", "AAECAwQFBgcICQoLDA0ODw");
        let grant = |cmd: &str| {
            Value::from(Object::from([
                ("cmd", cmd.into()),
                ("pol", Value::from(Vec::new())),
            ]))
        };
        let role = Object::from([
            ("name", Value::from("guest")),
            (
                "grants",
                vec![
                    grant("/record"),
                    grant("/key/change"),
                    grant("/collection/define"),
                ]
                .into(),
            ),
        ]);
        constitution.insert("roles", vec![Value::from(role)]);
    })
}

fn space_with(
    founders: &[&SigningKey],
    guests: &[&SigningKey],
    change: impl FnOnce(&mut Object),
) -> Constitution {
    let list = |keys: &[&SigningKey]| -> Vec<Value> {
        keys.iter().map(|it| it.did().to_string().into()).collect()
    };
    let statement =
        |selector: &str, value: Value| Value::from(vec!["==".into(), selector.into(), value]);
    let policy = Value::from(vec![
        statement(".collection", "app.note".into()),
        statement(".byCreator", true.into()),
    ]);
    let grant = Object::from([("cmd", Value::from("/record")), ("pol", policy)]);
    let role = Object::from([
        ("name", Value::from("guest")),
        ("grants", Value::from(vec![grant.into()])),
    ]);
    let mut constitution = Object::from([
        ("minca", Value::from("constitution/1")),
        ("name", "Test".into()),
        ("visibility", "public".into()),
        ("resolver", "strong-remove/1".into()),
        (
            "top",
            Object::from([("founders", Value::from(list(founders)))]).into(),
        ),
        ("roles", vec![Value::from(role)].into()),
        ("createdAt", "2026-01-01T00:00:00.000Z".into()),
        ("nonce", "AAECAwQFBgcICQoL".into()),
    ]);
    if !guests.is_empty() {
        let roles = || Value::from(vec!["guest".into()]);
        let assigned: Object = guests
            .iter()
            .map(|it| (it.did().to_string(), roles()))
            .collect();
        constitution.insert("assigned", assigned);
    }
    change(&mut constitution);
    let id = ContentId::of(&constitution.canonical());
    constitution.insert("id", id.to_string());
    Constitution::check(constitution.into()).expect("a good constitution")
}

/// What a version is made of.
#[derive(Clone, Debug)]
pub struct Draft<'a> {
    pub collection: &'a str,
    pub name: &'a str,
    pub body: Option<&'a str>,
    pub prev: Option<&'a Object>,
    pub retain: bool,
    pub second: u64,
}

impl<'a> Draft<'a> {
    /// A first version of a record.
    pub fn first(name: &'a str, body: &'a str) -> Draft<'a> {
        Draft {
            collection: "app.note",
            name,
            body: Some(body),
            prev: None,
            retain: false,
            second: 0,
        }
    }

    /// The version after `prev`; without a body it deletes.
    pub fn after(prev: &'a Object, body: Option<&'a str>) -> Draft<'a> {
        Draft {
            body,
            prev: Some(prev),
            ..Draft::first("", "")
        }
    }
}

/// Signs versions in one space, keeping its lines.
pub struct Pen {
    pub key: SigningKey,
    pub did: Did,
    space: ContentId,
    lines: HashMap<String, (u64, Option<ContentId>)>,
}

impl Pen {
    pub fn new(key: SigningKey, space: &Constitution) -> Pen {
        Pen {
            did: key.did(),
            key,
            space: space.id(),
            lines: HashMap::new(),
        }
    }

    /// Writes a version.
    pub fn write(&mut self, draft: &Draft<'_>) -> Object {
        self.write_with(draft, |_| {})
    }

    /// Writes a version whose signed part is changed before it is signed.
    pub fn write_with(&mut self, draft: &Draft<'_>, change: impl FnOnce(&mut Object)) -> Object {
        let body = draft
            .body
            .map(|words| Value::from(Object::from([("text", words)])));
        self.sign(draft, body, change)
    }

    /// Writes a record's version, having seen these access changes.
    pub fn write_seeing(&mut self, draft: &Draft<'_>, seen: &[ContentId]) -> Object {
        self.write_with(draft, |version| {
            version.insert("seen", ids(seen));
        })
    }

    /// Writes an access change, having seen these.
    pub fn change(
        &mut self,
        collection: &str,
        key: &str,
        body: Object,
        seen: &[ContentId],
    ) -> Object {
        let draft = Draft {
            collection,
            retain: true,
            ..Draft::first("", "")
        };
        self.sign(&draft, Some(body.into()), |version| {
            version.insert("key", key);
            version.insert("seen", ids(seen));
        })
    }

    /// Assigns a role to an account, or takes it.
    pub fn assign(&mut self, did: &Did, role: &str, assigned: bool, seen: &[ContentId]) -> Object {
        let did = did.to_string();
        let key = keys::assign(&did.as_str().into(), &role.into());
        let body = Object::from([
            ("did", Value::from(did)),
            ("role", role.into()),
            ("assigned", assigned.into()),
        ]);
        self.change("sys.assign", &key, body, seen)
    }

    /// Removes an account.
    pub fn remove(&mut self, did: &Did, seen: &[ContentId]) -> Object {
        let did = did.to_string();
        let key = keys::remove(&did.as_str().into());
        self.change("sys.remove", &key, Object::from([("did", did)]), seen)
    }

    /// Changes the space's key, which readers prove by this one.
    pub fn change_key(&mut self, read_key: &Did, seen: &[ContentId]) -> Object {
        let read_key = read_key.to_string();
        let key_id = base64url::encode(&sha256(read_key.as_bytes())[..16]);
        let body = Object::from([("keyId", Value::from(key_id)), ("readKey", read_key.into())]);
        self.change("sys.key", keys::SPACE_KEY, body, seen)
    }

    /// Defines a collection.
    pub fn define(&mut self, name: &str, body: Object, seen: &[ContentId]) -> Object {
        self.change("sys.collection", &format!("collection:{name}"), body, seen)
    }

    fn sign(
        &mut self,
        draft: &Draft<'_>,
        body: Option<Value>,
        change: impl FnOnce(&mut Object),
    ) -> Object {
        let collection = draft
            .prev
            .map_or(draft.collection, |prev| text(prev, "collection"));
        let mut version = Object::from([
            ("author", Value::from(self.did.to_string())),
            ("collection", collection.into()),
            ("space", self.space.to_string().into()),
            (
                "createdAt",
                format!(
                    "2026-03-01T00:{:02}:{:02}.000Z",
                    draft.second / 60 % 60,
                    draft.second % 60
                )
                .into(),
            ),
        ]);
        match draft.prev {
            None => {
                version.insert(
                    "key",
                    format!("{}:{}", hex40(&self.did.to_string()), draft.name),
                );
                version.insert("seq", 0u32);
            }
            Some(prev) => {
                let seq = prev.get("seq").and_then(Value::whole_number).expect("seq");
                version.insert("key", text(prev, "key"));
                version.insert("seq", seq + 1);
                version.insert("prev", text(prev, "id"));
                version.insert(
                    "genesis",
                    if seq == 0 {
                        text(prev, "id")
                    } else {
                        text(prev, "genesis")
                    },
                );
            }
        }
        if draft.retain {
            version.insert("retain", true);
        }
        let (n, before) = self.lines.get(collection).copied().unwrap_or_default();
        let mut log = Object::from([("n", n)]);
        if let Some(before) = before {
            log.insert("prev", before.to_string());
        }
        version.insert("log", log);
        match &body {
            Some(body) => {
                version.insert("bodyHash", ContentId::of(&body.canonical()).to_string());
            }
            None => {
                version.insert("deleted", true);
            }
        }
        change(&mut version);
        let signed = version.canonical();
        let id = ContentId::of(&signed);
        self.lines.insert(collection.to_owned(), (n + 1, Some(id)));
        version.insert("id", id.to_string());
        version.insert("signature", base64url::encode(&self.key.sign(&signed)));
        if let Some(body) = body {
            version.insert("body", body);
        }
        version
    }
}

/// A string member.
pub fn text<'a>(object: &'a Object, name: &str) -> &'a str {
    object
        .get(name)
        .and_then(Value::as_str)
        .expect("a string member")
}

fn ids(ids: &[ContentId]) -> Value {
    let ids = ids.iter().map(|id| Value::from(id.to_string()));
    ids.collect::<Vec<Value>>().into()
}

/// A version's id.
pub fn id_of(version: &Object) -> ContentId {
    ContentId::parse(text(version, "id")).expect("an id")
}

/// The stub of a version.
pub fn stub_of(version: &Object) -> Object {
    let mut stub = version.clone();
    stub.remove("body");
    stub
}
