//! Where in the folder a key's object is.

use std::io;

use object_store::path::Path;

use super::directory::Directory;
use super::names::{KeyError, MAX_PARTS, file_name};

/// A key as file names: directories, then the file (05 §14.1).
#[derive(Clone, Debug)]
pub(super) struct Location {
    directories: Vec<String>,
    file: String,
}

impl Location {
    pub(super) fn of(key: &Path) -> Result<Self, KeyError> {
        let mut directories = file_names(key)?;
        let file = directories.pop().ok_or(KeyError::Empty)?;
        Ok(Self { directories, file })
    }

    pub(super) fn file_name(&self) -> &[u8] {
        self.file.as_bytes()
    }

    /// Opens the directories on the way from the root, the last one holding the
    /// file; `None` if one isn't there.
    pub(super) fn open_directories(&self, root: &Directory) -> io::Result<Option<Vec<Directory>>> {
        let mut opened: Vec<Directory> = Vec::with_capacity(self.directories.len());
        for name in &self.directories {
            match opened.last().unwrap_or(root).child(name.as_bytes())? {
                Some(child) => opened.push(child),
                None => return Ok(None),
            }
        }
        Ok(Some(opened))
    }

    /// As [`Location::open_directories`], making what is missing.
    pub(super) fn make_directories(&self, root: &Directory) -> io::Result<Vec<Directory>> {
        let mut opened: Vec<Directory> = Vec::with_capacity(self.directories.len());
        for name in &self.directories {
            let child = opened
                .last()
                .unwrap_or(root)
                .child_or_new(name.as_bytes())?;
            opened.push(child);
        }
        Ok(opened)
    }

    /// Removes the file, and the directories that are empty without it. Nothing
    /// there to remove is no error.
    pub(super) fn remove(&self, root: &Directory) -> io::Result<()> {
        let Some(opened) = self.open_directories(root)? else {
            return Ok(());
        };
        let directory = opened.last().unwrap_or(root);
        if directory.file_stat(self.file_name())?.is_none() {
            return Ok(());
        }
        match directory.remove_file(self.file_name()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => directory.sync()?,
        }
        for (depth, name) in self.directories.iter().enumerate().rev() {
            let parent = depth
                .checked_sub(1)
                .and_then(|above| opened.get(above))
                .unwrap_or(root);
            if !parent.remove_directory(name.as_bytes()) {
                break;
            }
        }
        Ok(())
    }
}

/// The file names of a prefix's parts; none for the root.
pub(super) fn file_names(key: &Path) -> Result<Vec<String>, KeyError> {
    if key.parts_count() > MAX_PARTS {
        return Err(KeyError::TooDeep);
    }
    key.parts().map(|part| file_name(part.as_ref())).collect()
}
