//! Where a space's versions come from: a host's database, or files.

mod bundle;
mod host;

pub use bundle::{Bundle, BundleError};
pub use host::{HostError, HostSource};

use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::json::Value;

/// A space as it is somewhere.
pub enum Source {
    /// At a host.
    Host(HostSource),
    /// In files.
    Bundle(Box<Bundle>),
}

/// Why a space can't be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// From a host's database.
    #[error(transparent)]
    Host(#[from] HostError),
    /// From files.
    #[error(transparent)]
    Bundle(#[from] BundleError),
}

impl Source {
    /// The constitution, and copies of the access versions, not yet judged.
    ///
    /// # Errors
    /// [`SourceError`].
    pub async fn access(&self) -> Result<(Constitution, Vec<Value>), SourceError> {
        match self {
            Source::Host(host) => Ok(host.access().await?),
            Source::Bundle(bundle) => Ok((bundle.constitution().clone(), bundle.access()?)),
        }
    }

    /// Copies of versions, not yet judged; none of what isn't there.
    ///
    /// # Errors
    /// [`SourceError`].
    pub async fn versions(&self, ids: &[ContentId]) -> Result<Vec<Value>, SourceError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        match self {
            Source::Host(host) => Ok(host.versions(ids).await?),
            Source::Bundle(bundle) => Ok(bundle.versions(ids)?),
        }
    }
}
