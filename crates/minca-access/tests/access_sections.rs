//! Every section of access.json is somebody's to test, or has nothing to test.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use support::vectors;

/// The sections, and the test that goes through each.
const SECTIONS: [(&str, &str); 13] = [
    ("about", "nothing: it says what the file is"),
    ("boxes", "minca-access/tests/boxes.rs"),
    ("constitutions", "minca-record/tests/constitutions.rs"),
    ("earlier", "minca-access/tests/earlier.rs"),
    ("events", "minca-access/tests/events.rs"),
    ("format", "nothing: it says what the file is"),
    ("invitations", "minca-access/tests/invitations.rs"),
    ("invite", "minca-access/tests/invitations.rs"),
    ("people", "nothing: keys used by the others"),
    ("shortLinks", "minca-access/tests/short_links.rs"),
    ("spaceKeys", "minca-access/tests/earlier.rs"),
    ("spaces", "minca-access/tests/events.rs"),
    ("why", "nothing: it says what reasons mean"),
];

#[test]
fn every_section_of_the_file_is_known() {
    let file = vectors();
    let mut sections: Vec<&str> = file.as_object().unwrap().keys().map(|it| &**it).collect();
    sections.sort_unstable();
    let known: Vec<&str> = SECTIONS.iter().map(|(section, _)| *section).collect();
    assert_eq!(sections, known);
}

#[test]
fn the_tests_named_read_their_sections() {
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    for (section, by) in SECTIONS {
        let is_test = by.ends_with(".rs");
        assert!(is_test || by.starts_with("nothing: "), "{section}");
        if !is_test {
            continue;
        }
        let read = |path: &str| std::fs::read_to_string(format!("{crates}/{path}")).unwrap();
        let mut text = read(by);
        text.push_str(&read("minca-access/tests/support/mod.rs"));
        assert!(
            text.contains(&format!("\"{section}\"")),
            "{section} in {by}"
        );
    }
}
