//! 02 §1 against the vectors, other readers and writers, and its own laws.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_record::json::{self, GREATEST_DEPTH, MESSAGE_DEPTH, Object, ReadErrorKind, Text, Value};
use proptest::prelude::*;
use support::{section, string};

fn read(text: &str) -> Value {
    json::read(text.as_bytes(), MESSAGE_DEPTH).unwrap_or_else(|error| panic!("{error} in {text}"))
}

fn canonical(text: &str) -> String {
    String::from_utf8(read(text).canonical()).expect("a canonical form is UTF-8")
}

#[test]
fn canonical_forms_are_the_vectors() {
    let cases = section("records.json", "canonicalJson");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 20);
    for case in cases {
        let expected = string(case, "canonical");
        assert_eq!(
            canonical(string(case, "json")),
            expected,
            "{}",
            string(case, "name")
        );
        assert_eq!(canonical(expected), expected, "{}", string(case, "name"));
    }
}

#[test]
fn canonical_forms_are_the_vectors_of_identity() {
    let cases = section("identity.json", "canonical");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 6);
    for case in cases {
        assert_eq!(
            canonical(&case["value"].to_string()),
            string(case, "canonical")
        );
    }
}

#[test]
fn texts_that_are_no_json_are_refused() {
    let cases = section("records.json", "notJson");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 11);
    for case in cases {
        let error = json::read(string(case, "json").as_bytes(), MESSAGE_DEPTH).unwrap_err();
        let overflow = error.kind == ReadErrorKind::NumberOverflow;
        assert_eq!(
            overflow,
            string(case, "reason") == "number-overflow",
            "{case}: {error}"
        );
    }
}

#[test]
fn numbers_are_read_and_written_as_the_vectors_say() {
    let cases = section("records.json", "numbers");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 67);
    for case in cases {
        let bits = u64::from_str_radix(string(case, "binary64"), 16).unwrap();
        let value = read(string(case, "json"));
        assert_eq!(value, Value::Number(f64::from_bits(bits)), "{case}");
        assert_eq!(value.as_f64().unwrap().to_bits(), bits, "{case}");
        assert_eq!(
            String::from_utf8(value.canonical()).unwrap(),
            string(case, "canonical")
        );
    }
}

#[test]
fn a_tie_between_two_shortest_forms_goes_to_the_even_digit() {
    assert_eq!(canonical("187193646132940.125"), "187193646132940.12");
}

#[test]
fn an_error_says_what_and_where() {
    let cases: [(&[u8], ReadErrorKind, usize); 24] = [
        (b"", ReadErrorKind::End, 0),
        (b" \t\r\n", ReadErrorKind::End, 4),
        (b"[1", ReadErrorKind::End, 2),
        (b"\"ab", ReadErrorKind::End, 3),
        (b"\"a\\", ReadErrorKind::End, 3),
        (b"\"\\u00", ReadErrorKind::End, 5),
        (b"-", ReadErrorKind::End, 1),
        (b"1.", ReadErrorKind::End, 2),
        (b"1e+", ReadErrorKind::End, 3),
        (b"tru", ReadErrorKind::End, 3),
        (b"1 2", ReadErrorKind::Trailing, 2),
        (b"01", ReadErrorKind::Trailing, 1),
        (b"[1e400]", ReadErrorKind::NumberOverflow, 1),
        (b"\"a\xff\"", ReadErrorKind::NotUtf8, 2),
        (b"\"\xed\xa0\x80\"", ReadErrorKind::NotUtf8, 1),
        (
            b"\xef\xbb\xbf1",
            ReadErrorKind::Unexpected {
                expected: "a value",
                found: 0xEF,
            },
            0,
        ),
        (
            b"\x0c1",
            ReadErrorKind::Unexpected {
                expected: "a value",
                found: 0x0C,
            },
            0,
        ),
        (
            b"[1,]",
            ReadErrorKind::Unexpected {
                expected: "a value",
                found: b']',
            },
            3,
        ),
        (
            b"+1",
            ReadErrorKind::Unexpected {
                expected: "a value",
                found: b'+',
            },
            0,
        ),
        (
            b"trux",
            ReadErrorKind::Unexpected {
                expected: "true",
                found: b'x',
            },
            3,
        ),
        (
            b"[1 2]",
            ReadErrorKind::Unexpected {
                expected: "',' or ']'",
                found: b'2',
            },
            3,
        ),
        (
            b"{\"a\":1 2}",
            ReadErrorKind::Unexpected {
                expected: "',' or '}'",
                found: b'2',
            },
            7,
        ),
        (
            b"{\"a\" 1}",
            ReadErrorKind::Unexpected {
                expected: "':'",
                found: b'1',
            },
            5,
        ),
        (
            b"\"\\u00g0\"",
            ReadErrorKind::Unexpected {
                expected: "a hex digit",
                found: b'g',
            },
            5,
        ),
    ];
    for (text, kind, at) in cases {
        let error = json::read(text, MESSAGE_DEPTH).unwrap_err();
        assert_eq!(
            (error.kind, error.at),
            (kind, at),
            "{}",
            String::from_utf8_lossy(text)
        );
    }
    for text in [
        "{,}",
        "{1:2}",
        "{\"a\":1,}",
        "\"\u{1}\"",
        "\"\\x\"",
        "-a",
        "1.e1",
        "1e",
        ".5",
        "'a'",
        "{\"a\":1",
    ] {
        assert!(
            json::read(text.as_bytes(), MESSAGE_DEPTH).is_err(),
            "{text}"
        );
    }
}

