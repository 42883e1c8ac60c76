//! A space in files: its constitution, and segments (05 §16.3).
//!
//! Segments are read one at a time, as often as something is looked for, and what was
//! looked for is kept: a bundle may be larger than memory.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use bucket::MAX_SEGMENT_BYTES;
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::json::Value;
use minca_record::segment::{SegmentName, read_segment};

use crate::explain::{id_of, is_access};
use crate::space_file::{self, SpaceFileError};

/// A constitution and the segments found.
pub struct Bundle {
    constitution: Constitution,
    segments: Vec<PathBuf>,
    passed_over: usize,
}

/// Why files don't give a space.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The constitution's file.
    #[error("{}: {why}", file.display())]
    Constitution {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: SpaceFileError,
    },
    /// A file or folder can't be read.
    #[error("{}: {why}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// A file that was named is no segment.
    #[error(
        "{}: expected a segment of at most {MAX_SEGMENT_BYTES} bytes, named <counter>-<hash>.seg \
         by the hash of its bytes",
        .0.display()
    )]
    NoSegment(PathBuf),
}

impl Bundle {
    /// Looks for segments: files are named one by one, and folders are looked through to
    /// the bottom. In a folder, what isn't called like a segment is left alone, and a
    /// segment whose bytes its name doesn't vouch for is passed over.
    ///
    /// # Errors
    /// [`BundleError`].
    pub fn open(constitution: &Path, paths: &[PathBuf]) -> Result<Bundle, BundleError> {
        let constitution = space_file::read_constitution(constitution).map_err(|why| {
            BundleError::Constitution {
                file: constitution.to_owned(),
                why,
            }
        })?;
        let mut bundle = Bundle {
            constitution,
            segments: Vec::new(),
            passed_over: 0,
        };
        for path in paths {
            if path.is_dir() {
                bundle.look_through(path)?;
                continue;
            }
            std::fs::metadata(path).map_err(|why| BundleError::Io {
                path: path.clone(),
                why,
            })?;
            if read_whole(path)?.is_none() {
                return Err(BundleError::NoSegment(path.clone()));
            }
            bundle.segments.push(path.clone());
        }
        Ok(bundle)
    }

    fn look_through(&mut self, folder: &Path) -> Result<(), BundleError> {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let io = |why| BundleError::Io {
                path: folder.clone(),
                why,
            };
            let mut found = Vec::new();
            for entry in std::fs::read_dir(&folder).map_err(io)? {
                let entry = entry.map_err(io)?;
                // Links to folders aren't followed, so this ends.
                if entry.file_type().map_err(io)?.is_dir() {
                    folders.push(entry.path());
                } else if segment_name(&entry.path()).is_some() {
                    found.push(entry.path());
                }
            }
            found.sort();
            for path in found {
                match read_whole(&path)? {
                    Some(_) => self.segments.push(path),
                    None => self.passed_over += 1,
                }
            }
        }
        Ok(())
    }

    /// The space's constitution.
    pub fn constitution(&self) -> &Constitution {
        &self.constitution
    }

    /// How many segments in folders were passed over.
    pub fn passed_over(&self) -> usize {
        self.passed_over
    }

    pub(super) fn access(&self) -> Result<Vec<Value>, BundleError> {
        self.find(is_access)
    }

    pub(super) fn versions(&self, ids: &[ContentId]) -> Result<Vec<Value>, BundleError> {
        self.find(|version| id_of(version).is_some_and(|id| ids.contains(&id)))
    }

    /// Copies that are wanted, of those that say they are of this space.
    fn find(&self, is_wanted: impl Fn(&Value) -> bool) -> Result<Vec<Value>, BundleError> {
        let space = self.constitution.id().to_string();
        let is_of_space = |version: &Value| {
            let said = version.as_object().and_then(|version| version.get("space"));
            said.and_then(Value::as_str) == Some(&*space)
        };
        let mut found = Vec::new();
        for path in &self.segments {
            // One that was whole may be gone since, or be another: it holds nothing then.
            let Some(bytes) = read_whole(path)? else {
                continue;
            };
            let versions = read_segment(&bytes).into_iter();
            found.extend(versions.filter(|version| is_of_space(version) && is_wanted(version)));
        }
        Ok(found)
    }
}

fn segment_name(path: &Path) -> Option<SegmentName> {
    SegmentName::parse(path.file_name()?.to_str()?)
}

/// A segment's bytes, if its name vouches for them (05 §16.4).
fn read_whole(path: &Path) -> Result<Option<Vec<u8>>, BundleError> {
    let io = |why| BundleError::Io {
        path: path.to_owned(),
        why,
    };
    let Some(name) = segment_name(path) else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(io)?;
    let read = file.take(MAX_SEGMENT_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(io)?;
    let is_whole = bytes.len() as u64 <= MAX_SEGMENT_BYTES && name.is_of(&bytes);
    Ok(is_whole.then_some(bytes))
}
