//! Rules as a reader and as a blind host judge by them (02 §7, §8.4, §9.4).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_record::content_id::ContentId;
use minca_record::definition::{Definition, read_definition};
use minca_record::rules::{FirstVersion, RuleRefusal, Sight, check_final, check_rules};
use minca_record::topics::TagKey;
use minca_record::version::Version;
use serde_json::{Value, json};
use support::{read, section, string};

const COLLECTION: &str = "app.todo.item";

fn sealed() -> Value {
    json!({"sealed": "AQ", "keyId": "bgk-m-Kq-gEGgJCOOEYNYw"})
}

fn public() -> Sight {
    Sight::Public(TagKey::of_public_space(ContentId::of(b"a space")))
}

fn definition(rules: Value, topics: Value) -> Definition {
    let body = json!({
        "name": COLLECTION, "version": 1, "schema": {}, "rules": rules, "topics": topics,
    });
    read_definition(&format!("collection:{COLLECTION}"), &read(&body)).expect("a definition")
}

/// The first version of the vectors with some members set, or taken away (`"absent"`).
fn version(changes: &[(&str, Value)]) -> Version {
    let mut version = section("records.json", "versions")[0]["version"].clone();
    let object = version.as_object_mut().unwrap();
    for (name, value) in changes {
        if *value == "absent" {
            object.remove(*name);
        } else {
            object.insert((*name).to_owned(), value.clone());
        }
    }
    Version::shape(read(&version)).expect("a version")
}

fn later(changes: &[(&str, Value)]) -> Version {
    let other = json!(ContentId::of(b"first").to_string());
    let mut all = vec![
        ("seq", json!(1)),
        ("prev", other.clone()),
        ("genesis", other),
    ];
    all.extend_from_slice(changes);
    version(&all)
}

fn judge(
    sight: &Sight,
    definition: &Definition,
    version: &Version,
    first: Option<&Version>,
) -> Result<(), RuleRefusal> {
    let root = string(&section("records.json", "versions")[0]["version"], "author").to_owned();
    let first = first.map(FirstVersion::from).unwrap_or_default();
    check_final(Some(definition), version)?;
    check_rules(sight, Some(definition), version, &root, first)
}

#[test]
fn final_takes_no_later_version_anywhere() {
    let definition = definition(json!({"final": true}), json!([]));
    for sight in [public(), Sight::Blind] {
        assert_eq!(judge(&sight, &definition, &version(&[]), None), Ok(()));
        assert_eq!(
            judge(&sight, &definition, &later(&[]), None),
            Err(RuleRefusal::Final)
        );
        let delete = [
            ("deleted", json!(true)),
            ("body", "absent".into()),
            ("bodyHash", "absent".into()),
        ];
        assert_eq!(
            judge(&sight, &definition, &later(&delete), None),
            Err(RuleRefusal::Final)
        );
        assert_eq!(judge(&sight, &definition, &version(&delete), None), Ok(()));
    }
}

#[test]
fn a_measure_must_be_retained_and_only_a_first_version_is_one() {
    for rules in [json!({"fixed": ["text"]}), json!({"onePer": ["text"]})] {
        let definition = definition(rules, json!([]));
        let judged = judge(&Sight::Blind, &definition, &version(&[]), None);
        assert_eq!(judged, Err(RuleRefusal::NotRetained));
        let retained = version(&[("retain", json!(true))]);
        assert_eq!(judge(&Sight::Blind, &definition, &retained, None), Ok(()));
        assert_eq!(judge(&Sight::Blind, &definition, &later(&[]), None), Ok(()));
        let delete = [
            ("deleted", json!(true)),
            ("body", "absent".into()),
            ("bodyHash", "absent".into()),
        ];
        assert_eq!(
            judge(&public(), &definition, &version(&delete), None),
            Ok(())
        );
    }
}

#[test]
fn a_derived_key_is_asked_of_a_readable_first_version_only() {
    let definition = definition(json!({"onePer": ["text"]}), json!([]));
    let first = version(&[("retain", json!(true))]);
    assert_eq!(
        judge(&public(), &definition, &first, None),
        Err(RuleRefusal::OnePer)
    );
    assert_eq!(judge(&Sight::Blind, &definition, &first, None), Ok(()));
    let stub = version(&[("retain", json!(true)), ("body", "absent".into())]);
    assert_eq!(judge(&public(), &definition, &stub, None), Ok(()));
    assert_eq!(judge(&public(), &definition, &later(&[]), None), Ok(()));
}

