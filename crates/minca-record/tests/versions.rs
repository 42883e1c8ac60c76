//! Versions: shape, signed part, stub, item, and how they are kept (02 §3, §4.6, §11).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_record::content_id::ContentId;
use minca_record::hash::sha256;
use minca_record::hex;
use minca_record::json::{self, MESSAGE_DEPTH, Value};
use minca_record::version::{Parts, Version, join};
use support::{id, list, read, section, string};

#[test]
fn versions_have_the_parts_that_are_hashed_and_signed() {
    let cases = section("records.json", "versions");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 10);
    for case in cases {
        let version = Version::shape(read(&case["version"])).expect("a version");
        let signed = version.signed_part();
        assert_eq!(signed, string(case, "signedPart").as_bytes(), "{case}");
        assert_eq!(hex::encode(&sha256(signed)), string(case, "payloadSha256"));
        assert_eq!(version.id(), id(case, "id"));
        assert_eq!(ContentId::of(signed), version.id());
        let body = version.body_canonical();
        assert_eq!(body, case["bodyCanonical"].as_str().map(str::as_bytes));
        let body_hash = version.body_hash().and_then(|hash| hash.as_str());
        assert_eq!(body_hash, case["bodyHash"].as_str());
        if let (Some(body), Some(hash)) = (body, body_hash) {
            assert_eq!(ContentId::of(body).to_string(), hash);
        }
        let signature = minca_record::base64url::encode(version.signature());
        assert_eq!(signature, string(case, "signature"));

        let item = &case["item"];
        let (timestamp, item_id) = version.item();
        assert_eq!(Some(timestamp), item["timestamp"].as_u64());
        assert_eq!(hex::encode(&item_id), string(item, "id"));

        // A retained version has no stub, and a delete is its own (02 §4.4, §4.5).
        assert_eq!(case["stub"].is_null(), version.retain());
        if version.retain() {
            continue;
        }
        let stub = Version::shape(read(&case["stub"])).expect("a stub");
        assert_eq!(stub.is_stub(), !version.deleted());
        assert_eq!(stub.signed_part(), version.signed_part());
        let parts = Parts::split(&version);
        let cut = join(&parts.envelope, parts.proof.as_deref(), None);
        let cut = Version::shape(json::read(&cut, MESSAGE_DEPTH).unwrap()).unwrap();
        assert_eq!(cut, stub);
        assert_eq!(cut.canonical(), read(&case["stub"]).canonical());
    }
}

#[test]
fn a_version_as_text_is_hashed_by_its_value() {
    let cases = section("records.json", "versionsAsText");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 1);
    for case in cases {
        let value = json::read(string(case, "json").as_bytes(), MESSAGE_DEPTH).unwrap();
        let version = Version::shape(value).unwrap();
        assert_eq!(version.canonical(), string(case, "canonical").as_bytes());
        assert_eq!(version.signed_part(), string(case, "signedPart").as_bytes());
        let body = string(case, "bodyCanonical").as_bytes();
        assert_eq!(version.body_canonical(), Some(body));
        assert_eq!(ContentId::of(body), id(case, "bodyHash"));
        assert_eq!(version.id(), id(case, "id"));
        assert_eq!(ContentId::of(version.signed_part()), version.id());
        let kept = Parts::split(&version).join();
        assert_eq!(
            Version::shape(json::read(&kept, MESSAGE_DEPTH).unwrap()),
            Ok(version)
        );
    }
}

/// The `sizes` template with a body of so many letters; hash and signature are not looked at here.
fn sized(template: &serde_json::Value, letters: usize) -> Value {
    let mut version = template.clone();
    version["body"]["t"] = "a".repeat(letters).into();
    read(&version)
}

#[test]
fn a_version_of_a_mebibyte_has_a_good_shape_and_one_byte_more_has_not() {
    let sizes = section("records.json", "sizes");
    let cases = list(&sizes, "cases");
    assert_eq!(cases.len(), 2);
    for case in cases {
        let letters = usize::try_from(case["letters"].as_u64().unwrap()).unwrap();
        let value = sized(&sizes["template"], letters);
        let bytes = value.canonical().len() as u64;
        assert_eq!(Some(bytes), case["canonicalBytes"].as_u64());
        let reason = Version::shape(value).err().map(|error| error.reason());
        assert_eq!(reason, case["reason"].as_str());
    }
}

#[test]
fn a_version_64_deep_has_a_good_shape_and_one_deeper_has_not() {
    let cases = section("records.json", "depths");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 2);
    let first = &section("records.json", "versions")[0]["version"];
    for case in cases {
        let mut body = serde_json::Value::Null;
        for _ in 0..case["arraysInBody"].as_u64().unwrap() {
            body = serde_json::Value::Array(vec![body]);
        }
        let mut version = first.clone();
        version["body"] = body;
        let value = read(&version);
        assert_eq!(Some(value.depth() as u64), case["depth"].as_u64());
        let reason = Version::shape(value).err().map(|error| error.reason());
        let expected = (string(case, "answer") == "refused").then_some("too-deep");
        assert_eq!(reason, expected);
    }
}

#[test]
fn what_is_no_object_is_no_version() {
    for text in ["null", "[]", "\"x\"", "7", "[[[[{}]]]]"] {
        let value = json::read(text.as_bytes(), MESSAGE_DEPTH).unwrap();
        let error = Version::shape(value).unwrap_err();
        assert_eq!(error.reason(), "not-object");
    }
}
