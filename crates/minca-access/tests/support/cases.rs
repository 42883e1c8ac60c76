//! The cases of `tests/vectors/access`, and how what came of one is compared with
//! what it expects.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    dead_code,
    reason = "a test's support, which not every test uses all of"
)]

use minca_access::case::Case;
use minca_record::json::{MESSAGE_DEPTH, Object, Text, Value, read};

/// Members of an event's status that only inform people.
const INFORMING: [&str; 3] = ["why", "by", "rests"];

/// Each case with its file's name, in order.
pub fn cases() -> Vec<(String, Case)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/access");
    let files = std::fs::read_dir(folder).expect("the cases' folder");
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "json"));
    paths.sort();
    let read_one = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let value = read(&std::fs::read(path).unwrap(), MESSAGE_DEPTH).unwrap();
        (name, Case::read(value).unwrap())
    };
    paths.iter().map(read_one).collect()
}

/// The names of the members of `expect`'s member `name`: what was asked about.
pub fn asked(expect: &Object, name: &str) -> Vec<Text> {
    let asked = expect.get(name).and_then(Value::as_object).unwrap();
    asked.iter().map(|(name, _)| name.clone()).collect()
}

/// Where what came differs from what was expected, and how; informing members of
/// either left out.
pub fn differences(expected: &Object, came: &Object) -> Vec<String> {
    let mut differences = Vec::new();
    let expected = without_informing(expected.clone());
    let came = without_informing(came.clone());
    compare("", &expected.into(), &came.into(), &mut differences);
    differences
}

fn without_informing(mut expect: Object) -> Object {
    let Some(statuses) = expect.remove("status").and_then(Value::into_object) else {
        return expect;
    };
    let statuses: Object = statuses
        .into_iter()
        .map(|(id, mut status)| {
            if let Some(status) = status.as_object_mut() {
                for name in INFORMING {
                    status.remove(name);
                }
            }
            (id, status)
        })
        .collect();
    expect.insert("status", statuses);
    expect
}

fn compare(at: &str, expected: &Value, came: &Value, differences: &mut Vec<String>) {
    let (Some(expects), Some(has)) = (expected.as_object(), came.as_object()) else {
        if expected != came {
            differences.push(format!(
                "{at}: expected {}, came {}",
                text(expected),
                text(came)
            ));
        }
        return;
    };
    for (name, expected) in expects.iter() {
        let at = format!("{at}/{}", String::from_utf8_lossy(name.as_wtf8()));
        match has.get_text(name) {
            Some(came) => compare(&at, expected, came, differences),
            None => differences.push(format!("{at}: expected {}, came nothing", text(expected))),
        }
    }
    for (name, came) in has
        .iter()
        .filter(|(name, _)| expects.get_text(name).is_none())
    {
        let name = String::from_utf8_lossy(name.as_wtf8());
        differences.push(format!(
            "{at}/{name}: expected nothing, came {}",
            text(came)
        ));
    }
}

fn text(value: &Value) -> String {
    String::from_utf8_lossy(&value.canonical()).into_owned()
}
