//! A space and what its members write, signed and kept here.

use std::collections::BTreeMap;

use holdfast::explain::{Held, Told, id_of, is_access, named_by};
use member::access;
use member::clock::UnixTime;
use member::identity::{Account, Device};
use member::randomness::FixedRandomness;
use member::replica::Write;
use member::space::Space;
use member::write::{Draft, Position};
use minca_record::constitution::Visibility;
use minca_record::content_id::ContentId;
use minca_record::json::{MESSAGE_DEPTH, Object, Value, read};
use minca_record::record_key::owned_key;
use minca_record::version::{LogPlace, Version};

/// An account of the story; the first two found the space.
pub type Person = usize;
pub const ALICE: Person = 0;
pub const AMY: Person = 1;
pub const BOB: Person = 2;
pub const CAROL: Person = 3;
pub const DAN: Person = 4;

/// What bodies hold and nothing that is told may.
pub const SECRET: &str = "hush";

const COLLECTION: &str = "app.note";

pub struct Story {
    pub space: Space,
    devices: Vec<[Device; 2]>,
    randomness: FixedRandomness,
    pub versions: Vec<Value>,
    lines: BTreeMap<(String, String), LogPlace>,
    current: BTreeMap<String, Version>,
}

pub fn value(text: &str) -> Value {
    read(text.as_bytes(), MESSAGE_DEPTH).unwrap()
}

fn now() -> UnixTime {
    UnixTime::from_milliseconds(1_790_000_000_000)
}

impl Story {
    pub fn public() -> Story {
        Story::of(Visibility::Public)
    }

    pub fn private() -> Story {
        Story::of(Visibility::Private)
    }

