//! A folder as an object store, laid out as 05 §14 has it.
//!
//! Every `/`-separated part of a key is a directory and the last one the file,
//! each spelled as §14.2 says, so other programs that follow part 05 can share
//! the folder. A key can't be an object and the beginning of another's at once.

mod directory;
mod listing;
mod location;
mod metadata;
mod names;
mod reading;
mod staging;
mod upload;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::path::Path;
use object_store::{
    CopyMode, CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use listing::Walk;
use location::{Location, file_names};
pub use names::KeyError;
use staging::{Folder, Publish, Staged};
use upload::FolderUpload;

/// What object_store's own errors call this kind of store.
const STORE: &str = "folder";

/// Objects found in one go on the blocking threads.
const LIST_PAGE: usize = 1_000;

/// Deletes under way at once in one [`ObjectStore::delete_stream`].
const DELETES_AT_ONCE: usize = 8;

/// Why a folder could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenFolderError {
    /// The writer's name would not do as a file name.
    #[error("expected a writer name of 1 to 64 characters of a-z, 0-9 and -")]
    WriterName,
    /// The folder, or what this writer left unfinished in it, could not be reached.
    #[error("the folder could not be opened for writing: {0}")]
    Io(#[from] io::Error),
}

/// An [`ObjectStore`] over a folder (05 §14).
///
/// A file is written aside under a name ending in `.tmp`, synced, moved into
/// place, and its directory synced, so an object that was put survives a crash
/// and one that was being put is not seen. Links are neither followed nor listed.
/// Listings are in the order of keys. Deleting what isn't there succeeds, as in S3.
///
/// Conditional updates and attributes are not supported.
#[derive(Clone, Debug)]
pub struct FolderStore {
    folder: Arc<Folder>,
}

impl FolderStore {
    /// Opens a folder, making it if it is missing, and removes what `writer` left
    /// unfinished in it when it last ended. No two programs (or two stores in one)
    /// may have the folder open under one writer's name at the same time.
    pub async fn open(
        path: impl Into<PathBuf>,
        writer: &str,
    ) -> std::result::Result<Self, OpenFolderError> {
        let fits = matches!(writer.len(), 1..=64)
            && writer
                .bytes()
                .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        if !fits {
            return Err(OpenFolderError::WriterName);
        }
        let (path, writer) = (path.into(), writer.to_owned());
        let opened = tokio::task::spawn_blocking(move || Folder::open(&path, &writer)).await;
        let folder = opened.map_err(io::Error::other)??;
        Ok(Self {
            folder: Arc::new(folder),
        })
    }
}

impl std::fmt::Display for FolderStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(STORE)
    }
}

#[async_trait]
impl ObjectStore for FolderStore {
    async fn put_opts(
        &self,
        key: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let publish = match options.mode {
            PutMode::Overwrite => Publish::Replace,
            PutMode::Create => Publish::OnlyNew,
            PutMode::Update(_) => return Err(unsupported("a conditional update")),
        };
        if !options.attributes.is_empty() {
            return Err(unsupported("attributes"));
        }
        let location = locate(key)?;
        let folder = Arc::clone(&self.folder);
        blocking(key, move || {
            let staged = Staged::create(folder)?;
            let mut offset = 0;
            for part in &payload {
                staged.write_at(part, offset)?;
                offset += part.len() as u64;
            }
            put_in_place(&staged, &location, publish)
        })
        .await
    }

    async fn put_multipart_opts(
        &self,
        key: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        if !options.attributes.is_empty() {
            return Err(unsupported("attributes"));
        }
        let location = locate(key)?;
        let folder = Arc::clone(&self.folder);
        let staged = blocking(key, move || Staged::create(folder)).await?;
        Ok(Box::new(FolderUpload::new(key.clone(), location, staged)))
    }

    async fn get_opts(&self, key: &Path, options: GetOptions) -> Result<GetResult> {
        reading::get(&self.folder, key, options).await
    }

