//! What holds of every version: signing, tampering, keeping, chains, times (02 §3, §4.7, §11).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_record::base64url;
use minca_record::content_id::ContentId;
use minca_record::derive::identity_key;
use minca_record::json::{self, MESSAGE_DEPTH, Object, Text, Value};
use minca_record::signing::SigningKey;
use minca_record::time::{is_iso_string, item_timestamp, parse_date_time};
use minca_record::version::{
    ChainRefusal, Held, Missing, Parts, Refusal, Version, check, follows, join,
};
use proptest::prelude::*;

fn space() -> ContentId {
    ContentId::of(b"a space")
}

fn author() -> SigningKey {
    identity_key(&[7; 16])
}

/// Sets what signing sets.
fn signed(mut version: Object, key: &SigningKey) -> Object {
    version.insert("author", key.did().to_string());
    if let Some(body) = version.get("body") {
        let hash = ContentId::of(&body.canonical()).to_string();
        version.insert("bodyHash", hash);
    }
    let mut payload = Vec::new();
    version.write_canonical_without(&["id", "signature", "body"], &mut payload);
    version.insert("id", ContentId::of(&payload).to_string());
    version.insert("signature", base64url::encode(&key.sign(&payload)));
    version
}

/// Any string, lone surrogates and control characters among them.
fn texts() -> impl Strategy<Value = Text> {
    let unit = prop_oneof![0x00u16..0x80, 0xD800u16..0xE000, any::<u16>()];
    proptest::collection::vec(unit, 0..8).prop_map(|units| Text::from_utf16(&units))
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<f64>()
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(Value::Number),
        texts().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::vec((texts(), inner), 0..4)
                .prop_map(|members| Value::from(members.into_iter().collect::<Object>())),
        ]
    })
}

/// A version of the space, signed: a first or a later one, whole, a stub or a delete, with members
/// nobody knows and perhaps something for a note.
fn versions() -> impl Strategy<Value = Object> {
    let kind = prop_oneof![
        Just("whole"),
        Just("stub"),
        Just("delete"),
        Just("null delete")
    ];
    let more = proptest::collection::vec((texts(), values()), 0..4);
    let proof = proptest::option::of(proptest::collection::vec((texts(), values()), 0..3));
    (kind, 0u32..3, any::<bool>(), values(), more, proof).prop_map(
        |(kind, seq, retain, body, more, proof)| {
            let mut version: Object = more.into_iter().collect();
            for (name, value) in [
                ("collection", Value::from("app.todo.item")),
                ("space", Value::from(space().to_string())),
                ("createdAt", Value::from("2026-09-26T12:00:00.000Z")),
                ("key", Value::from("k3x9q2abcd")),
                ("seq", Value::from(seq)),
                ("log", Value::from(Object::from([("n", 0u32)]))),
            ] {
                version.insert(name, value);
            }
            if seq > 0 {
                version.insert("prev", ContentId::of(b"prev").to_string());
                version.insert("genesis", ContentId::of(b"genesis").to_string());
            }
            if retain {
                version.insert("retain", true);
            }
            if let Some(proof) = proof {
                version.insert("proof", proof.into_iter().collect::<Object>());
            }
            match kind {
                "delete" => {
                    version.insert("deleted", true);
                    signed(version, &author())
                }
                "null delete" => {
                    version.insert("deleted", true);
                    let mut version = signed(version, &author());
                    version.insert("body", Value::Null);
                    version
                }
                kind => {
                    version.insert("body", body);
                    let mut version = signed(version, &author());
                    if kind == "stub" {
                        version.remove("body");
                    }
                    version
                }
            }
        },
    )
}

fn read_back(text: &[u8]) -> Version {
    Version::shape(json::read(text, MESSAGE_DEPTH).unwrap()).unwrap()
}

