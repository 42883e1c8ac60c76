//! The bucket's copy of which spaces the host holds by its operator's word, so
//! that a restore knows their constitutions (08 §14.1).

use futures::StreamExt;
use futures::stream::BoxStream;
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{self, Object, Value};
use store::CarriedSpace;

use crate::bucket::{Bucket, DOCUMENT_FORMAT, whole};
use crate::error::BucketError;
use crate::keys;

/// No document of ours is larger; a larger object is no document.
const MAX_DOCUMENT_BYTES: u64 = 4 * 1024 * 1024;

/// Documents read at once while they are listed.
const READS_AT_ONCE: usize = 8;

/// A space the host holds, as `host/carried/<space id>.json` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The space's id.
    pub space: ContentId,
    /// Canonical JSON of its constitution, without `id`.
    pub constitution: Vec<u8>,
    /// The read key to let readers in on, in a private space.
    pub read_key: Option<Did>,
    /// Counts changes; the bucket's never goes back.
    pub revision: u64,
}

impl From<&CarriedSpace> for Carried {
    fn from(row: &CarriedSpace) -> Self {
        Self {
            space: row.space,
            constitution: row.constitution.clone(),
            read_key: row.read_key,
            revision: row.revision,
        }
    }
}

impl Carried {
    fn to_document(&self) -> Result<Vec<u8>, BucketError> {
        let constitution = json::read(&self.constitution, json::GREATEST_DEPTH);
        let constitution = constitution.ok().and_then(Value::into_object);
        let mut space = constitution.ok_or(BucketError::BadDocument(
            "expected a constitution to be JSON",
        ))?;
        space.insert("id", self.space.to_string());

        let mut document = Object::new();
        document.insert("v", whole(DOCUMENT_FORMAT));
        document.insert("space", Value::Object(space));
        if let Some(read_key) = &self.read_key {
            document.insert("readKey", read_key.to_string());
        }
        document.insert("rev", whole(self.revision));
        Ok(document.canonical())
    }

    fn from_document(bytes: &[u8], expected: &ContentId) -> Result<Self, BucketError> {
        let document = json::read(bytes, json::GREATEST_DEPTH)
            .ok()
            .and_then(Value::into_object);
        let mut document = document.ok_or(BucketError::BadDocument("expected a JSON object"))?;
        if document.get("v").and_then(Value::whole_number) != Some(DOCUMENT_FORMAT) {
            return Err(BucketError::BadDocument("expected format 1"));
        }
        let space = document.remove("space");
        let constitution = space.and_then(|space| Constitution::check(space).ok());
        let constitution =
            constitution.ok_or(BucketError::BadDocument("expected a space and its id"))?;
        if constitution.id() != *expected {
            return Err(BucketError::BadDocument(
                "expected the space it is named after",
            ));
        }
        let read_key = match document.get("readKey") {
            None => None,
            Some(value) => {
                let did = value.as_str().and_then(|text| Did::parse(text).ok());
                Some(did.ok_or(BucketError::BadDocument("expected a DID for read key"))?)
            }
        };
        Ok(Self {
            space: constitution.id(),
            constitution: constitution.canonical(),
            read_key,
            revision: document
                .get("rev")
                .and_then(Value::whole_number)
                .unwrap_or(0),
        })
    }
}

impl Bucket {
    /// Writes a space's document unless the bucket has one of a later revision;
    /// says whether it did.
    pub async fn put_carried(&self, carried: &Carried) -> Result<bool, BucketError> {
        let there = match self.get_carried(&carried.space).await {
            Ok(there) => Some(there.revision),
            // One that can't be read is no reason to leave it so.
            Err(BucketError::NotFound | BucketError::BadDocument(_)) => None,
            Err(error) => return Err(error),
        };
        if there.is_some_and(|revision| revision > carried.revision) {
            return Ok(false);
        }
        self.put(&keys::carried(&carried.space), carried.to_document()?)
            .await?;
        Ok(true)
    }

    /// A space's document.
    pub async fn get_carried(&self, space: &ContentId) -> Result<Carried, BucketError> {
        let bytes = self.get(&keys::carried(space), MAX_DOCUMENT_BYTES).await?;
        let bytes = bytes.ok_or(BucketError::BadDocument("expected at most 4 MiB"))?;
        Carried::from_document(&bytes, space)
    }

    /// Removes a space's document; one that isn't there is no error.
    pub async fn delete_carried(&self, space: &ContentId) -> Result<(), BucketError> {
        self.delete(&keys::carried(space)).await
    }

    /// All spaces the bucket says are held, in no order. A document that can't be
    /// read is an item of its own, [`BucketError::BadDocument`], and the rest
    /// follows; after any other error nothing does.
    pub fn list_carried(&self) -> BoxStream<'_, Result<Carried, BucketError>> {
        let names = self
            .list(keys::CARRIED)
            .filter_map(async |object| match object {
                Ok(object) => object
                    .location
                    .filename()
                    .and_then(keys::carried_space)
                    .map(Ok),
                Err(error) => Some(Err(error)),
            });
        let read = names.map(async |space| match space {
            // Gone since it was listed.
            Ok(space) => match self.get_carried(&space).await {
                Err(BucketError::NotFound) => None,
                read => Some(read),
            },
            Err(error) => Some(Err(error)),
        });
        let found = read
            .buffer_unordered(READS_AT_ONCE)
            .filter_map(async |read| read);
        found
            .scan(false, |is_over, item| {
                let goes_on = !*is_over;
                *is_over =
                    matches!(&item, Err(error) if !matches!(error, BucketError::BadDocument(_)));
                futures::future::ready(goes_on.then_some(item))
            })
            .boxed()
    }
}
