//! What random changes say: roles, grants, collections, bodies.

use minca_record::json::{MESSAGE_DEPTH, Value, read};

use super::dice::Dice;

pub const ROLES: [&str; 6] = ["admin", "mod", "member", "hr", "guest", "editor"];
pub const COLLECTIONS: [&str; 3] = ["app.notes", "app.chat", "app.photos"];
/// Collections with records that any member may write.
pub const SYSTEM: [&str; 2] = ["sys.profile", "sys.memberkey"];

/// Grants, so written that they differ in what they ask of every argument.
const GRANTS: &[(&str, &str)] = &[
    ("/", "[]"),
    ("/role", "[]"),
    ("/role/assign", "[]"),
    ("/role/assign", r#"[["!=", ".role", "admin"]]"#),
    ("/role/assign", r#"[["==", ".self", false]]"#),
    ("/role/assign", r#"[["==", ".role", "member"]]"#),
    (
        "/role/assign",
        r#"[["like", ".role", "m*"], ["==", ".roles", []]]"#,
    ),
    ("/role/unassign", "[]"),
    ("/role/unassign", r#"[["==", ".self", false]]"#),
    (
        "/role/unassign",
        r#"[["not", ["any", ".roles", ["==", ".", "admin"]]]]"#,
    ),
    ("/member/remove", "[]"),
    (
        "/member/remove",
        r#"[["all", ".roles", ["!=", ".", "admin"]]]"#,
    ),
    (
        "/member/remove",
        r#"[["any", ".roles", ["==", ".", "member"]]]"#,
    ),
    ("/role/define", "[]"),
    ("/role/define", r#"[["!=", ".role", "admin"]]"#),
    (
        "/role/define",
        r#"[["or", [["==", ".role", "member"], ["==", ".role", "hr"]]]]"#,
    ),
    ("/collection/define", "[]"),
    (
        "/collection/define",
        r#"[["==", ".collection", "app.notes"]]"#,
    ),
    ("/record", "[]"),
    ("/record", r#"[["==", ".byCreator", true]]"#),
    ("/record/write", "[]"),
    ("/record/write", r#"[["==", ".collection", "app.chat"]]"#),
    ("/record/write", r#"[["==", ".body.kind", "note"]]"#),
    (
        "/record/write",
        r#"[["!=", ".body.kind", "photo"], ["==", ".byCreator", true]]"#,
    ),
    (
        "/record/write",
        r#"[["not", ["==", ".body.meta.pinned", true]]]"#,
    ),
    (
        "/record/write",
        r#"[["or", [[">", ".body.size", 3], ["==", ".collection", "app.notes"]]]]"#,
    ),
    ("/record/write", r#"[["!=", ".body", null]]"#),
    ("/record/delete", "[]"),
    ("/record/delete", r#"[["==", ".byCreator", true]]"#),
    ("/key/change", "[]"),
    ("/space", "[]"),
    ("/space/relays", "[]"),
    ("/space/keepers", "[]"),
    ("/space/succeed", "[]"),
    ("/app/own", "[]"),
];

const BODIES: [&str; 6] = [
    r#"{"kind": "note"}"#,
    r#"{"kind": "photo", "size": 5}"#,
    r#"{"kind": "note", "meta": {"pinned": true}}"#,
    r#"{"size": 2}"#,
    r#""text""#,
    "null",
];

/// At most `most` grants, each `{ cmd, pol }`.
pub fn grants(dice: &mut Dice, most: usize) -> Vec<Value> {
    let count = dice.roll(most + 1);
    let grant = |dice: &mut Dice| {
        // The grants of everything are rarer than the others.
        let among = if dice.chance(15) {
            GRANTS
        } else {
            &GRANTS[2..]
        };
        let (cmd, pol) = dice.pick(among).unwrap();
        json(&format!(r#"{{"cmd": "{cmd}", "pol": {pol}}}"#))
    };
    (0..count).map(|_| grant(dice)).collect()
}

/// A grant to write records under a policy on what they are.
pub fn write_grant(dice: &mut Dice) -> Value {
    let is_one = |grant: &&(&str, &str)| grant.0 == "/record/write" && grant.1 != "[]";
    let writes: Vec<_> = GRANTS.iter().filter(is_one).collect();
    let (cmd, pol) = dice.pick(&writes).unwrap();
    json(&format!(r#"{{"cmd": "{cmd}", "pol": {pol}}}"#))
}

/// Roles that the role called `own` nests. Nothing keeps nests from looping.
pub fn nests(own: &str, dice: &mut Dice) -> Vec<Box<str>> {
    let mut nests = Vec::new();
    for name in ROLES {
        if name != own && dice.chance(9) {
            nests.push(name.into());
        }
    }
    nests
}

/// A body, or none.
pub fn body(dice: &mut Dice) -> Option<Value> {
    dice.chance(75).then(|| json(dice.pick(&BODIES).unwrap()))
}

fn json(text: &str) -> Value {
    read(text.as_bytes(), MESSAGE_DEPTH).unwrap()
}
