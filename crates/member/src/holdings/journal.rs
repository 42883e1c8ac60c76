//! What a device holds, on disk: a file of JSON lines that is only added to.
//!
//! A line is in the file, whole, before anything rests on it. What a crash leaves of the last
//! line is cut off when the file is opened again: nothing rested on it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{MESSAGE_DEPTH, Object, Value, read};
use minca_record::version::Version;
use thiserror::Error;

/// Why a journal can't be read or added to.
#[derive(Debug, Error)]
pub enum JournalError {
    /// Reading or writing the file failed.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A line, other than a torn last one, is none this program wrote.
    #[error("{path}, line {line}: expected a version or a list of stored ids as JSON")]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// Adding to it failed before; it must be opened again to know what it holds.
    #[error("an earlier write failed: open the folder again")]
    Failed,
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Entry {
    /// A version as it was kept, whole or a stub.
    Version {
        version: Arc<Version>,
        /// Whether this device wrote it.
        is_own: bool,
    },
    /// A peer said that it stored these.
    Stored { by: Did, ids: Vec<ContentId> },
}

impl Entry {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Entry::Version { version, is_own } => {
                out.push(b'{');
                if *is_own {
                    out.extend_from_slice(b"\"own\":true,");
                }
                out.extend_from_slice(b"\"version\":");
                out.extend_from_slice(&version.canonical());
                out.push(b'}');
            }
            Entry::Stored { by, ids } => {
                let ids = ids
                    .iter()
                    .map(|id| Value::from(id.to_string()))
                    .collect::<Vec<_>>();
                let stored = Object::from([
                    ("by", Value::from(by.to_string())),
                    ("ids", Value::from(ids)),
                ]);
                Object::from([("stored", stored)]).write_canonical(out);
            }
        }
        out.push(b'\n');
    }

    fn parse(line: &[u8]) -> Option<Entry> {
        let mut object = read(line, MESSAGE_DEPTH).ok()?.into_object()?;
        if let Some(version) = object.remove("version") {
            return Some(Entry::Version {
                version: Arc::new(Version::shape(version).ok()?),
                is_own: object.contains("own"),
            });
        }
        let stored = object.get("stored")?.as_object()?;
        let by = Did::from_str(stored.get("by")?.as_str()?).ok()?;
        let ids = stored.get("ids")?.as_array()?;
        let ids = ids
            .iter()
            .map(|id| ContentId::parse(id.as_str()?).ok())
            .collect::<Option<_>>()?;
        Some(Entry::Stored { by, ids })
    }
}

/// An open journal.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    failed: bool,
}

impl Journal {
    /// Opens the file, making it if there is none, and reads it.
    pub(super) fn open(path: &Path) -> Result<(Journal, Vec<Entry>), JournalError> {
        let at = |error| JournalError::Io {
            path: path.to_owned(),
            error,
        };
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(at)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(at)?;
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(at)?;
            file.seek(io::SeekFrom::End(0)).map_err(at)?;
        }
        // What was read must be what stays there: a line read from the system's memory that never
        // got to the disk would be a place of a line used and forgotten.
        file.sync_all().map_err(at)?;
        sync_folder(path).map_err(at)?;
        let mut entries = Vec::new();
        for (place, line) in bytes[..whole].split(|byte| *byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            let bad_line = JournalError::Line {
                path: path.to_owned(),
                line: place + 1,
            };
            entries.push(Entry::parse(line).ok_or(bad_line)?);
        }
        let journal = Journal {
            path: path.to_owned(),
            file,
            failed: false,
        };
        Ok((journal, entries))
    }

    /// Adds lines, and comes back when they survive a power cut.
    pub(super) fn append(&mut self, entries: &[Entry]) -> Result<(), JournalError> {
        self.check()?;
        let mut bytes = Vec::new();
        for entry in entries {
            entry.write(&mut bytes);
        }
        let written = self
            .file
            .write_all(&bytes)
            .and_then(|()| self.file.sync_data());
        written.map_err(|error| {
            self.failed = true;
            JournalError::Io {
                path: self.path.clone(),
                error,
            }
        })
    }

    /// Whether it can still be added to.
    pub(super) fn check(&self) -> Result<(), JournalError> {
        if self.failed {
            return Err(JournalError::Failed);
        }
        Ok(())
    }

    /// As if adding to it had failed.
    #[cfg(test)]
    pub(super) fn fail(&mut self) {
        self.failed = true;
    }

    /// Puts a file with just these lines in the place of the one there is, whole or not at all.
    pub(super) fn rewrite(&mut self, entries: &[Entry]) -> Result<(), JournalError> {
        let at = |error| JournalError::Io {
            path: self.path.clone(),
            error,
        };
        let fresh = self.path.with_extension("new");
        let mut bytes = Vec::new();
        for entry in entries {
            entry.write(&mut bytes);
        }
        let mut file = File::create(&fresh).map_err(at)?;
        file.write_all(&bytes)
            .and_then(|()| file.sync_all())
            .map_err(at)?;
        std::fs::rename(&fresh, &self.path).map_err(at)?;
        sync_folder(&self.path).map_err(at)?;
        self.file = OpenOptions::new()
            .read(true)
            .append(true)
            .open(&self.path)
            .map_err(at)?;
        Ok(())
    }
}

/// Makes the name of `path` in its folder survive a power cut.
fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => File::open(folder)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}
