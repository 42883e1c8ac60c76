//! What a device holds of one space: versions placed in their records (05 §10), by collection for
//! sync, and which peers said that they stored what it wrote.

mod journal;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::files::{FileId, named_files};
use minca_record::json::Value;
use minca_record::placement::{Form, Placed, Placement, RecordRow, place};
use minca_record::version::{LogPlace, Version};
use minca_sync::item::Item;
use minca_sync::negentropy::SortedItems;
use minca_sync::sum::Sum;

pub use journal::JournalError;
use journal::{Entry, Journal};

/// What a device holds of one space. In memory, and on disk too where it was
/// [opened](Holdings::open).
///
/// Who may write what is not looked at here: see [`gatekeeper`](crate::gatekeeper).
#[derive(Debug, Default)]
pub struct Holdings {
    versions: HashMap<ContentId, Arc<Version>>,
    records: BTreeMap<Box<str>, RecordRow>,
    collections: BTreeMap<Box<str>, Collection>,
    /// By author and collection: the furthest place of the line that is held.
    line_ends: HashMap<(String, Box<str>), (u64, ContentId)>,
    stored_by: HashMap<ContentId, BTreeSet<Did>>,
    /// What this device wrote itself.
    own: HashSet<ContentId>,
    journal: Option<Journal>,
    /// Lines not in the journal yet.
    staged: Vec<Entry>,
}

/// The items of one collection.
#[derive(Debug, Default)]
struct Collection {
    items: BTreeSet<Item>,
    sum: Sum,
    /// The items as reconciling takes them, made when asked for.
    sorted: Option<Arc<SortedItems>>,
}

impl Holdings {
    /// Nothing, and nothing of it on disk.
    pub fn in_memory() -> Holdings {
        Holdings::default()
    }

    /// What the file at `path` holds; an empty one is made where there is none.
    ///
    /// Whoever calls sees to it that no one else has the file open.
    ///
    /// # Errors
    /// [`JournalError`] where the file can't be read or is none this program wrote.
    pub fn open(path: &Path) -> Result<Holdings, JournalError> {
        let (journal, entries) = Journal::open(path)?;
        let lines = entries.len();
        let mut holdings = Holdings::default();
        let mut body_was_dropped = false;
        for entry in entries {
            match entry {
                Entry::Version { version, is_own } => {
                    if is_own {
                        holdings.own.insert(version.id());
                    }
                    let placement = holdings.place(&version);
                    body_was_dropped |= placement.drop_body.is_some()
                        || (placement.keep == Some(Form::Stub) && !version.is_stub());
                    holdings.apply(Arc::unwrap_or_clone(version));
                }
                Entry::Stored { by, ids } => holdings.note_stored(&ids, by),
            }
        }
        holdings.journal = Some(journal);
        // A body that is no longer kept is not to stay in the file either (02 §4.9).
        if body_was_dropped || lines > 2 * holdings.versions.len() + 64 {
            holdings.compact()?;
        }
        Ok(holdings)
    }

    /// Places a version that passed the gatekeeper; `false` where that changes nothing. On disk it
    /// is only after [`commit`](Holdings::commit): until then nobody is to hear of it.
    pub fn stage(&mut self, version: Version) -> bool {
        self.stage_as(version, false)
    }

    /// As [`stage`](Holdings::stage), for a version this device wrote itself.
    pub fn stage_own(&mut self, version: Version) -> bool {
        self.stage_as(version, true)
    }

    fn stage_as(&mut self, version: Version, is_own: bool) -> bool {
        let kept = match self.place(&version).keep {
            Some(Form::Stub) => Some(stub_of(&version)),
            Some(Form::Whole) => Some(version.clone()),
            None => None,
        };
        if let Some(kept) = kept.filter(|_| self.journal.is_some()) {
            let version = Arc::new(kept);
            self.staged.push(Entry::Version { version, is_own });
        }
        if is_own {
            self.own.insert(version.id());
        }
        self.apply(version)
    }

    /// Comes back when everything staged survives a power cut.
    ///
    /// # Errors
    /// [`JournalError`]: what is in memory is then ahead of the disk. These holdings are of no
    /// more use, and every later commit fails; open the file again.
    pub fn commit(&mut self) -> Result<(), JournalError> {
        let Some(journal) = &mut self.journal else {
            return Ok(());
        };
        if self.staged.is_empty() {
            return journal.check();
        }
        journal.append(&std::mem::take(&mut self.staged))
    }

