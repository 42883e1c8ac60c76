//! Rows placed and not yet committed, and the batch they will be written with.
//!
//! Judging runs ahead of the commit on this overlay; what is served, summed and
//! acknowledged sees committed rows only. Rows stay on the overlay after their
//! commit landed for as long as a read may be under way that was asked for
//! before it.

use std::collections::HashMap;
use std::sync::Arc;

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::version::Version;

use crate::rows::{Batch, Found, HeldVersion, RecordRow, VersionRow};
use crate::vetting::Vetted;

/// What is held of the versions and records a batch names: committed, or placed.
/// Each row with the number of the group that writes it.
#[derive(Debug, Default)]
pub(crate) struct Overlay {
    versions: HashMap<ContentId, (GroupNumber, HeldVersion)>,
    records: HashMap<String, (GroupNumber, RecordRow)>,
    /// First versions that are kept whole, which later ones may be measured by.
    firsts: HashMap<ContentId, (GroupNumber, Arc<Vetted>)>,
}

/// Number of a group of versions committed together; grows.
pub(crate) type GroupNumber = u64;

impl Overlay {
    pub(crate) fn version(&self, id: &ContentId) -> Option<&HeldVersion> {
        self.versions.get(id).map(|(_, held)| held)
    }

    pub(crate) fn record(&self, key: &str) -> Option<&RecordRow> {
        self.records.get(key).map(|(_, row)| row)
    }

    pub(crate) fn first(&self, id: &ContentId) -> Option<&Version> {
        let first = self.firsts.get(id);
        first.map(|(_, vetted)| &vetted.checked.version)
    }

    pub(crate) fn put_first(&mut self, group: GroupNumber, first: &Arc<Vetted>) {
        let version = &first.checked.version;
        if version.seq() == 0 && version.retain() {
            self.firsts.insert(version.id(), (group, Arc::clone(first)));
        }
    }

    pub(crate) fn put_version(&mut self, group: GroupNumber, held: HeldVersion) {
        self.versions.insert(held.id, (group, held));
    }

    pub(crate) fn put_record(&mut self, group: GroupNumber, row: RecordRow) {
        self.records.insert(row.key.clone(), (group, row));
    }

    pub(crate) fn clear(&mut self) {
        self.versions.clear();
        self.records.clear();
        self.firsts.clear();
    }

    /// Forgets the rows of groups up to this one, which have landed. Not while a
    /// read is under way: it left out what was here when it was asked for.
    pub(crate) fn forget_landed(&mut self, landed: GroupNumber) {
        self.versions.retain(|_, (group, _)| *group > landed);
        self.records.retain(|_, (group, _)| *group > landed);
        self.firsts.retain(|_, (group, _)| *group > landed);
    }
}

/// The overlay over what a read brought: the overlay wins, being newer.
pub(crate) struct View<'a> {
    pub(crate) overlay: &'a Overlay,
    pub(crate) found: &'a Found,
}

impl View<'_> {
    pub(crate) fn version(&self, id: &ContentId) -> Option<&HeldVersion> {
        self.overlay
            .version(id)
            .or_else(|| self.found.versions.get(id))
    }

    pub(crate) fn record(&self, key: &str) -> Option<&RecordRow> {
        self.overlay
            .record(key)
            .or_else(|| self.found.records.get(key))
    }
}

/// A batch being put together: each version is named once, whatever happens to
/// it before the batch is written.
#[derive(Debug, Default)]
pub(crate) struct BatchBuilder {
    keep: Vec<VersionRow>,
    kept_at: HashMap<ContentId, usize>,
    fill: HashMap<ContentId, Vec<u8>>,
    drop_bodies: Vec<ContentId>,
    records: HashMap<String, RecordRow>,
    read_key: Option<Did>,
}

impl BatchBuilder {
    pub(crate) fn is_empty(&self) -> bool {
        self.keep.is_empty()
            && self.fill.is_empty()
            && self.drop_bodies.is_empty()
            && self.records.is_empty()
            && self.read_key.is_none()
    }

    /// Sets the key readers prove.
    pub(crate) fn read_key(&mut self, read_key: Did) {
        self.read_key = Some(read_key);
    }

    /// Keeps a version not held before.
    pub(crate) fn keep(&mut self, row: VersionRow) {
        self.kept_at.insert(row.id, self.keep.len());
        self.keep.push(row);
    }

    /// Gives a version held as a stub its body.
    pub(crate) fn fill(&mut self, id: ContentId, body: Vec<u8>) {
        match self.kept_at.get(&id) {
            Some(at) => self.keep[*at].body = Some(body),
            None => {
                self.fill.insert(id, body);
            }
        }
    }

    /// Takes the body of a version held whole.
    pub(crate) fn drop_body(&mut self, id: ContentId) {
        match self.kept_at.get(&id) {
            Some(at) => self.keep[*at].body = None,
            None if self.fill.remove(&id).is_some() => {}
            None => self.drop_bodies.push(id),
        }
    }

    /// Sets a record's heads.
    pub(crate) fn record(&mut self, row: RecordRow) {
        self.records.insert(row.key.clone(), row);
    }

    /// The batch, ready to be written, and its builder empty again.
    pub(crate) fn take(&mut self) -> Batch {
        let builder = std::mem::take(self);
        let mut records: Vec<RecordRow> = builder.records.into_values().collect();
        records.sort_by(|a, b| a.key.cmp(&b.key));
        let mut fill: Vec<(ContentId, Vec<u8>)> = builder.fill.into_iter().collect();
        fill.sort_by_key(|(id, _)| *id);
        Batch {
            keep: builder.keep,
            fill,
            drop_bodies: builder.drop_bodies,
            records,
            read_key: builder.read_key,
        }
    }
}
