//! Sessions: two hosts that meet, and what a peer may expect of one.

mod support;

use engine::{Count, EngineConfig, Event, PeerId, PeerMessage, StoreFailure};
use minca_record::did::Did;
use minca_record::json::Object;
use minca_sync::message::{Hello, Holds, Message, Reconcile, RequestId, Says, Want};
use proptest::prelude::*;
use support::host::{Host, talk};
use support::pen::{Draft, Pen, id_of, key, space, stub_of};

/// Two keys' DIDs, the lower first.
fn nodes() -> (Did, Did) {
    let (a, b) = (key(901).did(), key(902).did());
    if a.to_string() < b.to_string() {
        (a, b)
    } else {
        (b, a)
    }
}

/// Records with edits and deletes among them, oldest first.
fn history(pen: &mut Pen, records: u64) -> Vec<Object> {
    let mut versions = Vec::new();
    for n in 0..records {
        let name = format!("r{n}");
        let first = pen.write(&Draft {
            second: n,
            ..Draft::first(&name, "one")
        });
        versions.push(first.clone());
        if n % 5 == 0 {
            let edit = pen.write(&Draft {
                second: n + 7,
                ..Draft::after(&first, Some("two"))
            });
            versions.push(edit.clone());
            if n % 10 == 0 {
                versions.push(pen.write(&Draft {
                    second: n + 9,
                    ..Draft::after(&edit, None)
                }));
            }
        }
    }
    versions
}

fn meet(lower_has_them: bool) {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let (lower, higher) = nodes();
    let (mut a, mut b) = (Host::new(lower, &space), Host::new(higher, &space));
    let mut pen = Pen::new(founder.clone(), &space);
    let holder = if lower_has_them { &mut a } else { &mut b };
    holder.join(7, founder.did());
    for chunk in history(&mut pen, 500).chunks(200) {
        holder.hear_versions(7, chunk);
        holder.settle();
    }
    holder.event(Event::PeerLeft { peer: PeerId(7) });
    holder.sent.clear();
    assert_eq!(holder.rows.versions.len(), 650);

    a.join(1, higher);
    b.join(1, lower);
    talk(&mut a, &mut b);
    assert_eq!(a.rows, b.rows);
    assert_eq!(b.rows.versions.len(), 650);
    assert_eq!(a.engine.waiting(), (0, 0));
    assert_eq!(b.engine.waiting(), (0, 0));
}

#[test]
fn a_late_joiner_gets_everything_when_the_holder_initiates() {
    meet(true);
}

#[test]
fn a_late_joiner_gets_everything_when_it_initiates() {
    meet(false);
}

#[test]
fn what_each_has_apart_comes_across_both_ways() {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let (lower, higher) = nodes();
    let (mut a, mut b) = (Host::new(lower, &space), Host::new(higher, &space));
    let mut pen = Pen::new(founder.clone(), &space);
    let common = history(&mut pen, 60);
    for (host, extra) in [(&mut a, 40), (&mut b, 30)] {
        host.join(7, founder.did());
        host.hear_versions(7, &common);
        let own: Vec<Object> = (0..extra)
            .map(|n| {
                pen.write(&Draft {
                    collection: "app.other",
                    ..Draft::first(&format!("{extra}-{n}"), "x")
                })
            })
            .collect();
        host.hear_versions(7, &own);
        host.settle();
        host.event(Event::PeerLeft { peer: PeerId(7) });
        host.sent.clear();
    }
    a.join(1, higher);
    b.join(1, lower);
    talk(&mut a, &mut b);
    assert_eq!(a.rows, b.rows);
    assert_eq!(a.rows.versions.len(), common.len() + 70);
}

#[test]
fn a_reconcile_that_cannot_be_parsed_is_answered_empty_at_once() {
    let founder = key(1);
    let mut host = Host::new(key(900).did(), &space(&[&founder], &[]));
    host.join(1, founder.did());
    host.take_sent(1);
    for message in [None, Some(vec![0x61, 0x00, 0x00, 0x09]), Some(vec![])] {
        let id = RequestId::from(7);
        host.hear_sync(
            1,
            Message::Reconcile(Reconcile {
                id,
                collection: Some("app.note".into()),
                message,
            }),
        );
        let said = host.take_sent(1);
        let [PeerMessage::Sync(Message::Reconciled(answer))] = &said[..] else {
            panic!("expected one answer, got {said:?}");
        };
        assert_eq!((answer.id, &answer.says), (id, &Says::Message(vec![])));
    }
}