    /// Notes that `by` said it stored these versions, of which only those held count.
    ///
    /// # Errors
    /// As [`commit`](Holdings::commit).
    pub fn confirm(&mut self, ids: &[ContentId], by: Did) -> Result<(), JournalError> {
        let ids: Vec<ContentId> = ids
            .iter()
            .filter(|id| self.versions.contains_key(id) && !self.is_stored_by(id, &by))
            .copied()
            .collect();
        if ids.is_empty() {
            return Ok(());
        }
        self.note_stored(&ids, by);
        if self.journal.is_some() {
            self.staged.push(Entry::Stored { by, ids });
        }
        self.commit()
    }

    /// Whether `by` said that it stored this version.
    pub fn is_stored_by(&self, id: &ContentId, by: &Did) -> bool {
        self.stored_by
            .get(id)
            .is_some_and(|peers| peers.contains(by))
    }

    /// The peers that said they stored this version.
    pub fn stored_by(&self, id: &ContentId) -> impl Iterator<Item = &Did> {
        self.stored_by.get(id).into_iter().flatten()
    }

    /// Versions signed by `author` that no peer said it stored.
    pub fn unconfirmed(&self, author: &Did) -> Vec<ContentId> {
        let author = author.to_string();
        let mut ids: Vec<ContentId> = self
            .versions
            .values()
            .filter(|version| version.author().as_str() == Some(&author))
            .map(|version| version.id())
            .filter(|id| self.stored_by.get(id).is_none_or(BTreeSet::is_empty))
            .collect();
        ids.sort_unstable();
        ids
    }

    /// Whether a version signed by `author` is held that this device didn't write. For its own key
    /// that means: there was a copy of the device, and where its lines end is not known.
    pub fn has_foreign_version_by(&self, author: &Did) -> bool {
        let author = author.to_string();
        self.versions.values().any(|version| {
            version.author().as_str() == Some(&author) && !self.own.contains(&version.id())
        })
    }

    /// A version that is held, whole or as a stub.
    pub fn get(&self, id: &ContentId) -> Option<&Arc<Version>> {
        self.versions.get(id)
    }

    /// Whether a version is held, whole or as a stub.
    pub fn holds(&self, id: &ContentId) -> bool {
        self.versions.contains_key(id)
    }

    /// How many versions are held, stubs too.
    pub fn len(&self) -> usize {
        self.versions.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.versions.is_empty()
    }

    /// Whether a version kept whole names this file.
    pub fn names_file(&self, file: &FileId) -> bool {
        self.versions.values().any(|version| {
            !version.is_stub() && named_files(version).iter().any(|named| named.id == *file)
        })
    }

    /// The current version of a record, which may be a delete.
    pub fn current(&self, key: &str) -> Option<&Arc<Version>> {
        self.versions.get(&self.records.get(key)?.current.id)
    }

    /// The current versions of all records, deletes too, by record key.
    pub fn current_versions(&self) -> impl Iterator<Item = &Arc<Version>> {
        self.records
            .values()
            .filter_map(|row| self.versions.get(&row.current.id))
    }

    /// All versions, whole or as stubs, in no order.
    pub fn versions(&self) -> impl Iterator<Item = &Arc<Version>> {
        self.versions.values()
    }

    /// The versions of a collection, whole or as stubs, by what their writers' clocks said.
    pub fn versions_in(&self, collection: &str) -> impl Iterator<Item = &Arc<Version>> {
        let items = self.collections.get(collection);
        let items = items.into_iter().flat_map(|collection| &collection.items);
        items.filter_map(|item| self.versions.get(&ContentId::from_digest(item.id)))
    }

    /// What is kept of a record.
    pub fn record(&self, key: &str) -> Option<&RecordRow> {
        self.records.get(key)
    }

    /// The collections of which something is held, by name, with the sums of their items.
    pub fn sums(&self) -> impl Iterator<Item = (&str, &Sum)> {
        self.collections
            .iter()
            .map(|(name, collection)| (&**name, &collection.sum))
    }

    /// The sum of a collection's items; that of none where nothing is held of it.
    pub fn sum(&self, collection: &str) -> Sum {
        self.collections
            .get(collection)
            .map_or(Sum::EMPTY, |collection| collection.sum)
    }

