//! Which lists of relays pass `checkRelays` (03 §10).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_access::{BadRelays, MAX_RELAYS, check_relays};
use minca_record::json::{Text, Value};
use minca_record::url::UrlError;
use support::{read, vectors};

fn list(relays: &[&str]) -> Vec<Text> {
    relays.iter().map(|relay| Text::from(*relay)).collect()
}

#[test]
fn the_lists_of_the_vectors_pass_or_fail_as_said() {
    let vectors = vectors();
    let cases = vectors["events"]["relays"].as_array().unwrap();
    let cases = cases.iter().filter(|case| !case["yields"].is_null());
    let mut count = 0;
    for case in cases {
        let relays = read(&case["yields"]["relays"]);
        let relays = relays.as_array().unwrap().iter();
        let relays: Vec<Text> = relays.filter_map(Value::as_text).cloned().collect();
        let passes = case["checkRelays"].as_bool().unwrap();
        assert_eq!(check_relays(&relays).is_ok(), passes, "{}", case["name"]);
        count += 1;
    }
    assert_eq!(count, 19);
}

#[test]
fn a_list_that_fails_says_which_rule_it_breaks() {
    let many: Vec<Text> = (0..=MAX_RELAYS)
        .map(|n| format!("wss://r{n}.example").into())
        .collect();
    assert_eq!(check_relays(&many[1..]), Ok(()));
    assert_eq!(check_relays(&many), Err(BadRelays::TooMany(9)));
    let twice = list(&[
        "wss://r.example",
        "nostr+wss://r.example",
        "wss://r.example",
    ]);
    assert_eq!(check_relays(&twice), Err(BadRelays::Twice));
    assert_eq!(check_relays(&twice[..2]), Ok(()));
    let lone = [Text::from_utf16(&[0xD800])];
    let no_url = |error| Err(BadRelays::NoUrl(error));
    assert_eq!(check_relays(&lone), no_url(UrlError::Character));
    let plain = list(&["wss://r.example", "ws://r.example"]);
    assert_eq!(check_relays(&plain), no_url(UrlError::Scheme));
}
