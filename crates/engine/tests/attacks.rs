//! What a peer, or a store that fails, may cost a host and the others.

#![allow(clippy::expect_used)]

mod support;

use engine::{Count, EngineConfig, Event, PeerId, PeerMessage, StoreFailure, WaitingLimit};
use minca_record::did::Did;
use minca_record::json::Object;
use minca_sync::item::Item;
use minca_sync::message::{Hello, Holds, Message, Reconciled, RequestId, Says, Want};
use minca_sync::negentropy::{FrameLimit, Responder, ResponderStep, SortedItems};
use support::host::Host;
use support::pen::{Draft, Pen, id_of, key, space};

fn host_and_pen(config: EngineConfig) -> (Host, Pen) {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let mut host = Host::with(key(900).did(), &space, config);
    host.join(1, founder.did());
    host.take_sent(1);
    (host, Pen::new(founder, &space))
}

/// A DID with which a host named `key(900)` initiates, or doesn't.
fn did_after(node: Did, after: bool) -> Did {
    (0..)
        .map(|n| key(2_000 + n).did())
        .find(|did| (*did > node) == after)
        .expect("one of both sorts")
}

fn hello(sums: &[(&str, Option<[u8; 16]>)], reply: bool) -> Message {
    Message::Hello(Hello {
        holds: Holds::All,
        sums: sums
            .iter()
            .map(|(name, sum)| ((*name).into(), *sum))
            .collect(),
        reply,
    })
}

fn want(version: &Object) -> Message {
    Message::Want(Want {
        id: RequestId::from(1),
        ids: vec![id_of(version)],
    })
}

fn records(pen: &mut Pen, count: usize) -> Vec<Object> {
    (0..count)
        .map(|n| pen.write(&Draft::first(&format!("r{n}"), "one")))
        .collect()
}

fn hellos(said: &[PeerMessage]) -> Vec<&Hello> {
    let as_hello = |it| match it {
        &PeerMessage::Sync(Message::Hello(ref hello)) => Some(hello),
        _ => None,
    };
    said.iter().filter_map(as_hello).collect()
}

#[test]
fn a_commit_that_landed_though_it_seemed_to_fail_is_summed_acknowledged_and_passed_on() {
    let (mut host, mut pen) = host_and_pen(EngineConfig::default());
    host.join(2, key(2).did());
    host.take_sent(2);
    let first = pen.write(&Draft::first("a", "one"));
    let edit = pen.write(&Draft::after(&first, Some("two")));
    host.hear_versions(1, std::slice::from_ref(&edit));
    host.settle();
    host.failing_commits = 1;
    host.lands_anyway = true;
    host.hear_versions(1, std::slice::from_ref(&first));
    host.settle();
    host.in_doubt = false;
    assert_eq!(host.rows.versions.len(), 2, "what waited for it went in");
    assert_eq!(host.acknowledged(1).len(), 2);
    let said = host.take_sent(2);
    let pushed = said
        .iter()
        .filter(|it| matches!(it, PeerMessage::Sync(Message::PushUpdate(_))))
        .count();
    assert_eq!(pushed, 2);
    // Its hello's sums are compared with those of the rows.
    host.join(3, key(3).did());
}

#[test]
fn a_version_the_store_cannot_take_keeps_no_other_out_for_long() {
    let (mut host, mut pen) = host_and_pen(EngineConfig::default());
    let versions = records(&mut pen, 300);
    for unfit in [0, 150, 299] {
        host.rows = support::rows::Rows::default();
        let space = host.space.clone();
        let config = EngineConfig::default();
        host.engine = host.rows.engine(key(900).did(), &space, config);
        host.join(1, pen.did);
        host.take_sent(1);
        host.unfit = Some(id_of(&versions[unfit]));
        host.commits = 0;
        for chunk in versions.chunks(100) {
            host.hear_versions(1, chunk);
        }
        // The store answers, so that no time need go by.
        while host.step() {}
        assert_eq!(host.rows.versions.len(), 299, "{unfit}");
        assert!(host.counts.contains(&Count::Unplaceable));
        assert!(host.commits < 40, "{unfit}: {} commits", host.commits);
    }
}

