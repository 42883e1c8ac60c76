//! A replayed history as JSON, in the shape of a case's `expect`.

use minca_access::Kind;
use minca_access::case::Probe;
use minca_record::content_id::ContentId;
use minca_record::json::{Object, Text, Value};

use super::refusal::{ids, texts};
use super::state::{Definition, State};
use super::{Model, Set, Status, account};

/// What a dump is asked about, beside what it has anyway.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Whether the history named each of these accounts.
    pub named: Vec<Text>,
    /// Whether it knows each of these invites.
    pub invites: Vec<Text>,
}

impl Model {
    /// Everything a replay exposes (03 §4.6), and the verdicts on `probes`.
    pub fn dump(&self, probes: &[Probe], asked: &Asked) -> Object {
        let status = self.events.iter().map(|event| {
            let status = self.status(event.id).unwrap();
            (event.id.to_string(), status_object(status))
        });
        let probes = probes
            .iter()
            .map(|probe| (probe.id.to_string(), self.probe(probe)));
        let named = asked.named.iter().map(|it| (it.clone(), self.is_named(it)));
        let invites = asked.invites.iter();
        let invites = invites.map(|it| (it.clone(), self.is_known_invite(it)));
        Object::from([
            ("status", Value::Object(status.collect())),
            ("current", self.current_object().into()),
            ("heads", self.ids(&self.heads())),
            ("reductions", self.ids(&self.applied_reductions())),
            ("mutual", self.mutual_ids()),
            ("revokes", sorted(self.revokes())),
            ("forks", sorted(self.forks())),
            ("named", Value::Object(named.collect())),
            ("knownInvites", Value::Object(invites.collect())),
            ("probes", Value::Object(probes.collect())),
        ])
    }

    /// The heads: what a writer puts in `seen`.
    pub fn head_ids(&self) -> Vec<ContentId> {
        let mut heads: Vec<_> = self.heads().iter().map(|it| self.id(*it)).collect();
        heads.sort();
        heads
    }

    fn heads(&self) -> Set {
        let may_be_head =
            |event: &usize| !matches!(self.kind(*event), Kind::Revoke { .. } | Kind::Fork { .. });
        let all: Set = self.valid.iter().copied().filter(may_be_head).collect();
        let was_seen = |event: &usize| all.iter().any(|other| self.did_see(*other, *event));
        all.iter()
            .copied()
            .filter(|event| !was_seen(event))
            .collect()
    }

    fn ids(&self, set: &Set) -> Value {
        ids(set.iter().map(|event| self.id(*event)))
    }

    fn mutual_ids(&self) -> Value {
        sorted(self.mutual().iter().map(|group| self.ids(group)).collect())
    }

    fn revokes(&self) -> Vec<Value> {
        let revoke = |event: &usize| match self.kind(*event) {
            Kind::Revoke { target } => Some(Value::Array(vec![
                target.clone().into(),
                self.root(*event).clone().into(),
                self.id(*event).to_string().into(),
            ])),
            _ => None,
        };
        self.valid.iter().filter_map(revoke).collect()
    }

    fn forks(&self) -> Vec<Value> {
        let fork = |event: &usize| match self.kind(*event) {
            Kind::Fork {
                writer,
                collection,
                from,
            } => Some(Value::Array(vec![
                account(*writer).into(),
                (&**collection).into(),
                (*from).into(),
                self.id(*event).to_string().into(),
            ])),
            _ => None,
        };
        self.valid.iter().filter_map(fork).collect()
    }

    /// Whether the history has heard of an account (03 §3.4).
    pub fn is_named(&self, did: &Text) -> bool {
        let is_assigned = |kind: &Kind| matches!(kind, Kind::Assign { did: own, assigned: true, .. } if own == did);
        self.start.is_member(did) || self.events.iter().any(|it| is_assigned(&it.kind))
    }

    /// Whether some held event names an invite (03 §3.4).
    pub fn is_known_invite(&self, key: &Text) -> bool {
        let is_it =
            |kind: &Kind| matches!(kind, Kind::Invite { invite_key, .. } if invite_key == key);
        self.events.iter().any(|it| is_it(&it.kind))
    }

