//! `small`, `steps` and `transcripts` of sync.json, `negentropy` of
//! records.json.

use std::collections::HashSet;

use minca_record::{content_id::ContentId, hash::sha256, hex::encode as hex};
use minca_sync::{
    item::Item,
    negentropy::{
        Bound, Found, FrameLimit, Initiator, InitiatorStep, Responder, ResponderStep, SortedItems,
        initiate, varint,
    },
    sum::Sum,
};
use serde_json::Value;

use crate::vectors::{assert_sections, bytes, file, from_hex, id, items, text};

fn limit(value: u64) -> FrameLimit {
    match value {
        0 => FrameLimit::NONE,
        bytes => FrameLimit::new(bytes as usize).unwrap(),
    }
}

fn respond(message: &[u8], limit: FrameLimit, set: &SortedItems) -> Vec<u8> {
    match Responder::new(message.to_vec(), limit).unwrap().step(set) {
        ResponderStep::Done(message) => message,
        ResponderStep::Needs(ranges) => panic!("needs {ranges:?}"),
    }
}

fn go_on(message: &[u8], limit: FrameLimit, set: &SortedItems) -> (Found, Option<Vec<u8>>) {
    let mut all = Found::default();
    let mut round = Initiator::new(message.to_vec(), limit).unwrap();
    loop {
        match round.step(set) {
            InitiatorStep::Needs(ranges) => panic!("needs {ranges:?}"),
            InitiatorStep::Found(found) => {
                all.have.extend(found.have);
                all.need.extend(found.need);
            }
            InitiatorStep::Done { found, next } => {
                all.have.extend(found.have);
                all.need.extend(found.need);
                return (all, next);
            }
        }
    }
}

/// Compares ids with `{ count, sha256, ids, twice }`.
fn assert_ids(name: &str, found: &[[u8; 32]], expected: &Value) {
    let mut ids = found.to_vec();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(
        ids.len() as u64,
        expected["count"].as_u64().unwrap(),
        "{name}"
    );
    assert_eq!(hex(&sha256(&ids.concat())), expected["sha256"], "{name}");
    if let Some(listed) = expected["ids"].as_array() {
        let listed: Vec<[u8; 32]> = listed.iter().map(id).collect();
        assert_eq!(ids, listed, "{name}");
    }
    let twice = found.len() - ids.len();
    assert_eq!(
        twice > 0,
        expected.get("twice").is_some(),
        "{name}: {twice} twice"
    );
}

#[test]
fn fingerprints_order_and_bounds_are_as_given() {
    let sync = file("sync.json");
    let small = &sync["small"];
    assert_sections(
        small,
        vec!["fingerprints", "ordering", "bounds", "itemsOfVersions"],
    );
    let cases = small["fingerprints"].as_array().unwrap();
    assert_eq!(cases.len(), 16);
    for case in cases {
        let ids: Vec<[u8; 32]> = match case.get("ids") {
            Some(ids) => ids.as_array().unwrap().iter().map(id).collect(),
            None => items(&case["items"]).iter().map(|item| item.id).collect(),
        };
        let sum: Sum = ids.iter().collect();
        assert_eq!(
            hex(&sum.fingerprint()),
            case["fingerprint"],
            "{}",
            case["name"]
        );
    }

    let read = |list: &Value| -> Vec<Item> {
        let list = list.as_array().unwrap().iter();
        list.map(|item| Item {
            timestamp: item["timestamp"].as_u64().unwrap(),
            id: id(&item["id"]),
        })
        .collect()
    };
    let mut given = read(&small["ordering"]["given"]);
    let sorted = read(&small["ordering"]["sorted"]);
    assert_eq!(sorted.len(), 8);
    given.sort_unstable();
    given.dedup();
    assert_eq!(given, sorted);

    let cases = small["bounds"].as_array().unwrap();
    assert_eq!(cases.len(), 7);
    for case in cases {
        let item = |name: &str| Item {
            timestamp: case[name][0].as_u64().unwrap(),
            id: id(&case[name][1]),
        };
        let prefix = from_hex(text(&case["bound"][1]));
        let bound = Bound::new(case["bound"][0].as_u64().unwrap(), &prefix).unwrap();
        assert_eq!(Bound::between(&item("last"), &item("next")), bound);
        assert!(bound.is_after(&item("last")) && !bound.is_after(&item("next")));
    }

    let cases = small["itemsOfVersions"].as_array().unwrap();
    assert_eq!(cases.len(), 4);
    for case in cases {
        let version = ContentId::parse(text(&case["id"])).unwrap();
        let item = Item::of_version(text(&case["createdAt"]), &version);
        assert_eq!(item.timestamp, case["item"][0], "{}", case["createdAt"]);
        assert_eq!(item.id, id(&case["item"][1]));
    }
}