#[test]
fn depth_is_taken_up_to_the_limit_and_no_deeper() {
    let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
    let in_objects =
        |depth: usize| [br#"{"a":"#.repeat(depth), b"1".to_vec(), vec![b'}'; depth]].concat();
    for build in [&nested as &dyn Fn(usize) -> Vec<u8>, &in_objects] {
        for allowed in [0, 1, 5, MESSAGE_DEPTH] {
            if allowed > 0 {
                assert_eq!(
                    json::read(&build(allowed), allowed).unwrap().depth(),
                    allowed
                );
            }
            let error = json::read(&build(allowed + 1), allowed).unwrap_err();
            assert_eq!(error.kind, ReadErrorKind::TooDeep { allowed });
        }
        let deepest = json::read(&build(GREATEST_DEPTH), usize::MAX).unwrap();
        assert_eq!(deepest.clone(), deepest);
        assert!(json::read(&build(GREATEST_DEPTH + 1), usize::MAX).is_err());
        assert!(json::read(&build(1_000_000), usize::MAX).is_err());
    }
    assert_eq!(json::read(b"1", 0), Ok(Value::Number(1.0)));
}

#[test]
fn a_million_unfinished_arrays_and_names_are_refused() {
    assert!(json::read(&vec![b'['; 1_000_000], MESSAGE_DEPTH).is_err());
    assert!(json::read(&br#"{"":"#.repeat(1_000_000), MESSAGE_DEPTH).is_err());
}

#[test]
fn the_signed_part_leaves_out_what_is_named_at_the_top_only() {
    let value = read(r#"{"id":1,"b":{"id":2},"signature":3,"a":4,"body":5}"#);
    let object = value.as_object().unwrap();
    let mut out = b">".to_vec();
    object.write_canonical_without(&["id", "signature", "body"], &mut out);
    assert_eq!(out, br#">{"a":4,"b":{"id":2}}"#);
    let mut out = Vec::new();
    object.write_canonical_without(&["id", "signature", "body", "a", "b"], &mut out);
    assert_eq!(out, b"{}");
}

/// 02 §1's rule for numbers, word for word, over the shortest digits another library finds.
fn number_by_the_text(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let shortest = serde_json::Value::from(value.abs()).to_string();
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let without_zeros_before = all.trim_start_matches('0');
    let zeros_before = all.len() - without_zeros_before.len();
    let digits = without_zeros_before.trim_end_matches('0');
    let n = whole.len() as i32 - zeros_before as i32 + exponent.parse::<i32>().unwrap();
    let k = digits.len() as i32;
    let form = if k <= n && n <= 21 {
        format!("{digits}{}", "0".repeat((n - k) as usize))
    } else if 0 < n && n <= 21 {
        format!("{}.{}", &digits[..n as usize], &digits[n as usize..])
    } else if -6 < n && n <= 0 {
        format!("0.{}{digits}", "0".repeat(-n as usize))
    } else {
        let point = if k > 1 { "." } else { "" };
        let sign = if n > 0 { '+' } else { '-' };
        format!(
            "{}{point}{}e{sign}{}",
            &digits[..1],
            &digits[1..],
            (n - 1).abs()
        )
    };
    if value < 0.0 {
        format!("-{form}")
    } else {
        form
    }
}

fn numbers() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |number| number.is_finite()),
        any::<u64>()
            .prop_map(f64::from_bits)
            .prop_filter("finite", |number| number.is_finite()),
        any::<i32>().prop_map(f64::from),
        any::<i64>().prop_map(|whole| whole as f64),
        (any::<i32>(), -30i32..30)
            .prop_map(|(digits, power)| f64::from(digits) * 10f64.powi(power)),
    ]
}

fn texts() -> impl Strategy<Value = Text> {
    let unit = prop_oneof![
        4 => 0x20u16..0x7F,
        1 => 0x00u16..0x20,
        1 => Just(0x22u16),
        1 => Just(0x5Cu16),
        1 => 0xD7F0u16..0xE010,
        1 => 0xFFF0u16..=0xFFFF,
        1 => any::<u16>(),
    ];
    prop_oneof![
        proptest::collection::vec(unit, 0..20).prop_map(|units| Text::from_utf16(&units)),
        ".{0,40}".prop_map(Text::from),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        numbers().prop_map(Value::Number),
        texts().prop_map(Value::String),
    ];
    scalar.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            proptest::collection::vec((texts(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Values as another library has them: no lone surrogates.
fn foreign_values() -> impl Strategy<Value = serde_json::Value> {
    let scalar = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        numbers().prop_map(serde_json::Value::from),
        any::<i32>().prop_map(serde_json::Value::from),
        ".{0,20}".prop_map(serde_json::Value::from),
        "[\\x00-\\x7f\"\\\\]{0,20}".prop_map(serde_json::Value::from),
    ];
    scalar.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::Array),
            proptest::collection::vec(("\\PC{0,4}", inner), 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

fn same(ours: &Value, theirs: &serde_json::Value) -> bool {
    match (ours, theirs) {
        (Value::Null, serde_json::Value::Null) => true,
        (Value::Bool(ours), serde_json::Value::Bool(theirs)) => ours == theirs,
        (Value::Number(ours), serde_json::Value::Number(theirs)) => Some(*ours) == theirs.as_f64(),
        (Value::String(ours), serde_json::Value::String(theirs)) => ours.as_str() == Some(theirs),
        (Value::Array(ours), serde_json::Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| same(a, b))
        }
        (Value::Object(ours), serde_json::Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && theirs
                    .iter()
                    .all(|(name, b)| ours.get(name).is_some_and(|a| same(a, b)))
        }
        _ => false,
    }
}

/// A text of the value as no tidy writer makes it: members turned round, white space, escapes.
fn untidy(value: &Value, out: &mut String) {
    let text = |text: &Text, out: &mut String| {
        out.push('"');
        for unit in text.utf16_units() {
            out.push_str(&format!("\\u{unit:04X}"));
        }
        out.push('"');
    };
    match value {
        Value::String(string) => text(string, out),
        Value::Array(elements) => {
            out.push_str("[ ");
            for (place, element) in elements.iter().enumerate() {
                out.push_str(if place > 0 { "\t,\r" } else { "" });
                untidy(element, out);
            }
            out.push_str("\n]");
        }
        Value::Object(object) => {
            out.push('{');
            for (place, (name, value)) in object.iter().rev().enumerate() {
                out.push_str(if place > 0 { " , " } else { "" });
                text(name, out);
                out.push_str(" : ");
                untidy(value, out);
            }
            out.push_str(" } ");
        }
        scalar => out.push_str(&String::from_utf8(scalar.canonical()).unwrap()),
    }
}

proptest! {
    #[test]
    fn reading_the_canonical_form_gives_the_value_back(value in values()) {
        let form = value.canonical();
        let back = json::read(&form, MESSAGE_DEPTH).unwrap();
        prop_assert_eq!(&back, &value);
        prop_assert_eq!(back.canonical(), form);
    }

    #[test]
    fn how_it_was_written_does_not_matter(value in values()) {
        let mut text = String::new();
        untidy(&value, &mut text);
        prop_assert_eq!(read(&text).canonical(), value.canonical());
    }

    #[test]
    fn values_are_equal_exactly_when_their_forms_are(a in values(), b in values()) {
        prop_assert_eq!(a == b, a.canonical() == b.canonical());
    }

    #[test]
    fn another_writers_text_reads_as_its_value(theirs in foreign_values()) {
        for text in [serde_json::to_vec(&theirs).unwrap(), serde_json::to_vec_pretty(&theirs).unwrap()] {
            let ours = json::read(&text, MESSAGE_DEPTH).unwrap();
            prop_assert!(same(&ours, &theirs), "{} read as {:?}", theirs, ours);
        }
    }

    #[test]
    fn another_reader_takes_the_canonical_form(theirs in foreign_values()) {
        let ours = json::read(theirs.to_string().as_bytes(), MESSAGE_DEPTH).unwrap();
        let back: serde_json::Value = serde_json::from_slice(&ours.canonical()).unwrap();
        prop_assert!(same(&ours, &back), "{} written as {}", theirs, back);
    }

    #[test]
    fn numbers_are_written_as_the_text_says(number in numbers()) {
        prop_assert_eq!(String::from_utf8(Value::Number(number).canonical()).unwrap(), number_by_the_text(number));
    }

    #[test]
    fn numbers_are_read_as_the_standard_library_rounds_them(text in "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,24})?([eE][+-]?[0-9]{1,2})?") {
        prop_assert_eq!(read(&text).as_f64().unwrap().to_bits(), text.parse::<f64>().unwrap().to_bits());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in any::<Vec<u8>>(), value in values(), place in any::<prop::sample::Index>()) {
        let _ = json::read(&bytes, MESSAGE_DEPTH);
        let mut harmed = value.canonical();
        let place = place.index(harmed.len());
        harmed.splice(place..place + 1, bytes.into_iter().take(2));
        if let Ok(value) = json::read(&harmed, MESSAGE_DEPTH) {
            prop_assert_eq!(json::read(&value.canonical(), MESSAGE_DEPTH), Ok(value));
        }
    }

    #[test]
    fn any_text_is_read_or_refused_as_another_reader_does(text in "[\\[\\]{}:,\" 0-9a-f\\\\ue.+-]{0,12}") {
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        match (json::read(text.as_bytes(), MESSAGE_DEPTH), theirs) {
            (Ok(ours), Ok(theirs)) => prop_assert!(same(&ours, &theirs)),
            (Err(_), Err(_)) => {}
            // Lone surrogates are ours alone.
            (Ok(_), Err(_)) => prop_assert!(text.contains("\\u")),
            (Err(error), Ok(_)) => prop_assert!(false, "{} refused: {}", text, error),
        }
    }
}

#[test]
fn an_object_made_in_code_is_written_in_order() {
    let object = Object::from([
        ("b", Value::from(1u32)),
        ("a", Value::Null),
        ("b", Value::from(true)),
    ]);
    assert_eq!(object.canonical(), br#"{"a":null,"b":true}"#);
}

#[test]
fn a_value_is_small_in_itself() {
    // What `read` says of memory rests on this.
    assert_eq!(size_of::<Value>(), 32);
    assert_eq!(size_of::<(Text, Value)>(), 56);
}
