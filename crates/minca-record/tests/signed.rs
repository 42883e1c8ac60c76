//! Signatures, loose versions and proofs of forks (02 §3.3, §3.5, §4.10).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_record::fork::{Kind, judge_pair};
use minca_record::loose::Loose;
use minca_record::version::{Version, check};
use support::{id, read, section, string};

fn space() -> minca_record::content_id::ContentId {
    id(&section("records.json", "spaces")[0], "id")
}

#[test]
fn signatures_verify_whichever_half_s_is_in() {
    let cases = section("records.json", "signatures");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 9);
    assert_eq!(string(&cases[0], "of"), "versions: first");
    let first = &section("records.json", "versions")[0]["version"];
    for case in &cases[1..] {
        let mut version = first.clone();
        version["signature"] = string(case, "signature").into();
        let checked = check(read(&version), space());
        assert_eq!(checked.is_ok(), case["verifies"] == true, "{case}");
        let reason = checked.err().map(|refusal| refusal.reason());
        assert_eq!(reason, case["reason"].as_str(), "{case}");
    }
}

#[test]
fn loose_versions_are_valid_or_not() {
    let cases = section("records.json", "loose");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 13);
    for case in cases {
        let version = read(&case["version"]);
        // One of them is judged as it arrives in a space's sync.
        let in_a_space = string(case, "name").contains("sent into a space");
        let (is_valid, reason) = if in_a_space {
            let checked = check(version, space());
            (
                checked.is_ok(),
                checked.err().map(|refusal| refusal.reason()),
            )
        } else {
            let checked = Loose::check(version);
            (
                checked.is_ok(),
                checked.err().map(|refusal| refusal.reason()),
            )
        };
        assert_eq!(is_valid, case["valid"] == true, "{}", case["name"]);
        assert_eq!(reason, case["reason"].as_str(), "{}", case["name"]);
    }
}

#[test]
fn a_loose_version_speaks_for_its_root() {
    let cases = section("records.json", "loose");
    let case = |name: &str| {
        let case = cases
            .as_array()
            .unwrap()
            .iter()
            .find(|case| case["name"] == name);
        case.unwrap()["version"].clone()
    };
    let alone = Loose::check(read(&case("an invitation"))).unwrap();
    assert_eq!(alone.root(), alone.author());
    assert!(alone.note().is_none());
    assert_eq!(alone.collection(), minca_record::loose::INVITATIONS);
    assert!(alone.body().as_object().is_some());

    let version = case("under a note in time");
    let under_a_note = Loose::check(read(&version)).unwrap();
    let issuer = string(&version["proof"]["payload"], "iss");
    assert_eq!(under_a_note.root().to_string(), issuer);
    assert_eq!(
        under_a_note.author().to_string(),
        string(&version, "author")
    );
}

#[test]
fn two_versions_prove_a_fork_a_break_or_nothing() {
    let cases = section("records.json", "forks");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 15);
    for case in cases {
        let (a, b) = (read(&case["a"]), read(&case["b"]));
        match judge_pair(&a, &b, id(case, "space")) {
            Ok(proof) => {
                let kind = match proof.kind {
                    Kind::Fork => "fork",
                    Kind::Break => "break",
                };
                assert_eq!(kind, string(case, "proof"), "{}", case["name"]);
                assert_eq!(proof.writer.to_string(), string(case, "writer"));
                assert_eq!(&*proof.collection, string(case, "collection"));
                assert_eq!(Some(proof.from), case["from"].as_u64());
            }
            Err(error) => {
                assert_eq!(string(case, "proof"), "none", "{}", case["name"]);
                assert_eq!(
                    Some(error.reason()),
                    case["reason"].as_str(),
                    "{}",
                    case["name"]
                );
            }
        }
    }
}

#[test]
fn a_pair_of_anything_is_no_proof_and_no_panic() {
    let first = read(&section("records.json", "versions")[0]["stub"]);
    assert!(Version::shape(first.clone()).is_ok());
    for other in [
        minca_record::json::Value::Null,
        read(&serde_json::json!({})),
        first.clone(),
    ] {
        assert!(judge_pair(&first, &other, space()).is_err());
        assert!(judge_pair(&other, &first, space()).is_err());
    }
}
