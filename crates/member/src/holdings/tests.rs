//! Holdings against a dumb model, in any order and across restarts.

use super::*;
use crate::clock::UnixTime;
use crate::identity::Account;
use crate::write::{Draft, Position};
use minca_record::json::Object;
use proptest::prelude::*;

const SPACE: &str = "blm7z6wkumdjs43sxki3lv27z5x6qtwa345vmlzjco2mxxau3jmhq";

/// Versions of three records: chains with rival edits, deletes and retained versions.
fn versions(choices: &[(u8, u8)]) -> Vec<Version> {
    let account = Account::from_seed([9; 16]);
    let space = ContentId::parse(SPACE).unwrap();
    let mut made: Vec<Version> = Vec::new();
    for (place, (follows, kind)) in choices.iter().enumerate() {
        let before = match *follows % 4 {
            0 => None,
            _ => made.get(usize::from(*follows) % made.len().max(1)).cloned(),
        };
        let key = before
            .as_ref()
            .map_or(format!("k{}", follows % 3), |v| v.key().to_owned());
        let position = before.as_ref().map_or(Position::FIRST, Position::after);
        let log = LogPlace {
            n: place as u64,
            prev: made.last().map(Version::id),
        };
        let created_at = UnixTime::from_milliseconds(1_790_424_000_000 + place as u64 * 700);
        let mut draft = Draft::new(space, "app.note", &key, position, log, created_at);
        draft = match kind % 4 {
            0 => draft.delete(),
            _ => draft.body(Object::from([("place", place as u64)]).into()),
        };
        if kind % 3 == 0 {
            draft = draft.set("retain", true);
        }
        made.push(Version::shape(draft.sign(account.root_key()).into()).unwrap());
    }
    made
}

/// What is kept, as 02 §4.3 and §4.5 say it: the body of the current version and of retained ones.
fn model(versions: &[Version]) -> BTreeMap<ContentId, bool> {
    let supersedes = |a: &Version, b: &Version| {
        a.key() == b.key() && (a.seq() > b.seq() || (a.seq() == b.seq() && a.id() < b.id()))
    };
    let is_current = |version: &Version| !versions.iter().any(|other| supersedes(other, version));
    versions
        .iter()
        .map(|version| {
            let is_whole = version.deleted() || version.retain() || is_current(version);
            (version.id(), is_whole)
        })
        .collect()
}

fn kept(holdings: &Holdings) -> BTreeMap<ContentId, bool> {
    holdings
        .versions
        .values()
        .map(|version| (version.id(), !version.is_stub()))
        .collect()
}

fn choices() -> impl Strategy<Value = Vec<(u8, u8)>> {
    proptest::collection::vec((any::<u8>(), any::<u8>()), 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_order_keeps_what_the_model_keeps(choices in choices(), order in any::<prop::sample::Index>(), twice in any::<bool>()) {
        let versions = versions(&choices);
        let mut arriving = versions.clone();
        arriving.rotate_left(order.index(versions.len()));
        if twice {
            arriving.extend(versions.iter().rev().cloned());
        }
        let mut holdings = Holdings::in_memory();
        for version in arriving {
            holdings.stage(version);
        }
        prop_assert_eq!(kept(&holdings), model(&versions));
        let ids: Vec<&[u8; 32]> = holdings.versions.keys().map(ContentId::digest).collect();
        prop_assert_eq!(holdings.sum("app.note"), ids.into_iter().collect::<Sum>());
        prop_assert_eq!(holdings.items("app.note").total(), holdings.sum("app.note"));
    }

    #[test]
    fn what_was_committed_is_there_after_opening_again(choices in choices(), torn in 0usize..40) {
        let versions = versions(&choices);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("versions.jsonl");
        let by = Account::from_seed([1; 16]).did();
        let mut holdings = Holdings::open(&path).unwrap();
        for version in &versions {
            holdings.stage(version.clone());
            holdings.commit().unwrap();
        }
        holdings.confirm(&[versions[0].id()], by).unwrap();
        drop(holdings);

        // A write that was cut off.
        let mut bytes = std::fs::read(&path).unwrap();
        let whole = bytes.len();
        bytes.extend_from_slice(&b"{\"version\":{\"author\":\"did:key:zDnaed8DY"[..torn]);
        std::fs::write(&path, &bytes).unwrap();

        for _ in 0..2 {
            let opened = Holdings::open(&path).unwrap();
            prop_assert_eq!(kept(&opened), model(&versions));
            prop_assert!(opened.is_stored_by(&versions[0].id(), &by));
            prop_assert!(std::fs::metadata(&path).unwrap().len() <= whole as u64);
        }
    }
}

#[test]
fn a_body_that_is_no_longer_kept_is_gone_from_the_file_once_it_is_opened_again() {
    let versions = versions(&[(0, 1), (1, 1)]);
    assert_eq!(versions[1].seq(), 1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("versions.jsonl");
    let mut holdings = Holdings::open(&path).unwrap();
    for version in &versions {
        holdings.stage(version.clone());
    }
    holdings.commit().unwrap();
    drop(Holdings::open(&path).unwrap());
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("\"place\":0"), "{text}");
    assert!(text.contains("\"place\":1"), "{text}");
}

#[test]
fn a_line_in_the_midst_that_is_none_of_ours_is_reported_and_not_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("versions.jsonl");
    std::fs::write(&path, "{}\n{\"stored\":{\"by\":\"me\",\"ids\":[]}}\n").unwrap();
    let error = Holdings::open(&path).unwrap_err();
    assert!(
        matches!(error, JournalError::Line { line: 1, .. }),
        "{error}"
    );
}

#[test]
fn a_place_in_a_line_follows_the_furthest_held() {
    let versions = versions(&[(0, 1), (0, 2)]);
    let mut holdings = Holdings::in_memory();
    let author = Account::from_seed([9; 16]).did();
    assert_eq!(
        holdings.next_place(&author, "app.note"),
        LogPlace { n: 0, prev: None }
    );
    for version in versions.iter().rev() {
        holdings.stage(version.clone());
    }
    let next = LogPlace {
        n: 2,
        prev: Some(versions[1].id()),
    };
    assert_eq!(holdings.next_place(&author, "app.note"), next);
    assert_eq!(
        holdings.next_place(&author, "app.other"),
        LogPlace { n: 0, prev: None }
    );
}
