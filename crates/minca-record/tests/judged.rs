//! Every case of `judged`: a version arriving at a blind host (02 §9).
//!
//! Standing is thin here: the founder is the only member, and what is held of definitions and
//! proofs of forks is in force. All else is the crate's.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::definition::{DEFINITION_KEY, DEFINITIONS, Definition};
use minca_record::fork::{LineProof, judge_pair};
use minca_record::json::Text;
use minca_record::required::is_access_collection;
use minca_record::rules::{FirstVersion, Sight, check_final, check_rules};
use minca_record::topics::TagKey;
use minca_record::version::{Checked, Held, Missing, Version, check, follows};
use serde_json::Value;
use support::{list, read, section, string};

const STANDS: (&str, Option<&str>) = ("stands", None);
const FORKED: (&str, Option<&str>) = ("withdrawn", Some("line-forked"));

type Answer = (&'static str, Option<&'static str>);

fn refused(reason: &'static str) -> Answer {
    ("refused", Some(reason))
}

fn later(reason: &'static str) -> Answer {
    ("later", Some(reason))
}

/// A host that holds exactly these versions of one space.
struct Host {
    space: Constitution,
    held: Vec<Version>,
}

impl Host {
    fn held(&self, id: ContentId) -> Option<&Version> {
        self.held.iter().find(|version| version.id() == id)
    }

    fn is_known(&self, seen: ContentId) -> bool {
        let is_access = |version: &Version| is_access_collection(&Text::from(version.collection()));
        seen == self.space.id() || self.held(seen).is_some_and(is_access)
    }

    fn is_member(&self, root: &str) -> bool {
        self.space.founders().iter().any(|founder| founder == root)
    }

    fn sight(&self) -> Sight {
        if self.space.is_private() {
            Sight::Blind
        } else {
            Sight::Public(TagKey::of_public_space(self.space.id()))
        }
    }

    /// The definition of the version's collection that it saw, if one counts.
    fn definition(&self, version: &Version) -> Option<Definition> {
        let seen = version.seen().iter().filter_map(|id| self.held(*id));
        let mut definitions = seen.filter_map(|held| self.sight().definition(held));
        definitions.find(|definition| *definition.name == *version.collection())
    }

    fn proofs(&self) -> impl Iterator<Item = LineProof> {
        let proofs = self
            .held
            .iter()
            .filter(|held| held.collection() == "sys.fork");
        proofs.map(|proof| self.proof(proof).expect("a held proof proves"))
    }

    fn proof(&self, version: &Version) -> Option<LineProof> {
        let body = version.body()?.as_object()?;
        judge_pair(body.get("a")?, body.get("b")?, self.space.id()).ok()
    }

    fn judge(&self, value: &Value) -> Answer {
        let checked = match check(read(value), self.space.id()) {
            Ok(checked) => checked,
            Err(refusal) => return refused(refusal.reason()),
        };
        let version = &checked.version;
        let held = |id: Option<ContentId>| Some(Held::from(self.held(id?)?));
        let (prev, genesis) = (held(version.prev()), held(version.genesis()));
        match follows(version, prev.as_ref(), genesis.as_ref()) {
            Ok(Missing::Nothing) => {}
            Ok(missing) => return later(missing.reason().unwrap()),
            Err(refusal) => return refused(refusal.reason()),
        }
        if is_access_collection(&Text::from(version.collection())) {
            self.judge_access(&checked)
        } else {
            self.judge_ordinary(&checked)
        }
    }

    /// 02 §9.4 A.
    fn judge_access(&self, checked: &Checked) -> Answer {
        let version = &checked.version;
        if !version.retain() {
            return refused("access-not-retained");
        }
        let yields_event = match version.collection() {
            DEFINITIONS => version.key().starts_with(DEFINITION_KEY),
            "sys.fork" => self.proof(version).is_some(),
            other => panic!("no case reaches an event of {other}"),
        };
        if !yields_event {
            return refused("no-event");
        }
        if !version.seen().iter().all(|seen| self.is_known(*seen)) {
            return later("seen-missing");
        }
        if !self.is_member(&checked.root.to_string()) {
            return later("root-not-named");
        }
        STANDS
    }

    /// 02 §9.4 B.
    fn judge_ordinary(&self, checked: &Checked) -> Answer {
        let version = &checked.version;
        if !version.seen().iter().all(|seen| self.is_known(*seen)) {
            return later("seen-missing");
        }
        let root = checked.root.to_string();
        if !self.is_member(&root) {
            return refused("not-allowed");
        }
        let definition = self.definition(version);
        if let Err(refusal) = check_final(definition.as_ref(), version) {
            return refused(refusal.reason());
        }
        let on_its_line = |proof: &LineProof| {
            proof.writer == checked.author
                && *proof.collection == *version.collection()
                && proof.from <= version.log().n
        };
        let standing = if self.proofs().any(|proof| on_its_line(&proof)) {
            FORKED
        } else {
            STANDS
        };
        let first = version.genesis().and_then(|genesis| self.held(genesis));
        let first = first.map(FirstVersion::from).unwrap_or_default();
        match check_rules(&self.sight(), definition.as_ref(), version, &root, first) {
            Ok(()) => standing,
            Err(refusal) => refused(refusal.reason()),
        }
    }
}

/// A version named in `held`, or given there.
fn held_version(named: &[Value], held: &Value) -> Version {
    let value = match held.as_str() {
        None => held,
        Some(name) => {
            let case = named.iter().find(|case| case["name"] == name);
            &case.unwrap_or_else(|| panic!("no version {name}"))["version"]
        }
    };
    Version::shape(read(value)).expect("a held version")
}

fn space(case: &Value) -> Constitution {
    let mut space = case["constitution"].clone();
    space["id"] = case["id"].clone();
    Constitution::check(read(&space)).expect("a good constitution")
}

#[test]
fn every_arriving_version_gets_its_answer() {
    let spaces = section("records.json", "spaces");
    let (public, private) = (space(&spaces[0]), space(&spaces[1]));
    let mut named = section("records.json", "versions");
    let named = named.as_array_mut().unwrap();
    let definitions = section("records.json", "definitionVersions");
    assert_eq!(definitions.as_array().unwrap().len(), 7);
    named.extend_from_slice(definitions.as_array().unwrap());

    let judged = section("records.json", "judged");
    let cases = list(&judged, "cases");
    assert_eq!(cases.len(), 160);
    let mut wrong = Vec::new();
    for case in cases {
        let host = Host {
            space: match string(case, "space") {
                "public" => public.clone(),
                "private" => private.clone(),
                other => panic!("no space {other}"),
            },
            held: list(case, "held")
                .iter()
                .map(|held| held_version(named, held))
                .collect(),
        };
        let answer = host.judge(&case["version"]);
        let expected = (string(case, "answer"), case["reason"].as_str());
        if answer != expected {
            wrong.push(format!("{}: {answer:?}, not {expected:?}", case["name"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn held_versions_pass_what_arriving_ones_must() {
    let spaces = section("records.json", "spaces");
    let ids = [space(&spaces[0]).id(), space(&spaces[1]).id()];
    for name in ["versions", "definitionVersions"] {
        for case in section("records.json", name).as_array().unwrap() {
            let passed = ids
                .iter()
                .filter(|id| check(read(&case["version"]), **id).is_ok());
            assert_eq!(passed.count(), 1, "{}", case["name"]);
        }
    }
}