#[test]
fn a_commit_holds_no_more_versions_than_it_may() {
    let config = EngineConfig {
        versions_per_commit: 5,
        ..EngineConfig::default()
    };
    for seed in 0..20 {
        let (mut host, mut pen) = host_and_pen(config.clone());
        host.shuffle(seed);
        for version in records(&mut pen, 60) {
            host.hear_versions(1, &[version]);
        }
        host.settle();
        assert_eq!(host.rows.versions.len(), 60);
        assert!(
            host.largest_commit <= 5,
            "{} in one commit",
            host.largest_commit
        );
    }
}

#[test]
fn nothing_is_read_for_a_peer_that_left() {
    let (mut host, mut pen) = host_and_pen(EngineConfig::default());
    let version = pen.write(&Draft::first("a", "one"));
    host.hear_versions(1, std::slice::from_ref(&version));
    host.settle();
    host.failing_reads = 1;
    host.hear_sync(1, want(&version));
    while host.step() {}
    host.event(Event::PeerLeft { peer: PeerId(1) });
    let reads = host.reads;
    host.now += 60_000;
    host.event(Event::Tick);
    while host.step() {}
    assert_eq!(host.reads, reads);
}

#[test]
fn a_store_that_fails_is_left_alone_whatever_peers_ask() {
    let (mut host, mut pen) = host_and_pen(EngineConfig::default());
    let version = pen.write(&Draft::first("a", "one"));
    host.hear_versions(1, std::slice::from_ref(&version));
    host.settle();
    // A host that just opened the space has no items in memory.
    let space = host.space.clone();
    let config = EngineConfig::default();
    host.engine = host.rows.engine(key(900).did(), &space, config);
    for peer in 10..30 {
        host.join(peer, did_after(key(900).did(), true));
        host.take_sent(peer);
    }
    host.failing_reads = usize::MAX;
    host.reads = 0;
    host.hear_sync(10, want(&version));
    while host.step() {}
    for peer in 11..30 {
        host.hear_sync(peer, hello(&[("app.note", Some([7; 16]))], false));
        host.hear_sync(peer, want(&version));
        while host.step() {}
    }
    assert_eq!(host.reads, 1, "until it is tried again");
    host.failing_reads = 0;
    host.settle();
    for peer in 10..30 {
        let said = host.take_sent(peer);
        let answered = said
            .iter()
            .any(|it| matches!(it, PeerMessage::Sync(Message::Versions(_))));
        assert!(answered, "late, and answered all the same: {said:?}");
    }
}

#[test]
fn a_store_whose_commits_fail_is_asked_less_and_less_often() {
    let (mut host, mut pen) = host_and_pen(EngineConfig::default());
    host.failing_commits = usize::MAX;
    host.hear_versions(1, &[pen.write(&Draft::first("a", "one"))]);
    let end = host.now + 60_000;
    while host.now < end {
        while host.step() {}
        host.now = host.engine.next_wake().expect("something to do");
        host.event(Event::Tick);
    }
    assert!(host.commits < 15, "{} commits in a minute", host.commits);
}

#[test]
fn who_fills_the_intake_does_not_keep_others_out() {
    let config = EngineConfig {
        intake_bytes: 0,
        ..EngineConfig::default()
    };
    let (mut host, mut pen) = host_and_pen(config);
    host.join(9, key(2).did());
    host.take_sent(9);
    let versions = records(&mut pen, 30);
    for version in &versions[..20] {
        host.hear_versions(1, std::slice::from_ref(version));
    }
    host.hear_versions(9, &versions[20..21]);
    while host.acknowledged(9).is_empty() {
        assert!(host.step(), "never acknowledged");
        host.hear_versions(1, &versions[25..26]);
    }
    assert!(
        host.rows.versions.len() <= 4,
        "{} of another's went first",
        host.rows.versions.len()
    );
    host.settle();
    assert_eq!(host.rows.versions.len(), 22);
}

