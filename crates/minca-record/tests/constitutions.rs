//! Constitutions and space ids (03 §1.2).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_record::constitution::{Constitution, ConstitutionError, Visibility};
use minca_record::json::Value;
use serde_json::{Value as Case, json};
use support::{id, read, section, string};

/// A space as it is handed around, from its constitution and its id.
fn with_id(constitution: &Case, id: &str) -> Value {
    let mut space = constitution.clone();
    space["id"] = id.into();
    read(&space)
}

#[test]
fn the_spaces_of_the_records_have_their_ids() {
    let cases = section("records.json", "spaces");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 3);
    for case in cases {
        let space = with_id(&case["constitution"], string(case, "id"));
        let constitution = Constitution::check(space.clone()).expect("a good constitution");
        assert_eq!(constitution.id(), id(case, "id"));
        assert_eq!(
            constitution.canonical(),
            string(case, "canonical").as_bytes()
        );
        assert_eq!(Value::from(constitution.as_handed_around()), space);

        let says = &case["constitution"];
        assert_eq!(constitution.name().as_str(), says["name"].as_str());
        assert_eq!(constitution.is_private(), says["visibility"] == "private");
        assert_eq!(
            constitution.read_key().map(ToString::to_string).as_deref(),
            says["readKey"].as_str()
        );
        assert_eq!(
            constitution.encryption_key_id(),
            says["encryptionKeyId"].as_str()
        );
        assert_eq!(
            constitution.succeeds().map(|id| id.to_string()).as_deref(),
            says["succeeds"].as_str()
        );
        let founders: Vec<&str> = constitution
            .founders()
            .iter()
            .filter_map(|did| did.as_str())
            .collect();
        let expected: Vec<&str> = says["top"]["founders"]
            .as_array()
            .map(|list| list.iter().filter_map(Case::as_str).collect())
            .unwrap_or_default();
        assert_eq!(founders, expected);
        let roles: Vec<&str> = constitution
            .roles()
            .iter()
            .map(|role| &*role.name)
            .collect();
        let expected: Vec<&str> = says["roles"]
            .as_array()
            .unwrap()
            .iter()
            .map(|role| string(role, "name"))
            .collect();
        assert_eq!(roles, expected);
        let grants: usize = constitution
            .roles()
            .iter()
            .map(|role| role.grants.len())
            .sum();
        let expected: usize = says["roles"]
            .as_array()
            .unwrap()
            .iter()
            .map(|role| role["grants"].as_array().unwrap().len())
            .sum();
        assert_eq!(grants, expected);
        assert_eq!(
            constitution.assigned().len(),
            says["assigned"].as_object().map_or(0, |all| all.len())
        );
    }
}

#[test]
fn the_spaces_of_the_network_have_their_ids() {
    let spaces = section("network.json", "spaces");
    for (name, visibility) in [
        ("public", Visibility::Public),
        ("private", Visibility::Private),
    ] {
        let case = &spaces[name];
        let space = with_id(&case["constitution"], string(case, "id"));
        let constitution = Constitution::check(space).expect("a good constitution");
        assert_eq!(constitution.visibility(), visibility);
        assert_eq!(constitution.first_keys().is_some(), name == "private");
    }
}

#[test]
fn constitutions_are_good_bad_or_not_judged() {
    let cases = section("access.json", "constitutions");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 88);
    for case in cases {
        let (is, why) = match Constitution::check(read(&case["space"])) {
            Ok(_) => ("good", None),
            Err(error @ ConstitutionError::NotJudged(_)) => ("not-judged", Some(error.reason())),
            Err(error @ ConstitutionError::Refused(_)) => ("bad", Some(error.reason())),
        };
        assert_eq!(
            (is, why),
            (string(case, "is"), case["why"].as_str()),
            "{}",
            case["name"]
        );
    }
}

#[test]
fn what_is_no_object_is_no_space() {
    for value in [Value::Null, Value::from("x"), Value::from(vec![])] {
        let error = Constitution::check(value).unwrap_err();
        assert_eq!(error.reason(), "not-object");
    }
}

