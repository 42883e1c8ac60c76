//! Writing a version (02 §13): the draft, and its signature. Any member can be set to anything, as
//! whoever tests a host needs.

use data_encoding::BASE32_NOPAD;
use minca_record::base64url;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{Object, Value};
use minca_record::record_key::owned_key;
use minca_record::signing::SigningKey;
use minca_record::version::{Chain, LogPlace, Version};

use crate::clock::UnixTime;
use crate::randomness::{Randomness, RandomnessError, random_bytes};

/// The members of a version that its signature doesn't cover (02 §3.2).
const UNSIGNED: [&str; 3] = ["id", "signature", "body"];

/// A version that isn't signed yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    object: Object,
}

/// Where a version comes in its record (02 §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// 0 for a first version.
    pub seq: u64,
    /// What it follows; `None` for a first version.
    pub chain: Option<Chain>,
}

impl Position {
    /// That of a record's first version.
    pub const FIRST: Position = Position {
        seq: 0,
        chain: None,
    };

    /// That of the version which replaces `current`.
    pub fn after(current: &Version) -> Position {
        let chain = Chain {
            prev: current.id(),
            genesis: current.genesis().unwrap_or(current.id()),
        };
        Position {
            seq: current.seq() + 1,
            chain: Some(chain),
        }
    }
}

impl Draft {
    /// A version in `space`, which its writer knew nothing of but the constitution.
    pub fn new(
        space: ContentId,
        collection: &str,
        key: &str,
        position: Position,
        log: LogPlace,
        created_at: UnixTime,
    ) -> Draft {
        let space = space.to_string();
        let mut object = Object::from([
            ("space", Value::from(space.as_str())),
            ("seen", Value::Array(vec![Value::from(space)])),
            ("collection", Value::from(collection)),
            ("key", Value::from(key)),
            ("seq", Value::from(position.seq)),
            ("createdAt", Value::from(created_at.to_string())),
        ]);
        if let Some(chain) = position.chain {
            object.insert("prev", chain.prev.to_string());
            object.insert("genesis", chain.genesis.to_string());
        }
        let mut place = Object::from([("n", log.n)]);
        if let Some(prev) = log.prev {
            place.insert("prev", prev.to_string());
        }
        object.insert("log", place);
        Draft { object }
    }

    /// Sets the body, as it is to be stored, and its hash.
    pub fn body(mut self, body: Value) -> Draft {
        let hash = ContentId::of(&body.canonical());
        self.object.insert("bodyHash", hash.to_string());
        self.object.insert("body", body);
        self
    }

    /// Makes it a delete.
    pub fn delete(self) -> Draft {
        self.set("deleted", true)
    }

    /// Sets the member `name`.
    pub fn set(mut self, name: &str, value: impl Into<Value>) -> Draft {
        self.object.insert(name, value);
        self
    }

    /// Leaves the member `name` out.
    pub fn without(mut self, name: &str) -> Draft {
        self.object.remove(name);
        self
    }

    /// Signs as `key`: sets `author`, unless it is set, then `id` and `signature` (02 §3.2). What
    /// comes out need be no version; a reader will tell.
    pub fn sign(mut self, key: &SigningKey) -> Object {
        if !self.object.contains("author") {
            self.object.insert("author", key.did().to_string());
        }
        let mut payload = Vec::new();
        self.object.write_canonical_without(&UNSIGNED, &mut payload);
        self.object
            .insert("id", ContentId::of(&payload).to_string());
        self.object
            .insert("signature", base64url::encode(&key.sign(&payload)));
        self.object
    }
}

/// A key for a new record of the account `root`: its owner part and 26 random base32 characters
/// (02 §4.1).
///
/// # Errors
/// [`RandomnessError`].
pub fn new_record_key(
    root: &Did,
    randomness: &mut dyn Randomness,
) -> Result<String, RandomnessError> {
    let name = BASE32_NOPAD
        .encode(&random_bytes::<16>(randomness)?)
        .to_ascii_lowercase();
    Ok(owned_key(&root.to_string(), &name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Account;
    use crate::randomness::FixedRandomness;
    use minca_record::record_key::{is_record_key, owner_part};

    const SPACE: &str = "blm7z6wkumdjs43sxki3lv27z5x6qtwa345vmlzjco2mxxau3jmhq";

    fn draft(account: &Account) -> Draft {
        let did = account.did().to_string();
        let key = owned_key(&did, "mfrggzdfmztwq2lknnwg23tpoa");
        let log = LogPlace { n: 0, prev: None };
        let created_at = UnixTime::from_milliseconds(1_790_424_000_000);
        let space = ContentId::parse(SPACE).unwrap();
        let body = Object::from([("text", Value::from("Buy milk")), ("done", false.into())]);
        let link = Object::from([("rel", "about"), ("to", "list.groceries")]);
        Draft::new(
            space,
            "app.todo.item",
            &key,
            Position::FIRST,
            log,
            created_at,
        )
        .body(body.into())
        .set("links", vec![link.into()])
    }

    #[test]
    fn the_example_of_part_02_comes_out_byte_for_byte() {
        let account = Account::from_seed(std::array::from_fn(|place| place as u8 + 1));
        let signed = draft(&account).sign(account.root_key());
        let text = |name| signed.get(name).and_then(Value::as_str).unwrap();
        assert_eq!(
            text("id"),
            "b5kffn5gz7liyc4d5oyrsdxdnfvn3rxcwpmglsqucm72rvhosiima"
        );
        assert_eq!(
            text("signature"),
            "B--kCC-x-pjckDSw7OJjfaKcbUAEUsbQlknuJTsjPHsX-d4N_Neih-xbdgMKWBFfiPGNH3bmCTd-9t1jqzlgKw"
        );
    }

    #[test]
    fn a_version_after_another_names_it_and_the_first_of_its_chain() {
        let account = Account::from_seed([3; 16]);
        let sign = |draft: Draft| Version::shape(draft.sign(account.root_key()).into()).unwrap();
        let first = sign(draft(&account));
        let second = Position::after(&first);
        let expected = Chain {
            prev: first.id(),
            genesis: first.id(),
        };
        assert_eq!(
            second,
            Position {
                seq: 1,
                chain: Some(expected)
            }
        );
        let log = LogPlace {
            n: 1,
            prev: Some(first.id()),
        };
        let space = ContentId::parse(SPACE).unwrap();
        let now = UnixTime::from_milliseconds(0);
        let version = sign(Draft::new(space, "app.note", first.key(), second, log, now).delete());
        let third = Position::after(&version);
        let expected = Chain {
            prev: version.id(),
            genesis: first.id(),
        };
        assert_eq!(
            third,
            Position {
                seq: 2,
                chain: Some(expected)
            }
        );
    }

    #[test]
    fn a_new_record_key_is_the_accounts_own() {
        let did = Account::from_seed([3; 16]).did();
        let key = new_record_key(&did, &mut FixedRandomness::new(1)).unwrap();
        assert!(is_record_key(&key));
        assert_eq!(
            owner_part(&key),
            owner_part(&owned_key(&did.to_string(), "x"))
        );
        assert_eq!(key.len(), 40 + 1 + 26);
    }
}