#[test]
fn a_stranger_never_makes_a_members_version_give_way() {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let config = EngineConfig {
        waiting_per_peer: WaitingLimit {
            versions: 3,
            bytes: 1 << 20,
        },
        ..EngineConfig::default()
    };
    let mut host = Host::with(key(900).did(), &space, config);
    host.join(1, key(11).did());
    let (mut member, mut stranger) = (Pen::new(founder, &space), Pen::new(key(50), &space));
    let chain = |pen: &mut Pen, name: String| {
        let first = pen.write(&Draft::first(&name, "one"));
        let edit = pen.write(&Draft::after(&first, Some("two")));
        (first, edit)
    };
    let good: Vec<_> = (0..3)
        .map(|n| chain(&mut member, format!("m{n}")))
        .collect();
    for (_, edit) in &good {
        host.hear_versions(1, std::slice::from_ref(edit));
    }
    for n in 0..5 {
        let (_, edit) = chain(&mut stranger, format!("s{n}"));
        host.hear_versions(1, &[edit]);
    }
    host.settle();
    for (first, _) in &good {
        host.hear_versions(1, std::slice::from_ref(first));
    }
    host.settle();
    assert_eq!(host.rows.versions.len(), 6);
}

#[test]
fn waiting_versions_are_bounded_by_bytes_too() {
    let config = EngineConfig {
        waiting_per_peer: WaitingLimit {
            versions: 100,
            bytes: 20_000,
        },
        ..EngineConfig::default()
    };
    let (mut host, mut pen) = host_and_pen(config);
    let long = "x".repeat(6_000);
    for n in 0..10 {
        let first = pen.write(&Draft::first(&format!("r{n}"), "one"));
        host.hear_versions(1, &[pen.write(&Draft::after(&first, Some(&long)))]);
        host.settle();
    }
    let (versions, bytes) = host.engine.waiting();
    assert!(versions == 2 || versions == 3, "{versions}");
    assert!(bytes <= 20_000);
}

#[test]
fn no_hello_names_more_collections_than_are_read_and_all_are_named_in_turn() {
    let (mut host, mut pen) = host_and_pen(EngineConfig::default());
    let names: Vec<String> = (0..1_100).map(|n| format!("app.c{n}")).collect();
    for chunk in names.chunks(200) {
        let versions: Vec<Object> = chunk
            .iter()
            .map(|collection| {
                pen.write(&Draft {
                    collection,
                    ..Draft::first(collection, "x")
                })
            })
            .collect();
        host.hear_versions(1, &versions);
        host.settle();
    }
    host.take_sent(1);
    let mut named = std::collections::BTreeSet::new();
    for peer in 20..24 {
        host.join(peer, key(peer).did());
        let said = host.take_sent(peer);
        let hellos = hellos(&said);
        assert_eq!(hellos.len(), 1, "one that is read");
        assert!(hellos[0].sums.len() <= 1_000);
        named.extend(hellos[0].sums.keys().map(ToString::to_string));
    }
    assert_eq!(named.len(), 1_100);
}

/// Answers every `reconcile` said to a peer as one that holds these items.
fn answer_sessions(host: &mut Host, peer: u64, items: &SortedItems) -> bool {
    let mut any = false;
    for message in host.take_sent(peer) {
        let PeerMessage::Sync(Message::Reconcile(reconcile)) = message else {
            continue;
        };
        let message = reconcile.message.expect("a message");
        let mut answer = Responder::new(message, FrameLimit::SYNC).expect("good");
        let ResponderStep::Done(says) = answer.step(items) else {
            panic!("all items are there");
        };
        any = true;
        host.hear_sync(
            peer,
            Message::Reconciled(Reconciled {
                id: reconcile.id,
                says: Says::Message(says),
            }),
        );
        while host.step() {}
    }
    any
}

#[test]
fn what_a_peer_claims_to_have_costs_a_bounded_memory() {
    let config = EngineConfig {
        ids_per_peer: 2_000,
        ..EngineConfig::default()
    };
    let (mut host, _) = host_and_pen(config);
    host.join(2, did_after(key(900).did(), true));
    host.take_sent(2);
    for round in 0..20u64 {
        let items: SortedItems = (0..3_000u64)
            .map(|n| Item {
                timestamp: n,
                id: minca_record::hash::sha256(&(round * 10_000 + n).to_be_bytes()),
            })
            .collect();
        host.hear_sync(2, hello(&[("app.note", Some([7; 16]))], false));
        while answer_sessions(&mut host, 2, &items) {}
        assert!(
            host.engine.ids_noted() <= 2_000,
            "{}",
            host.engine.ids_noted()
        );
    }
}