#[test]
fn fixed_fields_are_compared_where_both_bodies_can_be_read() {
    let definition = definition(json!({"fixed": ["a", "b"]}), json!([]));
    let body = |body: Value| ("body", body);
    let first = version(&[("retain", json!(true)), body(json!({"a": 1, "c": 1}))]);
    let with = |sight: &Sight, value: Value, first: &Version| {
        judge(sight, &definition, &later(&[body(value)]), Some(first))
    };
    for sight in [public(), Sight::Blind] {
        assert_eq!(with(&sight, json!({"a": 1.0, "c": 2}), &first), Ok(()));
        for changed in [
            json!({"a": 2}),
            json!({}),
            json!({"a": 1, "b": null}),
            json!("a"),
        ] {
            assert_eq!(with(&sight, changed, &first), Err(RuleRefusal::Fixed));
        }
        // A first version that isn't retained, or whose body is gone, measures nothing.
        let loose = version(&[body(json!({"a": 1}))]);
        assert_eq!(with(&sight, json!({"a": 2}), &loose), Ok(()));
        let stub = version(&[("retain", json!(true)), ("body", "absent".into())]);
        assert_eq!(with(&sight, json!({"a": 2}), &stub), Ok(()));
        assert_eq!(
            judge(
                &sight,
                &definition,
                &later(&[("body", "absent".into())]),
                Some(&first)
            ),
            Ok(())
        );
    }
    // A sealed body is read in a public space, and by nobody blind.
    assert_eq!(with(&public(), sealed(), &first), Err(RuleRefusal::Fixed));
    assert_eq!(with(&Sight::Blind, sealed(), &first), Ok(()));
}

#[test]
fn tags_are_checked_where_the_body_and_the_key_are_at_hand() {
    let definition = definition(json!({}), json!(["text"]));
    let untagged = version(&[]);
    assert_eq!(
        judge(&public(), &definition, &untagged, None),
        Err(RuleRefusal::Tags)
    );
    assert_eq!(judge(&Sight::Blind, &definition, &untagged, None), Ok(()));
    let stub = version(&[("body", "absent".into())]);
    assert_eq!(judge(&public(), &definition, &stub, None), Ok(()));
    let no_value = version(&[("body", json!({"text": null}))]);
    assert_eq!(judge(&public(), &definition, &no_value, None), Ok(()));
}

#[test]
fn rules_apply_to_no_reserved_collection_and_without_a_definition_to_none() {
    let all = definition(
        json!({"final": true, "fixed": ["a"], "onePer": ["a"]}),
        json!(["text"]),
    );
    let profile = [("collection", json!("sys.profile"))];
    assert_eq!(judge(&public(), &all, &version(&profile), None), Ok(()));
    assert_eq!(judge(&public(), &all, &later(&profile), None), Ok(()));
    let anything = later(&[("tags", json!(["AAAAAAAAAAAAAAAAAAAAAA"]))]);
    assert_eq!(check_final(None, &anything), Ok(()));
    assert_eq!(
        check_rules(&public(), None, &anything, "", FirstVersion::default()),
        Ok(())
    );
}

#[test]
fn a_definition_counts_when_it_can_be_read() {
    let defines = |changes: &[(&str, Value)]| {
        let mut all = vec![
            ("collection", json!("sys.collection")),
            ("key", json!("collection:app.a")),
            ("body", json!({"name": "app.a", "version": 1, "schema": {}})),
        ];
        all.extend_from_slice(changes);
        version(&all)
    };
    let counts =
        |sight: &Sight, changes: &[(&str, Value)]| sight.definition(&defines(changes)).is_some();
    for sight in [public(), Sight::Blind] {
        assert!(counts(&sight, &[]));
        assert!(!counts(&sight, &[("body", "absent".into())]));
        assert!(!counts(&sight, &[("body", sealed())]));
        assert!(!counts(&sight, &[("key", json!("collection:app.b"))]));
        assert!(!counts(&sight, &[("collection", json!("app.a"))]));
        let delete = [
            ("deleted", json!(true)),
            ("body", "absent".into()),
            ("bodyHash", "absent".into()),
        ];
        assert!(!counts(&sight, &delete));
    }
    // The members that make a body a sealed one make it no less a definition in the clear.
    let both = json!({"name": "app.a", "version": 1, "schema": {}, "sealed": "AQ", "keyId": "x"});
    assert!(counts(&public(), &[("body", both.clone())]));
    assert!(!counts(&Sight::Blind, &[("body", both)]));
}

#[test]
fn a_collection_has_at_most_8_topics() {
    let with = |count: usize| {
        let topics: Vec<String> = (0..count).map(|i| format!("t{i}")).collect();
        let body = json!({"name": "app.a", "version": 1, "schema": {}, "topics": topics});
        read_definition("collection:app.a", &read(&body)).map(|definition| definition.topics.len())
    };
    assert_eq!(with(8), Ok(8));
    assert!(with(9).is_err());
}
