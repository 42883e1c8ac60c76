//! The file's settings.

use std::collections::BTreeMap;
use std::path::Path;

use toml::{Table, Value};

use super::error::ConfigError;
use super::keys;
use super::settings::Config;

/// The values a file sets, by key, each of the right kind for its setting.
///
/// `base` is a table of valid settings to try each value in.
pub(super) fn read(
    path: &Path,
    known: &[String],
    base: &Table,
) -> Result<BTreeMap<String, Value>, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    let file: Table = toml::from_str(&text).map_err(|error| ConfigError::Syntax {
        path: path.to_owned(),
        line: line_of(&text, error.span()),
        reason: error.message().to_owned(),
    })?;
    let set = flatten(path, known, file)?;
    for (key, value) in &set {
        check_kind(path, key, value, base)?;
    }
    Ok(set)
}

fn line_of(text: &str, span: Option<std::ops::Range<usize>>) -> usize {
    let before = span
        .and_then(|span| text.as_bytes().get(..span.start))
        .unwrap_or_default();
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

fn flatten(
    path: &Path,
    known: &[String],
    file: Table,
) -> Result<BTreeMap<String, Value>, ConfigError> {
    let tables = keys::tables(known);
    let mut set = BTreeMap::new();
    for (name, value) in file {
        if !tables.contains(name.as_str()) {
            set.insert(name, value);
            continue;
        }
        let Value::Table(table) = value else {
            return Err(ConfigError::FileValue {
                path: path.to_owned(),
                reason: format!("expected a table, got {}", article(value.type_str())),
                key: name,
            });
        };
        set.extend(
            table
                .into_iter()
                .map(|(key, value)| (format!("{name}.{key}"), value)),
        );
    }
    match set.keys().find(|key| !known.contains(key)) {
        Some(key) => Err(ConfigError::UnknownKey {
            path: path.to_owned(),
            key: key.clone(),
        }),
        None => Ok(set),
    }
}

fn check_kind(path: &Path, key: &str, value: &Value, base: &Table) -> Result<(), ConfigError> {
    let mut trial = base.clone();
    keys::set(&mut trial, key, value.clone());
    match trial.try_into::<Config>() {
        Ok(_) => Ok(()),
        Err(error) => Err(ConfigError::FileValue {
            path: path.to_owned(),
            key: key.to_owned(),
            reason: error.message().to_owned(),
        }),
    }
}

fn article(kind: &str) -> String {
    let vowel = kind.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {kind}", if vowel { "an" } else { "a" })
}
