//! Directories held open, so that no name is ever resolved through a link.
//!
//! Everything below the folder's root is reached one name at a time from an
//! open directory, with links refused by the system itself: a link planted
//! between a check and its use leads nowhere (05 §14.4).

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use store::make_folder;

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);
/// Private to the user the server runs as: the outside of every version is in there.
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
const DIRECTORY_MODE: Mode = Mode::RWXU;

/// One open directory.
#[derive(Debug)]
pub(super) struct Directory(OwnedFd);

/// What is in a directory under one name: files and directories, nothing else.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: Vec<u8>,
    pub(super) is_directory: bool,
}

impl Directory {
    /// Opens the folder itself, making it and what is missing above it. This path
    /// is the operator's own choice and may lead through links.
    pub(super) fn open_root(path: &Path) -> io::Result<Self> {
        make_folder(path)?;
        Ok(Self(fs::open(path, DIRECTORY, Mode::empty())?))
    }

    /// The directory of that name; `None` if there is none, or something else is there.
    pub(super) fn child(&self, name: &[u8]) -> io::Result<Option<Self>> {
        let opened = fs::openat(&self.0, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty());
        Ok(unless_absent(opened)?.map(Self))
    }

    /// The directory of that name, made if it is missing, and on the disk.
    pub(super) fn child_or_new(&self, name: &[u8]) -> io::Result<Self> {
        match fs::mkdirat(&self.0, name, DIRECTORY_MODE) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        // One that was there too: who made it may be about to sync it, or failed to.
        self.sync()?;
        let opened = fs::openat(&self.0, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(Self(opened))
    }

    /// The regular file of that name; `None` if there is none, or something else is there.
    pub(super) fn open_file(&self, name: &[u8]) -> io::Result<Option<File>> {
        // Without NONBLOCK, opening a planted pipe would wait for its other end.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Some(opened) = unless_absent(fs::openat(&self.0, name, flags, Mode::empty()))? else {
            return Ok(None);
        };
        let is_file = is_file(&fs::fstat(&opened)?);
        Ok(is_file.then(|| File::from(opened)))
    }

    /// A new, empty file. Fails if anything has that name.
    pub(super) fn create_file(&self, name: &[u8]) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(&self.0, name, flags, FILE_MODE)?))
    }

    /// What is known of the regular file of that name, `None` if there is none.
    pub(super) fn file_stat(&self, name: &[u8]) -> io::Result<Option<Stat>> {
        let stat = unless_absent(fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW))?;
        Ok(stat.filter(is_file))
    }

    /// Moves a file, over whatever file has the new name.
    pub(super) fn rename(&self, name: &[u8], to: &Self, new_name: &[u8]) -> io::Result<()> {
        Ok(fs::renameat(&self.0, name, &to.0, new_name)?)
    }

    /// Gives a file a second name. Fails if anything has it.
    pub(super) fn link(&self, name: &[u8], to: &Self, new_name: &[u8]) -> io::Result<()> {
        Ok(fs::linkat(
            &self.0,
            name,
            &to.0,
            new_name,
            AtFlags::empty(),
        )?)
    }

    /// Removes a file, or a link itself.
    pub(super) fn remove_file(&self, name: &[u8]) -> io::Result<()> {
        Ok(fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes a directory that is empty; false if it isn't, or isn't there.
    pub(super) fn remove_directory(&self, name: &[u8]) -> bool {
        fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR).is_ok()
    }

    /// The files and directories in here, in no order. Links and the like are left out.
    pub(super) fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for found in Dir::read_from(&self.0)? {
            let found = found?;
            let name = found.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let kind = match found.file_type() {
                FileType::Unknown => self.kind_of(name)?,
                kind => kind,
            };
            let is_directory = match kind {
                FileType::Directory => true,
                FileType::RegularFile => false,
                _ => continue,
            };
            entries.push(Entry {
                name: name.to_vec(),
                is_directory,
            });
        }
        Ok(entries)
    }

    /// Brings names made, moved and removed in here to the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(fs::fsync(&self.0)?)
    }

    fn kind_of(&self, name: &[u8]) -> io::Result<FileType> {
        let stat = unless_absent(fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW))?;
        Ok(stat.map_or(FileType::Unknown, |stat| {
            FileType::from_raw_mode(stat.st_mode)
        }))
    }
}

fn is_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

/// `None` for the ways the system says that nothing usable has that name: nothing
/// at all, a link (`LOOP`, or `NOTDIR` where a directory is wanted), a socket (`NXIO`).
fn unless_absent<T>(result: rustix::io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