#[test]
fn what_a_peer_claims_to_lack_is_noted_once() {
    let config = EngineConfig {
        offer_bytes: 10,
        ids_per_peer: 500,
        ..EngineConfig::default()
    };
    let (mut host, mut pen) = host_and_pen(config);
    host.hear_versions(1, &records(&mut pen, 150));
    host.settle();
    host.join(2, did_after(key(900).did(), true));
    host.take_sent(2);
    for _ in 0..50 {
        host.hear_sync(2, hello(&[("app.note", Some([7; 16]))], false));
        while answer_sessions(&mut host, 2, &SortedItems::new()) {}
        assert!(
            host.engine.ids_noted() <= 500,
            "{}",
            host.engine.ids_noted()
        );
    }
}

#[test]
fn what_means_nothing_does_not_pile_up_while_a_peer_takes_nothing() {
    let config = EngineConfig {
        unsent_bytes: 100,
        ..EngineConfig::default()
    };
    let founder = key(1);
    let mut host = Host::with(key(900).did(), &space(&[&founder], &[]), config);
    host.join(1, founder.did());
    for _ in 0..50 {
        host.hear(1, br#"{"type":"x"}"#);
        host.hear(1, b"");
    }
    assert_eq!(host.handled, 50 * 12);
    for _ in 0..100 {
        host.hear(1, b"");
    }
    assert_eq!(host.closed.len(), 50, "the 101st closes");
}

#[test]
fn a_hello_goes_out_half_a_minute_after_something_came_in_and_every_five_minutes() {
    let (mut host, mut pen) = host_and_pen(EngineConfig::default());
    host.join(2, key(2).did());
    host.take_sent(2);
    let began = host.now;
    let hello_after = |host: &mut Host| {
        let from = host.now;
        loop {
            host.now = host.engine.next_wake().expect("a time");
            host.event(Event::Tick);
            let said = host.take_sent(2);
            if hellos(&said).len() == 1 {
                return host.now - from;
            }
        }
    };
    assert_eq!(hello_after(&mut host), 300_000);
    host.hear_versions(1, &[pen.write(&Draft::first("a", "one"))]);
    while host.step() {}
    host.take_sent(2);
    host.now += 20_000;
    host.hear_versions(1, &[pen.write(&Draft::first("b", "one"))]);
    while host.step() {}
    host.take_sent(2);
    assert_eq!(hello_after(&mut host), 10_000, "counted from the first");
    assert_eq!(hello_after(&mut host), 300_000);
    assert!(host.now > began);
}

#[test]
fn a_reply_after_a_session_takes_no_hello_away_that_is_due() {
    let (mut host, mut pen) = host_and_pen(EngineConfig::default());
    host.join(2, did_after(key(900).did(), true));
    host.take_sent(2);
    host.hear_versions(1, &[pen.write(&Draft::first("a", "one"))]);
    while host.step() {}
    host.take_sent(2);
    host.now += 10_000;
    host.hear_sync(2, hello(&[("app.other", Some([7; 16]))], false));
    let mut said = Vec::new();
    for _ in 0..10 {
        let now = host.take_sent(2);
        for message in &now {
            if let PeerMessage::Sync(Message::Reconcile(reconcile)) = message {
                let says = Says::NotHeld;
                let id = reconcile.id;
                host.hear_sync(2, Message::Reconciled(Reconciled { id, says }));
            }
        }
        while host.step() {}
        said.extend(now);
    }
    let replies = hellos(&said);
    assert!(replies.len() == 1 && replies[0].reply, "{said:?}");
    host.now += 20_000;
    host.event(Event::Tick);
    let said = host.take_sent(2);
    assert!(
        matches!(&hellos(&said)[..], [hello] if !hello.reply),
        "{said:?}"
    );
}

#[test]
fn no_wake_is_in_the_past_once_a_tick_is_handled() {
    let (mut host, mut pen) = host_and_pen(EngineConfig {
        unsent_bytes: 50,
        ..EngineConfig::default()
    });
    host.join(2, did_after(key(900).did(), true));
    host.failing_reads = 3;
    host.failure = StoreFailure::Unavailable;
    host.failing_commits = 3;
    host.hear_versions(1, &[pen.write(&Draft::first("a", "one"))]);
    host.hear_sync(2, hello(&[("app.note", Some([7; 16]))], false));
    for _ in 0..200 {
        while host.step() {}
        host.now = host.engine.next_wake().expect("a time");
        host.event(Event::Tick);
        assert!(host.engine.next_wake().is_none_or(|wake| wake > host.now));
    }
}

#[test]
fn of_hellos_over_the_limit_the_newest_is_answered_when_it_is_under_again() {
    let (mut host, mut pen) = host_and_pen(EngineConfig::default());
    host.hear_versions(1, &[pen.write(&Draft::first("a", "one"))]);
    host.settle();
    host.join(2, did_after(key(900).did(), false));
    host.take_sent(2);
    let answers = |host: &mut Host| hellos(&host.take_sent(2)).len();
    // A reply counts for nothing.
    for _ in 0..50 {
        host.hear_sync(2, hello(&[], true));
    }
    for _ in 0..30 {
        host.hear_sync(2, hello(&[], false));
    }
    assert_eq!(answers(&mut host), 30);
    for _ in 0..5 {
        host.hear_sync(2, hello(&[("app.x", None)], false));
    }
    assert_eq!(answers(&mut host), 0);
    let wake = host.engine.next_wake().expect("a time");
    assert_eq!(wake, host.now + 2_000);
    host.now = wake;
    host.event(Event::Tick);
    assert_eq!(answers(&mut host), 1, "one for all that were over it");
    host.now += 10_000;
    host.event(Event::Tick);
    assert_eq!(answers(&mut host), 0);
}

#[test]
fn wants_over_the_limit_are_answered_late() {
    let config = EngineConfig {
        wants_per_minute: 10,
        ..EngineConfig::default()
    };
    let (mut host, mut pen) = host_and_pen(config);
    let version = pen.write(&Draft::first("a", "one"));
    host.hear_versions(1, std::slice::from_ref(&version));
    host.settle();
    host.take_sent(1);
    for _ in 0..13 {
        host.hear_sync(1, want(&version));
    }
    let answers = |host: &mut Host| {
        while host.step() {}
        let said = host.take_sent(1);
        while host.step() {}
        let versions = |it: &&PeerMessage| matches!(it, PeerMessage::Sync(Message::Versions(_)));
        said.iter().filter(versions).count() + host.take_sent(1).iter().filter(versions).count()
    };
    assert_eq!(answers(&mut host), 10);
    for _ in 0..3 {
        host.now = host.engine.next_wake().expect("a time");
        host.event(Event::Tick);
        assert_eq!(answers(&mut host), 1);
    }
}

#[test]
fn what_the_host_holds_up_is_not_the_peers_silence() {
    let (mut host, mut pen) = host_and_pen(EngineConfig::default());
    let first = pen.write(&Draft::first("a", "one"));
    let edit = pen.write(&Draft::after(&first, Some("two")));
    host.hear_versions(1, &[edit]);
    while host.step() {}
    let said = host.take_sent(1);
    let asked = said.iter().find_map(|it| match it {
        PeerMessage::Sync(Message::Want(want)) => Some(want.id),
        _ => None,
    });
    // While the store fails, eight messages fill the peer's share and the answer waits.
    host.failing_commits = usize::MAX;
    for version in records(&mut pen, 8) {
        host.hear_versions(1, &[version]);
    }
    let answer = minca_sync::message::Versions {
        id: asked,
        versions: vec![first.into()],
    };
    host.hear_sync(1, Message::Versions(answer));
    for _ in 0..20 {
        while host.step() {}
        host.now += 10_000;
        host.event(Event::Tick);
    }
    host.failing_commits = 0;
    host.settle();
    assert_eq!(host.rows.versions.len(), 10, "the answer was taken");
}
