//! Files on their way in: written aside, synced, then moved into place (05 §14.3).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::directory::Directory;
use super::location::Location;
use super::names::UNFINISHED;

/// How often a directory may vanish under a write before that is an error. It
/// does when another task deletes its last file just then.
const ATTEMPTS: usize = 16;

/// The root, and a directory of this writer's own for what isn't finished. Its
/// name ends in `.tmp` like those of the files in it, so no reader looks there,
/// and this writer finds its own leftovers without a search.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) root: Directory,
    staging: Directory,
    next: AtomicU64,
}

impl Folder {
    /// Opens the folder and removes what this writer left unfinished.
    pub(super) fn open(path: &std::path::Path, writer: &str) -> io::Result<Self> {
        let root = Directory::open_root(path)?;
        let staging = root.child_or_new(format!("{writer}{UNFINISHED}").as_bytes())?;
        for entry in staging.entries()? {
            if !entry.is_directory && entry.name.ends_with(UNFINISHED.as_bytes()) {
                staging.remove_file(&entry.name)?;
            }
        }
        Ok(Self {
            root,
            staging,
            next: AtomicU64::new(0),
        })
    }
}

/// Whether an object may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Publish {
    Replace,
    OnlyNew,
}

/// A file not yet in place. Dropped before it is, it is removed.
#[derive(Debug)]
pub(super) struct Staged {
    folder: Arc<Folder>,
    name: String,
    file: File,
    published: AtomicBool,
}

impl Staged {
    pub(super) fn create(folder: Arc<Folder>) -> io::Result<Self> {
        let number = folder.next.fetch_add(1, Ordering::Relaxed);
        let name = format!("{number}{UNFINISHED}");
        let file = folder.staging.create_file(name.as_bytes())?;
        Ok(Self {
            folder,
            name,
            file,
            published: AtomicBool::new(false),
        })
    }

    pub(super) fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Brings the file to the disk and into place, and the place to the disk.
    pub(super) fn publish(&self, location: &Location, publish: Publish) -> io::Result<()> {
        self.file.sync_all()?;
        let mut attempt = 1;
        loop {
            match self.move_into_place(location, publish) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempt < ATTEMPTS => {
                    attempt += 1
                }
                result => return result,
            }
        }
    }

    fn move_into_place(&self, location: &Location, publish: Publish) -> io::Result<()> {
        let made = location.make_directories(&self.folder.root)?;
        let directory = made.last().unwrap_or(&self.folder.root);
        let (from, to) = (self.name.as_bytes(), location.file_name());
        match publish {
            Publish::Replace => {
                self.folder.staging.rename(from, directory, to)?;
                self.published.store(true, Ordering::Release);
            }
            // The staged name is left to be removed when this is dropped.
            Publish::OnlyNew => self.folder.staging.link(from, directory, to)?,
        }
        directory.sync()
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if self.published.load(Ordering::Acquire) {
            return;
        }
        // What can't be removed now is when the folder is next opened.
        let _ = self.folder.staging.remove_file(self.name.as_bytes());
    }
}
