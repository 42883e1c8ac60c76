//! The environment's settings.

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::{Args, FromArgMatches};
use toml::{Table, Value};

use super::error::ConfigError;
use super::keys;
use super::settings::Config;

/// The variable that names the configuration file.
pub(super) const FILE_VARIABLE: &str = "HOLDFAST_CONFIG";

/// The environment's variables that begin with `HOLDFAST_`.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<String, OsString>,
}

impl Environment {
    /// Those of this process.
    pub fn of_process() -> Self {
        std::env::vars_os().collect()
    }

    pub(super) fn get(&self, name: &str) -> Option<&OsString> {
        self.variables.get(name)
    }

    /// Variables that are no settings. No error: Kubernetes sets some itself
    /// for every service in the namespace.
    pub(super) fn unknown(&self, keys: &[String]) -> Vec<&str> {
        let is_setting = |name: &str| {
            name == FILE_VARIABLE || keys.iter().any(|key| keys::variable(key) == name)
        };
        let names = self.variables.keys().map(String::as_str);
        names.filter(|name| !is_setting(name)).collect()
    }

    /// The value a variable gives a setting, read as its flag's would be.
    pub(super) fn value(&self, key: &str) -> Result<Option<Value>, ConfigError> {
        let variable = keys::variable(key);
        let Some(value) = self.variables.get(&variable) else {
            return Ok(None);
        };
        let mut argument = OsString::from(keys::flag(key));
        argument.push("=");
        argument.push(value);
        let command = Config::augment_args(clap::Command::new("environment").no_binary_name(true));
        let read = command
            .try_get_matches_from([argument])
            .and_then(|matches| Config::from_arg_matches(&matches));
        let config = read.map_err(|error| ConfigError::Variable {
            variable: variable.clone(),
            reason: reason(&error),
        })?;
        let table = Table::try_from(config).map_err(|error| ConfigError::Variable {
            variable,
            reason: error.to_string(),
        })?;
        Ok(keys::get(&table, key).cloned())
    }
}

impl FromIterator<(OsString, OsString)> for Environment {
    fn from_iter<I: IntoIterator<Item = (OsString, OsString)>>(variables: I) -> Self {
        let ours = variables.into_iter().filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            name.starts_with(keys::PREFIX).then_some((name, value))
        });
        Self {
            variables: ours.collect(),
        }
    }
}

/// What was wrong with a value, in clap's words without its frame.
fn reason(error: &clap::Error) -> String {
    if let Some(source) = std::error::Error::source(error) {
        return source.to_string();
    }
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let possible = text.lines().find(|line| line.contains("possible values"));
    let first = first.strip_prefix("error: ").unwrap_or(first);
    match possible {
        Some(possible) => format!("{first} {}", possible.trim()),
        None => first.to_owned(),
    }
}
