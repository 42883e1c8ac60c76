//! Trying a bucket out: what an operator runs before trusting it.

use futures::TryStreamExt;
use object_store::{ObjectStoreExt, PutPayload};

use crate::bucket::Bucket;
use crate::keys;

/// What was tried, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeStep {
    /// Putting an object.
    Put,
    /// Getting it back.
    Get,
    /// Getting a part of it.
    Range,
    /// Finding it in a listing.
    List,
    /// Deleting it, after which it is gone.
    Delete,
}

impl std::fmt::Display for ProbeStep {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Put => "put",
            Self::Get => "get",
            Self::Range => "range",
            Self::List => "list",
            Self::Delete => "delete",
        })
    }
}

/// What the bucket can't do, and what it said.
#[derive(Debug, thiserror::Error)]
#[error("the bucket failed to {step} an object of its own: {reason}")]
pub struct ProbeError {
    /// The first thing that failed.
    pub step: ProbeStep,
    /// The vendor's own words, or what came where something else was expected.
    pub reason: String,
}

const CONTENT: &[u8] = b"Holdfast tries this bucket out.";
const PART: std::ops::Range<u64> = 9..14;

impl Bucket {
    /// Puts, gets, reads a range of, lists and deletes an object of its own, so
    /// that what a bucket can't do shows before anything depends on it.
    pub async fn probe(&self) -> Result<(), ProbeError> {
        let mut nonce = [0; 8];
        getrandom::fill(&mut nonce).map_err(|error| failed(ProbeStep::Put, error))?;
        let path = self.path(&keys::probe(&nonce));
        let store = self.store();

        let payload = PutPayload::from_static(CONTENT);
        store
            .put(&path, payload)
            .await
            .map_err(|error| failed(ProbeStep::Put, error))?;

        // Deleted whatever comes of the rest.
        let read = self.probe_reads(&path).await;
        let deleted = store
            .delete(&path)
            .await
            .map_err(|error| failed(ProbeStep::Delete, error));
        read?;
        deleted?;
        match store.head(&path).await {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed(ProbeStep::Delete, error)),
            Ok(_) => Err(failed(ProbeStep::Delete, "the object is still there")),
        }
    }

    async fn probe_reads(&self, path: &object_store::path::Path) -> Result<(), ProbeError> {
        let store = self.store();
        let found = store
            .get(path)
            .await
            .map_err(|error| failed(ProbeStep::Get, error))?;
        let bytes = found
            .bytes()
            .await
            .map_err(|error| failed(ProbeStep::Get, error))?;
        if bytes != CONTENT {
            return Err(failed(
                ProbeStep::Get,
                "other bytes came back than were put",
            ));
        }

        let part = store.get_range(path, PART).await;
        let part = part.map_err(|error| failed(ProbeStep::Range, error))?;
        if CONTENT.get(PART.start as usize..PART.end as usize) != Some(&*part) {
            return Err(failed(
                ProbeStep::Range,
                "another part came back than was asked for",
            ));
        }

        let listed = store
            .list(Some(&self.path(keys::PROBE)))
            .try_collect::<Vec<_>>()
            .await;
        let listed = listed.map_err(|error| failed(ProbeStep::List, error))?;
        if !listed.iter().any(|object| object.location == *path) {
            return Err(failed(ProbeStep::List, "the object is not in the listing"));
        }
        Ok(())
    }
}

fn failed(step: ProbeStep, reason: impl ToString) -> ProbeError {
    ProbeError {
        step,
        reason: reason.to_string(),
    }
}
