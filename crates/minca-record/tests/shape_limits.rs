//! Every limit of a version's shape: one inside, one outside (02 §4.6, §10).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_record::version::Version;
use serde_json::{Value, json};
use support::{read, section};

const MAX_INTEGER: u64 = (1 << 53) - 1;

/// The first version of the vectors with some members set, or taken away when `null` is given as
/// `"absent"`.
fn changed(changes: &[(&str, Value)]) -> Value {
    let mut version = section("records.json", "versions")[0]["version"].clone();
    let object = version.as_object_mut().unwrap();
    for (name, value) in changes {
        if *value == "absent" {
            object.remove(*name);
        } else {
            object.insert((*name).to_owned(), value.clone());
        }
    }
    version
}

/// Why a version with these changes has no good shape.
fn reason(changes: &[(&str, Value)]) -> Option<&'static str> {
    Version::shape(read(&changed(changes)))
        .err()
        .map(|error| error.reason())
}

fn id(name: &str) -> Value {
    minca_record::content_id::ContentId::of(name.as_bytes())
        .to_string()
        .into()
}

fn many(count: usize, of: Value) -> Value {
    Value::Array(vec![of; count])
}

/// A name, what is inside its limit, what is outside, and why that is refused.
type Limit = (&'static str, Value, Value, &'static str);

#[test]
fn every_limit_takes_what_is_inside_and_refuses_what_is_outside() {
    let link = json!({"rel": "about", "to": "x"});
    let link_with = |rel: &str, to: &str| json!([{"rel": rel, "to": to}]);
    let tag = "AAAAAAAAAAAAAAAAAAAA-_";
    let limits: Vec<Limit> = vec![
        ("collection", "c".into(), "".into(), "bad-collection"),
        (
            "collection",
            "é".repeat(128).into(),
            "é".repeat(129).into(),
            "bad-collection",
        ),
        (
            "collection",
            "😀".repeat(64).into(),
            format!("{}a", "😀".repeat(64)).into(),
            "bad-collection",
        ),
        ("collection", "a b".into(), "a\tb".into(), "bad-collection"),
        (
            "collection",
            "a\u{80}".into(),
            "a\u{7f}".into(),
            "bad-collection",
        ),
        ("createdAt", "x".into(), "".into(), "bad-created-at"),
        (
            "createdAt",
            "x".repeat(64).into(),
            "x".repeat(65).into(),
            "bad-created-at",
        ),
        (
            "key",
            "k".repeat(128).into(),
            "k".repeat(129).into(),
            "bad-key",
        ),
        ("seen", many(64, id("a")), many(65, id("a")), "bad-seen"),
        ("seen", json!([]), json!(["x"]), "bad-seen"),
        ("bodyHash", "x".into(), "".into(), "bad-body"),
        (
            "bodyHash",
            "x".repeat(128).into(),
            "x".repeat(129).into(),
            "bad-body",
        ),
        ("links", many(32, link.clone()), many(33, link), "bad-links"),
        (
            "links",
            link_with(&"r".repeat(64), "x"),
            link_with(&"r".repeat(65), "x"),
            "bad-links",
        ),
        (
            "links",
            link_with("r", &"k".repeat(128)),
            link_with("r", &"k".repeat(129)),
            "bad-links",
        ),
        (
            "tags",
            many(64, tag.into()),
            many(65, tag.into()),
            "bad-tags",
        ),
        ("tags", json!([]), json!([&tag[1..]]), "bad-tags"),
        ("tags", json!([tag]), json!([format!("{tag}A")]), "bad-tags"),
        (
            "tags",
            json!([tag]),
            json!([tag.replace('-', "+")]),
            "bad-tags",
        ),
        ("deleted", "absent".into(), json!(false), "bad-flag"),
        ("retain", json!(true), json!(1), "bad-flag"),
        ("log", json!({"n": 0}), json!({"n": -1}), "bad-log"),
        (
            "log",
            json!({"n": MAX_INTEGER, "prev": id("a")}),
            json!({"n": MAX_INTEGER + 1, "prev": id("a")}),
            "bad-log",
        ),
        (
            "log",
            json!({"n": 0, "more": null}),
            json!({"n": 0, "prev": null}),
            "bad-log",
        ),
        ("proof", json!({}), json!([]), "bad-proof"),
        ("space", "absent".into(), json!(1), "wrong-space"),
    ];
    for (name, inside, outside, why) in limits {
        assert_eq!(reason(&[(name, inside.clone())]), None, "{name} {inside}");
        // That the space is the one at hand is no matter of shape.
        let expected = (why != "wrong-space").then_some(why);
        assert_eq!(
            reason(&[(name, outside.clone())]),
            expected,
            "{name} {outside}"
        );
    }
}

