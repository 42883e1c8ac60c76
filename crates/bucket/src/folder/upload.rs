//! An object put in parts, assembled in an unfinished file.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use object_store::path::Path;
use object_store::{MultipartUpload, PutPayload, PutResult, Result, UploadPart};

use super::location::Location;
use super::staging::{Publish, Staged};
use super::{blocking, put_in_place};

/// Parts go where the lengths of those before put them, in whatever order they
/// are written. Dropped unfinished, the file is removed.
#[derive(Debug)]
pub(super) struct FolderUpload {
    key: Path,
    location: Location,
    /// `None` once completed or aborted.
    staged: Option<Arc<Staged>>,
    /// Where the next part goes.
    end: u64,
    written: Arc<AtomicU64>,
}

impl FolderUpload {
    pub(super) fn new(key: Path, location: Location, staged: Staged) -> Self {
        Self {
            key,
            location,
            staged: Some(Arc::new(staged)),
            end: 0,
            written: Arc::new(AtomicU64::new(0)),
        }
    }

    fn take_staged(&mut self) -> Result<Arc<Staged>> {
        self.staged
            .take()
            .ok_or_else(|| super::failed(&self.key, is_over()))
    }
}

#[async_trait]
impl MultipartUpload for FolderUpload {
    fn put_part(&mut self, payload: PutPayload) -> UploadPart {
        let start = self.end;
        let length = payload.content_length() as u64;
        self.end += length;
        let staged = self.staged.clone();
        let written = Arc::clone(&self.written);
        let key = self.key.clone();
        Box::pin(async move {
            blocking(&key, move || {
                let staged = staged.ok_or_else(is_over)?;
                let mut offset = start;
                for piece in &payload {
                    staged.write_at(piece, offset)?;
                    offset += piece.len() as u64;
                }
                written.fetch_add(length, Ordering::AcqRel);
                Ok(())
            })
            .await
        })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let staged = self.take_staged()?;
        let is_whole = self.written.load(Ordering::Acquire) == self.end;
        let location = self.location.clone();
        blocking(&self.key, move || {
            if !is_whole {
                return Err(io::Error::other(
                    "a part of the upload has not been written",
                ));
            }
            put_in_place(&staged, &location, Publish::Replace)
        })
        .await
    }

    async fn abort(&mut self) -> Result<()> {
        let staged = self.take_staged()?;
        blocking(&self.key, move || {
            drop(staged);
            Ok(())
        })
        .await
    }
}

impl Drop for FolderUpload {
    fn drop(&mut self) {
        let Some(staged) = self.staged.take() else {
            return;
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            drop(runtime.spawn_blocking(move || drop(staged)));
        }
    }
}

fn is_over() -> io::Error {
    io::Error::other("the upload has been completed or aborted")
}