proptest! {
    #[test]
    fn what_is_kept_in_parts_reads_back_equal(object in versions()) {
        let version = Version::shape(object.clone().into()).unwrap();
        let parts = Parts::split(&version);
        let joined = read_back(&parts.join());
        prop_assert_eq!(&joined, &version);
        prop_assert_eq!(joined.canonical(), object.canonical());
        prop_assert_eq!(Parts::split(&joined), parts.clone());
        prop_assert_eq!(parts.proof.is_some(), version.proof().is_some());
        prop_assert_eq!(parts.body.is_some(), version.body().is_some());

        // Without the body it is the stub, with the same id and signature.
        let mut stub = object;
        stub.remove("body");
        let cut = read_back(&join(&parts.envelope, parts.proof.as_deref(), None));
        prop_assert_eq!(cut.object(), &stub);
        prop_assert_eq!(cut.is_stub(), !version.deleted());
        prop_assert_eq!((cut.id(), cut.signature()), (version.id(), version.signature()));
        prop_assert_eq!(cut.signed_part(), version.signed_part());
    }

    #[test]
    fn the_size_that_is_checked_is_that_of_the_canonical_form(object in versions(), letters in 0usize..40) {
        // Just around the limit, whatever else the version holds.
        let mut object = object;
        object.insert("padding", "");
        let room = 1_048_576usize.saturating_sub(object.canonical().len()) + letters;
        object.insert("padding", "a".repeat(room.saturating_sub(20)));
        let size = object.canonical().len();
        let is_too_large = Version::shape(object.into()).is_err_and(|error| error.reason() == "too-large");
        prop_assert_eq!(is_too_large, size > 1_048_576);
    }

    #[test]
    fn a_signed_version_passes_and_a_changed_one_does_not(
        object in versions().prop_filter("no note", |version| !version.contains("proof")),
        change in (texts(), values()),
        other_body in values(),
    ) {
        let is_retained_stub = {
            let version = Version::shape(object.clone().into()).unwrap();
            version.retain() && version.is_stub()
        };
        match check(object.clone().into(), space()) {
            Ok(checked) => {
                prop_assert!(!is_retained_stub);
                prop_assert_eq!(checked.root, author().did());
                prop_assert_eq!(checked.author, author().did());
                prop_assert_eq!(checked.version.object(), &object);
            }
            Err(refusal) => {
                prop_assert!(is_retained_stub);
                prop_assert_eq!(refusal, Refusal::RetainedStub);
                return Ok(());
            }
        }
        prop_assert_eq!(check(object.clone().into(), ContentId::of(b"another")), Err(Refusal::WrongSpace));

        // Any signed member changed or added: the id is another.
        let (name, value) = change;
        let mut changed = object.clone();
        let before = changed.insert(name.clone(), value.clone());
        let is_signed = !["id", "signature", "body"].iter().any(|unsigned| name == *unsigned);
        if is_signed && before != Some(value) {
            prop_assert!(check(changed.clone().into(), space()).is_err());
            // And with the id made to fit, the signature is another's.
            let mut payload = Vec::new();
            changed.write_canonical_without(&["id", "signature", "body"], &mut payload);
            changed.insert("id", ContentId::of(&payload).to_string());
            prop_assert!(check(changed.into(), space()).is_err());
        }
        // Another body under the same signature.
        if object.get("body").is_some_and(|body| *body != other_body) && !object.contains("deleted") {
            let mut swapped = object.clone();
            swapped.insert("body", other_body);
            prop_assert_eq!(check(swapped.into(), space()), Err(Refusal::BodyMismatch));
        }
        // Another key.
        let mut stolen = object;
        stolen.insert("signature", base64url::encode(&identity_key(&[8; 16]).sign(b"x")));
        prop_assert_eq!(check(stolen.into(), space()), Err(Refusal::SignatureInvalid));
    }

    #[test]
    fn any_value_is_judged_without_a_panic(value in values(), object in versions(), name in texts()) {
        let _ = check(value.clone(), space());
        let _ = minca_record::loose::Loose::check(value.clone());
        let _ = minca_record::constitution::Constitution::check(value.clone());
        let _ = minca_record::definition::read_definition("collection:a.b", &value);
        let mut object = object;
        object.insert(name, value.clone());
        let _ = check(object.clone().into(), space());
        for known in ["links", "tags", "seen", "log", "files", "proof", "prev", "body"] {
            let mut with = object.clone();
            with.insert(known, value.clone());
            if let Ok(version) = Version::shape(with.into()) {
                let _ = minca_record::files::named_files(&version);
                let _ = (version.links().count(), version.tags().count());
            }
        }
    }
}

/// A version of one record at this `seq`, following `prev` in the chain of `genesis`.
fn in_chain(
    key: &str,
    collection: &str,
    seq: u32,
    chain: Option<(ContentId, ContentId)>,
) -> Version {
    let mut version = Object::from([
        ("collection", Value::from(collection)),
        ("space", Value::from(space().to_string())),
        ("createdAt", Value::from("2026-09-26T12:00:00.000Z")),
        ("key", Value::from(key)),
        ("seq", Value::from(seq)),
        ("log", Value::from(Object::from([("n", 0u32)]))),
        ("body", Value::from("x")),
    ]);
    if let Some((prev, genesis)) = chain {
        version.insert("prev", prev.to_string());
        version.insert("genesis", genesis.to_string());
    }
    Version::shape(signed(version, &author()).into()).unwrap()
}

