//! Random constitutions.

use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::json::{MESSAGE_DEPTH, Object, Value, read};
use proptest::prelude::*;

use super::dice::Dice;
use super::people::{accounts, read_keys};
use super::says::{ROLES, grants, nests, write_grant};

/// What the roles hold that a space begins with, before more is drawn.
const ADMIN: &str = r#"[
    {"cmd": "/role/assign", "pol": [["!=", ".role", "admin"]]},
    {"cmd": "/role/unassign", "pol": []},
    {"cmd": "/member/remove", "pol": []},
    {"cmd": "/role/define", "pol": [["!=", ".role", "admin"]]},
    {"cmd": "/collection/define", "pol": []},
    {"cmd": "/record", "pol": []},
    {"cmd": "/key/change", "pol": []},
    {"cmd": "/space/relays", "pol": []}
]"#;
const MOD: &str = r#"[
    {"cmd": "/member/remove", "pol": [["not", ["any", ".roles", ["==", ".", "admin"]]]]},
    {"cmd": "/role/assign", "pol": [["or", [["==", ".role", "member"], ["==", ".role", "mod"]]]]},
    {"cmd": "/role/unassign", "pol": [["==", ".self", false]]},
    {"cmd": "/record/delete", "pol": []}
]"#;
const MEMBER: &str = r#"[
    {"cmd": "/record/write", "pol": []},
    {"cmd": "/record/delete", "pol": [["==", ".byCreator", true]]},
    {"cmd": "/collection/define", "pol": [["like", ".collection", "app.*"]]}
]"#;

/// Public and private spaces of one to three founders, or of none.
pub fn spaces() -> impl Strategy<Value = Constitution> {
    (any::<bool>(), 0..=3usize, any::<u64>())
        .prop_map(|(is_private, founders, seed)| constitution(is_private, founders, seed))
}

fn constitution(is_private: bool, founders: usize, seed: u64) -> Constitution {
    let mut dice = Dice::new(seed);
    let named = |name: &str| Object::from([("name", Value::from(name))]);
    let mut roles = Vec::new();
    for (name, given) in [("admin", ADMIN), ("mod", MOD), ("member", MEMBER)] {
        let mut role = named(name);
        let given = read(given.as_bytes(), MESSAGE_DEPTH).unwrap();
        let mut given = given.as_array().unwrap().to_vec();
        given.retain(|_| !dice.chance(8));
        if name == "member" && dice.chance(35) {
            given.retain(|it| it.as_object().unwrap().get("cmd") != Some(&"/record/write".into()));
            given.push(write_grant(&mut dice));
        }
        if dice.chance(50) {
            given.extend(grants(&mut dice, 2));
        }
        role.insert("grants", given);
        roles.push(with_nests(role, name, &mut dice));
    }
    for name in &ROLES[3..] {
        if dice.chance(50) {
            let mut role = named(name);
            role.insert("grants", grants(&mut dice, 4));
            roles.push(with_nests(role, name, &mut dice));
        }
    }
    let mut assigned = Object::new();
    for (place, account) in accounts().iter().enumerate() {
        let given: &[&str] = match place {
            0 if founders == 0 => &["admin"],
            1 if founders == 0 && dice.chance(60) => &["admin"],
            2 if dice.chance(30) => &["mod"],
            3 if dice.chance(50) => &["member"],
            4 if dice.chance(20) => &["member", "mod"],
            _ => continue,
        };
        let given: Vec<Value> = given.iter().map(|it| Value::from(*it)).collect();
        assigned.insert(account.to_string(), given);
    }
    let top = match founders {
        0 => "none".into(),
        _ => {
            let founders = accounts()[..founders].iter();
            let founders = founders.map(|it| Value::from(it.to_string())).collect();
            Value::Object(Object::from([("founders", Value::Array(founders))]))
        }
    };
    let mut object = Object::from([
        ("minca", Value::from("constitution/1")),
        ("name", "A random space".into()),
        (
            "visibility",
            if is_private { "private" } else { "public" }.into(),
        ),
        ("resolver", "strong-remove/1".into()),
        ("top", top),
        ("roles", roles.into()),
        ("createdAt", "2026-01-01T00:00:00.000Z".into()),
        ("nonce", format!("{:016x}", dice.next()).into()),
    ]);
    if !assigned.is_empty() {
        object.insert("assigned", assigned);
    }
    if is_private {
        object.insert("readKey", read_keys()[0].to_string());
        object.insert("encryptionKeyId", "A".repeat(22));
    }
    let id = ContentId::of(&object.canonical());
    object.insert("id", id.to_string());
    Constitution::check(object.into()).expect("a good constitution")
}

fn with_nests(mut role: Object, name: &str, dice: &mut Dice) -> Value {
    let nests = nests(name, dice);
    if !nests.is_empty() {
        let nests: Vec<Value> = nests.iter().map(|it| Value::from(&**it)).collect();
        role.insert("nests", nests);
    }
    role.into()
}