    fn delete_stream(
        &self,
        keys: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let folder = Arc::clone(&self.folder);
        keys.map(move |key| {
            let folder = Arc::clone(&folder);
            async move {
                let key = key?;
                let location = locate(&key)?;
                blocking(&key, move || location.remove(&folder.root)).await?;
                Ok(key)
            }
        })
        .buffered(DELETES_AT_ONCE)
        .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let folder = Arc::clone(&self.folder);
        let prefix = prefix.cloned().unwrap_or_default();
        let pages = stream::try_unfold(Listing::Start, move |state| {
            next_page(Arc::clone(&folder), prefix.clone(), state)
        });
        pages
            .map(|page| match page {
                Ok(objects) => stream::iter(objects.into_iter().map(Ok)).left_stream(),
                Err(error) => stream::iter([Err(error)]).right_stream(),
            })
            .flatten()
            .boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let prefix = prefix.cloned().unwrap_or_default();
        let names = file_names(&prefix).map_err(refused)?;
        let folder = Arc::clone(&self.folder);
        let key = prefix.clone();
        blocking(&key, move || {
            listing::list_one_level(&folder, &prefix, &names)
        })
        .await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let publish = match options.mode {
            CopyMode::Overwrite => Publish::Replace,
            CopyMode::Create => Publish::OnlyNew,
        };
        let (source, target) = (locate(from)?, locate(to)?);
        let folder = Arc::clone(&self.folder);
        let opened = blocking(from, move || reading::open(&folder, &source)).await?;
        let folder = Arc::clone(&self.folder);
        blocking(to, move || {
            let staged = Staged::create(folder)?;
            io::copy(&mut &opened, &mut staged.file())?;
            put_in_place(&staged, &target, publish)
        })
        .await?;
        Ok(())
    }
}

/// How far a listing is.
enum Listing {
    Start,
    Walking(Walk),
}

async fn next_page(
    folder: Arc<Folder>,
    prefix: Path,
    state: Listing,
) -> Result<Option<(Vec<ObjectMeta>, Listing)>> {
    let names = file_names(&prefix).map_err(refused)?;
    let key = prefix.clone();
    blocking(&key, move || {
        let mut walk = match state {
            Listing::Start => Walk::new(&folder, &prefix, &names)?,
            Listing::Walking(walk) => walk,
        };
        let page = walk.page(LIST_PAGE)?;
        Ok((!page.is_empty()).then_some((page, Listing::Walking(walk))))
    })
    .await
}

fn put_in_place(staged: &Staged, location: &Location, publish: Publish) -> io::Result<PutResult> {
    staged.publish(location, publish)?;
    let stat = rustix::fs::fstat(staged.file())?;
    Ok(PutResult {
        e_tag: Some(metadata::e_tag(&stat)),
        version: None,
        extensions: Default::default(),
    })
}

fn locate(key: &Path) -> Result<Location> {
    Location::of(key).map_err(refused)
}

fn refused(error: KeyError) -> object_store::Error {
    object_store::Error::Generic {
        store: STORE,
        source: error.into(),
    }
}

fn unsupported(what: &str) -> object_store::Error {
    object_store::Error::NotImplemented {
        operation: what.to_owned(),
        implementer: STORE.to_owned(),
    }
}

/// Runs file calls on the threads kept for what blocks.
async fn blocking<T: Send + 'static>(
    key: &Path,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    let result = done.map_err(|error| failed(key, io::Error::other(error)))?;
    result.map_err(|error| failed(key, error))
}

fn failed(key: &Path, error: io::Error) -> object_store::Error {
    let path = key.to_string();
    match error.kind() {
        io::ErrorKind::NotFound => object_store::Error::NotFound {
            path,
            source: error.into(),
        },
        io::ErrorKind::AlreadyExists => object_store::Error::AlreadyExists {
            path,
            source: error.into(),
        },
        io::ErrorKind::PermissionDenied => object_store::Error::PermissionDenied {
            path,
            source: error.into(),
        },
        _ => object_store::Error::Generic {
            store: STORE,
            source: error.into(),
        },
    }
}
