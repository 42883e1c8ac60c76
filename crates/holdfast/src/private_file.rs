//! Small files that only their owner may read, there whole or not at all.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use store::{make_folder, sync_folder};

/// Read and write for the owner, nothing for anyone else.
const FILE_MODE: u32 = 0o600;

/// Writes a file over whatever has its name, and makes its folder if need be. It is
/// on the disk when this returns, and was nobody else's to read at any time.
///
/// # Errors
/// The system's.
pub(crate) fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    make_folder(folder)?;
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".tmp");
    let unfinished = PathBuf::from(unfinished);
    // One that was left may be open to others, or a link.
    match std::fs::remove_file(&unfinished) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }

    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(&unfinished)?;
    // The process's mask may have taken bits away.
    file.set_permissions(Permissions::from_mode(FILE_MODE))?;
    file.write_all(contents)?;
    file.sync_all()?;
    std::fs::rename(&unfinished, path)?;
    sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_unfinished_lends_the_file_no_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        let left = folder.path().join("secret.tmp");
        std::fs::write(&left, "left").unwrap();
        std::fs::set_permissions(&left, Permissions::from_mode(0o666)).unwrap();
        write(&path, b"new").unwrap();
        write(&path, b"newer").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"newer");
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o600);
        assert!(!left.exists());
    }
}
