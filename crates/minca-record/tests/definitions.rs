//! Definitions, the keys `onePer` derives, and topics (02 §6–§8).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_record::definition::{Rules, read_definition};
use minca_record::derive::SpaceKey;
use minca_record::hex;
use minca_record::json::Value;
use minca_record::links::Link;
use minca_record::one_per::{OnePerKey, derived_key};
use minca_record::topics::{TagKey, Topic, tags};
use serde_json::Value as Case;
use support::{id, list, read, section, string};

#[test]
fn definitions_are_valid_or_count_as_none() {
    let cases = section("records.json", "definitions");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 27);
    for case in cases {
        let read = read_definition(string(case, "key"), &read(&case["body"]));
        assert_eq!(read.is_ok(), case["valid"] == true, "{}", case["name"]);
        let reason = read.err().map(|error| error.reason());
        assert_eq!(reason, case["reason"].as_str(), "{}", case["name"]);
    }
}

fn links_of(list: &Value) -> Vec<Link<'_>> {
    let links = list.as_array().unwrap().iter();
    links
        .map(|link| Link::read(link).expect("a link"))
        .collect()
}

fn key_of(hex: &str) -> SpaceKey {
    SpaceKey::new(hex::decode_exact(hex).expect("32 bytes"))
}

#[test]
fn one_per_derives_the_key_of_a_record() {
    let cases = section("records.json", "onePer");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 11);
    for case in cases {
        let rules = Case::from_iter([("onePer", case["onePer"].clone())]);
        let parts = Rules::read(&read(&rules)).unwrap().one_per.unwrap();
        let key = match case["firstSpaceKey"].as_str() {
            None => OnePerKey::public(),
            Some(first) => {
                let key = OnePerKey::of_first_space_key(&key_of(first));
                let secret = key.secret().map(|secret| hex::encode(secret));
                assert_eq!(secret.as_deref(), case["onePerSecret"].as_str());
                key
            }
        };
        let (body, links) = (read(&case["body"]), read(&case["links"]));
        let links = links_of(&links);
        let derived = derived_key(
            &key,
            string(case, "collection"),
            &parts,
            string(case, "root"),
            &body,
            &links,
        );
        assert_eq!(derived.as_deref(), case["key"].as_str(), "{}", case["name"]);
    }
}

#[test]
fn topics_give_blind_tags() {
    let topics = section("records.json", "topics");
    let (public, private) = (&topics["public"], &topics["private"]);
    let public_key = TagKey::of_public_space(id(public, "space"));
    assert_eq!(hex::encode(public_key.as_bytes()), string(public, "tagKey"));
    let private_key = TagKey::of_space_key(&key_of(string(private, "spaceKey")));
    assert_eq!(
        hex::encode(private_key.as_bytes()),
        string(private, "tagKey")
    );

    let cases = list(&topics, "cases");
    assert!(cases.len() >= 8, "{}", cases.len());
    for case in cases {
        let topics: Vec<Topic> = list(case, "topics")
            .iter()
            .map(|topic| Topic::parse(topic.as_str().unwrap()).expect("a topic"))
            .collect();
        let (body, links) = (read(&case["body"]), read(&case["links"]));
        let links = links_of(&links);
        for (key, expected) in [(&public_key, "publicTags"), (&private_key, "privateTags")] {
            let collection = string(case, "collection");
            let tags = tags(key, collection, &topics, &body, &links);
            let expected: Vec<&str> = list(case, expected)
                .iter()
                .filter_map(Case::as_str)
                .collect();
            assert!(tags.iter().eq(expected.iter()), "{case}");
        }
    }
}

#[test]
fn topics_are_short_paths_or_roles() {
    let part = "a".repeat(64);
    for good in [
        "a",
        "_",
        "a_1.B",
        &format!("{part}.{part}.{part}.{part}"),
        "link:a1",
    ] {
        assert!(Topic::parse(good).is_some(), "{good}");
    }
    for bad in [
        "",
        "1",
        "a.",
        ".a",
        "a.b.c.d.e",
        &format!("{part}a"),
        "link:",
        "link:A",
        "a-b",
        "é",
    ] {
        assert_eq!(Topic::parse(bad), None, "{bad}");
    }
}
