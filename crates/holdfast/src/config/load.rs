//! Putting the settings together, and where each comes from.

use std::collections::BTreeMap;
use std::path::PathBuf;

use axum::http::HeaderName;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, FromArgMatches};
use toml::{Table, Value};

use super::environment::{Environment, FILE_VARIABLE};
use super::error::ConfigError;
use super::settings::Config;
use super::store::StoreUrl;
use super::{file, keys};
use crate::telemetry;

/// The flags of every command that needs the configuration.
///
/// Only a description for clap: what is in force comes from [`Loaded::load`].
#[derive(Clone, Debug, Args)]
pub struct ConfigArgs {
    /// Configuration file, in TOML [env: HOLDFAST_CONFIG]
    #[arg(id = "config", long = "config", value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// The flags of the settings.
    #[command(flatten)]
    pub settings: Config,
}

/// Where a setting's value comes from, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Nowhere: it is the program's own.
    Default,
    /// The configuration file.
    File,
    /// A variable that begins with `HOLDFAST_`.
    Environment,
    /// The command line.
    Flag,
}

impl std::fmt::Display for Source {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Environment => "environment",
            Self::Flag => "flag",
        })
    }
}

/// The settings in force.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The settings themselves.
    pub config: Config,
    /// The file that was read, if one was named.
    pub file: Option<PathBuf>,
    pub(super) sources: BTreeMap<String, Source>,
    /// Variables beginning with `HOLDFAST_` that are no settings.
    pub unknown_variables: Vec<String>,
}

impl Loaded {
    /// Reads the configuration: `matches` are those of a command with [`ConfigArgs`].
    ///
    /// # Errors
    ///
    /// Anything that is not understood, and any value out of range, named by its
    /// key and by where it stands.
    pub fn load(matches: &ArgMatches, environment: &Environment) -> Result<Self, ConfigError> {
        let arguments = ConfigArgs::from_arg_matches(matches)?;
        let known = keys::all();
        let mut table = to_table(&arguments.settings);

        let from_environment = || environment.get(FILE_VARIABLE).map(PathBuf::from);
        let path = arguments.config.or_else(from_environment);
        let in_file = match &path {
            Some(path) => file::read(path, &known, &to_table(&defaults()))?,
            None => BTreeMap::new(),
        };

        let mut sources = BTreeMap::new();
        for key in &known {
            // Read even where a flag is stronger, so that a bad value never goes unseen.
            let variable = environment.value(key)?;
            let (source, value) = if matches.value_source(key) == Some(ValueSource::CommandLine) {
                (Source::Flag, None)
            } else if let Some(value) = variable {
                (Source::Environment, Some(value))
            } else if let Some(value) = in_file.get(key) {
                (Source::File, Some(value.clone()))
            } else {
                (Source::Default, None)
            };
            sources.insert(key.clone(), source);
            if let Some(value) = value {
                keys::set(&mut table, key, value);
            }
        }
        check_ranges(&table, &sources)?;
        check_texts(&table, &sources)?;

        // Every value has been tried by itself, so this fails for no input.
        let config = table
            .try_into::<Config>()
            .map_err(|error| ConfigError::OutOfRange {
                key: "configuration".to_owned(),
                from: "all together".to_owned(),
                expected: "settings that fit together".to_owned(),
                got: error.message().to_owned(),
            })?;
        Ok(Self {
            config,
            file: path,
            sources,
            unknown_variables: environment
                .unknown(&known)
                .into_iter()
                .map(str::to_owned)
                .collect(),
        })
    }

    /// Where the value of a setting comes from; `None` for what is no setting's key.
    pub fn source(&self, key: &str) -> Option<Source> {
        self.sources.get(key).copied()
    }
}

/// The settings where nothing is set.
pub(super) fn defaults() -> Config {
    let command = Config::augment_args(clap::Command::new("defaults").no_binary_name(true));
    let matches = command.get_matches_from(std::iter::empty::<&str>());
    match Config::from_arg_matches(&matches) {
        Ok(config) => config,
        // Every setting has a default or is optional.
        Err(error) => error.exit(),
    }
}

/// The settings as the file would have them. (Integers beyond TOML's are refused
/// by their flags, so every configuration has a table.)
pub(super) fn to_table(config: &Config) -> Table {
    Table::try_from(config).unwrap_or_default()
}

const LEAST_LEASE_SECONDS: i64 = 5;
/// One to commit on, another to renew the lease on meanwhile.
const CONNECTIONS: std::ops::RangeInclusive<i64> = 2..=1_000;
const SEGMENT_BYTES: std::ops::RangeInclusive<i64> = 4_096..=67_108_864;

/// All numbers we have count something there must be at least one of.
fn check_ranges(table: &Table, sources: &BTreeMap<String, Source>) -> Result<(), ConfigError> {
    for (key, source) in sources {
        let Some(Value::Integer(got)) = keys::get(table, key) else {
            continue;
        };
        let range = match key.as_str() {
            "lease-seconds" => LEAST_LEASE_SECONDS..=i64::MAX,
            "bucket.segment-bytes" => SEGMENT_BYTES,
            "store.connections" => CONNECTIONS,
            _ => 1..=i64::MAX,
        };
        if range.contains(got) {
            continue;
        }
        let expected = match *range.end() {
            i64::MAX => format!("at least {}", range.start()),
            end => format!("{} to {end}", range.start()),
        };
        return Err(ConfigError::OutOfRange {
            key: key.clone(),
            from: source.to_string(),
            expected,
            got: got.to_string(),
        });
    }
    Ok(())
}

/// Texts that have to be more than texts.
fn check_texts(table: &Table, sources: &BTreeMap<String, Source>) -> Result<(), ConfigError> {
    let is_filter = |text: &str| telemetry::parse_filter(text).is_ok();
    let is_header = |text: &str| text.parse::<HeaderName>().is_ok();
    let check =
        |key: &str, expected: &str, is_good: &dyn Fn(&str) -> bool| match keys::get(table, key) {
            Some(Value::String(text)) if !is_good(text) => Err(ConfigError::OutOfRange {
                key: key.to_owned(),
                from: sources.get(key).map(Source::to_string).unwrap_or_default(),
                expected: expected.to_owned(),
                got: format!("`{text}`"),
            }),
            _ => Ok(()),
        };
    check(
        "log.filter",
        "a filter such as `info` or `warn,worker=debug`",
        &is_filter,
    )?;
    check("proxy.header", "the name of a header", &is_header)?;
    check_password(table, sources)
}

/// A password in the file or on the command line is read by more people than it is for.
fn check_password(table: &Table, sources: &BTreeMap<String, Source>) -> Result<(), ConfigError> {
    let key = "store.url";
    let Some(Value::String(url)) = keys::get(table, key) else {
        return Ok(());
    };
    match sources.get(key) {
        Some(source @ (Source::File | Source::Flag)) if StoreUrl::from_text(url).has_password() => {
            Err(ConfigError::OutOfRange {
                key: key.to_owned(),
                from: source.to_string(),
                expected: "an address without a password (it goes into the environment, the \
                           file that `store.url-file` names, or Postgres' password file)"
                    .to_owned(),
                got: "one with a password".to_owned(),
            })
        }
        _ => Ok(()),
    }
}
