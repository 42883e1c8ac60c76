//! A state written out: plain data, and the JSON the oracle's cases have of it.

use std::collections::BTreeMap;

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{self, Object, Text, Value};

use super::names::Name;
use super::refusal::key_of;
use super::view::{DefinitionState, View};
use super::work::Work;
use crate::event::{Grant, Keeper, Kind};

/// A state of the access history (03 §4.1).
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Who no one else can remove, sorted.
    pub founders: Vec<Text>,
    /// Each role's definitions, sorted by id; more than one are rivals.
    pub roles: BTreeMap<Text, Vec<RoleState>>,
    /// By account and role, what assigns it: an event, or the space's id for the
    /// constitution. Accounts without roles are left out.
    pub assigned: BTreeMap<Text, BTreeMap<Text, ContentId>>,
    /// By the invite's key.
    pub invites: BTreeMap<Text, Invite>,
    /// By collection, the definition in force.
    pub definitions: BTreeMap<Text, DefinitionInForce>,
    /// By collection, the latest definitions of which none is in force, sorted.
    pub contested: BTreeMap<Text, Vec<ContentId>>,
    /// The keys of a private space; the last is the current one.
    pub keys: Vec<SpaceKey>,
    /// Whether the key is due for a change. Worked out for the current state alone.
    pub key_due: bool,
    /// Where members meet.
    pub relays: Vec<Text>,
    /// The nodes that keep the space whole.
    pub keepers: Vec<Keeper>,
    /// How many a write should reach.
    pub copies: Option<u8>,
    /// By space, the accounts that named it a successor, sorted.
    pub successors: BTreeMap<Text, Vec<Text>>,
}

/// One definition of a role.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleState {
    /// The event; the space's id for the constitution's.
    pub event: ContentId,
    /// Its author's account; `None` for the constitution's.
    pub by: Option<Did>,
    /// What people read.
    pub title: Option<Text>,
    /// As written.
    pub grants: Vec<Grant>,
    /// As written.
    pub nests: Vec<Box<str>>,
}

/// An invite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invite {
    /// The role it gives.
    pub role: Text,
    /// Whether it can be joined by.
    pub open: bool,
    /// The lowest of the latest events on it that close it, or of all of them.
    pub event: ContentId,
    /// The accounts of the latest ones, sorted.
    pub by: Vec<Text>,
}

/// A collection's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionInForce {
    /// The event.
    pub event: ContentId,
    /// Who first defined the collection, if that is one account.
    pub defined_by: Option<Text>,
}

/// A key of a private space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceKey {
    /// Its id.
    pub key_id: Text,
    /// Its read key.
    pub read_key: Text,
    /// The change to it; the space's id for the first.
    pub event: ContentId,
}

impl State {
    pub(super) fn of(
        view: View<'_>,
        founding: &BTreeMap<Text, RoleState>,
        key_due: bool,
        work: &mut Work,
    ) -> State {
        let arena = view.arena;
        let mut founders: Vec<Text> = view
            .founders()
            .map(|name| view.text(name).clone())
            .collect();
        founders.sort();
        let keepers_event = view.lowest_latest(arena.keepers_at);
        let (keepers, copies) = match keepers_event.map(|index| &arena.event(index).event.kind) {
            Some(Kind::Keepers { keepers, copies }) => (keepers.clone(), *copies),
            _ => (Vec::new(), None),
        };
        let relays_event = view.lowest_latest(arena.relays_at);
        let relays = match relays_event.map(|index| &arena.event(index).event.kind) {
            Some(Kind::Relays { relays }) => relays.clone(),
            _ => Vec::new(),
        };
        let (definitions, contested) = definitions(view, work);
        State {
            founders,
            roles: roles(view, founding),
            assigned: assigned(view, work),
            invites: invites(view),
            definitions,
            contested,
            keys: keys(view, work),
            key_due,
            relays,
            keepers,
            copies,
            successors: successors(view, work),
        }
    }

