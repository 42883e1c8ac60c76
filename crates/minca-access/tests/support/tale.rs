//! Small histories told one event after another, whose ids ascend.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    dead_code,
    reason = "a test's support, which not every test uses all of"
)]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use minca_access::case::{Case, Probe};
use minca_access::history::History;
use minca_access::{Cutoff, Event, Grant, Kind, RoleDefinition, keys};
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{MESSAGE_DEPTH, Object, Text, Value, read};
use minca_record::policy::Policy;
use minca_record::signing::SigningKey;

use crate::cases::differences;
use crate::model::Model;
use crate::model::dump::Asked;

/// An account of a tale.
pub type Person = usize;
pub const ALICE: Person = 0;
pub const ANN: Person = 1;
pub const BOB: Person = 2;
pub const CAROL: Person = 3;
pub const DAN: Person = 4;
const PEOPLE: usize = 5;
const DEVICES: usize = 3;

/// The collection that tales define and write in.
const COLLECTION: &str = "app.chat";

static KEYS: LazyLock<Vec<Did>> = LazyLock::new(|| {
    let key = |number: usize| SigningKey::from_uniform(&[number as u8 + 1; 48]).did();
    (0..PEOPLE * DEVICES + 5).map(key).collect()
});

/// The key of a person's device; the first is the account.
fn did(person: Person, device: usize) -> Did {
    KEYS[device * PEOPLE + person]
}

pub fn text(person: Person) -> Text {
    did(person, 0).to_string().into()
}

fn invite() -> Did {
    KEYS[PEOPLE * DEVICES]
}

fn read_key(number: usize) -> Did {
    KEYS[PEOPLE * DEVICES + 1 + number]
}

pub fn assign(whom: Person, role: &str) -> Kind {
    assign_text(&text(whom), role)
}

/// As [`assign`], to whatever a body may name.
pub fn assign_text(did: &Text, role: &str) -> Kind {
    Kind::Assign {
        did: did.clone(),
        role: role.into(),
        assigned: true,
        via_invite: None,
    }
}

pub fn take(whom: Person, role: &str) -> Kind {
    Kind::Assign {
        did: text(whom),
        role: role.into(),
        assigned: false,
        via_invite: None,
    }
}

pub fn join(whom: Person, role: &str) -> Kind {
    Kind::Assign {
        did: text(whom),
        role: role.into(),
        assigned: true,
        via_invite: Some(invite()),
    }
}

pub fn open_invite(role: &str, open: bool) -> Kind {
    Kind::Invite {
        invite_key: invite().to_string().into(),
        role: role.into(),
        open,
    }
}

pub fn remove(whom: Person) -> Kind {
    Kind::Remove { did: text(whom) }
}

pub fn step_down(whom: Person) -> Kind {
    Kind::StepDown { did: text(whom) }
}

pub fn revoke(whose: Person, device: usize) -> Kind {
    Kind::Revoke {
        target: did(whose, device).to_string().into(),
    }
}

pub fn define() -> Kind {
    Kind::Definition {
        name: COLLECTION.into(),
        deleted: false,
    }
}

pub fn delete() -> Kind {
    Kind::Definition {
        name: COLLECTION.into(),
        deleted: true,
    }
}

pub fn key(id: &str, number: usize) -> Kind {
    Kind::Key {
        key_id: id.into(),
        read_key: read_key(number).to_string().into(),
    }
}

pub fn succeed() -> Kind {
    Kind::Succeed {
        space: ContentId::of(b"a successor"),
    }
}

/// A definition of a role that holds commands under no policy.
pub fn role(name: &str, commands: &[&str]) -> Kind {
    defines(name, commands.iter().map(|cmd| (*cmd, "[]")))
}

/// A definition of a role that holds one command under a policy.
pub fn role_under(name: &str, cmd: &str, pol: &str) -> Kind {
    defines(name, [(cmd, pol)])
}

fn defines<'a>(name: &str, grants: impl IntoIterator<Item = (&'a str, &'a str)>) -> Kind {
    let grants = grants.into_iter().map(|(cmd, pol)| {
        let written = granted(cmd, pol);
        let pol = written.as_object().and_then(|it| it.get("pol"));
        Grant {
            cmd: cmd.into(),
            pol: Policy::read(pol.unwrap()).unwrap(),
            canonical: written.canonical(),
        }
    });
    Kind::Role(RoleDefinition {
        name: name.into(),
        title: None,
        grants: grants.collect(),
        nests: Vec::new(),
    })
}

