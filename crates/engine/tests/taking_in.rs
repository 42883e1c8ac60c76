//! Versions on their way in: what is stored, what waits, what is refused, and
//! when whom is told.

mod support;

use engine::{Answer, Count, EngineConfig, PeerMessage, StoreFailure, WaitingLimit};
use minca_record::content_id::ContentId;
use minca_record::hash::hex40;
use minca_record::json::{Object, Value};
use minca_sync::message::Message;
use support::host::Host;
use support::pen::{Draft, Pen, id_of, key, space, stub_of};

fn host_and_pen() -> (Host, Pen) {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let mut host = Host::new(key(900).did(), &space);
    host.join(1, founder.did());
    host.take_sent(1);
    (host, Pen::new(founder, &space))
}

fn wants(messages: &[PeerMessage]) -> Vec<minca_record::content_id::ContentId> {
    let mut ids = Vec::new();
    for message in messages {
        if let PeerMessage::Sync(Message::Want(want)) = message {
            ids.extend(want.ids.iter().copied());
        }
    }
    ids
}

#[test]
fn a_version_is_acknowledged_once_it_is_committed() {
    let (mut host, mut pen) = host_and_pen();
    let version = pen.write(&Draft::first("a", "one"));
    host.hear_versions(1, std::slice::from_ref(&version));
    host.settle();
    assert_eq!(host.acknowledged(1), [id_of(&version)]);
    assert_eq!(host.rows.versions.len(), 1);
}

#[test]
fn a_version_is_passed_on_to_all_but_its_sender() {
    let (mut host, mut pen) = host_and_pen();
    host.join(2, key(2).did());
    host.take_sent(2);
    let version = pen.write(&Draft::first("a", "one"));
    host.hear_versions(1, std::slice::from_ref(&version));
    host.settle();
    let pushed = |messages: Vec<PeerMessage>| {
        messages
            .iter()
            .filter(|it| matches!(it, PeerMessage::Sync(Message::PushUpdate(_))))
            .count()
    };
    assert_eq!(pushed(host.take_sent(1)), 0);
    assert_eq!(pushed(host.take_sent(2)), 1);
}

#[test]
fn an_edit_takes_the_superseded_body_in_the_same_commit() {
    let (mut host, mut pen) = host_and_pen();
    let first = pen.write(&Draft::first("a", "one"));
    let edit = pen.write(&Draft::after(&first, Some("two")));
    host.hear_versions(1, std::slice::from_ref(&first));
    host.settle();
    host.hear_versions(1, std::slice::from_ref(&edit));
    host.settle();
    assert_eq!(host.rows.versions[&id_of(&first)].body, None);
    assert!(host.rows.versions[&id_of(&edit)].body.is_some());
}

#[test]
fn a_later_version_waits_for_the_one_before_it_and_asks_for_it() {
    let (mut host, mut pen) = host_and_pen();
    let first = pen.write(&Draft::first("a", "one"));
    let edit = pen.write(&Draft::after(&first, Some("two")));
    host.hear_versions(1, std::slice::from_ref(&edit));
    host.settle();
    let said = host.take_sent(1);
    assert_eq!(wants(&said), [id_of(&first)]);
    assert_eq!(host.engine.waiting().0, 1);
    assert!(host.rows.versions.is_empty());

    host.hear_versions(1, std::slice::from_ref(&first));
    host.settle();
    let acknowledged = host.acknowledged(1);
    assert!(
        acknowledged.contains(&id_of(&edit)),
        "acknowledged when it goes in"
    );
    assert_eq!(host.rows.versions.len(), 2);
    assert_eq!(host.engine.waiting(), (0, 0));
}

#[test]
fn a_bad_copy_never_spoils_a_later_good_one() {
    let (mut host, mut pen) = host_and_pen();
    let good = pen.write(&Draft::first("a", "one"));
    let mut bad = good.clone();
    bad.insert("signature", "A".repeat(86));
    host.hear_versions(1, &[bad]);
    host.settle();
    assert!(host.rows.versions.is_empty());
    assert!(host.counts.contains(&Count::Refused("signature-invalid")));
    host.hear_versions(1, &[good]);
    host.settle();
    assert_eq!(host.rows.versions.len(), 1);
}