    /// The items of a collection, to reconcile. Later changes don't reach it.
    pub fn items(&mut self, collection: &str) -> Arc<SortedItems> {
        let Some(collection) = self.collections.get_mut(collection) else {
            return Arc::default();
        };
        let Collection { items, sorted, .. } = collection;
        let sorted = sorted.get_or_insert_with(|| Arc::new(items.iter().copied().collect()));
        Arc::clone(sorted)
    }

    /// The place after the last one held of a key's line in a collection, which its next version
    /// there takes (02 §4.10). Right only for a key whose every version is held.
    pub fn next_place(&self, author: &Did, collection: &str) -> LogPlace {
        match self.line_ends.get(&(author.to_string(), collection.into())) {
            None => LogPlace { n: 0, prev: None },
            Some((n, id)) => LogPlace {
                n: n + 1,
                prev: Some(*id),
            },
        }
    }

    /// As if a write to disk had failed.
    #[cfg(test)]
    pub(crate) fn fail(&mut self) {
        if let Some(journal) = &mut self.journal {
            journal.fail();
        }
    }

    fn form(&self, id: ContentId) -> Option<Form> {
        self.versions.get(&id).map(|version| Form::of(version))
    }

    fn place(&self, version: &Version) -> Placement {
        let row = self.records.get(version.key());
        place(row, &Placed::from(version), self.form(version.id()))
    }

    /// Changes what is in memory; `false` where nothing changes.
    fn apply(&mut self, version: Version) -> bool {
        let placement = self.place(&version);
        if placement.is_nothing() {
            return false;
        }
        let (id, key) = (version.id(), Box::<str>::from(version.key()));
        if let Some(dropped) = placement.drop_body
            && let Some(held) = self.versions.get_mut(&dropped)
        {
            *held = Arc::new(stub_of(held));
        }
        if let Some(form) = placement.keep {
            if !self.versions.contains_key(&id) {
                self.count(&version);
            }
            let kept = if form == Form::Stub {
                stub_of(&version)
            } else {
                version
            };
            self.versions.insert(id, Arc::new(kept));
        }
        let Some(kept) = self.versions.get(&id) else {
            return false;
        };
        let placed = Placed::from(&**kept);
        match self.records.get_mut(&key) {
            None => {
                let row = RecordRow {
                    current: placed,
                    first: placement.set_first,
                };
                self.records.insert(key, row);
            }
            Some(row) => {
                if placement.set_current || row.current.id == id {
                    row.current = placed;
                }
                row.first = placement.set_first.or(row.first);
            }
        }
        true
    }

    /// Counts a version not held before in its collection and its author's line.
    fn count(&mut self, version: &Version) {
        let (timestamp, id) = version.item();
        let collection = self
            .collections
            .entry(version.collection().into())
            .or_default();
        collection.items.insert(Item { timestamp, id });
        collection.sum.add(&id);
        collection.sorted = None;
        // An author that isn't text is no key, and signs nothing.
        let author = version.author().as_str().unwrap_or_default().to_owned();
        let place = (version.log().n, version.id());
        let end = self
            .line_ends
            .entry((author, version.collection().into()))
            .or_insert(place);
        *end = (*end).max(place);
    }

    fn note_stored(&mut self, ids: &[ContentId], by: Did) {
        for id in ids {
            self.stored_by.entry(*id).or_default().insert(by);
        }
    }

    /// Leaves in the file only what is held.
    fn compact(&mut self) -> Result<(), JournalError> {
        let entry = |version: &Arc<Version>| Entry::Version {
            version: Arc::clone(version),
            is_own: self.own.contains(&version.id()),
        };
        let mut entries: Vec<Entry> = self.versions.values().map(entry).collect();
        let mut by_peer: BTreeMap<Did, Vec<ContentId>> = BTreeMap::new();
        for (id, peers) in &self.stored_by {
            for peer in peers {
                by_peer.entry(*peer).or_default().push(*id);
            }
        }
        entries.extend(
            by_peer
                .into_iter()
                .map(|(by, ids)| Entry::Stored { by, ids }),
        );
        match &mut self.journal {
            Some(journal) => journal.rewrite(&entries),
            None => Ok(()),
        }
    }
}

/// The version without its body (02, terms).
pub fn stub_of(version: &Version) -> Version {
    if version.deleted() {
        return version.clone();
    }
    let mut object = version.object().clone();
    object.remove("body");
    // Taking the body out can't make a well-formed version ill-formed (02 §4.6).
    Version::shape(Value::from(object)).unwrap_or_else(|_| version.clone())
}
