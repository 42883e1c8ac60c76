//! How values of ours are written in a database's types, and read back.

use std::time::Duration;

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_sync::item::Item;
use minca_sync::sum::Sum;

use crate::StoreError;
use crate::failure::corrupt;

/// A DID to check where there is none to check, so that [`Store::door`](crate::Store::door) costs the same.
pub(crate) const SOME_DID: &str = "did:key:zDnaed8DYZ8Hx21hjLc7fE9TXMkDUV65S3ys8HtLrnPC1piwd";

/// Bytes of [`item_key`].
const ITEM_KEY_BYTES: usize = 40;

/// A number of ours as a database's. One over 2^63 − 1, which no count or counter
/// reaches, becomes that.
pub(crate) fn to_integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A limit as a database's.
pub(crate) fn to_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// A length of time in milliseconds, rounded down.
pub(crate) fn to_milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// A count as it was written.
pub(crate) fn count(number: i64) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(|_| corrupt("a count is below zero"))
}

/// An id as it was written.
pub(crate) fn id(bytes: &[u8]) -> Result<ContentId, StoreError> {
    Ok(ContentId::from_digest(digest(bytes)?))
}

/// An id as it was written, if one was.
pub(crate) fn optional_id(bytes: Option<&[u8]>) -> Result<Option<ContentId>, StoreError> {
    bytes.map(id).transpose()
}

/// A sum as it was written.
pub(crate) fn sum(items: i64, value: &[u8]) -> Result<Sum, StoreError> {
    Ok(Sum::from_parts(digest(value)?, count(items)?))
}

/// An item as two columns of the index have it.
pub(crate) fn item(timestamp: i64, id: &[u8]) -> Result<Item, StoreError> {
    Ok(Item {
        timestamp: count(timestamp)?,
        id: digest(id)?,
    })
}

/// An item in bytes that sort as items do: the timestamp, big-endian, and the id.
pub(crate) fn item_key(item: &Item) -> [u8; ITEM_KEY_BYTES] {
    let mut key = [0; ITEM_KEY_BYTES];
    key[..8].copy_from_slice(&item.timestamp.to_be_bytes());
    key[8..].copy_from_slice(&item.id);
    key
}

/// The item whose [`item_key`] this is.
pub(crate) fn item_of_key(key: &[u8]) -> Result<Item, StoreError> {
    let key: &[u8; ITEM_KEY_BYTES] = key
        .try_into()
        .map_err(|_| corrupt("an item's key is not 40 bytes long"))?;
    let [t0, t1, t2, t3, t4, t5, t6, t7, id @ ..] = key;
    Ok(Item {
        timestamp: u64::from_be_bytes([*t0, *t1, *t2, *t3, *t4, *t5, *t6, *t7]),
        id: *id,
    })
}

/// A DID as it was written. It was checked when it was stored, but its point is
/// checked again, which costs a square root: see [`Dids`](minca_record::did::Dids)
/// where there are many.
pub(crate) fn did(text: &str) -> Result<Did, StoreError> {
    Did::parse(text).map_err(|_| corrupt("a DID is none"))
}

/// A store writer's id as it was written.
pub(crate) fn writer_id(bytes: &[u8]) -> Result<[u8; 16], StoreError> {
    bytes
        .try_into()
        .map_err(|_| corrupt("a store writer's id is not 16 bytes long"))
}

fn digest(bytes: &[u8]) -> Result<[u8; 32], StoreError> {
    bytes
        .try_into()
        .map_err(|_| corrupt("an id or a sum is not 32 bytes long"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_keys_sort_as_items_do() {
        let items = [
            Item {
                timestamp: 0,
                id: [0; 32],
            },
            Item {
                timestamp: 0,
                id: [9; 32],
            },
            Item {
                timestamp: 255,
                id: [1; 32],
            },
            Item {
                timestamp: 256,
                id: [0; 32],
            },
            Item {
                timestamp: u64::MAX,
                id: [255; 32],
            },
        ];
        for pair in items.windows(2) {
            assert!(pair[0] < pair[1]);
            assert!(item_key(&pair[0]) < item_key(&pair[1]));
        }
        for item in items {
            assert_eq!(item_of_key(&item_key(&item)).unwrap(), item);
        }
    }
}
