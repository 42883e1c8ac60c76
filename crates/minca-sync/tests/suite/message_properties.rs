//! What is written reads back, and nothing that comes makes a reader fail.

use std::collections::{BTreeMap, BTreeSet};

use minca_record::{
    content_id::ContentId,
    json::{self, MESSAGE_DEPTH, Object, Value},
};
use minca_sync::message::{
    Hello, Holds, MAX_HELLO_COLLECTIONS, MAX_IDS, MAX_NEGENTROPY_BYTES, MAX_STORED_IDS, Message,
    NotTaken, PushUpdate, Reconcile, Reconciled, RequestId, Says, Stored, Versions, Want, arrange,
    write_hello, write_not_held, write_push_update, write_reconcile, write_reconciled,
    write_stored, write_unreadable, write_versions, write_want,
};
use proptest::prelude::*;

fn read(payload: &[u8]) -> Result<Message, NotTaken> {
    Message::read(json::read(payload, MESSAGE_DEPTH).unwrap())
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Message {
    let mut out = b"before".to_vec();
    write(&mut out);
    assert!(out.starts_with(b"before"));
    read(&out[6..]).unwrap()
}

fn request_id() -> impl Strategy<Value = RequestId> {
    prop_oneof![
        any::<u32>().prop_map(RequestId::from),
        any::<f64>().prop_filter_map("finite", RequestId::new),
    ]
}

fn name() -> impl Strategy<Value = Box<str>> {
    prop_oneof!["[a-z]{1,3}\\.[a-z]{1,3}", "\\PC{0,8}"].prop_map(Into::into)
}

fn ids() -> impl Strategy<Value = Vec<ContentId>> {
    prop::collection::btree_set(any::<[u8; 32]>(), 0..12)
        .prop_map(|digests| digests.into_iter().map(ContentId::from_digest).collect())
}

fn version() -> impl Strategy<Value = Object> {
    (name(), any::<u32>()).prop_map(|(collection, seq)| {
        Object::from([
            ("collection", Value::from(&*collection)),
            ("seq", Value::from(seq)),
        ])
    })
}

proptest! {
    #[test]
    fn a_hello_reads_back(
        holds in prop_oneof![
            Just(Holds::All),
            prop::collection::btree_set(name(), 0..8).prop_map(Holds::Only),
        ],
        sums in prop::collection::btree_map(name(), any::<[u8; 16]>(), 0..8),
        reply in any::<bool>(),
    ) {
        let message = written(|out| {
            write_hello(out, &holds, sums.iter().map(|(name, sum)| (&**name, *sum)), reply);
        });
        let sums = sums.into_iter().map(|(name, sum)| (name, Some(sum))).collect();
        prop_assert_eq!(message, Message::Hello(Hello { holds, sums, reply }));
    }

    #[test]
    fn sessions_read_back(
        id in request_id(),
        collection in name(),
        message in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let reconcile = written(|out| write_reconcile(out, id, &collection, &message));
        let expected = Reconcile {
            id,
            collection: Some(collection),
            message: Some(message.clone()),
        };
        prop_assert_eq!(reconcile, Message::Reconcile(expected));
        let answer = written(|out| write_reconciled(out, id, &message));
        let says = Says::Message(message);
        prop_assert_eq!(answer, Message::Reconciled(Reconciled { id, says }));
        let answer = written(|out| write_not_held(out, id));
        prop_assert_eq!(answer, Message::Reconciled(Reconciled { id, says: Says::NotHeld }));
        let answer = written(|out| write_unreadable(out, id));
        let says = Says::Message(Vec::new());
        prop_assert_eq!(answer, Message::Reconciled(Reconciled { id, says }));
    }

    #[test]
    fn what_names_ids_reads_back(id in request_id(), ids in ids()) {
        let want = written(|out| write_want(out, id, &ids));
        prop_assert_eq!(want, Message::Want(Want { id, ids: ids.clone() }));
        let stored = written(|out| write_stored(out, &ids));
        prop_assert_eq!(stored, Message::Stored(Stored { ids }));
    }

    #[test]
    fn versions_read_back(id in prop::option::of(request_id()), versions in prop::collection::vec(version(), 0..8)) {
        let stored: Vec<Vec<u8>> = versions.iter().map(Object::canonical).collect();
        let message = written(|out| write_versions(out, id, stored.iter().map(Vec::as_slice)));
        let expected = Versions { id, versions: versions.iter().cloned().map(Value::from).collect() };
        prop_assert_eq!(message, Message::Versions(expected));
        for (version, stored) in versions.into_iter().zip(stored) {
            let message = written(|out| write_push_update(out, &stored));
            prop_assert_eq!(message, Message::PushUpdate(PushUpdate { version }));
        }
    }

    #[test]
    fn a_batch_is_tried_in_its_order_and_nothing_is_lost(versions in prop::collection::vec(version(), 0..20)) {
        let system = |version: &Object| version.get("collection").unwrap().as_str() == Some("sys.collection");
        let given = versions.iter().cloned().map(Value::from).collect();
        let tried = arrange(given, &Holds::All);
        let mut expected = versions;
        expected.sort_by_key(|version| (!system(version), version.get("seq").unwrap().whole_number()));
        prop_assert_eq!(tried, expected);
    }

    #[test]
    fn no_json_makes_a_reader_fail(
        kind in prop::sample::select(vec![
            "hello", "reconcile", "reconciled", "want", "versions", "push-update", "stored",
            "want-file", "file", "file-done",
        ]),
        members in prop::collection::btree_map(
            prop::sample::select(vec![
                "id", "holds", "sums", "reply", "collection", "message", "held", "ids",
                "versions", "version", "hash", "chunks", "list", "chunk", "at", "bytes", "missing",
            ]),
            json_value(),
            0..8,
        ),
    ) {
        let mut object: Object = members.into_iter().collect();
        object.insert("v", 8u32);
        object.insert("type", kind);
        let _ = Message::read(object.into());
    }

    #[test]
    fn ids_of_requests_are_equal_as_numbers_are(a in any::<f64>(), b in any::<f64>()) {
        prop_assert_eq!(RequestId::new(a).is_some(), a.is_finite());
        if let (Some(first), Some(second)) = (RequestId::new(a), RequestId::new(b)) {
            prop_assert_eq!(first == second, a == b);
        }
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<f64>()
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(Value::Number),
        any::<u32>().prop_map(Value::from),
        "[a-zA-Z0-9_-]{0,60}".prop_map(Value::from),
        prop::collection::vec(any::<u16>(), 0..4)
            .prop_map(|units| json::Text::from_utf16(&units).into()),
        any::<[u8; 32]>().prop_map(|digest| ContentId::from_digest(digest).to_string().into()),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map("[a-z.]{0,6}", inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

#[test]
fn minus_zero_is_echoed_as_zero() {
    let message = written(|out| write_unreadable(out, RequestId::new(-0.0).unwrap()));
    let id = RequestId::from(0);
    let says = Says::Message(Vec::new());
    assert_eq!(message, Message::Reconciled(Reconciled { id, says }));
}

#[test]
fn a_hello_names_at_most_1000_collections() {
    let sums = |count: usize| -> BTreeMap<String, [u8; 16]> {
        (0..count).map(|i| (format!("app.c{i}"), [0; 16])).collect()
    };
    let hello = |count: usize| {
        let mut out = Vec::new();
        let sums = sums(count);
        write_hello(
            &mut out,
            &Holds::All,
            sums.iter().map(|(name, sum)| (&**name, *sum)),
            false,
        );
        read(&out)
    };
    assert!(hello(MAX_HELLO_COLLECTIONS).is_ok());
    assert_eq!(hello(1001), Err(NotTaken::TooManyCollections(1001)));
    let holds = |count: usize| -> Holds {
        Holds::Only((0..count).map(|i| format!("app.c{i}").into()).collect())
    };
    let said = |count: usize| match written(|out| write_hello(out, &holds(count), [], false)) {
        Message::Hello(hello) => hello.holds,
        other => panic!("{other:?}"),
    };
    assert_eq!(said(1000), holds(1000));
    assert_eq!(said(1001), Holds::Only(BTreeSet::new()));
}

#[test]
fn a_negentropy_message_has_at_most_32000_bytes() {
    let id = RequestId::from(1);
    let message =
        |length: usize| match written(|out| write_reconcile(out, id, "app.a", &vec![0; length])) {
            Message::Reconcile(reconcile) => reconcile.message.map(|message| message.len()),
            other => panic!("{other:?}"),
        };
    assert_eq!(message(MAX_NEGENTROPY_BYTES), Some(32_000));
    assert_eq!(message(32_001), None);
    let answer = |length: usize| written(|out| write_reconciled(out, id, &vec![0; length]));
    let says = Says::Message(vec![0; 32_000]);
    assert_eq!(answer(32_000), Message::Reconciled(Reconciled { id, says }));
    let says = Says::Unreadable;
    assert_eq!(answer(32_001), Message::Reconciled(Reconciled { id, says }));
}

#[test]
fn lists_are_read_to_their_limits() {
    let ids = |count: usize| -> Vec<ContentId> {
        (0..count)
            .map(|i| ContentId::of(&i.to_be_bytes()))
            .collect()
    };
    let wanted =
        |count: usize| match written(|out| write_want(out, RequestId::from(1), &ids(count))) {
            Message::Want(want) => want.ids,
            other => panic!("{other:?}"),
        };
    assert_eq!(wanted(MAX_IDS), ids(200));
    assert_eq!(wanted(201), ids(200));
    let stored = |count: usize| match written(|out| write_stored(out, &ids(count))) {
        Message::Stored(stored) => stored.ids,
        other => panic!("{other:?}"),
    };
    assert_eq!(stored(MAX_STORED_IDS), ids(2000));
    assert_eq!(stored(2001), ids(2000));
    let versions = |id: Option<RequestId>, count: usize| match written(|out| {
        write_versions(out, id, std::iter::repeat_n(&b"{}"[..], count))
    }) {
        Message::Versions(versions) => versions.versions.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!(versions(None, 200), 200);
    assert_eq!(versions(None, 201), 200);
    assert_eq!(versions(Some(RequestId::from(1)), 201), 201);
}

#[test]
fn an_id_asked_for_twice_is_served_once() {
    let id = ContentId::of(b"a");
    let message = written(|out| write_want(out, RequestId::from(1), [&id, &id]));
    let expected = Want {
        id: RequestId::from(1),
        ids: vec![id],
    };
    assert_eq!(message, Message::Want(expected));
}

#[test]
fn everyone_holds_the_system_collections() {
    let none = Holds::Only(BTreeSet::new());
    assert!(none.includes("sys.role"));
    assert!(!none.includes("sys"));
    assert!(!none.includes("system.a"));
    assert!(Holds::All.includes("app.a"));
}

#[test]
fn a_collection_no_collection_is_called_is_held_by_nobody() {
    let message =
        read(br#"{"v":8,"type":"reconcile","id":1,"collection":"a\ud800","message":"YQ"}"#);
    let expected = Reconcile {
        id: RequestId::from(1),
        collection: None,
        message: Some(vec![0x61]),
    };
    assert_eq!(message, Ok(Message::Reconcile(expected)));
}
