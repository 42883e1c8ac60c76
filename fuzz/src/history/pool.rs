//! Who and what histories are made of: fixed keys, names, grants and bodies.

use std::sync::LazyLock;

use minca_record::did::Did;
use minca_record::json::{MESSAGE_DEPTH, Text, Value, read};
use minca_record::signing::SigningKey;

const ACCOUNTS: usize = 6;
/// Keys of an account beside its own.
const DEVICES: usize = 2;
const INVITES: usize = 2;
const READ_KEYS: usize = 4;

static KEYS: LazyLock<Vec<Did>> = LazyLock::new(|| {
    let count = ACCOUNTS * (1 + DEVICES) + INVITES + READ_KEYS;
    let key = |number: usize| SigningKey::from_uniform(&[number as u8 + 1; 48]).did();
    (0..count).map(key).collect()
});

pub(super) fn accounts() -> &'static [Did] {
    &KEYS[..ACCOUNTS]
}

/// Any key of any account's; the first are the accounts' own.
pub(super) fn keys() -> &'static [Did] {
    &KEYS[..ACCOUNTS * (1 + DEVICES)]
}

pub(super) fn invites() -> &'static [Did] {
    &KEYS[ACCOUNTS * (1 + DEVICES)..][..INVITES]
}

pub(super) fn read_keys() -> &'static [Did] {
    &KEYS[ACCOUNTS * (1 + DEVICES) + INVITES..]
}

pub(super) fn text(did: &Did) -> Text {
    did.to_string().into()
}

/// What a body may say where an account or a role belongs, and nobody can be.
pub(super) const NOBODY: &str = "did:key:x";

pub(super) const ROLES: [&str; 4] = ["admin", "mod", "member", "own"];
pub(super) const COLLECTIONS: [&str; 4] = ["app.chat", "app.notes", "sys.profile", "sys.remove"];

/// Grants that differ in what they ask of every argument.
pub(super) const GRANTS: [(&str, &str); 24] = [
    ("/", "[]"),
    ("/role", "[]"),
    ("/role/assign", "[]"),
    ("/role/assign", r#"[["!=", ".role", "admin"]]"#),
    ("/role/assign", r#"[["==", ".self", false]]"#),
    ("/role/assign", r#"[["==", ".roles", []]]"#),
    ("/role/unassign", "[]"),
    ("/role/unassign", r#"[["==", ".self", false]]"#),
    ("/member/remove", "[]"),
    (
        "/member/remove",
        r#"[["not", ["any", ".roles", ["==", ".", "admin"]]]]"#,
    ),
    ("/role/define", "[]"),
    ("/role/define", r#"[["==", ".role", "member"]]"#),
    ("/collection/define", "[]"),
    (
        "/collection/define",
        r#"[["==", ".collection", "app.notes"]]"#,
    ),
    ("/record", "[]"),
    ("/record/write", r#"[["==", ".collection", "app.chat"]]"#),
    ("/record/write", r#"[["==", ".body.kind", "note"]]"#),
    (
        "/record/write",
        r#"[["not", ["==", ".body.kind", "note"]]]"#,
    ),
    (
        "/record/write",
        r#"[["or", [["==", ".body.size", 3], ["==", ".byCreator", true]]]]"#,
    ),
    ("/record/delete", r#"[["==", ".byCreator", true]]"#),
    ("/key/change", "[]"),
    ("/space", "[]"),
    ("/space/succeed", "[]"),
    ("/app/own", "[]"),
];

/// One of [`GRANTS`] as it is written.
pub(super) fn grant(number: usize) -> Value {
    let (cmd, pol) = GRANTS[number % GRANTS.len()];
    json(&format!(r#"{{"cmd": "{cmd}", "pol": {pol}}}"#))
}

const BODIES: [&str; 4] = [
    r#"{"kind": "note"}"#,
    r#"{"kind": "photo", "size": 3}"#,
    r#""text""#,
    "null",
];

/// One of a few bodies, or none.
pub(super) fn body(number: usize) -> Option<Value> {
    BODIES
        .get(number % (BODIES.len() + 1))
        .map(|body| json(body))
}

fn json(text: &str) -> Value {
    read(text.as_bytes(), MESSAGE_DEPTH).expect("JSON")
}
