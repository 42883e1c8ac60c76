//! The dumb model: all versions in a map, everything else worked out anew.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, LazyLock};

use engine::rows::{Batch, RecordRow, StoredVersion, VersionRow, Wanted};
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_sync::item::Item;
use minca_sync::sum::Sum;
use store::{RUN_ITEMS, SpaceBatch, Store};

/// Parsed once, since that costs more than all else here.
static DIDS: LazyLock<[Did; 2]> = LazyLock::new(|| {
    [
        "did:key:zDnaed8DYZ8Hx21hjLc7fE9TXMkDUV65S3ys8HtLrnPC1piwd",
        "did:key:zDnaes7SHHEzJcR4LfXNL8UjSMWQ3VMFfQiv6vZzoxgkaCNqt",
    ]
    .map(|text| Did::parse(text).unwrap())
});

/// A DID by a number.
pub(crate) fn did(number: usize) -> Did {
    DIDS[number % DIDS.len()]
}

/// A whole first version of a record of its own in `notes`, by a number.
pub(crate) fn version(number: u64) -> VersionRow {
    VersionRow {
        id: ContentId::of(&number.to_be_bytes()),
        collection: "notes".to_owned(),
        timestamp: 1_700_000_000 + number,
        key: format!("key{number}"),
        seq: 0,
        genesis: None,
        root: did(number as usize),
        retain: false,
        deleted: false,
        envelope: format!("{{\"number\":{number}}}").into_bytes(),
        proof: None,
        body: Some(format!("body of {number}").into_bytes()),
    }
}

/// As [`version`], without its body.
pub(crate) fn stub(number: u64) -> VersionRow {
    VersionRow {
        body: None,
        ..version(number)
    }
}

/// A head of the record of one version.
pub(crate) fn head(version: &VersionRow) -> RecordRow {
    RecordRow {
        key: version.key.clone(),
        current: version.id,
        first: None,
    }
}

/// A batch that keeps versions, each the current one of its record.
pub(crate) fn keeping(versions: Vec<VersionRow>) -> Batch {
    Batch {
        records: versions.iter().map(head).collect(),
        keep: versions,
        ..Batch::default()
    }
}

/// A version as the store gives it back.
pub(crate) fn stored(row: &VersionRow) -> StoredVersion {
    StoredVersion {
        id: row.id,
        collection: row.collection.clone(),
        key: row.key.clone(),
        envelope: row.envelope.clone(),
        proof: row.proof.clone(),
        body: row.body.clone(),
    }
}

/// One space as it should be.
#[derive(Clone, Default)]
pub(crate) struct Model {
    pub(crate) versions: BTreeMap<ContentId, VersionRow>,
    pub(crate) records: BTreeMap<String, RecordRow>,
}

impl Model {
    /// What a batch that fits does.
    pub(crate) fn apply(&mut self, batch: &Batch) {
        for row in &batch.keep {
            assert!(self.versions.insert(row.id, row.clone()).is_none());
        }
        for (id, body) in &batch.fill {
            self.versions.get_mut(id).unwrap().body = Some(body.clone());
        }
        for id in &batch.drop_bodies {
            self.versions.get_mut(id).unwrap().body = None;
        }
        for record in &batch.records {
            self.records.insert(record.key.clone(), record.clone());
        }
    }

    fn bytes(&self) -> u64 {
        self.versions.values().map(VersionRow::stored_bytes).sum()
    }

    fn collections(&self) -> BTreeSet<&str> {
        self.versions
            .values()
            .map(|row| row.collection.as_str())
            .collect()
    }

    fn items(&self, collection: &str) -> BTreeSet<Item> {
        let rows = self
            .versions
            .values()
            .filter(|row| row.collection == collection);
        rows.map(VersionRow::item).collect()
    }

    /// Checks all that the store says of a space against this.
    pub(crate) async fn check(&self, store: &dyn Store, space: ContentId) {
        self.check_counters(store, space).await;
        self.check_sums(store, space).await;
        for collection in self.collections() {
            self.check_items(store, space, collection).await;
            self.check_runs(store, space, collection).await;
        }
        self.check_versions(store, space).await;
    }

    async fn check_counters(&self, store: &dyn Store, space: ContentId) {
        let carried = store.carried(None, usize::MAX).await.unwrap();
        let row = carried.iter().find(|row| row.space == space).unwrap();
        assert_eq!(row.bytes, self.bytes());
        assert_eq!(row.versions, self.versions.len() as u64);
    }

    async fn check_sums(&self, store: &dyn Store, space: ContentId) {
        let opened = store.open(&space).await.unwrap().unwrap();
        let found: BTreeMap<String, Sum> = opened.sums.iter().cloned().collect();
        assert_eq!(found.len(), opened.sums.len());
        let mut expected = BTreeMap::new();
        for collection in self.collections() {
            let items = self.items(collection);
            let sum: Sum = items.iter().map(|item| &item.id).collect();
            expected.insert(collection.to_owned(), sum);
        }
        assert_eq!(found, expected);
    }

    async fn check_items(&self, store: &dyn Store, space: ContentId, collection: &str) {
        let expected: Vec<Item> = self.items(collection).into_iter().collect();
        let found = store
            .items(&space, collection, None, usize::MAX)
            .await
            .unwrap();
        assert!(found == expected, "items of {collection} differ");
    }

    async fn check_runs(&self, store: &dyn Store, space: ContentId, collection: &str) {
        let runs = store.runs(&space, collection).await.unwrap();
        assert!(runs.windows(2).all(|pair| pair[0].first < pair[1].first));
        let mut sums = vec![Sum::EMPTY; runs.len()];
        for item in self.items(collection) {
            let begun = runs.iter().filter(|run| run.first <= item).count();
            sums[begun.saturating_sub(1)].add(&item.id);
        }
        for (run, sum) in runs.iter().zip(sums) {
            assert_eq!(run.sum, sum);
            assert!(run.sum.count() >= 1 && run.sum.count() <= RUN_ITEMS as u64);
        }
    }

    async fn check_versions(&self, store: &dyn Store, space: ContentId) {
        let ids: Vec<ContentId> = self.versions.keys().copied().collect();
        let wanted = Wanted {
            versions: ids.clone(),
            records: self.records.keys().cloned().collect(),
            bodies: ids.clone(),
        };
        let found = store.read(&space, &wanted).await.unwrap();
        let bodies = self.versions.iter();
        let bodies = bodies.filter_map(|(id, row)| Some((*id, row.body.clone()?)));
        let bodies: HashMap<_, _> = bodies.collect();
        assert!(found.bodies == bodies, "bodies differ");
        let held: HashMap<_, _> = self
            .versions
            .iter()
            .map(|(id, row)| (*id, row.held()))
            .collect();
        assert!(found.versions == held, "held versions differ");
        let records: HashMap<_, _> = self.records.clone().into_iter().collect();
        assert!(found.records == records, "records differ");

        let given = store.versions(&space, &ids, usize::MAX).await.unwrap();
        let expected: Vec<StoredVersion> = self.versions.values().map(stored).collect();
        assert!(given == expected, "stored versions differ");
    }
}

/// Commits one batch that must land.
pub(crate) async fn commit(
    store: &dyn Store,
    lease: &store::Lease,
    space: ContentId,
    batch: Batch,
) {
    let answers = store
        .commit(
            lease,
            &[SpaceBatch {
                space,
                batch: Arc::new(batch),
            }],
        )
        .await
        .unwrap();
    assert_eq!(answers.len(), 1);
    answers[0].as_ref().unwrap();
}
