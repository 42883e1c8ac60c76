//! Where entries are kept: the table `[store]`.

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use store::postgres::{OpenError, PostgresOptions};

use super::settings::Config;

/// Where entries are kept, if not in the data folder.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StoreConfig {
    /// Address of the Postgres database to keep entries in:
    /// postgres://user@host:port/database. A password in it is taken from the
    /// environment only [default: none, so SQLite in the data folder]
    #[arg(
        id = "store.url",
        long = "store-url",
        value_name = "URL",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) url: StoreUrl,

    /// File that holds that address, with its password, instead of `store.url`
    /// [default: none]
    #[arg(
        id = "store.url-file",
        long = "store-url-file",
        value_name = "FILE",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) url_file: String,

    /// Connections to Postgres open at a time: 2 to 1000. All processes of a
    /// deployment together must stay below its `max_connections`
    #[arg(
        id = "store.connections",
        long = "store-connections",
        value_name = "CONNECTIONS",
        default_value_t = 16
    )]
    pub connections: u32,
}

/// An address that may hold a password, so it is neither shown nor logged.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoreUrl(String);

impl StoreUrl {
    /// Whether it has a password in it, where it is an address at all.
    pub(super) fn has_password(&self) -> bool {
        let rest = self.0.split_once("://").map_or("", |(_, rest)| rest);
        let login = rest.split(['/', '?']).next().unwrap_or_default();
        let login = login.rsplit_once('@').map_or("", |(login, _)| login);
        login.contains(':') || rest.contains("password=")
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn from_text(text: &str) -> StoreUrl {
        StoreUrl(text.to_owned())
    }
}

impl FromStr for StoreUrl {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<StoreUrl, Infallible> {
        Ok(StoreUrl::from_text(text))
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.is_empty() { "" } else { "(not shown)" })
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "StoreUrl({self})")
    }
}

/// Why the settings name no database.
#[derive(Debug, thiserror::Error)]
pub enum StoreConfigError {
    /// Two settings say where it is.
    #[error("`store.url` and `store.url-file` are both set: expected one of them")]
    Both,
    /// The file can't be read.
    #[error("the file that `store.url-file` names, {}, can't be read: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The address is none.
    #[error(transparent)]
    Url(#[from] OpenError),
}

impl Config {
    /// How to reach the Postgres database; `None` where entries are in the data folder.
    ///
    /// # Errors
    /// [`StoreConfigError`].
    pub fn postgres(&self) -> Result<Option<PostgresOptions>, StoreConfigError> {
        let (url, file) = (&self.store.url, self.store.url_file.as_str());
        let url = match (url.is_empty(), file.is_empty()) {
            (true, true) => return Ok(None),
            (false, false) => return Err(StoreConfigError::Both),
            (false, true) => url.0.clone(),
            (true, false) => read(Path::new(file))?,
        };
        let lease = Duration::from_secs(self.lease_seconds.into());
        Ok(Some(PostgresOptions::new(
            url.trim(),
            self.store.connections,
            lease,
        )?))
    }
}

fn read(path: &Path) -> Result<String, StoreConfigError> {
    std::fs::read_to_string(path).map_err(|source| StoreConfigError::File {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_seen_wherever_an_address_may_have_one() {
        for url in [
            "postgres://user:secret@host/db",
            "postgres://:secret@host/db",
            "postgres://user@host/db?password=secret",
            "postgresql://user:se%40cret@host:5432",
        ] {
            let url = StoreUrl::from_text(url);
            assert!(url.has_password());
            assert!(!format!("{url} {url:?}").contains("cret"));
        }
        for url in [
            "",
            "postgres://host:5432/db",
            "postgres://user@host:5432/db",
            "postgres://user@/db?host=/run/postgresql",
        ] {
            assert!(!StoreUrl::from_text(url).has_password(), "{url}");
        }
    }
}