#[test]
fn what_is_held_already_is_acknowledged_and_stored_once() {
    let (mut host, mut pen) = host_and_pen();
    let version = pen.write(&Draft::first("a", "one"));
    for _ in 0..2 {
        host.hear_versions(1, &[version.clone(), version.clone()]);
        host.settle();
        let acknowledged = host.acknowledged(1);
        assert!(!acknowledged.is_empty() && acknowledged.iter().all(|id| *id == id_of(&version)));
    }
    assert_eq!(host.rows.versions.len(), 1);
}

#[test]
fn a_stub_is_completed_by_its_whole_version_while_it_is_current() {
    let (mut host, mut pen) = host_and_pen();
    let first = pen.write(&Draft::first("a", "one"));
    host.hear_versions(1, &[stub_of(&first)]);
    host.settle();
    assert_eq!(host.rows.versions[&id_of(&first)].body, None);
    host.hear_versions(1, std::slice::from_ref(&first));
    host.settle();
    assert!(host.rows.versions[&id_of(&first)].body.is_some());

    let edit = pen.write(&Draft::after(&first, Some("two")));
    host.hear_versions(1, &[edit, first.clone()]);
    host.settle();
    assert_eq!(
        host.rows.versions[&id_of(&first)].body,
        None,
        "superseded: its body is not taken again"
    );
}

#[test]
fn a_stranger_is_refused_and_a_guest_may_change_only_its_own() {
    let (founder, guest, stranger) = (key(1), key(2), key(3));
    let space = space(&[&founder], &[&guest]);
    let mut host = Host::new(key(900).did(), &space);
    host.join(1, founder.did());
    let (mut founder, mut guest, mut stranger) = (
        Pen::new(founder, &space),
        Pen::new(guest, &space),
        Pen::new(stranger, &space),
    );
    let by_founder = founder.write(&Draft::first("a", "one"));
    let by_guest = guest.write(&Draft::first("b", "one"));
    let by_stranger = stranger.write(&Draft::first("c", "one"));
    let not_his = guest.write(&Draft::after(&by_founder, Some("two")));
    let his = guest.write(&Draft::after(&by_guest, None));
    let elsewhere = guest.write(&Draft {
        collection: "app.other",
        ..Draft::first("d", "one")
    });
    let sent = [
        &by_founder,
        &by_guest,
        &by_stranger,
        &not_his,
        &his,
        &elsewhere,
    ]
    .map(Clone::clone);
    host.hear_versions(1, &sent);
    host.settle();
    let stored = |version: &Object| host.rows.versions.contains_key(&id_of(version));
    assert!(stored(&by_founder) && stored(&by_guest) && stored(&his));
    assert!(!stored(&by_stranger) && !stored(&not_his) && !stored(&elsewhere));
}

#[test]
fn a_version_that_saw_an_access_change_waits() {
    let (mut host, mut pen) = host_and_pen();
    let other = id_of(&pen.write(&Draft::first("x", "x")));
    let version = pen.write_with(&Draft::first("a", "one"), |version| {
        version.insert("seen", vec![Value::from(other.to_string())]);
    });
    host.hear_versions(1, &[version]);
    host.settle();
    assert_eq!(host.engine.waiting().0, 1);
}

#[test]
fn a_failed_commit_is_made_again_and_nothing_is_acknowledged_before() {
    for failure in [StoreFailure::Unavailable, StoreFailure::DoesNotFit] {
        let (mut host, mut pen) = host_and_pen();
        host.failing_commits = 3;
        host.failure = failure;
        let versions: Vec<Object> = (0..40)
            .map(|n| pen.write(&Draft::first(&format!("r{n}"), "one")))
            .collect();
        host.hear_versions(1, &versions);
        host.settle();
        assert_eq!(host.rows.versions.len(), 40, "{failure:?}");
        assert_eq!(host.acknowledged(1).len(), 40);
    }
}

#[test]
fn a_lost_lease_gives_the_space_up() {
    let (mut host, mut pen) = host_and_pen();
    host.failing_commits = 1;
    host.failure = StoreFailure::Lost;
    host.hear_versions(1, &[pen.write(&Draft::first("a", "one"))]);
    while host.step() {}
    assert!(host.abandoned);
    assert!(host.acknowledged(1).is_empty());
}

