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
    let differences = minca_access::case::differences(expected, came);
    differences.iter().map(ToString::to_string).collect()
}