/// Why the chess club with these members set is no good, its id made to fit.
fn reason(changes: &[(&str, Case)]) -> Option<&'static str> {
    let mut space = section("records.json", "spaces")[0]["constitution"].clone();
    for (name, value) in changes {
        space[*name] = value.clone();
    }
    let id = minca_record::content_id::ContentId::of(&read(&space).canonical());
    let checked = Constitution::check(with_id(&space, &id.to_string()));
    checked.err().map(|error| error.reason())
}

fn roles(count: usize) -> Case {
    (0..count)
        .map(|i| json!({"name": format!("r{i}"), "grants": []}))
        .collect()
}

fn names(count: usize) -> Case {
    (0..count).map(|i| format!("r{i}")).collect()
}

fn accounts(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("did:key:z{i}")).collect()
}

#[test]
fn every_limit_takes_what_is_inside_and_refuses_what_is_outside() {
    let role = |name: &str, value: Case| {
        let mut role = json!({"name": "own", "grants": []});
        role[name] = value;
        json!([role])
    };
    let grants = |count: usize| vec![json!({"cmd": "/record", "pol": []}); count].into();
    let founders = |count: usize| json!({"founders": accounts(count)});
    let limits: Vec<(&str, Case, Case)> = vec![
        ("name", "é".repeat(100).into(), "é".repeat(101).into()),
        ("top", founders(16), founders(17)),
        ("top", founders(1), founders(0)),
        ("roles", roles(64), roles(65)),
        (
            "roles",
            role("name", "n".repeat(40).into()),
            role("name", "n".repeat(41).into()),
        ),
        ("roles", role("name", "0".into()), role("name", "".into())),
        (
            "roles",
            role("name", "n.".into()),
            role("name", ".n".into()),
        ),
        (
            "roles",
            role("title", "😀".repeat(40).into()),
            role("title", "😀".repeat(41).into()),
        ),
        (
            "roles",
            role("grants", grants(64)),
            role("grants", grants(65)),
        ),
        ("roles", role("nests", names(16)), role("nests", names(17))),
        (
            "roles",
            role("nests", json!(["other"])),
            role("nests", json!(["own"])),
        ),
        (
            "createdAt",
            "0000-01-01T00:00:00.000Z".into(),
            "10000-01-01T00:00:00.000Z".into(),
        ),
        ("nonce", "A".repeat(16).into(), "A".repeat(17).into()),
    ];
    for (name, inside, outside) in limits {
        assert_eq!(reason(&[(name, inside.clone())]), None, "{name} {inside}");
        assert_eq!(
            reason(&[(name, outside.clone())]),
            Some(name),
            "{name} {outside}"
        );
    }
}

#[test]
fn up_to_64_accounts_are_assigned_up_to_16_roles_each() {
    let assigned = |accounts_count: usize, roles_count: usize| {
        let all: serde_json::Map<String, Case> = accounts(accounts_count)
            .into_iter()
            .map(|did| (did, names(roles_count)))
            .collect();
        reason(&[("roles", roles(64)), ("assigned", all.into())])
    };
    assert_eq!(assigned(64, 16), None);
    assert_eq!(assigned(1, 1), None);
    assert_eq!(assigned(65, 16), Some("assigned"));
    assert_eq!(assigned(64, 17), Some("assigned"));
    assert_eq!(assigned(0, 1), Some("assigned"));
    assert_eq!(assigned(1, 0), Some("assigned"));
}

#[test]
fn a_lone_surrogate_in_a_constitution_is_hashed_and_kept() {
    let mut space = section("records.json", "spaces")[0]["constitution"].clone();
    space["name"] = "NAME".into();
    let text = serde_json::to_string(&space)
        .unwrap()
        .replace("NAME", r"\ud800");
    let mut space = minca_record::json::read(text.as_bytes(), 64).unwrap();
    let id = minca_record::content_id::ContentId::of(&space.canonical());
    space.as_object_mut().unwrap().insert("id", id.to_string());
    let constitution = Constitution::check(space.clone()).expect("a good constitution");
    assert_eq!(constitution.name().as_str(), None);
    assert_eq!(Value::from(constitution.as_handed_around()), space);
}
