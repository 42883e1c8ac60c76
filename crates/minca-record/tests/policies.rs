//! Commands, selectors, patterns and policies (01 §7.3, §7.4).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_record::command::{covers, is_command};
use minca_record::json::{Object, Text, Value};
use minca_record::policy::{Outcome, Pattern, Policy, PolicyError, Selector};
use proptest::prelude::*;
use serde_json::json;
use support::{list, our_object, read, section, string};

#[test]
fn command_paths_are_those_of_the_vectors() {
    let cases = section("identity.json", "commands");
    assert_eq!(
        (list(&cases, "valid").len(), list(&cases, "invalid").len()),
        (9, 15)
    );
    let is_path = |value: &serde_json::Value| read(value).as_text().is_some_and(is_command);
    for case in list(&cases, "valid") {
        assert!(is_path(case), "{case}");
    }
    for case in list(&cases, "invalid") {
        assert!(!is_path(case), "{case}");
    }
}

#[test]
fn command_paths_are_counted_in_code_points() {
    let path = |character: &str, count: usize| Text::from(format!("/{}", character.repeat(count)));
    assert!(is_command(&path("😀", 199)));
    assert!(!is_command(&path("😀", 200)));
    assert!(is_command(&path("é", 199)));
    assert!(!is_command(&path("é", 200)));
    for byte in (0..0x20).chain([b' ', 0x7F, b'A', b'Z']) {
        assert!(
            !is_command(&path(&char::from(byte).to_string(), 1)),
            "{byte:#04x}"
        );
    }
    for character in ["@", "[", "!", "~", "\u{80}", "À"] {
        assert!(is_command(&path(character, 1)), "{character}");
    }
}

#[test]
fn a_path_covers_itself_and_what_is_below_it() {
    let cases = section("identity.json", "commands");
    assert_eq!(list(&cases, "covers").len(), 11);
    for case in list(&cases, "covers") {
        let covered = covers(&string(case, "grant").into(), string(case, "command"));
        assert_eq!(covered, case["covers"].as_bool().unwrap(), "{case}");
    }
}

#[test]
fn selectors_find_what_the_vectors_say() {
    let cases = section("identity.json", "selectors");
    assert_eq!(
        (
            list(&cases, "select").len(),
            list(&cases, "illFormed").len()
        ),
        (50, 31)
    );
    let data = our_object(&cases["data"]);
    for case in list(&cases, "select") {
        let selector = Selector::read(string(case, "selector"));
        assert_eq!(
            selector.is_ok(),
            case["wellFormed"].as_bool().unwrap(),
            "{case}"
        );
        let Ok(selector) = selector else { continue };
        let expected = match case.get("noData") {
            Some(_) => None,
            None => Some(read(&case["value"])),
        };
        assert_eq!(selector.select(&data), expected, "{case}");
    }
    for case in list(&cases, "illFormed") {
        let policy = json!([["==", case, 1]]);
        assert!(Policy::read(&read(&policy)).is_err(), "{case}");
    }
}

#[test]
fn integers_in_selectors_are_below_2_to_the_53() {
    for selector in [
        ".[9007199254740991]",
        ".[-9007199254740991:9007199254740991]",
        ".[0]",
        ".[:0]",
    ] {
        assert!(Selector::read(selector).is_ok(), "{selector}");
    }
    for selector in [
        ".[9007199254740992]",
        ".[-9007199254740992]",
        ".[99999999999999999999999]",
        ".[-]",
        ".[00]",
    ] {
        assert!(Selector::read(selector).is_err(), "{selector}");
    }
}

#[test]
fn patterns_match_as_the_vectors_say() {
    let cases = section("identity.json", "like");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 29);
    for case in cases {
        let pattern = Pattern::new(&string(case, "pattern").into());
        assert_eq!(
            pattern.matches(&string(case, "text").into()),
            case["matches"].as_bool().unwrap(),
            "{case}"
        );
    }
}

#[test]
fn policies_are_well_formed_as_the_vectors_say() {
    let cases = section("identity.json", "policies");
    assert_eq!(
        (
            list(&cases, "wellFormed").len(),
            list(&cases, "illFormed").len()
        ),
        (11, 25)
    );
    for case in list(&cases, "wellFormed") {
        assert!(Policy::read(&read(case)).is_ok(), "{case}");
    }
    for case in list(&cases, "illFormed") {
        assert!(Policy::read(&read(case)).is_err(), "{case}");
    }
}

