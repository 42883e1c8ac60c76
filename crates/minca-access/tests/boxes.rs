//! Boxes and member keys: what opens, and who is to be given one (03 §9).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_access::{
    BOXES, BoxRefusal, KeyBox, MEMBER_KEYS, keys, lacking_boxes, member_key_body, member_key_of,
    seal_box,
};
use minca_record::agreement::{AgreementKey, AgreementPublic};
use minca_record::base64url;
use minca_record::content_id::ContentId;
use minca_record::derive::{SpaceKey, member_key};
use minca_record::did::Did;
use minca_record::hash::hex40;
use minca_record::hex;
use minca_record::json::{Object, Value};
use minca_record::required::is_access_collection;
use minca_record::signing::SigningKey;
use minca_record::version::{Checked, Version};
use proptest::prelude::*;
use support::{read, some_space, space, vectors};

fn text(value: &serde_json::Value) -> &str {
    value.as_str().unwrap()
}

fn scalar(value: &serde_json::Value) -> AgreementKey {
    let scalar: [u8; 32] = hex::decode(text(value)).unwrap().try_into().unwrap();
    AgreementKey::from_scalar(&scalar).unwrap()
}

fn space_key(vectors: &serde_json::Value, name: &str) -> SpaceKey {
    let key = text(&vectors["spaceKeys"][name]["key"]);
    SpaceKey::new(base64url::decode_exact(key).unwrap())
}

fn account(number: u8) -> Did {
    SigningKey::from_scalar(&[number; 32]).unwrap().did()
}

fn member(number: u8) -> AgreementKey {
    member_key(&[number; 32], "a space")
}

