//! What `holdfast config check` prints.

use std::fmt::Write;

use super::load::{Loaded, to_table};
use super::{Source, keys};

impl Loaded {
    /// The settings in force as a TOML file that would set them, and behind each
    /// where it comes from. The address of a database may hold a password and is not
    /// shown; no other setting is a secret: the host key is a file.
    pub fn describe(&self) -> String {
        let table = to_table(&self.config.spelled_out());
        let mut text = String::new();
        if let Some(path) = &self.file {
            let _ = writeln!(text, "# file: {}", path.display());
        }
        let known = keys::all();
        let mut section = "";
        for key in &known {
            let (table_name, name) = key.split_once('.').unwrap_or(("", key));
            if table_name != section {
                section = table_name;
                let _ = writeln!(text, "\n[{section}]");
            }
            let Some(value) = keys::get(&table, key) else {
                continue;
            };
            let is_hidden = key == "store.url" && !self.config.store.url.is_empty();
            let (shown, remark) = match is_hidden {
                true => (r#""""#.to_owned(), ", not shown"),
                false => (value.to_string(), ""),
            };
            let _ = writeln!(
                text,
                "{:<48} # {}{remark}",
                format!("{name} = {shown}"),
                self.origin(key)
            );
        }
        for name in &self.unknown_variables {
            let _ = writeln!(text, "\n# {name} is set, and is no setting");
        }
        text
    }

    fn origin(&self, key: &str) -> String {
        match self.source(key) {
            Some(Source::Environment) => format!("environment: {}", keys::variable(key)),
            Some(Source::Flag) => format!("flag: {}", keys::flag(key)),
            Some(source) => source.to_string(),
            None => Source::Default.to_string(),
        }
    }
}
