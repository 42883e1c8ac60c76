//! Every section of records.json is somebody's to test.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use support::vectors;

/// The sections, and the test that goes through each.
const COVERED: [(&str, &str); 32] = [
    ("about", "nothing: it says what the file is"),
    ("canonicalJson", "json.rs"),
    ("createdAt", "formats.rs"),
    ("definitionVersions", "judged.rs"),
    ("definitions", "definitions.rs"),
    ("depths", "versions.rs"),
    ("didKeys", "keys.rs"),
    ("entries", "formats.rs"),
    ("fileNames", "formats.rs"),
    ("files", "formats.rs"),
    ("forks", "signed.rs"),
    ("hex40", "keys.rs"),
    ("ids", "keys.rs"),
    ("judged", "judged.rs"),
    ("lines", "order.rs"),
    ("loose", "signed.rs"),
    ("negentropy", "the sync crate"),
    ("notJson", "json.rs"),
    ("numbers", "json.rs"),
    ("onePer", "definitions.rs"),
    ("placement", "order.rs"),
    ("recordKeys", "formats.rs"),
    ("segments", "formats.rs"),
    ("segmentsHoldingNothing", "formats.rs"),
    ("signatures", "signed.rs"),
    ("signingKeys", "keys.rs"),
    ("sizes", "versions.rs"),
    ("spaces", "constitutions.rs"),
    ("topics", "definitions.rs"),
    ("versions", "versions.rs"),
    ("versionsAsText", "versions.rs"),
    ("winners", "order.rs"),
];

#[test]
fn every_section_of_the_records_has_a_test() {
    let file = vectors("records.json");
    let mut sections: Vec<&str> = file
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    sections.sort_unstable();
    let covered: Vec<&str> = COVERED.iter().map(|(section, _)| *section).collect();
    assert_eq!(sections, covered);
}

#[test]
fn the_tests_named_read_their_sections() {
    for (section, test) in COVERED {
        if !test.ends_with(".rs") {
            continue;
        }
        let path = format!("{}/tests/{test}", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(path).unwrap();
        assert!(
            source.contains(&format!("\"{section}\"")),
            "{test} doesn't read {section}"
        );
    }
}