    /// The state as the oracle's cases write it.
    pub fn to_json(&self) -> Object {
        let assigned = self.assigned.iter().map(|(did, roles)| {
            let roles = roles.iter().map(|(role, id)| (role.clone(), id_value(id)));
            (did.clone(), Value::Object(roles.collect()))
        });
        let contested = self.contested.iter().map(|(name, ids)| {
            let ids: Vec<Value> = ids.iter().map(id_value).collect();
            (name.clone(), Value::from(ids))
        });
        let keepers = self.keepers.iter().map(|keeper| {
            let keeper = [("did", keeper.did.clone()), ("name", keeper.name.clone())];
            Value::Object(Object::from(keeper))
        });
        let keys = self.keys.iter().map(|key| {
            Value::Object(Object::from([
                ("keyId", Value::from(key.key_id.clone())),
                ("readKey", key.read_key.clone().into()),
                ("event", id_value(&key.event)),
            ]))
        });
        let roles = self.roles.iter().map(|(name, definitions)| {
            let definitions: Vec<Value> = definitions.iter().map(RoleState::to_json).collect();
            (name.clone(), Value::from(definitions))
        });
        let invites = self.invites.iter().map(|(key, invite)| {
            let invite = Object::from([
                ("role", Value::from(invite.role.clone())),
                ("open", invite.open.into()),
                ("event", id_value(&invite.event)),
                ("by", texts(&invite.by)),
            ]);
            (key.clone(), Value::Object(invite))
        });
        let definitions = self.definitions.iter().map(|(name, definition)| {
            let definition = Object::from([
                ("event", id_value(&definition.event)),
                ("definedBy", or_null(definition.defined_by.clone())),
            ]);
            (name.clone(), Value::Object(definition))
        });
        let successors = self.successors.iter();
        let successors = successors.map(|(space, by)| (space.clone(), texts(by)));
        Object::from([
            ("founders", texts(&self.founders)),
            ("roles", Value::Object(roles.collect())),
            ("assigned", Value::Object(assigned.collect())),
            ("invites", Value::Object(invites.collect())),
            ("definitions", Value::Object(definitions.collect())),
            ("contested", Value::Object(contested.collect())),
            ("keys", keys.collect::<Vec<Value>>().into()),
            ("keyDue", self.key_due.into()),
            ("relays", texts(&self.relays)),
            ("keepers", keepers.collect::<Vec<Value>>().into()),
            ("copies", or_null(self.copies.map(u32::from))),
            ("successors", Value::Object(successors.collect())),
        ])
    }
}

impl RoleState {
    fn to_json(&self) -> Value {
        let grants = self
            .grants
            .iter()
            .map(|grant| json::read(&grant.canonical, json::MESSAGE_DEPTH).unwrap_or(Value::Null));
        let nests = self.nests.iter().map(|nest| Value::from(&**nest));
        Value::Object(Object::from([
            ("event", id_value(&self.event)),
            ("by", or_null(self.by.map(|by| by.to_string()))),
            ("title", or_null(self.title.clone())),
            ("grants", grants.collect::<Vec<Value>>().into()),
            ("nests", nests.collect::<Vec<Value>>().into()),
        ]))
    }
}

fn id_value(id: &ContentId) -> Value {
    id.to_string().into()
}

fn or_null(value: Option<impl Into<Value>>) -> Value {
    value.map_or(Value::Null, Into::into)
}

fn texts(texts: &[Text]) -> Value {
    let texts = texts.iter().cloned();
    texts.map(Value::from).collect::<Vec<Value>>().into()
}

fn roles(view: View<'_>, founding: &BTreeMap<Text, RoleState>) -> BTreeMap<Text, Vec<RoleState>> {
    let arena = view.arena;
    let mut roles: BTreeMap<Text, Vec<RoleState>> = founding
        .iter()
        .map(|(name, role)| (name.clone(), vec![role.clone()]))
        .collect();
    for role in arena.role_at.iter().map(|(name, _)| name) {
        let written = view.role_definitions(role);
        let written = written.into_iter().filter_map(|index| {
            let event = &arena.event(index).event;
            let Kind::Role(role) = &event.kind else {
                return None;
            };
            Some(RoleState {
                event: event.id,
                by: Some(event.root),
                title: role.title.clone(),
                grants: role.grants.clone(),
                nests: role.nests.clone(),
            })
        });
        let written: Vec<RoleState> = written.collect();
        if !written.is_empty() {
            roles.insert(view.text(role).clone(), written);
        }
    }
    roles
}