#[test]
fn every_step_is_answered_as_given() {
    let sync = file("sync.json");
    let cases = sync["steps"].as_array().unwrap();
    assert_eq!(cases.len(), 72);
    for case in cases {
        let name = format!("{} ({})", text(&case["name"]), text(&case["role"]));
        let set: SortedItems = items(&case["items"]).into_iter().collect();
        let message = bytes(&case["message"]);
        let malformed = case.get("malformed").is_some();
        match text(&case["role"]) {
            "responder" if malformed => {
                assert!(Responder::new(message, FrameLimit::SYNC).is_err(), "{name}");
            }
            "initiator" if malformed => {
                assert!(Initiator::new(message, FrameLimit::SYNC).is_err(), "{name}");
            }
            "responder" => {
                assert_eq!(
                    respond(&message, FrameLimit::NONE, &set),
                    bytes(&case["answer"]),
                    "{name}"
                );
            }
            _ => {
                let (found, next) = go_on(&message, FrameLimit::NONE, &set);
                let answer = (!case["answer"].is_null()).then(|| bytes(&case["answer"]));
                assert_eq!(next, answer, "{name}");
                assert_ids(&name, &found.have, &case["have"]);
                assert_ids(&name, &found.need, &case["need"]);
            }
        }
    }
}

#[test]
fn every_transcript_is_the_same_byte_for_byte() {
    let sync = file("sync.json");
    let cases = sync["transcripts"].as_array().unwrap();
    assert_eq!(cases.len(), 65);
    for case in cases {
        let limits = &case["limits"];
        let given = [limits[0].as_u64().unwrap(), limits[1].as_u64().unwrap()];
        play(case, given);
        if let Some(others) = case["sameWithLimit"].as_array() {
            for other in others {
                let other = other.as_u64().unwrap();
                play(case, [other, other]);
            }
        }
    }
}

fn play(case: &Value, limits: [u64; 2]) {
    let name = format!("{} under {limits:?}", text(&case["name"]));
    let a: SortedItems = items(&case["a"]).into_iter().collect();
    let b: SortedItems = items(&case["b"]).into_iter().collect();
    let mut found = Found::default();
    let mut expected = case["messages"].as_array().unwrap().iter();
    let mut message = initiate(&a).unwrap();
    let mut from = "a";
    loop {
        let given = expected
            .next()
            .unwrap_or_else(|| panic!("{name}: too many"));
        assert_eq!(given["from"], from, "{name}");
        assert_eq!(
            message.len() as u64,
            given["bytes"].as_u64().unwrap(),
            "{name}"
        );
        match given.get("message") {
            Some(whole) => assert_eq!(message, bytes(whole), "{name}"),
            None => assert_eq!(hex(&sha256(&message)), given["sha256"], "{name}"),
        }
        if from == "a" {
            from = "b";
            message = respond(&message, limit(limits[1]), &b);
            continue;
        }
        from = "a";
        let (more, next) = go_on(&message, limit(limits[0]), &a);
        found.have.extend(more.have);
        found.need.extend(more.need);
        match next {
            Some(next) => message = next,
            None => break,
        }
    }
    assert!(expected.next().is_none(), "{name}: too few");
    assert_ids(&name, &found.have, &case["have"]);
    assert_ids(&name, &found.need, &case["need"]);
    let lacking = |ours: &SortedItems, theirs: &SortedItems| -> HashSet<Item> {
        let theirs: HashSet<Item> = theirs.as_slice().iter().copied().collect();
        let ours = ours.as_slice().iter().copied();
        ours.filter(|item| !theirs.contains(item)).collect()
    };
    if name.starts_with("equal ids at other timestamps") {
        return;
    }
    let ids = |items: HashSet<Item>| -> HashSet<[u8; 32]> {
        items.into_iter().map(|item| item.id).collect()
    };
    assert_eq!(
        ids(lacking(&a, &b)),
        found.have.into_iter().collect(),
        "{name}"
    );
    assert_eq!(
        ids(lacking(&b, &a)),
        found.need.into_iter().collect(),
        "{name}"
    );
}

