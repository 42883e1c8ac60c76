//! Every section of `identity.json` has a test.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

/// Each section, and the file of the tests that read it.
const COVERED: [(&str, &str); 17] = [
    ("base64url", include_str!("keys.rs")),
    ("canonical", include_str!("json.rs")),
    ("keys", include_str!("sealing.rs")),
    ("derive", include_str!("sealing.rs")),
    ("inviteLink", include_str!("sealing.rs")),
    ("hex40", include_str!("keys.rs")),
    ("inviteSignature", include_str!("keys.rs")),
    ("dids", include_str!("keys.rs")),
    ("signatures", include_str!("keys.rs")),
    ("commands", include_str!("policies.rs")),
    ("selectors", include_str!("policies.rs")),
    ("like", include_str!("policies.rs")),
    ("policies", include_str!("policies.rs")),
    ("notes", include_str!("notes.rs")),
    ("required", include_str!("notes.rs")),
    ("envelopes", include_str!("sealing.rs")),
    ("keyAgreement", include_str!("sealing.rs")),
];

#[test]
fn every_section_is_read_by_a_test() {
    let file = support::vectors("identity.json");
    for name in file
        .as_object()
        .unwrap()
        .keys()
        .filter(|name| *name != "about")
    {
        let Some((_, tests)) = COVERED.iter().find(|(section, _)| section == name) else {
            panic!("no test reads {name}");
        };
        assert!(
            tests.contains(&format!(r#"section("identity.json", "{name}")"#)),
            "{name} is not read where it should be"
        );
    }
    assert_eq!(COVERED.len(), file.as_object().unwrap().len() - 1);
}
