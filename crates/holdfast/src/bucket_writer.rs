//! How a data folder's host names its unfinished files in a bucket's folder (05 §14.3).
//!
//! Hosts that share a database share the bucket, and must not take each other's
//! unfinished files for their own. So each data folder has a name, drawn once and kept.

use std::io::{self, ErrorKind};
use std::path::Path;

use minca_record::hex;

use crate::private_file;

/// The name's file in the data folder.
pub(crate) const BUCKET_WRITER_FILE: &str = "bucket-writer";

/// The data folder's name, made of `fresh` if it has none yet.
///
/// # Errors
/// The system's.
pub(crate) fn open_or_make(data: &Path, fresh: &[u8; 8]) -> io::Result<String> {
    let file = data.join(BUCKET_WRITER_FILE);
    match std::fs::read_to_string(&file) {
        Ok(name) => Ok(name.trim_end().to_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let name = format!("host-{}", hex::encode(fresh));
            private_file::write(&file, format!("{name}\n").as_bytes())?;
            Ok(name)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_folder_keeps_its_name_and_another_has_another() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let name = open_or_make(one.path(), &[1; 8]).unwrap();
        assert_eq!(name, "host-0101010101010101");
        assert_eq!(open_or_make(one.path(), &[2; 8]).unwrap(), name);
        assert_ne!(open_or_make(other.path(), &[2; 8]).unwrap(), name);
    }
}