#[test]
fn boxes_open_as_the_vectors_say() {
    let vectors = vectors();
    let space = space(&vectors, "private").id;
    let boxes = &vectors["boxes"];
    let member_key = scalar(&boxes["memberKey"]["private"]);
    assert_eq!(
        member_key.public().to_string(),
        text(&boxes["memberKey"]["public"])
    );
    let account = Did::parse(text(&boxes["memberKey"]["account"])).unwrap();
    // What the history names: the first two keys.
    let named = ["K0", "K1"].map(|name| &vectors["spaceKeys"][name]);
    let names = |id: &str, read_key: &Did| {
        let read_key = read_key.to_string();
        named
            .iter()
            .any(|key| key["keyId"] == id && key["readKey"] == *read_key)
    };
    let cases = boxes["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 13);
    for case in cases {
        let body = read(&case["body"]);
        let opened = KeyBox::read(space, &body)
            .unwrap()
            .open(&account, &member_key, names);
        let name = text(&case["name"]);
        if case["opens"] == true {
            let given = opened.unwrap();
            assert_eq!(base64url::encode(given.bytes()), text(&case["gives"]));
            continue;
        }
        let why = match opened.unwrap_err() {
            BoxRefusal::NotTheirs => "not bob's",
            BoxRefusal::NotOpened => "does not open",
            BoxRefusal::NoKey => "no key",
            BoxRefusal::OtherKey => "its id isn't keyId",
            BoxRefusal::NotNamed => "not taken",
        };
        assert_eq!(why, text(&case["why"]), "{name}");
    }
}

#[test]
fn a_box_is_sealed_as_in_the_vectors() {
    let vectors = vectors();
    let boxes = &vectors["boxes"];
    let account = Did::parse(text(&boxes["memberKey"]["account"])).unwrap();
    let member_key = AgreementPublic::parse(text(&boxes["memberKey"]["public"])).unwrap();
    let sealed = seal_box(
        space(&vectors, "private").id,
        &space_key(&vectors, "K1"),
        &account,
        &member_key,
        &scalar(&boxes["ephemeral"]),
    );
    assert_eq!(
        Value::from(sealed.unwrap()),
        read(&boxes["cases"][0]["body"])
    );
}

#[test]
fn a_key_the_history_names_with_another_read_key_is_not_taken() {
    let (space, to) = (some_space().id, account(1));
    let key = SpaceKey::new([7; 32]);
    let body = seal_box(space, &key, &to, &member(1).public(), &member(9)).unwrap();
    let body = Value::from(body);
    let sealed = KeyBox::read(space, &body).unwrap();
    let open = |read_key: Did| {
        sealed.open(&to, &member(1), |id, found| {
            id == key.key_id() && *found == read_key
        })
    };
    assert_eq!(open(account(2)), Err(BoxRefusal::NotNamed));
    assert_eq!(open(key.read_key().did()), Ok(key.clone()));
}

#[test]
fn a_body_without_its_three_texts_is_no_box() {
    let space = some_space().id;
    let whole = Object::from([("keyId", "k"), ("to", "t"), ("sealed", "s")]);
    assert!(KeyBox::read(space, &whole.clone().into()).is_some());
    for name in ["keyId", "to", "sealed"] {
        let mut body = whole.clone();
        body.insert(name, 7u32);
        assert!(
            KeyBox::read(space, &body.clone().into()).is_none(),
            "{name}"
        );
        body.remove(name);
        assert!(KeyBox::read(space, &body.into()).is_none(), "{name}");
    }
    assert!(KeyBox::read(space, &Value::Null).is_none());
}

#[test]
fn who_has_no_box_of_a_key_by_one_who_may_change_it_lacks_one() {
    let [changer, helper, a, b, c, d] = [1, 2, 3, 4, 5, 6].map(account);
    let readers = || [a, b, c, d].map(|did| (did, member(did.point()[1]).public()));
    let made = |by: Did, to: Did, key: u8| {
        let key = SpaceKey::new([key; 32]);
        let body = seal_box(some_space().id, &key, &to, &member(1).public(), &member(9));
        (by, Value::from(body.unwrap()))
    };
    // By one who may, by one who may not, of another key, by the reader itself.
    let boxes = [
        made(changer, a, 7),
        made(helper, b, 7),
        made(changer, c, 8),
        made(d, d, 7),
    ];
    let boxes = boxes
        .iter()
        .map(|(by, body)| (*by, KeyBox::read(some_space().id, body).unwrap()));
    let key_id = SpaceKey::new([7; 32]).key_id();
    let lacking = lacking_boxes(readers(), &key_id, boxes, |did| *did == changer);
    let lacking: Vec<Did> = lacking.iter().map(|(did, _)| *did).collect();
    assert_eq!(lacking, [b, c]);
}

#[test]
fn boxes_and_member_keys_are_where_the_protocol_has_them() {
    let (to, by) = (account(1), account(2));
    assert_eq!(
        keys::box_for(&to, "an id", &by),
        format!("box:{}", hex40(&format!("{to}|an id|{by}")))
    );
    let record = keys::member_key(&to);
    assert_eq!(record, format!("memberkey:{}", hex40(&to.to_string())));
    for collection in [BOXES, MEMBER_KEYS] {
        assert!(!is_access_collection(&collection.into()));
    }
}

/// A version of a member key as if it stood, by `root`, at `of`'s record.
fn version(root: Did, of: Did, seq: u32, body: Option<Value>) -> Checked {
    let mut version = Object::from([
        ("author", Value::from(root.to_string())),
        ("collection", MEMBER_KEYS.into()),
        ("space", some_space().id.to_string().into()),
        ("createdAt", "2026-01-02T03:04:05.000Z".into()),
        ("key", keys::member_key(&of).into()),
        ("seq", seq.into()),
        ("log", Object::from([("n", Value::from(0u32))]).into()),
        ("signature", "A".repeat(86).into()),
    ]);
    if seq > 0 {
        let first = ContentId::of(b"first").to_string();
        version.insert("prev", first.clone());
        version.insert("genesis", first);
    }
    match body {
        Some(body) => {
            let hash = ContentId::of(&body.canonical()).to_string();
            version.insert("bodyHash", hash);
            version.insert("body", body);
        }
        None => {
            version.insert("deleted", true);
        }
    }
    let id = ContentId::of(&version.canonical()).to_string();
    version.insert("id", id);
    Checked {
        version: Version::shape(version.into()).expect("a well-formed version"),
        author: root,
        root,
    }
}

#[test]
fn the_newest_version_that_counts_is_the_member_key() {
    let (of, other) = (account(1), account(2));
    let key = |number: u8| Some(Value::from(member_key_body(&member(number).public())));
    let of_version = |versions: &[Checked]| member_key_of(&of, versions);
    assert_eq!(of_version(&[]), None);
    let first = version(of, of, 0, key(1));
    let held = [
        first.clone(),
        version(of, of, 1, key(2)),
        // None of these counts.
        version(of, of, 2, None),
        version(of, of, 3, Some(Object::from([("key", "no point")]).into())),
        version(of, of, 4, Some(Value::from("no object"))),
        version(other, of, 5, key(5)),
        version(other, other, 6, key(6)),
        version(of, other, 7, key(7)),
    ];
    assert_eq!(of_version(&held), Some(member(2).public()));
    assert_eq!(of_version(&held[2..]), None);
    assert_eq!(member_key_of(&other, &held), Some(member(6).public()));
    // Of two at one place, the lower id.
    let [a, b] = [3, 4].map(|number| version(of, of, 1, key(number)));
    let lower = if a.version.id() < b.version.id() {
        3
    } else {
        4
    };
    for both in [[a.clone(), b.clone(), first.clone()], [first, b, a]] {
        assert_eq!(of_version(&both), Some(member(lower).public()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_box_opens_for_its_member_in_its_space_alone(
        key in any::<[u8; 32]>(),
        ephemeral in 1u8..,
        change in 0usize..4,
        byte in any::<prop::sample::Index>(),
    ) {
        let (space, to) = (some_space().id, account(1));
        let key = SpaceKey::new(key);
        let body = seal_box(space, &key, &to, &member(1).public(), &member(ephemeral)).unwrap();
        let body = Value::from(body);
        let sealed = KeyBox::read(space, &body).unwrap();
        prop_assert_eq!(sealed.open(&to, &member(1), |_, _| true), Ok(key));
        let mut bytes = base64url::decode(sealed.sealed).unwrap();
        let place = byte.index(bytes.len());
        bytes[place] ^= 1;
        let flipped = base64url::encode(&bytes);
        let (other, other_id) = (account(2), "k".repeat(22));
        let to_other = other.to_string();
        let opened = match change {
            0 => sealed.open(&to, &member(2), |_, _| true),
            1 => KeyBox { sealed: &flipped, ..sealed }.open(&to, &member(1), |_, _| true),
            2 => KeyBox { key_id: &other_id, ..sealed }.open(&to, &member(1), |_, _| true),
            _ => KeyBox { to: &to_other, ..sealed }.open(&other, &member(1), |_, _| true),
        };
        prop_assert_eq!(opened, Err(BoxRefusal::NotOpened));
    }
}