#[test]
fn policies_are_taken_up_to_their_limits() {
    let cases = section("identity.json", "policies");
    let cases = list(&cases["limits"], "cases");
    assert_eq!(cases.len(), 5);
    for case in cases {
        let leaf = json!(["==", ".a", 1]);
        let (statement, refusal) = match (case.get("nested"), case.get("many")) {
            (Some(nested), None) => {
                let nots = nested.as_u64().unwrap() - 1;
                (
                    (0..nots).fold(leaf, |inner, _| json!(["not", inner])),
                    PolicyError::TooDeep,
                )
            }
            (None, Some(many)) => {
                let statements = vec![leaf; many.as_u64().unwrap() as usize];
                (json!(["or", statements]), PolicyError::TooMany)
            }
            _ => panic!("an unknown limit: {case}"),
        };
        let error = Policy::read(&read(&json!([statement]))).err();
        let expected = (!case["wellFormed"].as_bool().unwrap()).then_some(refusal);
        assert_eq!(error, expected, "{case}");
    }
}

#[test]
fn statements_come_to_what_the_vectors_say() {
    let cases = section("identity.json", "policies");
    assert_eq!(list(&cases, "cases").len(), 63);
    let mut unread = 0;
    for case in list(&cases, "cases") {
        let policy = Policy::read(&read(&case["policy"])).unwrap();
        let arguments = our_object(&case["args"]);
        let outcomes: Vec<&str> = policy
            .outcomes(&arguments)
            .into_iter()
            .map(|outcome| match outcome {
                Outcome::True => "true",
                Outcome::False => "false",
                Outcome::NoData => "no data",
            })
            .collect();
        assert_eq!(json!(outcomes), case["outcomes"], "{case}");
        assert_eq!(
            policy.holds(&arguments),
            case["holds"].as_bool().unwrap(),
            "{case}"
        );
        if let Some(unreadable) = case.get("unreadable") {
            assert_eq!(*unreadable, json!(["body"]));
            let mut without = arguments.clone();
            without.remove("body");
            for arguments in [arguments, without] {
                assert_eq!(
                    policy.holds_unread(&arguments),
                    case["holdsUnread"].as_bool().unwrap(),
                    "{case}"
                );
            }
            unread += 1;
        }
    }
    assert_eq!(unread, 12);
}

#[test]
fn a_hostile_pattern_takes_no_more_time_than_its_length() {
    let text = Text::from("a".repeat(1_000_000));
    let pattern = Pattern::new(&Text::from(format!(
        "*{}b*{}c",
        "a".repeat(300_000),
        "a".repeat(300_000)
    )));
    assert!(!pattern.matches(&text));
    let many_stars = Pattern::new(&Text::from("*a".repeat(500_000)));
    assert!(many_stars.matches(&text));
    assert_eq!(Pattern::new(&"a***b".into()), Pattern::new(&"a*b".into()));
}

#[test]
fn a_policy_weighs_its_statements_and_their_steps() {
    let weight = |policy: serde_json::Value| Policy::read(&read(&policy)).unwrap().weight();
    assert_eq!(weight(json!([])), 0);
    assert_eq!(weight(json!([["==", ".", 1]])), 1);
    assert_eq!(
        weight(json!([["==", ".a[0][]", 1], ["not", ["like", ".a?", ""]]])),
        4 + 1 + 2
    );
    let inner = json!(["and", [["<", ".b", 1], ["or", []]]]);
    assert_eq!(
        weight(json!([
            ["any", ".a.b", inner],
            ["all", ".", ["!=", ".", 1]]
        ])),
        3 + 1 + 2 + 1 + 2
    );
}

/// The rule for patterns, word for word.
fn matches_by_the_text(pattern: &[char], text: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['\\', '*', rest @ ..] => {
            text.first() == Some(&'*') && matches_by_the_text(rest, &text[1..])
        }
        ['*', rest @ ..] => {
            (0..=text.len()).any(|skipped| matches_by_the_text(rest, &text[skipped..]))
        }
        [character, rest @ ..] => {
            text.first() == Some(character) && matches_by_the_text(rest, &text[1..])
        }
    }
}

