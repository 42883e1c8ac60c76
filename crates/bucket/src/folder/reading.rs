//! Reading an object, whole or in part, a piece at a time.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt;
use futures::stream;
use object_store::path::Path;
use object_store::{Attributes, GetOptions, GetResult, GetResultPayload, Result};

use super::location::Location;
use super::metadata::object_meta;
use super::staging::Folder;
use super::{STORE, blocking, locate};

/// Bytes read in one go on the blocking threads.
const PIECE: u64 = 256 * 1024;

/// Opens an object's file; [`io::ErrorKind::NotFound`] if there is no such object.
pub(super) fn open(folder: &Folder, location: &Location) -> io::Result<File> {
    let not_found = || io::Error::from(io::ErrorKind::NotFound);
    let opened = location
        .open_directories(&folder.root)?
        .ok_or_else(not_found)?;
    let directory = opened.last().unwrap_or(&folder.root);
    directory
        .open_file(location.file_name())?
        .ok_or_else(not_found)
}

pub(super) async fn get(
    folder: &Arc<Folder>,
    key: &Path,
    options: GetOptions,
) -> Result<GetResult> {
    let location = locate(key)?;
    let folder = Arc::clone(folder);
    let (file, stat) = blocking(key, move || {
        let file = open(&folder, &location)?;
        let stat = rustix::fs::fstat(&file)?;
        Ok((file, stat))
    })
    .await?;

    let meta = object_meta(key.clone(), &stat);
    options.check_preconditions(&meta)?;
    let range = match &options.range {
        Some(range) => range
            .as_range(meta.size)
            .map_err(|error| object_store::Error::Generic {
                store: STORE,
                source: error.into(),
            })?,
        None => 0..meta.size,
    };
    let wanted = if options.head { 0..0 } else { range.clone() };
    Ok(GetResult {
        payload: GetResultPayload::Stream(pieces(file, key.clone(), wanted).boxed()),
        meta,
        range,
        attributes: Attributes::default(),
        extensions: Default::default(),
    })
}

fn pieces(file: File, key: Path, range: Range<u64>) -> impl futures::Stream<Item = Result<Bytes>> {
    let file = Arc::new(file);
    stream::try_unfold(range, move |left| {
        let (file, key) = (Arc::clone(&file), key.clone());
        async move {
            if left.is_empty() {
                return Ok(None);
            }
            let length = PIECE.min(left.end - left.start);
            let piece = blocking(&key, move || {
                let mut piece = vec![0; length as usize];
                file.read_exact_at(&mut piece, left.start)?;
                Ok(Bytes::from(piece))
            })
            .await?;
            Ok(Some((piece, left.start + length..left.end)))
        }
    })
}