#[test]
fn the_record_vectors_on_negentropy_hold() {
    let records = file("records.json");
    let section = &records["negentropy"];
    assert_sections(
        section,
        vec![
            "varints",
            "fingerprints",
            "itemIds",
            "messages",
            "bounds",
            "sumOf",
        ],
    );
    let cases = section["varints"].as_array().unwrap();
    assert_eq!(cases.len(), 9);
    for case in cases {
        let value = case["value"].as_u64().unwrap();
        let mut out = Vec::new();
        varint::write(&mut out, value);
        assert_eq!(hex(&out), case["bytes"]);
        let mut offset = 0;
        assert_eq!(varint::read(&out, &mut offset), Ok(value));
        assert_eq!(offset, out.len());
    }

    let counted = |count: u8| {
        (0..count).map(|i| {
            let mut id = [0; 32];
            id[0] = i;
            id[31] = 255 - i;
            id
        })
    };
    let hex_id = |value: &Value| -> [u8; 32] { from_hex(text(value)).try_into().unwrap() };
    let cases = section["fingerprints"].as_array().unwrap();
    assert_eq!(cases.len(), 5);
    for case in cases {
        let ids: Vec<[u8; 32]> = match case["ids"].as_array() {
            Some(ids) => ids.iter().map(hex_id).collect(),
            None => counted(case["count"].as_u64().unwrap() as u8).collect(),
        };
        let sum: Sum = ids.iter().collect();
        assert_eq!(hex(&sum.fingerprint()), case["fingerprint"]);
    }

    let cases = section["bounds"].as_array().unwrap();
    assert_eq!(cases.len(), 3);
    let item = |pair: &Value| Item {
        timestamp: pair[0].as_u64().unwrap(),
        id: hex_id(&pair[1]),
    };
    for case in cases {
        let bound = Bound::between(&item(&case["after"]), &item(&case["before"]));
        assert_eq!(bound.timestamp(), case["bound"][0]);
        assert_eq!(hex(bound.prefix()), case["bound"][1]);
    }

    let case = &section["itemIds"][0];
    let version = ContentId::parse(text(&case["versionId"])).unwrap();
    assert_eq!(version.digest(), &hex_id(&case["itemId"]));
    let ids = section["sumOf"]["ids"].as_array().unwrap().iter();
    let ids: Vec<ContentId> = ids.map(|id| ContentId::parse(text(id)).unwrap()).collect();
    let sum: Sum = ids.iter().map(ContentId::digest).collect();
    assert_eq!(hex(&sum.fingerprint()), section["sumOf"]["fingerprint"]);

    let messages = section["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 5);
    let message = |at: usize| from_hex(text(&messages[at]["message"]));
    let set = |at: usize| -> SortedItems {
        messages[at]["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(item)
            .collect()
    };
    assert_eq!(initiate(&SortedItems::new()).unwrap(), message(0));
    assert_eq!(initiate(&set(1)).unwrap(), message(1));
    assert_eq!(bytes(&messages[1]["base64url"]), message(1));
    assert_eq!(respond(&message(1), FrameLimit::SYNC, &set(2)), message(2));
    let (found, next) = go_on(&message(2), FrameLimit::SYNC, &set(1));
    assert_eq!(next, None);
    let listed = |name: &str| -> Vec<[u8; 32]> {
        messages[2][name]
            .as_array()
            .unwrap()
            .iter()
            .map(hex_id)
            .collect()
    };
    assert_eq!((found.have, found.need), (listed("have"), listed("need")));
    let forty: SortedItems = (0..40u8)
        .map(|i| {
            let mut id = [0; 32];
            id[0] = i + 1;
            Item {
                timestamp: 1_700_000_000 + u64::from(i),
                id,
            }
        })
        .collect();
    assert_eq!(initiate(&forty).unwrap(), message(3));
    let crowded: SortedItems = counted(40)
        .enumerate()
        .map(|(i, id)| Item {
            timestamp: 1_700_000_000 + (i as u64 % 7),
            id,
        })
        .collect();
    assert_eq!(initiate(&crowded).unwrap(), message(4));
}
