//! Canonical JSON against a second reader and a second writer: serde_json reads, `naive_json`
//! writes.

use minca_record::json::{MESSAGE_DEPTH, ReadErrorKind, read};

use crate::naive_json::canonical;

/// One run.
pub fn run(data: &[u8]) {
    let ours = read(data, MESSAGE_DEPTH);
    let theirs = serde_json::from_slice::<serde_json::Value>(data);
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => {
            let ours = String::from_utf8(ours.canonical()).expect("always UTF-8");
            assert_eq!(ours, canonical(&theirs));
        }
        (Ok(_), Err(error)) => {
            let why = error.to_string();
            // It takes no lone surrogates, and one level of nesting less.
            let known = why.contains("surrogate")
                || why.contains("unexpected end of hex escape")
                || why.contains("recursion limit");
            assert!(known, "only we read it: {why}");
        }
        (Err(error), Ok(_)) => panic!("only we refuse it: {error}"),
        (Err(error), Err(_)) => {
            assert!(!matches!(error.kind, ReadErrorKind::Trailing) || !data.is_empty());
        }
    }
}
