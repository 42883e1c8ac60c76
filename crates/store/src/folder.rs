//! Folders that are on the disk before anything is put in them.

use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// The owner's alone: what is in there says who writes where, even where it is sealed.
const FOLDER_MODE: u32 = 0o700;

/// Makes a folder and all that is missing above it, for its owner alone, each on the
/// disk before the next. One that is there keeps its mode.
///
/// # Errors
/// The system's; [`ErrorKind::AlreadyExists`] where something else has the name.
pub fn make_folder(path: &Path) -> io::Result<()> {
    let above = match path.parent() {
        Some(above) if above.as_os_str().is_empty() => Path::new("."),
        Some(above) => above,
        // The root of all is there, or nothing is.
        None => return Ok(()),
    };
    if path.is_dir() {
        // Whoever made it may have ended before it was on the disk.
        return match sync_folder(above) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(()),
            result => result,
        };
    }
    if !above.is_dir() {
        make_folder(above)?;
    }
    match DirBuilder::new().mode(FOLDER_MODE).create(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists || !path.is_dir() => Err(error),
        _ => sync_folder(above),
    }
}

/// Brings the names in a folder to the disk.
///
/// # Errors
/// The system's.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn folders_are_made_for_their_owner_alone_and_one_that_is_there_is_left() {
        let root = tempfile::tempdir().unwrap();
        std::fs::set_permissions(root.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let inner = root.path().join("one/two");
        make_folder(&inner).unwrap();
        make_folder(&inner).unwrap();
        assert_eq!(mode(&inner), 0o700);
        assert_eq!(mode(&root.path().join("one")), 0o700);
        assert_eq!(mode(root.path()), 0o755);
    }

    #[test]
    fn a_file_where_a_folder_is_wanted_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        std::fs::write(&file, "").unwrap();
        let error = make_folder(&file).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert!(make_folder(&file.join("below")).is_err());
    }
}
