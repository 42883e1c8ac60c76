//! Every case of `judged` in records.json, arriving at a host that holds what it says
//! (02 §9): taken in, refused or made to wait as the case has it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use engine::rows::VersionRow;
use engine::{Answer, Count, EngineConfig, PeerMessage};
use minca_record::constitution::Constitution;
use minca_record::did::Dids;
use minca_record::json::{self, Value};
use minca_record::version::{Checked, Parts, Version};
use support::host::Host;
use support::pen::key;

fn vectors() -> Value {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/vectors/records.json"
    );
    json::read(&std::fs::read(path).unwrap(), json::MESSAGE_DEPTH).unwrap()
}

fn member<'a>(value: &'a Value, name: &str) -> &'a Value {
    value.as_object().unwrap().get(name).unwrap()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    member(value, name).as_array().unwrap()
}

fn string<'a>(value: &'a Value, name: &str) -> &'a str {
    member(value, name).as_str().unwrap()
}

/// The string there, or nothing: arriving versions may be anything.
fn string_or<'a>(value: &'a Value, name: &str) -> &'a str {
    let member = value.as_object().and_then(|value| value.get(name));
    member.and_then(Value::as_str).unwrap_or_default()
}

fn space(case: &Value) -> Constitution {
    let mut space = member(case, "constitution").as_object().unwrap().clone();
    space.insert("id", string(case, "id"));
    Constitution::check(space.into()).unwrap()
}

/// A version as it is stored, held as it is given.
fn row(version: &Value) -> VersionRow {
    let version = Version::shape(version.clone()).unwrap();
    let parts = Parts::split(&version);
    let checked = Checked::kept(version, &mut Dids::default()).unwrap();
    let version = &checked.version;
    VersionRow {
        id: version.id(),
        collection: version.collection().to_owned(),
        timestamp: version.item().0,
        key: version.key().to_owned(),
        seq: version.seq(),
        genesis: version.genesis(),
        root: checked.root,
        retain: version.retain(),
        deleted: version.deleted(),
        envelope: parts.envelope,
        proof: parts.proof,
        body: parts.body,
    }
}

#[test]
fn every_version_gets_the_answer_its_case_has() {
    let vectors = vectors();
    let spaces = list(&vectors, "spaces");
    let (public, private) = (space(&spaces[0]), space(&spaces[1]));
    let named = [
        list(&vectors, "versions"),
        list(&vectors, "definitionVersions"),
    ]
    .concat();
    let cases = list(member(&vectors, "judged"), "cases");
    assert_eq!(cases.len(), 160);
    let mut wrong = Vec::new();
    for case in cases {
        let space = match string(case, "space") {
            "public" => &public,
            _ => &private,
        };
        let mut host = Host::new(key(900).did(), space);
        for held in list(case, "held") {
            let version = match held.as_str() {
                None => held,
                Some(name) => {
                    let case = named.iter().find(|case| string(case, "name") == name);
                    member(case.unwrap(), "version")
                }
            };
            let row = row(version);
            // One held whole would only be acknowledged again.
            let is_this = string(version, "id") == string_or(member(case, "version"), "id");
            if is_this && row.is_whole() {
                continue;
            }
            host.rows.versions.insert(row.id, row);
        }
        host.engine = host
            .rows
            .engine(key(900).did(), space, EngineConfig::default());
        host.join(1, key(1).did());
        host.take_sent(1);
        let version = member(case, "version").clone();
        host.hear_sync(
            1,
            minca_sync::message::Message::Versions(minca_sync::message::Versions {
                id: None,
                versions: vec![version],
            }),
        );
        while host.step() {}
        let stored = host.take_sent(1).iter().any(|said| {
            matches!(
                said,
                PeerMessage::Sync(minca_sync::message::Message::Stored(_))
            )
        });
        let reason = host.counts.iter().find_map(|count| match count {
            Count::Refused(reason) => Some(*reason),
            _ => None,
        });
        let answer = host.counts.iter().find_map(|count| match count {
            Count::Answer(answer) => Some(*answer),
            _ => None,
        });
        let expected = string(case, "answer");
        let is_right = match (expected, answer) {
            ("stands", Some(Answer::Stands)) | ("withdrawn", Some(Answer::Withdrawn)) => stored,
            ("later", Some(Answer::Later)) => !stored,
            ("refused", Some(Answer::Refused)) => {
                let wanted = member(case, "reason").as_str();
                !stored && reason == wanted
            }
            _ => false,
        };
        if !is_right {
            let name = string(case, "name");
            wrong.push(format!(
                "{name}: {answer:?} {reason:?} stored {stored}, not {expected}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