#[test]
fn a_later_version_counts_up_to_2_to_the_53_less_1() {
    let with_seq = |seq: Value| reason(&[("seq", seq), ("prev", id("p")), ("genesis", id("g"))]);
    assert_eq!(with_seq(json!(1)), None);
    assert_eq!(with_seq(json!(1.0)), None);
    assert_eq!(with_seq(json!(MAX_INTEGER)), None);
    assert_eq!(with_seq(json!(MAX_INTEGER + 1)), Some("bad-seq"));
    assert_eq!(with_seq(json!(0)), Some("bad-chain"));
}

#[test]
fn a_version_names_none_but_others() {
    let own = section("records.json", "versions")[0]["id"].clone();
    let chain = |prev: &Value, genesis: &Value| {
        reason(&[
            ("seq", json!(1)),
            ("prev", prev.clone()),
            ("genesis", genesis.clone()),
        ])
    };
    assert_eq!(chain(&id("p"), &id("g")), None);
    assert_eq!(chain(&own, &id("g")), Some("bad-chain"));
    assert_eq!(chain(&id("p"), &own), Some("bad-chain"));
    assert_eq!(
        reason(&[("log", json!({"n": 1, "prev": own}))]),
        Some("bad-log")
    );
}

#[test]
fn a_delete_has_no_content() {
    let delete = |body: Value, hash: Value| {
        reason(&[("deleted", json!(true)), ("body", body), ("bodyHash", hash)])
    };
    assert_eq!(delete("absent".into(), "absent".into()), None);
    assert_eq!(delete(Value::Null, "absent".into()), None);
    assert_eq!(delete(json!({}), "absent".into()), Some("bad-body"));
    assert_eq!(delete("absent".into(), id("x")), Some("bad-body"));
}

#[test]
fn the_first_check_that_fails_gives_the_reason() {
    // Wrong in everything; put right one after the other, in the order of the checks.
    let mut changes: Vec<(&str, Value)> = [
        "id",
        "author",
        "collection",
        "createdAt",
        "key",
        "seq",
        "prev",
        "seen",
        "retain",
        "bodyHash",
        "links",
        "tags",
        "log",
        "proof",
        "signature",
    ]
    .map(|name| (name, json!(-1)))
    .to_vec();
    let reasons = [
        "bad-id",
        "bad-author",
        "bad-collection",
        "bad-created-at",
        "bad-key",
        "bad-seq",
        "bad-chain",
        "bad-seen",
        "bad-flag",
        "bad-body",
        "bad-links",
        "bad-tags",
        "bad-log",
        "bad-proof",
        "bad-signature-form",
    ];
    for expected in reasons {
        assert_eq!(reason(&changes), Some(expected));
        changes.remove(0);
    }
    assert_eq!(reason(&changes), None);
}

#[test]
fn a_lone_surrogate_is_taken_where_any_string_is() {
    let text = serde_json::to_string(&changed(&[])).unwrap();
    let with = |name: &str, value: &str| {
        let text = format!(
            "{},\"{name}\":\"{value}\"}}",
            text.strip_suffix('}').unwrap()
        );
        let value = minca_record::json::read(text.as_bytes(), 128).unwrap();
        Version::shape(value).map_err(|error| error.reason())
    };
    assert!(with("author", r"did:key:\ud800").is_ok());
    assert!(with("createdAt", r"\udfff").is_ok());
    assert!(with("more", r"\ud800").is_ok());
    assert_eq!(with("collection", r"a\ud800").err(), Some("bad-collection"));
    assert_eq!(with("key", r"a\ud800").err(), Some("bad-key"));
    assert_eq!(with("createdAt", r"\udfff").unwrap().item().0, 0);
}