#[test]
fn a_want_is_always_answered_with_what_fits() {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let config = EngineConfig {
        answer_bytes: 2_000,
        ..EngineConfig::default()
    };
    let mut host = Host::with(key(900).did(), &space, config);
    let mut pen = Pen::new(founder.clone(), &space);
    host.join(1, founder.did());
    let versions = history(&mut pen, 20);
    host.hear_versions(1, &versions);
    host.settle();
    host.take_sent(1);
    let ask = |host: &mut Host, ids: Vec<_>| {
        host.hear_sync(
            1,
            Message::Want(Want {
                id: RequestId::from(3),
                ids,
            }),
        );
        while host.step() {}
        let said = host.take_sent(1);
        let [PeerMessage::Sync(Message::Versions(answer))] = &said[..] else {
            panic!("expected one answer, got {said:?}");
        };
        assert_eq!(answer.id, Some(RequestId::from(3)));
        answer.versions.len()
    };
    let ids: Vec<_> = versions.iter().map(id_of).collect();
    let given = ask(&mut host, ids.clone());
    assert!(given >= 1 && given < ids.len());
    assert_eq!(ask(&mut host, vec![]), 0);
    let unknown = id_of(&pen.write(&Draft::first("nowhere", "x")));
    assert_eq!(ask(&mut host, vec![unknown]), 0);
}

#[test]
fn a_peer_that_takes_nothing_costs_its_buffer_and_is_told_by_a_hello() {
    let (writer, reader) = (key(1), key(2));
    let space = space(&[&writer], &[]);
    let config = EngineConfig {
        unsent_bytes: 4_000,
        ..EngineConfig::default()
    };
    let mut host = Host::with(key(900).did(), &space, config);
    host.join(1, writer.did());
    host.join(2, reader.did());
    let mut pen = Pen::new(writer, &space);
    for n in 0..100 {
        host.hear_versions(1, &[pen.write(&Draft::first(&format!("r{n}"), "one"))]);
        host.settle();
        host.take_sent(1);
    }
    assert_eq!(
        host.rows.versions.len(),
        100,
        "a commit never waits for a peer"
    );
    let unread: usize = host.sent.iter().map(|(_, message)| message.len()).sum();
    assert!(
        unread < 8_000,
        "{unread} bytes wait for a peer that takes none"
    );
    assert!(host.counts.contains(&Count::Limited("unsent")));

    host.take_sent(2);
    host.now += 2_000;
    host.event(Event::Tick);
    let said = host.take_sent(2);
    assert!(
        matches!(&said[..], [PeerMessage::Sync(Message::Hello(_))]),
        "told once it has room: {said:?}"
    );
}

#[test]
fn what_a_slow_peer_says_waits_until_it_takes_what_it_asked_for() {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let config = EngineConfig {
        unsent_bytes: 100,
        ..EngineConfig::default()
    };
    let mut host = Host::with(key(900).did(), &space, config);
    host.join(1, founder.did());
    let want = || {
        Message::Want(Want {
            id: RequestId::from(1),
            ids: vec![],
        })
    };
    let before = host.handled;
    host.hear_sync(1, want());
    assert_eq!(host.handled, before, "its greeting was not taken yet");
    host.take_sent(1);
    assert_eq!(host.handled, before + 1);
}

#[test]
fn a_hundred_malformed_messages_are_taken_and_the_next_closes() {
    let founder = key(1);
    let mut host = Host::new(key(900).did(), &space(&[&founder], &[]));
    host.join(1, founder.did());
    for _ in 0..100 {
        host.hear(1, b"not json");
    }
    assert!(host.closed.is_empty());
    host.hear(1, b"[]");
    assert_eq!(host.closed, [(PeerId(1), 1008)]);
}

#[test]
fn a_session_that_hears_nothing_is_given_up_and_begun_again_at_the_next_hello() {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let (lower, higher) = nodes();
    let mut host = Host::new(lower, &space);
    host.join(1, higher);
    host.take_sent(1);
    let hello = || {
        let sums = [("app.note".into(), Some([7; 16]))].into();
        Message::Hello(Hello {
            holds: Holds::All,
            sums,
            reply: false,
        })
    };
    let reconciles = |host: &mut Host| {
        host.take_sent(1)
            .iter()
            .filter(|it| matches!(it, PeerMessage::Sync(Message::Reconcile(_))))
            .count()
    };
    host.hear_sync(1, hello());
    assert_eq!(reconciles(&mut host), 1);
    host.hear_sync(1, hello());
    assert_eq!(
        reconciles(&mut host),
        0,
        "one session of a collection at a time"
    );
    host.now += 31_000;
    host.event(Event::Tick);
    host.hear_sync(1, hello());
    assert_eq!(reconciles(&mut host), 1);
}

