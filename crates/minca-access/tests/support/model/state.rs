//! The state of 03 §4.1.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use minca_access::Keeper;
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::json::{Object, Text, Value};
use minca_record::policy::Policy;

#[derive(Clone)]
pub struct State {
    pub founders: BTreeSet<Text>,
    /// One definition of each role, or rivals.
    pub roles: BTreeMap<Text, Vec<Rc<Definition>>>,
    /// The roles of each account, and the event that assigns each.
    pub assigned: BTreeMap<Text, BTreeMap<Text, ContentId>>,
    pub invites: BTreeMap<Text, Invite>,
    pub definitions: BTreeMap<Text, Collection>,
    pub contested: BTreeMap<Text, Vec<ContentId>>,
    /// Oldest first; the last is the current one.
    pub keys: Vec<Key>,
    pub relays: Vec<Text>,
    pub keepers: Vec<Keeper>,
    pub copies: Option<u8>,
    pub successors: BTreeMap<ContentId, BTreeSet<Text>>,
}

pub struct Definition {
    pub event: ContentId,
    pub by: Option<Text>,
    pub title: Option<Text>,
    pub grants: Vec<Rc<Granted>>,
    pub nests: Vec<Text>,
    /// `None` for the constitution's.
    pub view: Option<Rc<State>>,
}

/// A grant: a command, and the statements of its policy.
pub struct Granted {
    pub cmd: Text,
    pub pol: Policy,
    /// `{ cmd, pol }`.
    pub written: Value,
    /// The canonical form of that, by which rivals' grants are compared.
    pub canonical: Vec<u8>,
}

#[derive(Clone)]
pub struct Invite {
    pub role: Text,
    pub open: bool,
    pub event: ContentId,
    pub by: BTreeSet<Text>,
}

#[derive(Clone)]
pub struct Collection {
    pub event: ContentId,
    pub defined_by: Option<Text>,
}

#[derive(Clone)]
pub struct Key {
    pub key_id: Text,
    pub read_key: Text,
    pub event: ContentId,
}

impl State {
    pub fn start(constitution: &Constitution) -> State {
        let space = constitution.id();
        let roles = constitution.object().get("roles").and_then(Value::as_array);
        let roles = roles.unwrap_or_default().iter().map(|role| {
            let role = role.as_object().unwrap();
            let name = role.get("name").and_then(Value::as_text).unwrap().clone();
            (name, vec![Rc::new(founding(role, space))])
        });
        let assigned = constitution.assigned().iter().map(|it| {
            let roles = it.roles.iter().map(|role| (Text::from(&**role), space));
            (it.account.clone(), roles.collect())
        });
        let keys = constitution.first_keys().map(|first| Key {
            key_id: (&*first.encryption_key_id).into(),
            read_key: super::account(first.read_key),
            event: space,
        });
        State {
            founders: constitution.founders().iter().cloned().collect(),
            roles: roles.collect(),
            assigned: assigned.collect(),
            invites: BTreeMap::new(),
            definitions: BTreeMap::new(),
            contested: BTreeMap::new(),
            keys: keys.into_iter().collect(),
            relays: Vec::new(),
            keepers: Vec::new(),
            copies: None,
            successors: BTreeMap::new(),
        }
    }

    pub fn roles_of(&self, account: &Text) -> Vec<Text> {
        let roles = self.assigned.get(account);
        roles
            .into_iter()
            .flat_map(|it| it.keys().cloned())
            .collect()
    }

    pub fn holds_role(&self, account: &Text, role: &Text) -> bool {
        self.roles_of(account).contains(role)
    }

    pub fn role_exists(&self, role: &Text) -> bool {
        self.roles.contains_key(role)
    }

    pub fn is_member(&self, account: &Text) -> bool {
        self.founders.contains(account) || !self.roles_of(account).is_empty()
    }

    /// Who may read.
    pub fn members(&self) -> BTreeSet<Text> {
        let assigned = self.assigned.keys().filter(|it| self.is_member(it));
        self.founders.iter().chain(assigned).cloned().collect()
    }
}

impl Granted {
    /// Reads `{ cmd, pol }`.
    pub fn of(written: Value) -> Granted {
        let object = written.as_object().unwrap();
        Granted {
            cmd: object.get("cmd").and_then(Value::as_text).unwrap().clone(),
            pol: Policy::read(object.get("pol").unwrap()).unwrap(),
            canonical: written.canonical(),
            written,
        }
    }
}

fn founding(role: &Object, space: ContentId) -> Definition {
    let list = |name| role.get(name).and_then(Value::as_array).unwrap_or_default();
    Definition {
        event: space,
        by: None,
        title: role.get("title").and_then(Value::as_text).cloned(),
        grants: list("grants")
            .iter()
            .cloned()
            .map(|it| Rc::new(Granted::of(it)))
            .collect(),
        nests: list("nests")
            .iter()
            .map(|it| it.as_text().unwrap().clone())
            .collect(),
        view: None,
    }
}
