//! A space as its members hand it to an operator: its constitution with its `id`.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use minca_record::constitution::{Constitution, ConstitutionError};
use minca_record::did::Did;
use minca_record::json::{self, Value};
use store::NewSpace;

/// A constitution is at most some 300 KiB; anything longer is none.
const MOST_BYTES: usize = 1 << 20;

/// Why a space can't be held. None names the space or anything in it.
#[derive(Debug, thiserror::Error)]
pub enum SpaceFileError {
    /// The file can't be read.
    #[error("the file can't be read: {0}")]
    Io(#[from] std::io::Error),
    /// It is too long to be a space.
    #[error("expected at most {MOST_BYTES} bytes of JSON, got {0} or more")]
    TooLong(usize),
    /// It is no JSON.
    #[error("expected a space as JSON, its constitution with its id: {0}")]
    NoJson(#[from] json::ReadError),
    /// It is a space this host can't judge, or none.
    #[error("the space can't be held: {0}")]
    Constitution(#[from] ConstitutionError),
    /// A read key for a public space.
    #[error("a read key was given, and the space is public: it has none")]
    ReadKeyOfPublic,
    /// A read key that is none.
    #[error("expected the read key as a did:key of P-256, 57 characters")]
    ReadKey,
}

/// Reads a space from a file, of which no more is read than a space has. Gives its
/// text too.
///
/// # Errors
/// [`SpaceFileError`].
pub fn read_file(
    path: &Path,
    read_key: Option<&str>,
) -> Result<(NewSpace, String), SpaceFileError> {
    let text = text_of(path)?;
    Ok((read(text.as_bytes(), read_key)?, text))
}

/// Reads the constitution of a space from a file, as [`read_file`] does.
///
/// # Errors
/// [`SpaceFileError`].
pub fn read_constitution(path: &Path) -> Result<Constitution, SpaceFileError> {
    constitution(text_of(path)?.as_bytes())
}

fn text_of(path: &Path) -> Result<String, SpaceFileError> {
    let mut text = String::new();
    let one_too_many = MOST_BYTES as u64 + 1;
    File::open(path)?
        .take(one_too_many)
        .read_to_string(&mut text)?;
    Ok(text)
}

fn constitution(bytes: &[u8]) -> Result<Constitution, SpaceFileError> {
    if bytes.len() > MOST_BYTES {
        return Err(SpaceFileError::TooLong(bytes.len()));
    }
    let value: Value = json::read(bytes, json::MESSAGE_DEPTH)?;
    Ok(Constitution::check(value)?)
}

/// Reads a space from bytes, to be held; `read_key` where readers are to be let in
/// on a later key than the constitution's.
///
/// # Errors
/// [`SpaceFileError`].
pub fn read(bytes: &[u8], read_key: Option<&str>) -> Result<NewSpace, SpaceFileError> {
    let constitution = constitution(bytes)?;
    let named = read_key
        .map(|did| Did::parse(did).map_err(|_| SpaceFileError::ReadKey))
        .transpose()?;
    if named.is_some() && !constitution.is_private() {
        return Err(SpaceFileError::ReadKeyOfPublic);
    }
    Ok(NewSpace {
        space: constitution.id(),
        constitution: constitution.canonical(),
        read_key: named.or(constitution.read_key().copied()),
    })
}
