//! The keys of all settings, and what each is called elsewhere.

use std::collections::BTreeSet;

use clap::Args;
use toml::{Table, Value};

use super::settings::Config;

/// What the names of all our environment variables begin with.
pub(super) const PREFIX: &str = "HOLDFAST_";

/// The keys of all settings in the order of the fields: those of tables last.
pub(super) fn all() -> Vec<String> {
    let command = Config::augment_args(clap::Command::new("settings"));
    command
        .get_arguments()
        .map(|argument| argument.get_id().to_string())
        .collect()
}

/// The file's tables.
pub(super) fn tables(keys: &[String]) -> BTreeSet<&str> {
    keys.iter()
        .filter_map(|key| key.split_once('.'))
        .map(|(table, _)| table)
        .collect()
}

pub(super) fn variable(key: &str) -> String {
    let mut name = PREFIX.to_owned();
    name.push_str(&key.replace(['-', '.'], "_").to_ascii_uppercase());
    name
}

pub(super) fn flag(key: &str) -> String {
    format!("--{}", key.replace('.', "-"))
}

/// The value of a key in the settings' table.
pub(super) fn get<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    match key.split_once('.') {
        Some((section, name)) => table.get(section)?.get(name),
        None => table.get(key),
    }
}

/// Sets the value of a key in the settings' table.
pub(super) fn set(table: &mut Table, key: &str, value: Value) {
    let Some((section, name)) = key.split_once('.') else {
        table.insert(key.to_owned(), value);
        return;
    };
    let section = table
        .entry(section)
        .or_insert_with(|| Value::Table(Table::new()));
    if let Value::Table(section) = section {
        section.insert(name.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_called_the_same_everywhere() {
        let command = Config::augment_args(clap::Command::new("settings"));
        let mut seen = BTreeSet::new();
        for argument in command.get_arguments() {
            let key = argument.get_id().to_string();
            let long = argument.get_long().unwrap();
            assert_eq!(format!("--{long}"), flag(&key));
            assert!(argument.get_short().is_none(), "{key}");
            assert!(
                argument.get_help().is_some(),
                "{key} says nothing of itself"
            );
            assert!(seen.insert(variable(&key)), "{key} shares a variable");
        }
        assert_eq!(seen.len(), all().len());
    }

    #[test]
    fn the_keys_are_those_of_the_file() {
        let defaults = super::super::load::defaults();
        let table = Table::try_from(defaults.spelled_out()).unwrap();
        let mut in_file = BTreeSet::new();
        for (name, value) in &table {
            match value {
                Value::Table(section) => {
                    in_file.extend(section.keys().map(|key| format!("{name}.{key}")))
                }
                _ => drop(in_file.insert(name.clone())),
            }
        }
        assert_eq!(in_file, all().into_iter().collect());
    }

    #[test]
    fn no_variable_is_one_that_kubernetes_sets_for_a_service_called_holdfast() {
        for key in all() {
            let name = variable(&key);
            let rest = name.strip_prefix(PREFIX).unwrap();
            assert!(
                !rest.starts_with("PORT") && !rest.starts_with("SERVICE"),
                "{name}"
            );
        }
    }
}
