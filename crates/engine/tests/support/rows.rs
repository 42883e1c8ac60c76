//! A dumb store: rows in maps, every batch checked against what it holds.

use std::collections::BTreeMap;

use engine::rows::{Batch, Found, HeldVersion, RecordRow, StoredVersion, VersionRow, Wanted};
use engine::{Engine, EngineConfig, Judge};
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{self, Text, Value};
use minca_record::required::is_access_collection;
use minca_sync::item::Item;
use minca_sync::sum::Sum;

/// What a space's tables hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    pub versions: BTreeMap<ContentId, VersionRow>,
    pub records: BTreeMap<String, RecordRow>,
    /// What a batch made the read key.
    pub read_key: Option<Did>,
    /// What the constitution makes it.
    pub first_read_key: Option<Did>,
}

impl Rows {
    /// Writes a batch, whole or not at all.
    ///
    /// # Errors
    /// What of it does not fit.
    pub fn commit(&mut self, batch: &Batch) -> Result<(), String> {
        let mut next = self.clone();
        for row in &batch.keep {
            if next.versions.insert(row.id, row.clone()).is_some() {
                return Err("keeps a version that is held".to_owned());
            }
        }
        for (id, body) in &batch.fill {
            let row = next
                .versions
                .get_mut(id)
                .ok_or("fills a version that is not held")?;
            if row.is_whole() || batch.keep.iter().any(|kept| kept.id == *id) {
                return Err("fills a version that is no stub".to_owned());
            }
            row.body = Some(body.clone());
        }
        for id in &batch.drop_bodies {
            let row = next
                .versions
                .get_mut(id)
                .ok_or("drops the body of a version that is not held")?;
            if row.body.take().is_none() {
                return Err("drops a body that is not there".to_owned());
            }
        }
        for row in &batch.records {
            if !next.versions.contains_key(&row.current) {
                return Err("names a current version that is not held".to_owned());
            }
            next.records.insert(row.key.clone(), row.clone());
        }
        next.read_key = batch.read_key.or(next.read_key);
        next.check(batch)?;
        *self = next;
        Ok(())
    }

    /// Nothing is stored before an access change it was judged by, and no read key
    /// before the change that made it.
    fn check(&self, batch: &Batch) -> Result<(), String> {
        for row in &batch.keep {
            let envelope = json::read(&row.envelope, json::MESSAGE_DEPTH).expect("an envelope");
            let envelope = envelope.as_object().expect("an envelope");
            let seen = envelope.get("seen").and_then(Value::as_array);
            // The space's id stands for the constitution.
            let mut seen = seen
                .unwrap_or_default()
                .iter()
                .filter(|id| Some(*id) != envelope.get("space"));
            let is_held = |id: &Value| {
                let id = id.as_str().and_then(|id| ContentId::parse(id).ok());
                id.is_some_and(|id| self.versions.contains_key(&id))
            };
            if !seen.all(is_held) {
                return Err("keeps a version that saw one that is not held".to_owned());
            }
        }
        let Some(read_key) = batch.read_key.map(|key| key.to_string()) else {
            return Ok(());
        };
        let mut changes = self
            .versions
            .values()
            .filter(|row| row.collection == "sys.key");
        let makes_it = |row: &VersionRow| {
            let body = row.body.as_deref().map(String::from_utf8_lossy);
            body.is_some_and(|body| body.contains(&read_key))
        };
        if self.first_read_key.map(|key| key.to_string()) != Some(read_key.clone())
            && !changes.any(makes_it)
        {
            return Err("a read key that no key change held makes".to_owned());
        }
        Ok(())
    }

    pub fn read(&self, wanted: &Wanted) -> Found {
        let mut found = Found::default();
        let mut put = |held: HeldVersion| found.versions.insert(held.id, held);
        for id in &wanted.versions {
            if let Some(row) = self.versions.get(id) {
                put(row.held());
            }
        }
        for key in &wanted.records {
            if let Some(record) = self.records.get(key) {
                put(self.versions[&record.current].held());
                found.records.insert(key.clone(), record.clone());
            }
        }
        for id in &wanted.bodies {
            if let Some(body) = self.versions.get(id).and_then(|row| row.body.clone()) {
                found.bodies.insert(*id, body);
            }
        }
        found
    }

    pub fn items(&self, collection: &str, after: Option<Item>, limit: usize) -> Vec<Item> {
        let mut items: Vec<Item> = self
            .versions
            .values()
            .filter(|row| row.collection == collection)
            .map(VersionRow::item)
            .collect();
        items.sort_unstable();
        items
            .into_iter()
            .filter(|item| after.is_none_or(|after| *item > after))
            .take(limit)
            .collect()
    }

    pub fn versions(&self, ids: &[ContentId], max_bytes: usize) -> Vec<StoredVersion> {
        let mut bytes = 0;
        let mut given: Vec<StoredVersion> = Vec::new();
        for row in ids.iter().filter_map(|id| self.versions.get(id)) {
            bytes += usize::try_from(row.stored_bytes()).expect("small");
            if !given.is_empty() && bytes > max_bytes {
                break;
            }
            let row = row.clone();
            given.push(StoredVersion {
                id: row.id,
                collection: row.collection,
                key: row.key,
                envelope: row.envelope,
                proof: row.proof,
                body: row.body,
            });
        }
        given
    }

    pub fn sums(&self) -> BTreeMap<String, Sum> {
        let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
        for row in self.versions.values() {
            sums.entry(row.collection.clone())
                .or_default()
                .add(row.id.digest());
        }
        sums
    }

    /// An engine over what is held, as after a restart.
    pub fn engine(&self, node: Did, space: &Constitution, config: EngineConfig) -> Engine {
        let of_access =
            |row: &&VersionRow| is_access_collection(&Text::from(row.collection.as_str()));
        let access: Vec<ContentId> = self
            .versions
            .values()
            .filter(of_access)
            .map(|row| row.id)
            .collect();
        let access = self.versions(&access, usize::MAX);
        let judge = Judge::open(space.clone(), &access).expect("what is held reads");
        let read_key = self.read_key.or(space.read_key().copied());
        Engine::new(
            node,
            self.sums().into_iter().collect(),
            judge,
            read_key,
            config,
        )
    }
}
