//! How versions go out: newest first, a record's together, in messages that stay small (05 §6.3,
//! 04 §7.1).

use std::collections::HashMap;
use std::sync::Arc;

use minca_record::content_id::ContentId;
use minca_record::version::Version;
use minca_sync::message::MAX_IDS;

/// Bytes of versions a message carries, unless a single version is larger (04 §7.1).
pub(super) const MAX_BYTES: usize = 960 * 1024;

/// What one `want` is answered with at most, in bytes of versions, unless a single one is larger.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// Canonical forms, for one message.
pub(super) type Batch = Vec<Vec<u8>>;

/// Puts the versions found lacking at a peer, given oldest first, into messages: newest first,
/// each record's together in the place of its newest. A message is of at most `max_bytes`, unless a
/// single version is larger.
pub(super) fn newest_first(
    found: &[Arc<Version>],
    max_bytes: usize,
) -> Vec<(Vec<ContentId>, Batch)> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut records: Vec<Vec<&Version>> = Vec::new();
    for version in found.iter().rev() {
        let place = *places.entry(version.key()).or_insert_with(|| {
            records.push(Vec::new());
            records.len() - 1
        });
        records[place].push(version);
    }
    let mut messages: Vec<(Vec<ContentId>, Batch)> = Vec::new();
    let (mut ids, mut batch, mut bytes) = (Vec::new(), Batch::new(), 0);
    for record in records {
        let forms: Vec<Vec<u8>> = record.iter().map(|version| version.canonical()).collect();
        let size: usize = forms.iter().map(Vec::len).sum();
        let fits_beside = batch.len() + forms.len() <= MAX_IDS && bytes + size <= max_bytes;
        let mut begin_anew = !batch.is_empty() && !fits_beside;
        for (version, form) in record.into_iter().zip(forms) {
            let is_full = batch.len() == MAX_IDS || bytes + form.len() > max_bytes;
            if begin_anew || (is_full && !batch.is_empty()) {
                messages.push((std::mem::take(&mut ids), std::mem::take(&mut batch)));
                bytes = 0;
            }
            begin_anew = false;
            bytes += form.len();
            ids.push(version.id());
            batch.push(form);
        }
    }
    if !batch.is_empty() {
        messages.push((ids, batch));
    }
    messages
}

/// The answer to a `want`: as many of the versions as fit, at least one if there is any.
pub(super) fn answer(asked: impl IntoIterator<Item = Arc<Version>>) -> Batch {
    let (mut batch, mut bytes) = (Batch::new(), 0);
    for version in asked {
        let form = version.canonical();
        bytes += form.len();
        if bytes > MAX_ANSWER_BYTES && !batch.is_empty() {
            break;
        }
        batch.push(form);
    }
    batch
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::UnixTime;
    use crate::identity::Account;
    use crate::write::{Draft, Position};
    use minca_record::version::LogPlace;
    use proptest::prelude::*;

    /// Records with so many versions each, of about so many bytes, oldest first by turns.
    fn versions(records: &[(u8, u16)]) -> Vec<Arc<Version>> {
        let account = Account::from_seed([4; 16]);
        let space = ContentId::of(b"space");
        let mut made: Vec<Arc<Version>> = Vec::new();
        let rounds = records.iter().map(|(count, _)| *count).max().unwrap_or(0);
        for round in 0..rounds {
            for (number, (count, size)) in records.iter().enumerate() {
                if round >= *count {
                    continue;
                }
                let key = format!("k{number}");
                let before = made.iter().rev().find(|version| version.key() == key);
                let position = before.map_or(Position::FIRST, |version| Position::after(version));
                let log = LogPlace { n: 0, prev: None };
                let now = UnixTime::from_milliseconds(made.len() as u64);
                let body = "x".repeat(usize::from(*size));
                let draft = Draft::new(space, "app.note", &key, position, log, now);
                let object = draft.body(body.into()).sign(account.root_key());
                made.push(Arc::new(Version::shape(object.into()).unwrap()));
            }
        }
        made
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn every_version_goes_out_once_newest_first_and_in_small_messages(
            records in proptest::collection::vec((1u8..5, 0u16..2000), 0..12),
            max_bytes in 1000usize..20_000,
        ) {
            let found = versions(&records);
            let messages = newest_first(&found, max_bytes);
            let mut sent: Vec<ContentId> = Vec::new();
            for (ids, batch) in &messages {
                prop_assert_eq!(ids.len(), batch.len());
                let bytes: usize = batch.iter().map(Vec::len).sum();
                prop_assert!(batch.len() == 1 || (bytes <= max_bytes && batch.len() <= MAX_IDS));
                sent.extend(ids);
            }
            let place = |id: &ContentId| sent.iter().position(|other| other == id);
            prop_assert_eq!(sent.len(), found.len());
            // Within a record the newest comes first, and nothing comes between; the records are
            // in the order of their newest.
            let key = |id: &ContentId| found.iter().find(|v| v.id() == *id).unwrap().key();
            let mut keys: Vec<&str> = sent.iter().map(key).collect();
            keys.dedup();
            let mut newest: Vec<&str> = Vec::new();
            for version in found.iter().rev() {
                if !newest.contains(&version.key()) {
                    newest.push(version.key());
                }
            }
            prop_assert_eq!(keys, newest);
            for version in &found {
                if let Some(before) = version.prev() {
                    prop_assert!(place(&version.id()) < place(&before));
                }
            }
        }
    }

    #[test]
    fn a_records_versions_share_a_message_where_they_fit() {
        let found = versions(&[(3, 900), (3, 900)]);
        let size = found[0].canonical().len();
        let messages = newest_first(&found, 4 * size + 1000);
        assert_eq!(
            messages
                .iter()
                .map(|(ids, _)| ids.len())
                .collect::<Vec<_>>(),
            [3, 3]
        );
    }

    #[test]
    fn an_answer_holds_what_fits_in_4_mib_and_at_least_one() {
        let found = versions(&[(1, 60_000); 80]);
        let size = found[0].canonical().len();
        assert_eq!(answer(found.iter().cloned()).len(), MAX_ANSWER_BYTES / size);
        assert_eq!(answer(found.into_iter().take(1)).len(), 1);
        assert_eq!(answer([]), Batch::new());
    }
}
