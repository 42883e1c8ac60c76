//! Reading the records of a space: of each the latest version that counts.

use std::cmp::Ordering;
use std::sync::Arc;

use minca_access::history::Verdict;
use minca_record::content_id::ContentId;
use minca_record::json::Text;
use minca_record::version::{Version, supersedes};

use super::Replica;
use crate::space::Opened;

/// A record as a member reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The current version.
    pub id: ContentId,
    /// The record key.
    pub key: String,
    /// The collection.
    pub collection: String,
    /// How often the record was changed.
    pub seq: u64,
    /// What the writer's clock said.
    pub created_at: Text,
    /// The content.
    pub body: Opened,
}

impl Replica {
    /// The records, those of one collection or all, by record key: of each the latest version
    /// that counts (03 §5). Deleted ones are left out.
    pub fn records(&self, collection: Option<&str>) -> Vec<Record> {
        self.holdings
            .current_versions()
            .filter(|version| collection.is_none_or(|name| name == version.collection()))
            .filter_map(|current| self.standing(current))
            .filter(|version| !version.deleted())
            .map(|version| Record {
                id: version.id(),
                key: version.key().to_owned(),
                collection: version.collection().to_owned(),
                seq: version.seq(),
                created_at: version.created_at().clone(),
                body: self.space().open(version),
            })
            .collect()
    }

    /// The latest version of a record that counts, of which this is the current one.
    fn standing<'a>(&'a self, current: &'a Arc<Version>) -> Option<&'a Arc<Version>> {
        let gatekeeper = self.sync.gatekeeper();
        let counts = |version: &Version| {
            matches!(
                gatekeeper.stands(version, &self.holdings),
                // A stub says too little to be judged.
                Verdict::Stands | Verdict::NotYet
            )
        };
        if counts(current) {
            return Some(current);
        }
        let earlier = self.holdings.versions_in(current.collection());
        let mut earlier: Vec<&Arc<Version>> =
            earlier.filter(|it| it.key() == current.key()).collect();
        earlier.sort_by(|a, b| match supersedes(a.seq(), a.id(), b.seq(), b.id()) {
            true => Ordering::Less,
            false => Ordering::Greater,
        });
        earlier.into_iter().find(|version| counts(version))
    }
}