#[test]
fn waiting_versions_are_bounded_per_peer_and_never_push_out_anothers() {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let limit = |versions| WaitingLimit {
        versions,
        bytes: 1 << 20,
    };
    let config = EngineConfig {
        waiting_per_peer: limit(3),
        waiting_per_space: limit(5),
        ..EngineConfig::default()
    };
    let mut host = Host::with(key(900).did(), &space, config);
    host.join(1, key(11).did());
    host.join(2, key(12).did());
    let mut pen = Pen::new(founder, &space);
    let mut orphans = |names: std::ops::Range<usize>| -> Vec<Object> {
        names
            .map(|n| {
                let first = pen.write(&Draft::first(&format!("r{n}"), "one"));
                pen.write(&Draft::after(&first, Some("two")))
            })
            .collect()
    };
    let (firsts, seconds) = (orphans(0..3), orphans(10..14));
    host.hear_versions(1, &firsts);
    host.settle();
    assert_eq!(
        host.engine.waiting().0,
        3,
        "three are within the peer's bound"
    );
    host.hear_versions(2, &seconds);
    host.settle();
    assert_eq!(host.engine.waiting().0, 5, "the space's bound holds");
    let limited = host
        .counts
        .iter()
        .filter(|count| **count == Count::Limited("waiting"))
        .count();
    assert_eq!(limited, 2, "two of the second peer's own gave way");
}

#[test]
fn every_byte_of_every_message_is_given_back() {
    let (mut host, mut pen) = host_and_pen();
    let good = pen.write(&Draft::first("a", "one"));
    let orphan = {
        let lost = pen.write(&Draft::first("b", "one"));
        pen.write(&Draft::after(&lost, None))
    };
    let mut bad = good.clone();
    bad.insert("space", "nowhere");
    host.hear_versions(1, &[good]);
    host.hear_versions(1, &[orphan]);
    host.hear_versions(1, &[bad]);
    host.hear_versions(1, &[]);
    host.hear(1, b"{}");
    host.hear(1, br#"{"type":"live","payload":1}"#);
    host.settle();
    assert_eq!(host.handled, 4 + 2 + 27);
}

#[test]
fn the_answers_are_counted() {
    let (mut host, mut pen) = host_and_pen();
    let first = pen.write(&Draft::first("a", "one"));
    host.hear_versions(1, &[first.clone(), first]);
    host.settle();
    let count = |answer| {
        host.counts
            .iter()
            .filter(|count| **count == Count::Answer(answer))
            .count()
    };
    assert_eq!((count(Answer::Stands), count(Answer::Held)), (1, 1));
}

/// An access change by the pen's account, as it arrives.
fn access_change(pen: &mut Pen, collection: &str, key: &str, body: &Value) -> Object {
    let draft = Draft {
        collection,
        retain: true,
        ..Draft::first("a", "replaced below")
    };
    let mut version = pen.write_with(&draft, |version| {
        version.insert("key", key);
        version.insert("bodyHash", ContentId::of(&body.canonical()).to_string());
    });
    version.insert("body", body.clone());
    version
}

#[test]
fn an_access_change_is_stored_when_it_yields_an_event_and_else_refused() {
    let (mut host, mut pen) = host_and_pen();
    let account = key(2).did().to_string();
    let removal = Value::from(Object::from([("did", &*account)]));
    let at = format!("remove:{}", hex40(&account));
    let good = access_change(&mut pen, "sys.remove", &at, &removal);
    let elsewhere = access_change(&mut pen, "sys.remove", "remove:elsewhere", &removal);
    host.hear_versions(1, &[good.clone(), elsewhere]);
    host.settle();
    assert_eq!(host.acknowledged(1), [id_of(&good)]);
    assert_eq!(host.rows.versions.len(), 1);
    assert!(host.counts.contains(&Count::Refused("no-event")));
}

#[test]
fn a_definitions_body_may_be_anything_at_a_definitions_key() {
    let (mut host, mut pen) = host_and_pen();
    let any = Value::from(vec![Value::from(1u32)]);
    let good = access_change(&mut pen, "sys.collection", "collection:app.note", &any);
    let elsewhere = access_change(&mut pen, "sys.collection", "role:editor", &any);
    host.hear_versions(1, &[good.clone(), elsewhere]);
    host.settle();
    assert_eq!(host.acknowledged(1), [id_of(&good)]);
    assert!(host.counts.contains(&Count::Refused("no-event")));
}