fn granted(cmd: &str, pol: &str) -> Value {
    let text = format!(r#"{{"cmd": "{cmd}", "pol": {pol}}}"#);
    read(text.as_bytes(), MESSAGE_DEPTH).unwrap()
}

/// A private space where `admin` may do everything, `mod` assigns and `member`
/// writes.
fn constitution(founders: &[Person]) -> Constitution {
    let founders: Vec<Value> = founders.iter().map(|it| text(*it).into()).collect();
    let role = |name: &str, cmd: &str| -> Value {
        let grants: Vec<Value> = vec![granted(cmd, "[]")];
        Object::from([("name", Value::from(name)), ("grants", grants.into())]).into()
    };
    let roles: Vec<Value> = vec![
        role("admin", "/"),
        role("mod", "/member/remove"),
        role("member", "/record"),
    ];
    let mut object = Object::from([
        ("minca", Value::from("constitution/1")),
        ("name", "A tale".into()),
        ("visibility", "private".into()),
        ("resolver", "strong-remove/1".into()),
        ("top", Object::from([("founders", founders)]).into()),
        ("roles", roles.into()),
        ("createdAt", "2026-01-01T00:00:00.000Z".into()),
        ("nonce", "A".repeat(16).into()),
        ("readKey", read_key(0).to_string().into()),
        ("encryptionKeyId", "A".repeat(22).into()),
    ]);
    let id = ContentId::of(&object.canonical());
    object.insert("id", id.to_string());
    Constitution::check(object.into()).unwrap()
}

pub struct Tale {
    case: Case,
    ids: Vec<ContentId>,
    /// A replay that every event is added to when it is told.
    grown: History,
    /// What the next event covers.
    cutoff: BTreeMap<Text, BTreeMap<Text, u64>>,
}

impl Tale {
    pub fn new(founders: &[Person]) -> Tale {
        let mut ids: Vec<_> = (0u8..32).map(|it| ContentId::of(&[it])).collect();
        ids.sort();
        let constitution = constitution(founders);
        Tale {
            grown: History::new(&constitution),
            case: Case {
                constitution,
                events: Vec::new(),
                probes: Vec::new(),
                expect: None,
            },
            ids,
            cutoff: BTreeMap::new(),
        }
    }

    /// The id of the event told next.
    pub fn next_id(&self) -> ContentId {
        self.id_after(0)
    }

    /// The id of the event told when `more` others have been.
    pub fn id_after(&self, more: usize) -> ContentId {
        self.ids[self.case.events.len() + more]
    }

    /// Has the next event cover a line up to a place.
    pub fn cover(&mut self, whose: Person, device: usize, collection: &str, place: u64) {
        let lines = self.cutoff.entry(did(whose, device).to_string().into());
        lines.or_default().insert(collection.into(), place);
    }

    /// An event by a person's first key.
    pub fn tell(&mut self, by: Person, seen: &[ContentId], kind: Kind) -> ContentId {
        self.tell_with(by, 0, seen, kind)
    }

    /// An event by one of a person's keys; each is at place 0 of its line.
    pub fn tell_with(
        &mut self,
        by: Person,
        device: usize,
        seen: &[ContentId],
        kind: Kind,
    ) -> ContentId {
        let id = self.next_id();
        let root = did(by, 0);
        self.case.events.push(Event {
            id,
            key: keys::of(&kind, &root).into(),
            root,
            author: did(by, device),
            seen: seen.to_vec(),
            log_place: 0,
            cutoff: Cutoff::from(std::mem::take(&mut self.cutoff)),
            kind,
        });
        id
    }

    /// A record written with one of a person's keys.
    pub fn record(
        &mut self,
        by: Person,
        device: usize,
        seen: &[ContentId],
        within: Option<&[ContentId]>,
    ) -> ContentId {
        self.record_in(COLLECTION, by, device, seen, within)
    }

    /// What [`Tale::record`] tells, in another collection.
    pub fn record_in(
        &mut self,
        collection: &str,
        by: Person,
        device: usize,
        seen: &[ContentId],
        within: Option<&[ContentId]>,
    ) -> ContentId {
        let id = ContentId::of(&[100, self.case.probes.len() as u8]);
        self.case.probes.push(Probe {
            id,
            root: did(by, 0),
            seen: seen.to_vec(),
            author: did(by, device),
            collection: collection.into(),
            place: 0,
            deletes: false,
            by_creator: true,
            body: Some("text".into()),
            within: within.map(<[ContentId]>::to_vec),
            blind: false,
            stub: false,
        });
        id
    }

    /// The record told in this place, to be told otherwise.
    pub fn probe(&mut self, place: usize) -> &mut Probe {
        &mut self.case.probes[place]
    }

    /// The history of what was told so far.
    pub fn history(&self) -> History {
        let mut history = History::new(&self.case.constitution);
        for event in &self.case.events {
            history.add(event.clone());
        }
        history
    }

    /// What comes of it: by a replay of it all, by one that has grown with it, and by
    /// the model alike.
    pub fn told(&mut self) -> Told {
        let named: Vec<Text> = (0..PEOPLE).map(text).collect();
        let invites = Vec::new();
        let asked: Object = named.iter().map(|it| (it.clone(), Value::Null)).collect();
        self.case.expect = Some(Object::from([
            ("named", asked),
            ("knownInvites", Object::new()),
        ]));
        let came = self.case.outcome();
        for event in &self.case.events {
            self.grown.add(event.clone());
        }
        assert_eq!(self.case.outcome_in(&mut self.grown), came);
        let model = Model::of(&self.case.constitution, &self.case.events);
        let modelled = model.dump(&self.case.probes, &Asked { named, invites });
        assert_eq!(differences(&modelled, &came), Vec::<String>::new());
        Told(came)
    }
}

/// What came of a tale.
pub struct Told(Object);

impl Told {
    fn member<'a>(&'a self, path: &[&str]) -> Option<&'a Value> {
        let (first, rest) = path.split_first()?;
        let mut value = self.0.get(first)?;
        for name in rest {
            value = value.as_object()?.get(name)?;
        }
        Some(value)
    }

    fn str(&self, path: &[&str]) -> &str {
        self.member(path).and_then(Value::as_str).unwrap()
    }

    /// `applied`, `refused`, `struck` or `waiting`.
    pub fn status(&self, id: ContentId) -> &str {
        let id = &*id.to_string();
        match self.str(&["status", id, "status"]) {
            "dropped" => self.str(&["status", id, "class"]),
            status => status,
        }
    }

    /// A member of the current state, as JSON.
    pub fn current(&self, name: &str) -> String {
        let value = self.member(&["current", name]).unwrap();
        String::from_utf8(value.canonical()).unwrap()
    }

    /// A person's roles and the events that assign them, as JSON.
    pub fn roles_of(&self, whose: Person) -> String {
        let did = did(whose, 0).to_string();
        let roles = self.member(&["current", "assigned", &did]);
        roles.map_or("{}".into(), |it| String::from_utf8(it.canonical()).unwrap())
    }

    /// The definition in force of the collection, and who first defined it.
    pub fn definition(&self) -> (ContentId, Option<Person>) {
        let path = ["current", "definitions"];
        let definitions = self.member(&path).and_then(Value::as_object).unwrap();
        let definition = definitions.get(COLLECTION).and_then(Value::as_object);
        let definition = definition.unwrap();
        let event = definition.get("event").and_then(Value::as_str).unwrap();
        let by = definition.get("definedBy").unwrap();
        let by = (0..PEOPLE).find(|it| *by == Value::from(text(*it)));
        (ContentId::parse(event).unwrap(), by)
    }

    /// The ids of the space's keys in order, the constitution's as `first`.
    pub fn key_ids(&self) -> Vec<String> {
        let keys = self.member(&["current", "keys"]).and_then(Value::as_array);
        let id = |key: &Value| {
            let id = key.as_object().unwrap().get("keyId").unwrap();
            match id.as_str().unwrap() {
                id if id == "A".repeat(22) => "first".to_owned(),
                id => id.to_owned(),
            }
        };
        keys.unwrap().iter().map(id).collect()
    }

    pub fn key_due(&self) -> bool {
        self.member(&["current", "keyDue"])
            .and_then(Value::as_bool)
            .unwrap()
    }

    pub fn is_named(&self, whom: Person) -> bool {
        let did = did(whom, 0).to_string();
        self.member(&["named", &did])
            .and_then(Value::as_bool)
            .unwrap()
    }

    /// For each successor, who named it.
    pub fn successors(&self) -> Vec<Vec<Person>> {
        let successors = self.member(&["current", "successors"]);
        let successors = successors.and_then(Value::as_object).unwrap();
        let person = |did: &Value| (0..PEOPLE).find(|it| *did == Value::from(text(*it)));
        let people = |by: &Value| by.as_array().unwrap().iter().filter_map(person).collect();
        successors.iter().map(|(_, by)| people(by)).collect()
    }

    /// What `judge` says of a record.
    pub fn verdict(&self, record: ContentId) -> String {
        let id = &*record.to_string();
        let step = self.member(&["probes", id, "judge", "step"]).unwrap();
        let verdict = self.str(&["probes", id, "judge", "verdict"]);
        format!("{verdict} at {}", step.whole_number().unwrap())
    }

    /// How a record stands.
    pub fn standing(&self, record: ContentId) -> String {
        let id = &*record.to_string();
        let verdict = self.str(&["probes", id, "standing", "verdict"]);
        format!(
            "{verdict} at {}",
            self.str(&["probes", id, "standing", "step"])
        )
    }
}
