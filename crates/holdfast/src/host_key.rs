//! The host key: made once, kept in a file, never quietly made anew (08 §2.3).
//!
//! A new key is a new host to every device, so a key that has gone missing
//! beside data is an error to be put right by hand, and so is a key that is not
//! the one the data was kept under.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use minca_record::did::Did;
use minca_record::signing::SigningKey;
use minca_record::{base64url, derive};

use crate::private_file;

/// The name under which a store keeps the host's DID among its facts.
pub const HOST_DID_FACT: &str = "host-did";

/// Bytes of the seed.
const SEED_BYTES: usize = 32;

/// No file we write is longer; more is not read.
const MOST_FILE_BYTES: u64 = 256;

/// What is known of the data beside the key, before the key is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptData {
    /// Whether the database or the bucket holds anything at all.
    pub is_any: bool,
    /// The DID the database was kept under ([`HOST_DID_FACT`]), if it has one.
    pub did: Option<String>,
}

/// Why there is no host key to serve with. None says anything of the key itself.
#[derive(Debug, thiserror::Error)]
pub enum HostKeyError {
    /// There is data and no key.
    #[error(
        "the host key file {} is missing, and there is data kept under that key. Put the file back from your copy of \
         it: with another key this would be another host to every device. Only to start as a new host, move the data \
         folder and the bucket away", path.display()
    )]
    MissingBesideData {
        /// Where the key should be.
        path: PathBuf,
    },
    /// There is no key, and none was to be made.
    #[error("there is no host key file {}: it is made when the host is first served. Beside a host's data, put it back from \
         your copy of it", path.display())]
    Missing {
        /// Where the key should be.
        path: PathBuf,
    },
    /// The key is not the one the database was kept under.
    #[error(
        "the host key in {} is not the one the database was kept under. Put back the host key file that belongs to \
         this data folder, or point `data` at the folder that belongs to this key", path.display()
    )]
    OtherHost {
        /// Where the key is.
        path: PathBuf,
    },
    /// Others could read or replace the key.
    #[error(
        "the host key file {} has permissions {mode:04o}, expected 0600: nobody but its owner may read or write it \
         (chmod 600)", path.display()
    )]
    Permissions {
        /// Where the key is.
        path: PathBuf,
        /// The permission bits it has.
        mode: u32,
    },
    /// What has the key's name is no regular file.
    #[error("the host key {} is no regular file", path.display())]
    NoFile {
        /// Where the key should be.
        path: PathBuf,
    },
    /// The file doesn't hold a seed.
    #[error(
        "the host key file {} does not hold what it should: expected one line of 43 base64url characters, a seed of \
         32 bytes", path.display()
    )]
    Contents {
        /// Where the key is.
        path: PathBuf,
    },
    /// The file can't be read or made.
    #[error("the host key file {}: {source}", path.display())]
    Io {
        /// Where the key is, or was to be.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Opens the host key, and makes it where there is neither a key nor data.
///
/// `fresh` is the seed of a key to be made: 32 random bytes. The answer says
/// whether it was used.
pub fn open_or_make(
    path: &Path,
    kept: &KeptData,
    fresh: &[u8; SEED_BYTES],
) -> Result<(SigningKey, Made), HostKeyError> {
    let (key, made) = match read(path)? {
        Some(seed) => (key_of(&seed), Made::Before),
        None if kept.is_any || kept.did.is_some() => {
            return Err(HostKeyError::MissingBesideData {
                path: path.to_owned(),
            });
        }
        None => {
            write(path, fresh)?;
            (key_of(fresh), Made::Now)
        }
    };
    check_did(path, &key, kept)?;
    Ok((key, made))
}

/// Opens the host key where there is one: what `holdfast key` prints the DID of.
pub fn did_in(path: &Path) -> Result<Did, HostKeyError> {
    match read(path)? {
        Some(seed) => Ok(key_of(&seed).did()),
        None => Err(HostKeyError::Missing {
            path: path.to_owned(),
        }),
    }
}

/// When the key was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// Just now: this host is new.
    Now,
    /// When the host was first served.
    Before,
}

/// The host key of a seed (08 §2.3).
fn key_of(seed: &[u8; SEED_BYTES]) -> SigningKey {
    derive::identity_key(seed)
}

fn check_did(path: &Path, key: &SigningKey, kept: &KeptData) -> Result<(), HostKeyError> {
    match &kept.did {
        Some(did) if *did != key.did().to_string() => Err(HostKeyError::OtherHost {
            path: path.to_owned(),
        }),
        _ => Ok(()),
    }
}

/// The seed in the file, `None` if there is no file.
fn read(path: &Path) -> Result<Option<[u8; SEED_BYTES]>, HostKeyError> {
    let failed = |source| HostKeyError::Io {
        path: path.to_owned(),
        source,
    };
    // A link to the file is the operator's own choice: how secrets are mounted.
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_dangling(path) => {
            return Ok(None);
        }
        Err(error) => return Err(failed(error)),
    };
    if !metadata.is_file() {
        return Err(HostKeyError::NoFile {
            path: path.to_owned(),
        });
    }
    let mode = metadata.mode() & 0o7777;
    if mode & 0o177 != 0 {
        return Err(HostKeyError::Permissions {
            path: path.to_owned(),
            mode,
        });
    }
    let mut text = String::new();
    let file = File::open(path).map_err(failed)?;
    let read = file.take(MOST_FILE_BYTES).read_to_string(&mut text);
    match read {
        Err(error) if error.kind() != io::ErrorKind::InvalidData => return Err(failed(error)),
        _ => {}
    }
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let seed = base64url::decode_exact::<SEED_BYTES>(line);
    let seed = seed.map_err(|_| HostKeyError::Contents {
        path: path.to_owned(),
    })?;
    Ok(Some(seed))
}

/// A link to nothing is a key that is not mounted, not one that is yet to be made.
fn is_dangling(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

fn write(path: &Path, seed: &[u8; SEED_BYTES]) -> Result<(), HostKeyError> {
    let line = format!("{}\n", base64url::encode(seed));
    private_file::write(path, line.as_bytes()).map_err(|source| HostKeyError::Io {
        path: path.to_owned(),
        source,
    })
}
