//! The host key is made once, kept, and never quietly another.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use holdfast::host_key::{HostKeyError, KeptData, Made, did_in, open_or_make};
use minca_record::derive;

const SEED: [u8; 32] = [7; 32];
const OTHER_SEED: [u8; 32] = [8; 32];

fn nothing() -> KeptData {
    KeptData::default()
}

fn something() -> KeptData {
    KeptData {
        is_any: true,
        did: None,
    }
}

fn kept_under(did: &str) -> KeptData {
    KeptData {
        is_any: true,
        did: Some(did.to_owned()),
    }
}

fn write(path: &Path, text: impl AsRef<[u8]>, mode: u32) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_key_is_made_once_and_is_the_same_ever_after() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data/host.key");
    let (key, made) = open_or_make(&path, &nothing(), &SEED).unwrap();
    assert_eq!(made, Made::Now);
    assert_eq!(key.did(), derive::identity_key(&SEED).did());

    let did = key.did().to_string();
    let (again, made) = open_or_make(&path, &kept_under(&did), &OTHER_SEED).unwrap();
    assert_eq!(made, Made::Before);
    assert_eq!(again.did(), key.did());
    assert_eq!(did_in(&path).unwrap(), key.did());
}

#[test]
fn the_file_is_one_line_that_only_its_owner_may_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("host.key");
    open_or_make(&path, &nothing(), &SEED).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc\n");
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        0o600
    );
    assert_eq!(names(folder.path()), ["host.key"]);
}

#[test]
fn a_key_half_written_before_a_crash_is_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("host.key");
    write(&folder.path().join("host.key.tmp"), "BwcHBw", 0o644);
    let (key, made) = open_or_make(&path, &nothing(), &SEED).unwrap();
    assert_eq!(
        (key.did(), made),
        (derive::identity_key(&SEED).did(), Made::Now)
    );
    assert_eq!(names(folder.path()), ["host.key"]);
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777,
        0o600
    );
}

#[test]
fn a_key_missing_beside_data_is_an_error_that_says_what_to_do_and_makes_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("host.key");
    let did = derive::identity_key(&SEED).did().to_string();
    let only_the_fact = KeptData {
        is_any: false,
        did: Some(did.clone()),
    };
    for kept in [something(), kept_under(&did), only_the_fact] {
        let error = open_or_make(&path, &kept, &SEED).unwrap_err();
        assert!(
            matches!(error, HostKeyError::MissingBesideData { .. }),
            "{error}"
        );
        assert!(error.to_string().contains("Put the file back"), "{error}");
        assert!(names(folder.path()).is_empty());
    }
}

#[test]
fn a_key_put_beside_data_that_names_no_host_yet_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("host.key");
    open_or_make(&path, &nothing(), &SEED).unwrap();
    let (_, made) = open_or_make(&path, &something(), &OTHER_SEED).unwrap();
    assert_eq!(made, Made::Before);
}

#[test]
fn a_key_that_is_not_the_databases_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("host.key");
    open_or_make(&path, &nothing(), &SEED).unwrap();
    let other = derive::identity_key(&OTHER_SEED).did().to_string();
    for did in [other.as_str(), "", "no did"] {
        let error = open_or_make(&path, &kept_under(did), &OTHER_SEED).unwrap_err();
        assert!(matches!(error, HostKeyError::OtherHost { .. }), "{error}");
        assert!(
            did.is_empty() || !error.to_string().contains(did),
            "{error}"
        );
    }
}

#[test]
fn permissions_that_let_others_in_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("host.key");
    let text = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc\n";
    for refused in [0o644, 0o640, 0o604, 0o620, 0o602, 0o700, 0o660] {
        write(&path, text, refused);
        let error = open_or_make(&path, &nothing(), &SEED).unwrap_err();
        assert!(
            matches!(error, HostKeyError::Permissions { mode, .. } if mode == refused),
            "{error}"
        );
        assert!(matches!(
            did_in(&path),
            Err(HostKeyError::Permissions { .. })
        ));
    }
    for taken in [0o600, 0o400] {
        write(&path, text, taken);
        open_or_make(&path, &nothing(), &OTHER_SEED).unwrap();
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn contents_that_are_no_seed_are_an_error_that_does_not_tell_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("host.key");
    let long = "B".repeat(10_000);
    let cases: [&[u8]; 9] = [
        b"",
        b"\n",
        b"BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBw",
        b"BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH",
        b"BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=",
        b"BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc\n\n",
        b"0707070707070707070707070707070707070707070707070707070707070707",
        b"\xff\xfe",
        long.as_bytes(),
    ];
    for text in cases {
        write(&path, text, 0o600);
        let error = open_or_make(&path, &nothing(), &SEED).unwrap_err();
        assert!(matches!(error, HostKeyError::Contents { .. }), "{error}");
        assert!(!error.to_string().contains("BwcHBw"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), text);
    }
}

#[test]
fn a_folder_in_the_keys_place_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = open_or_make(folder.path(), &nothing(), &SEED).unwrap_err();
    assert!(matches!(error, HostKeyError::NoFile { .. }), "{error}");
}

#[test]
fn a_link_is_followed_to_a_key_and_never_filled_when_it_leads_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("host.key");
    let mounted = folder.path().join("mounted");
    symlink(&mounted, &path).unwrap();
    let error = open_or_make(&path, &nothing(), &SEED).unwrap_err();
    assert!(matches!(error, HostKeyError::Io { .. }), "{error}");
    assert_eq!(names(folder.path()), ["host.key"]);

    write(
        &mounted,
        "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc",
        0o400,
    );
    let (key, made) = open_or_make(&path, &something(), &OTHER_SEED).unwrap();
    assert_eq!(
        (key.did(), made),
        (derive::identity_key(&SEED).did(), Made::Before)
    );
}

#[test]
fn printing_the_did_makes_no_key() {
    let folder = tempfile::tempdir().unwrap();
    let error = did_in(&folder.path().join("host.key")).unwrap_err();
    assert!(matches!(error, HostKeyError::Missing { .. }), "{error}");
    assert!(names(folder.path()).is_empty());
}
