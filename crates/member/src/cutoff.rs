//! Cutoffs as a member writes them: what it holds of the lines of an account it takes power from
//! (03 §6.3).

use std::collections::{BTreeMap, BTreeSet};

use minca_access::MAX_PLACES;
use minca_record::did::Did;
use minca_record::json::{Object, Value};
use minca_record::line::Line;

use crate::gatekeeper::root_of;
use crate::replica::Replica;

/// The cutoff of a change that takes power from an account: for each of its keys and each
/// collection, the end of the unbroken line that is held.
pub fn of_account(replica: &Replica, account: &Did) -> Object {
    let held = replica.holdings().versions();
    let theirs = held.filter(|version| root_of(version) == Some(*account));
    let keys: BTreeSet<String> = theirs
        .filter_map(|version| version.author().as_str().map(str::to_owned))
        .collect();
    of_keys(replica, &keys)
}

/// The cutoff of a change that revokes a key.
pub fn of_key(replica: &Replica, key: &Did) -> Object {
    of_keys(replica, &BTreeSet::from([key.to_string()]))
}

fn of_keys(replica: &Replica, keys: &BTreeSet<String>) -> Object {
    let mut lines: BTreeMap<(&str, &str), Line> = BTreeMap::new();
    for version in replica.holdings().versions() {
        let author = version.author().as_str();
        if let Some(author) = author.filter(|author| keys.contains(*author)) {
            let line = lines.entry((version.collection(), author)).or_default();
            line.add_version(version);
        }
    }
    let state = replica.gatekeeper().history().current();
    let is_defined = |collection: &str| {
        let collection = collection.into();
        state.definitions.contains_key(&collection) || state.contested.contains_key(&collection)
    };
    let ends = lines
        .into_iter()
        .filter_map(|((collection, key), line)| Some((collection, key, line.unbroken_end()?)));
    first_places(ends, is_defined)
}

/// Defined collections first, then the others, each in name order and within one by key; as many as
/// a cutoff may name.
fn first_places<'a>(
    ends: impl Iterator<Item = (&'a str, &'a str, u64)>,
    is_defined: impl Fn(&str) -> bool,
) -> Object {
    let mut ends: Vec<(bool, &str, &str, u64)> = ends
        .map(|(collection, key, end)| (!is_defined(collection), collection, key, end))
        .collect();
    ends.sort_unstable();
    let mut by_key: BTreeMap<&str, Object> = BTreeMap::new();
    for (_, collection, key, end) in ends.into_iter().take(MAX_PLACES) {
        by_key.entry(key).or_default().insert(collection, end);
    }
    let mut cutoff = Object::new();
    for (key, lines) in by_key {
        cutoff.insert(key, Value::from(lines));
    }
    cutoff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_more_places_than_fit_defined_collections_come_first_each_in_name_order() {
        let names: Vec<String> = (0..MAX_PLACES)
            .map(|number| format!("app.a{number:04}"))
            .collect();
        let mut ends: Vec<(&str, &str, u64)> =
            names.iter().map(|name| (&**name, "one", 3)).collect();
        ends.push(("app.z", "one", 7));
        ends.push(("app.z", "two", 8));
        let cutoff = first_places(ends.into_iter().rev(), |name| name == "app.z");
        let lines = |key: &str| cutoff.get(key).and_then(Value::as_object).unwrap();
        assert_eq!(lines("one").len() + lines("two").len(), MAX_PLACES);
        assert_eq!(lines("one").get("app.z"), Some(&Value::from(7_u64)));
        assert_eq!(lines("two").get("app.z"), Some(&Value::from(8_u64)));
        assert!(lines("one").contains("app.a1021"));
        assert!(!lines("one").contains("app.a1022"));
    }
}