#[test]
fn the_peer_whose_did_sorts_first_initiates_and_the_other_replies_once() {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let (lower, higher) = nodes();
    let mut host = Host::new(higher, &space);
    host.join(1, lower);
    host.take_sent(1);
    let hello = |reply| {
        Message::Hello(Hello {
            holds: Holds::All,
            sums: [("app.note".into(), None)].into(),
            reply,
        })
    };
    host.hear_sync(1, hello(false));
    let said = host.take_sent(1);
    assert!(
        matches!(&said[..], [PeerMessage::Sync(Message::Hello(hello))] if hello.reply),
        "{said:?}"
    );
    host.hear_sync(1, hello(true));
    assert!(
        host.take_sent(1).is_empty(),
        "a reply is never answered by another hello"
    );
}

/// One random history: chains that fork, some retained, some deleted, as versions
/// in the order they were written.
fn random_history(pen: &mut Pen, choices: &[(u8, u8)]) -> Vec<Object> {
    let mut versions: Vec<Object> = Vec::new();
    for (at, (what, which)) in choices.iter().enumerate() {
        let second = u64::from(*which);
        let retain = what % 7 == 0;
        let name = format!("r{}", which % 5);
        let version = match (what % 4, versions.is_empty()) {
            (0, _) | (_, true) => pen.write(&Draft {
                retain,
                second,
                ..Draft::first(&name, &format!("{at}"))
            }),
            (1, _) => {
                let prev = versions[usize::from(*which) % versions.len()].clone();
                pen.write(&Draft {
                    retain,
                    second,
                    ..Draft::after(&prev, None)
                })
            }
            _ => {
                let prev = versions[usize::from(*which) % versions.len()].clone();
                pen.write(&Draft {
                    retain,
                    second,
                    ..Draft::after(&prev, Some(&format!("{at}")))
                })
            }
        };
        versions.push(version);
    }
    versions
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Any order, any grouping, repeats, stubs first, commits that fail, work done
    /// in any order: the same rows as one by one in the order they were written.
    #[test]
    fn any_way_in_gives_the_same_rows(
        choices in prop::collection::vec(any::<(u8, u8)>(), 1..40),
        order in any::<u64>(),
        failing in 0usize..4,
        group in 1usize..9,
    ) {
        use rand::seq::SliceRandom;
        use rand::{RngExt, SeedableRng};
        let founder = key(1);
        let space = space(&[&founder], &[]);
        let mut pen = Pen::new(founder.clone(), &space);
        let versions = random_history(&mut pen, &choices);

        let mut plain = Host::new(key(900).did(), &space);
        plain.join(1, founder.did());
        for version in &versions {
            plain.hear_versions(1, std::slice::from_ref(version));
            plain.settle();
        }

        let mut random = rand::rngs::StdRng::seed_from_u64(order);
        let mut shuffled = versions.clone();
        for version in &versions {
            if version.contains("body") && !version.contains("retain") && random.random_bool(0.3) {
                shuffled.push(stub_of(version));
            }
        }
        shuffled.shuffle(&mut random);
        let mut host = Host::new(key(900).did(), &space);
        host.shuffle(order);
        host.failing_commits = failing;
        host.failure = if order % 2 == 0 { StoreFailure::Unavailable } else { StoreFailure::DoesNotFit };
        host.join(1, founder.did());
        host.join(2, key(2).did());
        for chunk in shuffled.chunks(group) {
            host.hear_versions(1 + u64::from(random.random_bool(0.5)), chunk);
            for _ in 0..random.random_range(0..4) {
                host.step();
            }
        }
        host.settle();
        // Whatever gave way, or was dropped because a store said that it does not fit,
        // is found again in a later round, of a store that works.
        host.failing_commits = 0;
        host.hear_versions(1, &versions);
        host.settle();
        prop_assert_eq!(host.engine.waiting(), (0, 0));
        let kept = |host: &Host| host.rows.versions.values().map(|row| (row.id, row.body.clone())).collect::<Vec<_>>();
        prop_assert_eq!(kept(&host), kept(&plain));
        prop_assert_eq!(&host.rows.records, &plain.rows.records);
    }
}
