//! A space in a host's database, whether the host runs or not.

use std::path::Path;

use engine::rows::StoredVersion;
use minca_record::constitution::{Constitution, ConstitutionError};
use minca_record::content_id::ContentId;
use minca_record::json::{self, Value};
use minca_record::version::join;
use store::{OpenError, SqliteReader, StoreError};

/// A host's database, read at one moment.
pub struct HostSource {
    reader: SqliteReader,
    space: ContentId,
}

/// Why a host's database doesn't give a space.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The database can't be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The space isn't held.
    #[error("the space is not held here")]
    NotHeld,
    /// What is stored isn't what a host stores.
    #[error("what is stored of the space does not read as JSON: {0}")]
    NoJson(#[from] json::ReadError),
    /// The constitution that is stored is none.
    #[error("the constitution that is stored is none: {0}")]
    Constitution(#[from] ConstitutionError),
}

impl HostSource {
    /// Opens the database in a data folder, beside whoever has it open.
    ///
    /// # Errors
    /// [`HostError::Open`].
    pub async fn open(folder: &Path, space: ContentId) -> Result<HostSource, HostError> {
        let reader = SqliteReader::open(folder).await?;
        Ok(HostSource { reader, space })
    }

    pub(super) async fn access(&self) -> Result<(Constitution, Vec<Value>), HostError> {
        let opened = self.reader.space(&self.space).await?;
        let opened = opened.ok_or(HostError::NotHeld)?;
        let stored = json::read(&opened.constitution, json::MESSAGE_DEPTH)?;
        let mut handed_around = stored.into_object().unwrap_or_default();
        handed_around.insert("id", self.space.to_string());
        let constitution = Constitution::check(handed_around.into())?;
        Ok((constitution, values(&opened.access)?))
    }

    pub(super) async fn versions(&self, ids: &[ContentId]) -> Result<Vec<Value>, HostError> {
        values(&self.reader.versions(&self.space, ids).await?)
    }
}

fn values(stored: &[StoredVersion]) -> Result<Vec<Value>, HostError> {
    let values = stored.iter().map(|version| {
        let written = join(
            &version.envelope,
            version.proof.as_deref(),
            version.body.as_deref(),
        );
        Ok(json::read(&written, json::MESSAGE_DEPTH)?)
    });
    values.collect()
}
