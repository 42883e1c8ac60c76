//! The events and records of a case of an access history, as JSON: read, and replayed where they
//! read. What else a case has is given: a constitution must hash to its id.

use std::sync::LazyLock;

use minca_access::case::{Case, FORMAT};
use minca_record::content_id::ContentId;
use minca_record::json::{MESSAGE_DEPTH, Object, Value, read};

/// A private space of one founder, who the cases have too.
const CONSTITUTION: &str = r#"{"createdAt":"2026-01-01T00:00:00.000Z",
    "encryptionKeyId":"bgk-m-Kq-gEGgJCOOEYNYw","minca":"constitution/1","name":"Chess club",
    "nonce":"AAECAwQFBgcICQoL",
    "readKey":"did:key:zDnaes7SHHEzJcR4LfXNL8UjSMWQ3VMFfQiv6vZzoxgkaCNqt",
    "resolver":"strong-remove/1","roles":[{"grants":[{"cmd":"/","pol":[]}],"name":"admin"},
    {"grants":[{"cmd":"/record","pol":[]}],"name":"member"}],
    "top":{"founders":["did:key:zDnaed8DYZ8Hx21hjLc7fE9TXMkDUV65S3ys8HtLrnPC1piwd"]},
    "visibility":"private"}"#;

/// All of a case but its events and records.
static GIVEN: LazyLock<Object> = LazyLock::new(|| {
    let constitution = read(CONSTITUTION.as_bytes(), MESSAGE_DEPTH).expect("JSON");
    let space = ContentId::of(&constitution.canonical());
    Object::from([
        ("format", Value::from(FORMAT)),
        ("space", space.to_string().into()),
        ("constitution", constitution),
    ])
});

/// One run.
pub fn run(data: &[u8]) {
    let Ok(Value::Object(written)) = read(data, MESSAGE_DEPTH) else {
        return;
    };
    let mut case = GIVEN.clone();
    for name in ["events", "probes"] {
        if let Some(value) = written.get(name) {
            case.insert(name, value.clone());
        }
    }
    let Ok(case) = Case::read(case.into()) else {
        return;
    };
    let outcome = case.outcome().canonical();
    assert_eq!(outcome, case.outcome().canonical());
}
