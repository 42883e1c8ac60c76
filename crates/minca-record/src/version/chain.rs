//! A later version follows the one before it (02 §4.2, §4.7).

use super::Version;
use crate::content_id::ContentId;

/// What a version with a `seq` over 0 names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The version it replaces.
    pub prev: ContentId,
    /// The first version of its chain.
    pub genesis: ContentId,
}

/// A version held, whole or as a stub and whatever its standing: what the
/// chain needs of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its id.
    pub id: ContentId,
    /// Its record key.
    pub key: Box<str>,
    /// Its collection.
    pub collection: Box<str>,
    /// Its `seq`.
    pub seq: u64,
    /// Its `genesis`; `None` exactly when `seq` is 0.
    pub genesis: Option<ContentId>,
}

impl From<&Version> for Held {
    fn from(version: &Version) -> Held {
        Held {
            id: version.id(),
            key: version.key().into(),
            collection: version.collection().into(),
            seq: version.seq(),
            genesis: version.genesis(),
        }
    }
}

/// How a version stands to the chain it names, when nothing is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Everything it names is held.
    Nothing,
    /// `prev` is not held: judge it later.
    Prev(ContentId),
    /// `genesis` is not held: judge it later.
    Genesis(ContentId),
}

impl Missing {
    /// The protocol's word for what is missing (02 §9), or `None` when nothing
    /// is.
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Missing::Nothing => None,
            Missing::Prev(_) => Some("prev-missing"),
            Missing::Genesis(_) => Some("genesis-missing"),
        }
    }
}

/// Why a version doesn't follow the one it says it replaces (02 §4.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainRefusal {
    /// `prev` is of another record.
    #[error("the version `prev` names has another record key")]
    Key,
    /// `prev` is in another collection.
    #[error("the version `prev` names is in another collection")]
    Collection,
    /// `seq` isn't one more than `prev`'s.
    #[error("`seq` must be one more than that of the version `prev` names")]
    Seq,
    /// `genesis` isn't the first version of `prev`'s chain.
    #[error("`genesis` must be the first version of the chain of the version `prev` names")]
    Genesis,
    /// `genesis` names no first version of this record.
    #[error("`genesis` must name a version with `seq` 0 and the same key and collection")]
    GenesisNotFirst,
}

impl ChainRefusal {
    /// The protocol's word for it (02 §4.7).
    pub fn reason(&self) -> &'static str {
        match self {
            ChainRefusal::Key => "chain-key",
            ChainRefusal::Collection => "chain-collection",
            ChainRefusal::Seq => "chain-seq",
            ChainRefusal::Genesis => "chain-genesis",
            ChainRefusal::GenesisNotFirst => "genesis-not-first",
        }
    }
}

/// Whether `version` follows what it names. `prev` and `genesis` are what is
/// held under the ids it names as those; for a first version they aren't read.
///
/// # Errors
/// The first check of 02 §4.7 that fails for good. What is only missing is no
/// error.
pub fn follows(
    version: &Version,
    prev: Option<&Held>,
    genesis: Option<&Held>,
) -> Result<Missing, ChainRefusal> {
    let Some(chain) = version.chain() else {
        return Ok(Missing::Nothing);
    };
    let Some(before) = prev.filter(|held| held.id == chain.prev) else {
        return Ok(Missing::Prev(chain.prev));
    };
    if *before.key != *version.key() {
        return Err(ChainRefusal::Key);
    }
    if *before.collection != *version.collection() {
        return Err(ChainRefusal::Collection);
    }
    // `seq` is at most 2^53 - 1, so this can't overflow.
    if version.seq() != before.seq.saturating_add(1) {
        return Err(ChainRefusal::Seq);
    }
    if chain.genesis != before.genesis.unwrap_or(before.id) {
        return Err(ChainRefusal::Genesis);
    }
    let Some(first) = genesis.filter(|held| held.id == chain.genesis) else {
        return Ok(Missing::Genesis(chain.genesis));
    };
    let is_first = first.seq == 0
        && *first.key == *version.key()
        && *first.collection == *version.collection();
    if is_first {
        Ok(Missing::Nothing)
    } else {
        Err(ChainRefusal::GenesisNotFirst)
    }
}