/// Arguments with a body, about which most policies below say something.
fn arguments() -> impl Strategy<Value = Object> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0u32..3).prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    let value = scalar.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::vec(("[ab]", inner), 0..3)
                .prop_map(|members| Value::from(members.into_iter().collect::<Object>())),
        ]
    });
    (value.clone(), value.clone(), proptest::option::of(value)).prop_map(|(a, b, body)| {
        let mut arguments = Object::from([("a", a), ("b", b)]);
        if let Some(body) = body {
            arguments.insert("body", body);
        }
        arguments
    })
}

fn statements() -> impl Strategy<Value = serde_json::Value> {
    let selector = prop_oneof![
        Just("."),
        Just(".a"),
        Just(".b"),
        Just(".a.b"),
        Just(".a[0]"),
        Just(".a[-1]?"),
        Just(".[]"),
        Just(".[][1:]"),
        Just(".b[]"),
        Just(".body"),
        Just(".body.a"),
        Just(".body.a?"),
        Just(".[\"body\"][]"),
    ];
    let leaf =
        (selector.clone(), 0u32..3, "[ab*\\\\]{0,3}").prop_flat_map(|(selector, number, text)| {
            prop_oneof![
                Just(json!(["==", selector, number])),
                Just(json!(["!=", selector, text])),
                Just(json!(["==", selector, null])),
                Just(json!([">=", selector, number])),
                Just(json!(["like", selector, text])),
            ]
        });
    leaf.prop_recursive(3, 12, 3, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(|list| json!(["and", list])),
            proptest::collection::vec(inner.clone(), 0..3).prop_map(|list| json!(["or", list])),
            inner.clone().prop_map(|inner| json!(["not", inner])),
            (selector.clone(), inner.clone())
                .prop_map(|(selector, inner)| json!(["all", selector, inner])),
            (selector.clone(), inner).prop_map(|(selector, inner)| json!(["any", selector, inner])),
        ]
    })
}

/// The statement with the parts of `and` and `or` the other way round.
fn turned_round(statement: &serde_json::Value) -> serde_json::Value {
    match statement.as_array().map(Vec::as_slice) {
        Some([operator, parts]) if parts[0].is_array() && operator != "not" => {
            let parts: Vec<_> = parts
                .as_array()
                .unwrap()
                .iter()
                .rev()
                .map(turned_round)
                .collect();
            json!([operator, parts])
        }
        Some([operator, inner]) if operator == "not" => json!([operator, turned_round(inner)]),
        _ => statement.clone(),
    }
}

proptest! {
    #[test]
    fn patterns_match_as_the_dumb_way_does(pattern in "[ab*\\\\é😀]{0,12}", text in "[ab*\\\\é😀]{0,10}") {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        prop_assert_eq!(
            Pattern::new(&pattern.as_str().into()).matches(&text.as_str().into()),
            matches_by_the_text(&chars(&pattern), &chars(&text))
        );
    }

    #[test]
    fn selectors_are_read_or_refused_without_panic(selector in "\\.[.\\[\\]\"?:a0-9\\\\u-]{0,10}", arguments in arguments()) {
        if let Ok(selector) = Selector::read(&selector) {
            selector.select(&arguments);
        }
    }

    #[test]
    fn the_order_of_statements_does_not_matter(statement in statements(), arguments in arguments()) {
        let outcome = |statement: &serde_json::Value| {
            Policy::read(&read(&json!([statement]))).unwrap().outcomes(&arguments)
        };
        prop_assert_eq!(outcome(&statement), outcome(&turned_round(&statement)));
    }

    #[test]
    fn a_double_negation_changes_nothing(statement in statements(), arguments in arguments()) {
        let twice = json!(["not", ["not", statement]]);
        let outcome = |statement: &serde_json::Value| {
            Policy::read(&read(&json!([statement]))).unwrap().outcomes(&arguments)
        };
        prop_assert_eq!(outcome(&twice), outcome(&statement));
    }

    /// What a blind peer refuses, every reader refuses; and the body has no say in its verdict.
    #[test]
    fn a_blind_peer_never_refuses_what_a_reader_allows(statement in statements(), arguments in arguments()) {
        let policy = Policy::read(&read(&json!([statement]))).unwrap();
        if policy.holds(&arguments) {
            prop_assert!(policy.holds_unread(&arguments));
        }
        let mut other = arguments.clone();
        other.insert("body", "another body");
        prop_assert_eq!(policy.holds_unread(&arguments), policy.holds_unread(&other));
    }
}