#[test]
fn a_chain_is_followed_or_waited_for_or_refused() {
    let first = in_chain("k", "app.a", 0, None);
    let second = in_chain("k", "app.a", 1, Some((first.id(), first.id())));
    let third = in_chain("k", "app.a", 2, Some((second.id(), first.id())));
    let (first_held, second_held) = (Held::from(&first), Held::from(&second));
    let judge = |version: &Version, prev: Option<&Held>, genesis: Option<&Held>| {
        follows(version, prev, genesis)
    };
    assert_eq!(judge(&first, None, None), Ok(Missing::Nothing));
    assert_eq!(
        judge(&third, Some(&second_held), Some(&first_held)),
        Ok(Missing::Nothing)
    );
    assert_eq!(
        judge(&third, None, Some(&first_held)),
        Ok(Missing::Prev(second.id()))
    );
    assert_eq!(
        judge(&third, Some(&second_held), None),
        Ok(Missing::Genesis(first.id()))
    );
    // What is held under another id is not what is named.
    assert_eq!(
        judge(&third, Some(&first_held), Some(&first_held)),
        Ok(Missing::Prev(second.id()))
    );
    assert_eq!(
        judge(&third, Some(&second_held), Some(&second_held)),
        Ok(Missing::Genesis(first.id()))
    );

    // In order: key before collection before `seq` before `genesis`.
    let wrong = Held {
        id: second.id(),
        key: "l".into(),
        collection: "app.b".into(),
        seq: 7,
        genesis: Some(ContentId::of(b"other")),
    };
    assert_eq!(
        judge(&third, Some(&wrong), Some(&first_held)),
        Err(ChainRefusal::Key)
    );
    let wrong = Held {
        key: "k".into(),
        ..wrong
    };
    assert_eq!(
        judge(&third, Some(&wrong), Some(&first_held)),
        Err(ChainRefusal::Collection)
    );
    let wrong = Held {
        collection: "app.a".into(),
        ..wrong
    };
    assert_eq!(
        judge(&third, Some(&wrong), Some(&first_held)),
        Err(ChainRefusal::Seq)
    );
    let wrong = Held { seq: 1, ..wrong };
    assert_eq!(
        judge(&third, Some(&wrong), Some(&first_held)),
        Err(ChainRefusal::Genesis)
    );
    // A wrong chain is refused though its first version isn't held.
    assert_eq!(
        judge(&third, Some(&wrong), None),
        Err(ChainRefusal::Genesis)
    );

    for not_first in [
        Held {
            seq: 1,
            ..first_held.clone()
        },
        Held {
            key: "l".into(),
            ..first_held.clone()
        },
        Held {
            collection: "app.b".into(),
            ..first_held.clone()
        },
    ] {
        let judged = judge(&third, Some(&second_held), Some(&not_first));
        assert_eq!(judged, Err(ChainRefusal::GenesisNotFirst));
    }
}

#[test]
fn every_day_of_four_thousand_years_is_a_day_after_the_one_before() {
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let spelled = |year: i64| match year {
        0..=9999 => format!("{year:04}"),
        _ => format!("{}{:06}", if year < 0 { '-' } else { '+' }, year.abs()),
    };
    let mut expected = parse_date_time("-001000-01-01").unwrap();
    for year in -1000..3_000 {
        for month in 1..=12 {
            let days = match month {
                4 | 6 | 9 | 11 => 30,
                2 if is_leap(year) => 29,
                2 => 28,
                _ => 31,
            };
            for day in 1..=days {
                let text = format!("{}-{month:02}-{day:02}", spelled(year));
                assert_eq!(parse_date_time(&text), Some(expected), "{text}");
                expected += 86_400_000;
            }
            let text = format!("{}-{month:02}-{:02}", spelled(year), days + 1);
            assert_eq!(parse_date_time(&text), None, "{text}");
        }
    }
    assert_eq!(parse_date_time("1970-01-01"), Some(0));
}

#[test]
fn only_whole_and_real_times_are_iso_strings() {
    assert!(is_iso_string("2026-02-28T23:59:59.999Z"));
    for text in [
        "2026-02-29T00:00:00.000Z",
        "2026-02-28T24:00:00.000Z",
        "2026-02-28T23:59:60.000Z",
        "2026-02-28T23:59:59Z",
        "2026-02-28T23:59:59.999+00:00",
        "+02026-02-28T23:59:59.999Z",
        "2026-02-28t23:59:59.999z",
        "2026-02-28T23:59:59.999Z ",
        "２026-02-28T23:59:59.9Z",
    ] {
        assert!(!is_iso_string(text), "{text}");
    }
}

proptest! {
    #[test]
    fn an_offset_moves_a_time_by_itself(
        hour in 0i64..24, minute in 0i64..60, east in any::<bool>(), utc_hour in 0i64..24
    ) {
        let sign = if east { '+' } else { '-' };
        let at = |zone: String| parse_date_time(&format!("2026-09-26T{utc_hour:02}:00{zone}")).unwrap();
        let moved = (hour * 60 + minute) * 60_000 * if east { -1 } else { 1 };
        prop_assert_eq!(at(format!("{sign}{hour:02}:{minute:02}")), at("Z".to_owned()) + moved);
        prop_assert_eq!(at(String::new()), at("Z".to_owned()));
    }

    #[test]
    fn any_text_has_a_timestamp(text in "[-+0-9TZ:. é]{0,30}") {
        let _ = item_timestamp(&text);
    }
}
