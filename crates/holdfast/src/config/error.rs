//! What can be wrong with a configuration.

use std::path::PathBuf;

/// A configuration the program won't start with. Never quotes a line of the file.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file that was named can't be read.
    #[error("the configuration file {} can't be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The file is no TOML.
    #[error("the configuration file {} is no TOML, line {line}: {reason}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What was expected.
        reason: String,
    },
    /// The file has a key that is no setting.
    #[error("the configuration file {} has a key that is no setting: `{key}`", path.display())]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The key, with its table.
        key: String,
    },
    /// A key of the file has a value of the wrong kind.
    #[error("the configuration file {}, key `{key}`: {reason}", path.display())]
    FileValue {
        /// The file.
        path: PathBuf,
        /// The setting.
        key: String,
        /// What was expected.
        reason: String,
    },
    /// A variable's value can't be read.
    #[error("the environment variable {variable}: {reason}")]
    Variable {
        /// Its name.
        variable: String,
        /// What was expected.
        reason: String,
    },
    /// A flag's value can't be read.
    #[error("{0}")]
    Flag(#[from] clap::Error),
    /// A value is of the right kind and out of range.
    #[error("`{key}` ({from}): expected {expected}, got {got}")]
    OutOfRange {
        /// The setting.
        key: String,
        /// Where the value comes from.
        from: String,
        /// The range.
        expected: String,
        /// The value.
        got: String,
    },
}