fn assigned(view: View<'_>, work: &mut Work) -> BTreeMap<Text, BTreeMap<Text, ContentId>> {
    let arena = view.arena;
    let mut assigned: BTreeMap<Text, BTreeMap<Text, ContentId>> = BTreeMap::new();
    for (account, _) in arena.assignments_at.iter() {
        for (at, by) in view.assignments(account, work) {
            let by = by.map_or(arena.space, |index| *arena.id(index));
            let roles = assigned.entry(view.text(account).clone()).or_default();
            roles.insert(view.text(at.role).clone(), by);
        }
    }
    assigned
}

fn invites(view: View<'_>) -> BTreeMap<Text, Invite> {
    let arena = view.arena;
    let keys = arena.invite_at.iter().map(|(name, _)| name);
    let known = keys.filter_map(|invite| Some((invite, view.invite(invite)?)));
    let invites = known.map(|(key, invite)| {
        let roots = invite.by.iter().map(|index| arena.event(*index).root);
        let invite = Invite {
            role: view.text(invite.role).clone(),
            open: invite.is_open,
            event: *arena.id(invite.event),
            by: sorted(view, roots),
        };
        (view.text(key).clone(), invite)
    });
    invites.collect()
}

/// The accounts, sorted and each once.
fn sorted(view: View<'_>, accounts: impl Iterator<Item = Name>) -> Vec<Text> {
    let mut texts: Vec<Text> = accounts.map(|account| view.text(account).clone()).collect();
    texts.sort();
    texts.dedup();
    texts
}

type Definitions = (
    BTreeMap<Text, DefinitionInForce>,
    BTreeMap<Text, Vec<ContentId>>,
);

fn definitions(view: View<'_>, work: &mut Work) -> Definitions {
    let arena = view.arena;
    let mut in_force = BTreeMap::new();
    let mut contested = BTreeMap::new();
    for (name, key) in arena.definition_at.iter() {
        let text = view.text(name).clone();
        match view.definition_at(*key, work) {
            DefinitionState::None => {}
            DefinitionState::InForce { event, defined_by } => {
                let definition = DefinitionInForce {
                    event: *arena.id(event),
                    defined_by: defined_by.map(|name| view.text(name).clone()),
                };
                in_force.insert(text, definition);
            }
            DefinitionState::Contested(events) => {
                let ids = events.into_iter().map(|index| *arena.id(index));
                contested.insert(text, ids.collect());
            }
        }
    }
    (in_force, contested)
}

fn keys(view: View<'_>, work: &mut Work) -> Vec<SpaceKey> {
    let arena = view.arena;
    let Some((key_id, read_key)) = &arena.first_key else {
        return Vec::new();
    };
    let first = SpaceKey {
        key_id: key_id.clone(),
        read_key: read_key.clone(),
        event: arena.space,
    };
    let changes = view.key_changes(work).into_iter().filter_map(|index| {
        let event = arena.event(index);
        let (key_id, read_key) = key_of(event)?;
        Some(SpaceKey {
            key_id: key_id.clone(),
            read_key: read_key.clone(),
            event: event.event.id,
        })
    });
    std::iter::once(first).chain(changes).collect()
}

fn successors(view: View<'_>, work: &mut Work) -> BTreeMap<Text, Vec<Text>> {
    let arena = view.arena;
    let mut successors = BTreeMap::new();
    for (space, key) in &arena.succeed_at {
        let named_by = view.all_on(*key, work);
        if !named_by.is_empty() {
            let roots = named_by.iter().map(|index| arena.event(*index).root);
            successors.insert(Text::from(space.to_string()), sorted(view, roots));
        }
    }
    successors
}
