//! Histories to measure: events made directly, signed by nobody.

use minca_access::{Cutoff, Event, Grant, Kind, RoleDefinition, keys};
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{self, Object, Text, Value};
use minca_record::policy::Policy;
use minca_record::signing::SigningKey;

/// Accounts there are; the first is the founder, the next [`ADMINS`] hold `admin`.
pub const ACCOUNTS: usize = 2_100;
pub const ADMINS: usize = 60;

/// A history being written down.
pub struct Builder {
    pub constitution: Constitution,
    pub accounts: Vec<Did>,
    pub events: Vec<Event>,
}

/// The text of a constitution whose roles are these.
fn constitution(accounts: &[Did], roles: &str) -> Constitution {
    let assigned: Vec<String> = accounts[1..=ADMINS]
        .iter()
        .map(|did| format!(r#""{did}":["admin"]"#))
        .collect();
    let text = format!(
        r#"{{"minca":"constitution/1","name":"Bench","visibility":"public","resolver":"strong-remove/1",
        "top":{{"founders":["{}"]}},"roles":[{roles}],"assigned":{{{}}},
        "createdAt":"2026-01-01T00:00:00.000Z","nonce":"AAECAwQFBgcICQoL"}}"#,
        accounts[0],
        assigned.join(",")
    );
    let Ok(Value::Object(mut object)) = json::read(text.as_bytes(), 100) else {
        panic!("a constitution's JSON");
    };
    let id = ContentId::of(&object.canonical());
    object.insert("id", id.to_string());
    Constitution::check(Value::Object(object)).unwrap()
}

const ROLES: &str = r#"
    {"name":"admin","grants":[{"cmd":"/role","pol":[]},{"cmd":"/member/remove","pol":[]},{"cmd":"/collection/define","pol":[]}]},
    {"name":"member","grants":[{"cmd":"/record/write","pol":[["like",".collection","app.*"]]},
        {"cmd":"/record/delete","pol":[["==",".byCreator",true]]}]}"#;

impl Builder {
    pub fn new() -> Builder {
        let accounts: Vec<Did> = (1..=ACCOUNTS as u64)
            .map(|number| {
                let mut scalar = [0; 32];
                scalar[24..].copy_from_slice(&number.to_be_bytes());
                SigningKey::from_scalar(&scalar).unwrap().did()
            })
            .collect();
        Builder {
            constitution: constitution(&accounts, ROLES),
            accounts,
            events: Vec::new(),
        }
    }

    /// The same accounts and space, with no events.
    pub fn anew(&self) -> Builder {
        Builder {
            constitution: self.constitution.clone(),
            accounts: self.accounts.clone(),
            events: Vec::new(),
        }
    }

    pub fn text(&self, account: usize) -> Text {
        Text::from(self.accounts[account].to_string())
    }

    /// Adds an event by an account that saw these.
    pub fn add(&mut self, by: usize, seen: &[ContentId], kind: Kind) -> ContentId {
        self.add_at(by, seen, 0, kind)
    }

    /// Adds one at a place of its author's line.
    pub fn add_at(&mut self, by: usize, seen: &[ContentId], place: u64, kind: Kind) -> ContentId {
        let root = self.accounts[by];
        let key = keys::of(&kind, &root);
        let id = ContentId::of(&(self.events.len() as u64).to_be_bytes());
        self.events.push(Event {
            id,
            key: key.into(),
            root,
            author: root,
            seen: seen.to_vec(),
            log_place: place,
            cutoff: Cutoff::default(),
            kind,
        });
        id
    }

    pub fn assign(&self, account: usize, role: &str, assigned: bool) -> Kind {
        Kind::Assign {
            did: self.text(account),
            role: role.into(),
            assigned,
            via_invite: None,
        }
    }
}

/// A definition of a role.
pub fn role(name: &str, grants: &[(&str, &str)], nests: &[String]) -> Kind {
    let grants = grants.iter().map(|(cmd, pol)| {
        let written = json::read(pol.as_bytes(), 100).unwrap();
        let compared = Object::from([("cmd", Value::from(*cmd)), ("pol", written.clone())]);
        Grant {
            cmd: Text::from(*cmd),
            pol: Policy::read(&written).unwrap(),
            canonical: compared.canonical(),
        }
    });
    Kind::Role(RoleDefinition {
        name: name.into(),
        title: None,
        grants: grants.collect(),
        nests: nests.iter().map(|nest| nest.as_str().into()).collect(),
    })
}
