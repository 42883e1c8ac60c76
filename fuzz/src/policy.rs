//! Policies and selectors: `[policy, arguments]`, or `[selector, arguments]`, read and judged.

use minca_record::json::{MESSAGE_DEPTH, Value, read};
use minca_record::policy::{Outcome, Policy, Selector, UNREADABLE};

/// Judging takes weight times size: no more than this of it in one run.
const MOST_WORK: usize = 1 << 22;

/// One run.
pub fn run(data: &[u8]) {
    // A selector is a text within a text; without the outer one it is mutated more easily.
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = Selector::read(text);
    }
    let Ok(value) = read(data, MESSAGE_DEPTH) else {
        return;
    };
    let Some([about, Value::Object(arguments)]) = value.as_array() else {
        return;
    };
    if let Some(Ok(selector)) = about.as_str().map(Selector::read) {
        let found = selector.select(arguments);
        assert_eq!(found, selector.select(arguments));
        return;
    }
    let Ok(policy) = Policy::read(about) else {
        return;
    };
    assert_eq!(Policy::read(about).as_ref(), Ok(&policy));
    if policy.weight().saturating_mul(data.len()) > MOST_WORK {
        return;
    }
    let outcomes = policy.outcomes(arguments);
    let all_true = outcomes.iter().all(|outcome| *outcome == Outcome::True);
    assert_eq!(policy.holds(arguments), all_true);
    // One that can't read the body is never stricter than one that finds none there.
    let mut without = arguments.clone();
    without.remove(UNREADABLE);
    let unread = policy.holds_unread(arguments);
    assert_eq!(
        unread,
        policy.holds_unread(&without),
        "what is unread changes nothing"
    );
}
