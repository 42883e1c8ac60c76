//! Constitutions and space ids (03 §1.2).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_record::constitution::{Constitution, ConstitutionError, Visibility};
use minca_record::json::Value;
use serde_json::Value as Case;
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