    fn of(visibility: Visibility) -> Story {
        let mut randomness = FixedRandomness::new(7);
        let device = |seed: u8, randomness: &mut FixedRandomness| {
            let account = Account::from_seed([seed; 16]);
            let second = account.new_device(randomness).unwrap();
            [Device::of_root_key(account), second]
        };
        let devices: Vec<[Device; 2]> = (1..=5).map(|seed| device(seed, &mut randomness)).collect();
        let founders = [ALICE, AMY].map(|it| Value::from(devices[it][0].did().to_string()));
        let roles = value(
            r#"[{"name":"editor","grants":[{"cmd":"/record","pol":[]},{"cmd":"/collection/define","pol":[]}]},
                {"name":"noter","grants":[{"cmd":"/record/write","pol":[["==",".body.kind","note"]]}]},
                {"name":"mod","grants":[{"cmd":"/member/remove","pol":[]},{"cmd":"/role/assign","pol":[]},{"cmd":"/role/unassign","pol":[]}]}]"#,
        );
        let constitution = Object::from([
            ("minca", Value::from("constitution/1")),
            ("resolver", "strong-remove/1".into()),
            ("name", SECRET.into()),
            (
                "top",
                Object::from([("founders", founders.to_vec())]).into(),
            ),
            ("roles", roles),
        ]);
        let space = Space::found_with(constitution, visibility, now(), &mut randomness).unwrap();
        Story {
            space,
            devices,
            randomness,
            versions: Vec::new(),
            lines: BTreeMap::new(),
            current: BTreeMap::new(),
        }
    }

    pub fn account(&self, who: Person) -> String {
        self.devices[who][0].did().to_string()
    }

    pub fn device(&self, who: Person) -> &Device {
        &self.devices[who][1]
    }

    pub fn id(&self) -> ContentId {
        self.space.id()
    }

    /// What would be signed, as the next version of its record.
    pub fn draft(&mut self, by: (Person, usize), seen: &[ContentId], write: Write) -> Draft {
        let device = &self.devices[by.0][by.1];
        let account = self.account(by.0);
        let count = self.versions.len();
        let key = write.key;
        let key = key.unwrap_or_else(|| owned_key(&account, &format!("record{count}")));
        let position = self
            .current
            .get(&key)
            .map_or(Position::FIRST, Position::after);
        let line = (device.did().to_string(), write.collection.clone());
        let log = self.lines.get(&line).copied();
        let log = log.unwrap_or(LogPlace { n: 0, prev: None });
        let mut draft = Draft::new(self.id(), &write.collection, &key, position, log, now());
        draft = match write.body {
            None => draft.delete(),
            Some(body) => {
                let randomness = &mut self.randomness;
                let sealed = self
                    .space
                    .seal(&write.collection, &key, body, Vec::new(), randomness);
                draft.body(sealed.unwrap())
            }
        };
        if write.retain || write.collection.starts_with("sys.") {
            draft = draft.set("retain", true);
        }
        let seen: Vec<Value> = seen.iter().map(|id| id.to_string().into()).collect();
        draft = draft.set("seen", seen);
        let note = self.devices[by.0][by.1].note(now(), &mut self.randomness);
        match note.unwrap() {
            Some(note) => draft.set("proof", note),
            None => draft,
        }
    }

    /// Signs a draft and keeps it.
    pub fn keep(&mut self, by: (Person, usize), draft: Draft) -> ContentId {
        let object = draft.sign(self.devices[by.0][by.1].key());
        let version = Version::shape(object.clone().into()).unwrap();
        let line = (
            version.author().as_str().unwrap().to_owned(),
            version.collection().to_owned(),
        );
        let next = LogPlace {
            n: version.log().n + 1,
            prev: Some(version.id()),
        };
        self.lines.insert(line, next);
        let id = version.id();
        self.current.insert(version.key().to_owned(), version);
        self.versions.push(object.into());
        id
    }

    /// Writes with an account's own key.
    pub fn write(&mut self, by: Person, seen: &[ContentId], write: Write) -> ContentId {
        let draft = self.draft((by, 0), seen, write);
        self.keep((by, 0), draft)
    }

    /// Writes with an account's second key, under a note.
    pub fn write_by_device(&mut self, by: Person, seen: &[ContentId], write: Write) -> ContentId {
        let draft = self.draft((by, 1), seen, write);
        self.keep((by, 1), draft)
    }

    pub fn assign(
        &mut self,
        by: Person,
        seen: &[ContentId],
        whom: Person,
        role: &str,
    ) -> ContentId {
        let write = access::assign(&self.account(whom), role);
        self.write(by, seen, write)
    }

    pub fn take(&mut self, by: Person, seen: &[ContentId], whom: Person, role: &str) -> ContentId {
        let write = access::unassign(&self.account(whom), role, Object::new());
        self.write(by, seen, write)
    }

    pub fn remove(&mut self, by: Person, seen: &[ContentId], whom: Person) -> ContentId {
        let write = access::remove(&self.account(whom), Object::new());
        self.write(by, seen, write)
    }

    pub fn define(&mut self, by: Person, seen: &[ContentId], more: &str) -> ContentId {
        let text = format!(
            r#"{{"name":"{COLLECTION}","version":1,"schema":{{"title":"{SECRET}"}}{more}}}"#
        );
        let write = access::define_collection(value(&text).into_object().unwrap());
        self.write(by, seen, write)
    }

    /// A version that is kept, without its body.
    pub fn without_body(&self, id: ContentId) -> Object {
        let version = self.versions.iter().find(|it| id_of(it) == Some(id));
        let mut object = version.unwrap().as_object().unwrap().clone();
        object.remove("body");
        object
    }

    /// Keeps a version as a stub from now on.
    pub fn strip(&mut self, id: ContentId) {
        let stub = self.without_body(id);
        let version = self.versions.iter_mut().find(|it| id_of(it) == Some(id));
        *version.unwrap() = stub.into();
    }

    pub fn forget(&mut self, id: ContentId) {
        self.versions.retain(|it| id_of(it) != Some(id));
    }

    pub fn held(&self) -> Held {
        let access = self.versions.iter().filter(|it| is_access(it)).cloned();
        Held::new(self.space.constitution().clone(), access)
    }

    fn copies(&self, ids: &[ContentId]) -> Vec<Value> {
        let copies = self.versions.iter();
        let copies = copies.filter(|it| id_of(it).is_some_and(|id| ids.contains(&id)));
        copies.cloned().collect()
    }

    /// What is told of a version, in words and as JSON without anything of a body.
    pub fn tell(&self, id: ContentId) -> Told {
        let copies = self.copies(&[id]);
        let named: Vec<ContentId> = copies.iter().flat_map(named_by).collect();
        let around = self.copies(&named);
        let told = self.held().tell(&id, copies, around).unwrap();
        let (text, json) = (told.as_text(), told.as_json());
        let json = String::from_utf8(json.canonical()).unwrap();
        for words in [&text, &json] {
            assert!(words.contains(&id.to_string()) && words.contains(told.verdict.word()));
            assert!(words.contains(&told.step.to_string()) && words.contains(&*told.rule));
            assert!(!words.contains(SECRET), "a body is told: {words}");
        }
        told
    }
}

/// A note of its account's own.
pub fn note() -> Write {
    record(&format!(r#"{{"kind":"note","text":"{SECRET}"}}"#))
}

pub fn record(body: &str) -> Write {
    Write {
        collection: COLLECTION.to_owned(),
        body: Some(value(body)),
        ..Write::default()
    }
}

/// A verdict, its step and the word for the reason.
pub fn ruling(told: &Told) -> (&'static str, String, Option<&'static str>) {
    (told.verdict.word(), told.step.to_string(), told.reason)
}

#[track_caller]
pub fn assert_ruled(told: &Told, verdict: &str, step: &str, reason: Option<&str>) {
    let (came, at, why) = ruling(told);
    assert_eq!(
        (came, &*at, why),
        (verdict, step, reason),
        "{}",
        told.as_text()
    );
}