    fn probe(&self, probe: &Probe) -> Object {
        let judged = self.judge(probe);
        let (standing, step) = self.standing(probe);
        let object = |verdict: &str, step: Value| {
            Object::from([("verdict", Value::from(verdict)), ("step", step)])
        };
        Object::from([
            ("judge", object(judged.verdict, judged.step.into())),
            ("standing", object(standing, step.into())),
        ])
    }

    fn current_object(&self) -> Object {
        let mut object = state_object(&self.current);
        object.insert("keyDue", self.key_due());
        object
    }
}

fn sorted(mut values: Vec<Value>) -> Value {
    values.sort_by_key(Value::canonical);
    Value::Array(values)
}

fn status_object(status: Status) -> Object {
    let members: &[(&str, &str)] = match status {
        Status::Applied => &[("status", "applied")],
        Status::Refused => &[("status", "dropped"), ("class", "refused")],
        Status::Struck => &[("status", "dropped"), ("class", "struck")],
        Status::Waiting => &[("status", "waiting")],
    };
    members.iter().copied().collect()
}

fn or_null(text: Option<&Text>) -> Value {
    text.map_or(Value::Null, |it| it.clone().into())
}

fn id_value(id: ContentId) -> Value {
    id.to_string().into()
}

/// A state, `keyDue` and a definition's `view` left out.
pub fn state_object(state: &State) -> Object {
    let roles = state.roles.iter().map(|(name, definitions)| {
        let definitions = definitions.iter().map(|it| definition_value(it));
        (name.clone(), Value::Array(definitions.collect()))
    });
    let assigned = state.assigned.iter().map(|(did, roles)| {
        let roles = roles
            .iter()
            .map(|(role, event)| (role.clone(), id_value(*event)));
        (did.clone(), Value::Object(roles.collect()))
    });
    let invites = state.invites.iter().map(|(key, invite)| {
        let invite = Object::from([
            ("role", Value::from(invite.role.clone())),
            ("open", invite.open.into()),
            ("event", id_value(invite.event)),
            ("by", texts(invite.by.clone())),
        ]);
        (key.clone(), invite)
    });
    let definitions = state.definitions.iter().map(|(name, collection)| {
        let collection = Object::from([
            ("event", id_value(collection.event)),
            ("definedBy", or_null(collection.defined_by.as_ref())),
        ]);
        (name.clone(), collection)
    });
    let contested = state.contested.iter();
    let contested = contested.map(|(name, events)| (name.clone(), ids(events.clone())));
    let keys = state.keys.iter().map(|key| {
        Object::from([
            ("keyId", Value::from(key.key_id.clone())),
            ("readKey", key.read_key.clone().into()),
            ("event", id_value(key.event)),
        ])
    });
    let keepers = state.keepers.iter().map(|keeper| {
        Object::from([
            ("did", Value::from(keeper.did.clone())),
            ("name", keeper.name.clone().into()),
        ])
    });
    let successors = state.successors.iter();
    let successors = successors.map(|(space, by)| (space.to_string(), texts(by.clone())));
    Object::from([
        ("founders", texts(state.founders.clone())),
        ("roles", Value::Object(roles.collect())),
        ("assigned", Value::Object(assigned.collect())),
        ("invites", Value::Object(invites.collect())),
        ("definitions", Value::Object(definitions.collect())),
        ("contested", Value::Object(contested.collect())),
        ("keys", Value::Array(keys.map(Value::from).collect())),
        ("relays", texts(state.relays.clone())),
        ("keepers", Value::Array(keepers.map(Value::from).collect())),
        (
            "copies",
            state.copies.map_or(Value::Null, |it| u32::from(it).into()),
        ),
        ("successors", Value::Object(successors.collect())),
    ])
}

fn definition_value(definition: &Definition) -> Value {
    let grants = definition.grants.iter().map(|it| it.written.clone());
    Object::from([
        ("event", id_value(definition.event)),
        ("by", or_null(definition.by.as_ref())),
        ("title", or_null(definition.title.as_ref())),
        ("grants", Value::Array(grants.collect())),
        ("nests", texts(definition.nests.clone())),
    ])
    .into()
}
