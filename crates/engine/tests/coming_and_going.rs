//! Peers that come and go, stores that fail, hosts in a ring: in the end everyone
//! has the same.

mod support;

use std::collections::BTreeMap;

use engine::{EngineConfig, Event, PeerId, PeerMessage, StoreFailure};
use minca_record::did::Did;
use minca_record::json::{Object, Value};
use minca_sync::message::{Message, Versions, Want};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use support::host::{Host, talk_all};
use support::pen::{Draft, Pen, id_of, key, space};

/// Chains of several versions, some deleted, in the order they were written.
fn history(pen: &mut Pen, records: u64, salt: &str) -> Vec<Object> {
    let mut versions = Vec::new();
    for n in 0..records {
        let mut last = pen.write(&Draft {
            second: n,
            retain: n % 3 == 0,
            ..Draft::first(&format!("{salt}{n}"), "one")
        });
        for edit in 0..n % 4 {
            let next = pen.write(&Draft {
                second: n + edit,
                ..Draft::after(&last, (edit < 2).then_some("next"))
            });
            versions.push(std::mem::replace(&mut last, next));
        }
        versions.push(last);
    }
    versions
}

#[test]
fn three_hosts_in_a_ring_reach_the_same_rows() {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let nodes: Vec<Did> = (0..3).map(|n| key(900 + n).did()).collect();
    let mut hosts: Vec<Host> = nodes.iter().map(|node| Host::new(*node, &space)).collect();
    let mut pen = Pen::new(founder, &space);
    let mut all = 0;
    for (n, host) in hosts.iter_mut().enumerate() {
        host.join(70, key(1).did());
        for chunk in history(&mut pen, 60, &format!("h{n}-")).chunks(50) {
            all += chunk.len();
            host.hear_versions(70, chunk);
            host.settle();
        }
        host.event(Event::PeerLeft { peer: PeerId(70) });
        host.sent.clear();
    }
    for (host, to) in [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)] {
        hosts[host].join(to as u64, nodes[to]);
    }
    for _ in 0..5 {
        talk_all(&mut hosts);
        for host in &mut hosts {
            host.now += 40_000;
            host.event(Event::Tick);
        }
    }
    talk_all(&mut hosts);
    for host in &hosts {
        assert_eq!(host.rows.versions.len(), all);
        assert_eq!(host.rows, hosts[0].rows);
        assert_eq!(host.engine.waiting(), (0, 0));
        assert_eq!(host.engine.ids_noted(), 0);
    }
    // Hosts that are level have nothing more to say but their hellos.
    for host in &mut hosts {
        host.now += 300_000;
        host.event(Event::Tick);
        let quiet = host.sent.iter().all(|(_, message)| {
            matches!(
                support::host::read(message),
                PeerMessage::Sync(Message::Hello(_))
            )
        });
        assert!(quiet);
    }
}

#[test]
fn what_was_not_asked_for_is_not_taken_from_an_answer() {
    let (lower, higher) = {
        let (a, b) = (key(900).did(), key(901).did());
        if a < b { (a, b) } else { (b, a) }
    };
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let mut host = Host::new(lower, &space);
    host.join(1, higher);
    host.take_sent(1);
    let mut pen = Pen::new(founder, &space);
    let first = pen.write(&Draft::first("a", "one"));
    let edit = pen.write(&Draft::after(&first, Some("two")));
    let other = pen.write(&Draft::first("b", "one"));
    let answer = |id, versions: &[&Object]| {
        let versions = versions.iter().map(|it| Value::Object((*it).clone()));
        Message::Versions(Versions {
            id: Some(id),
            versions: versions.collect(),
        })
    };
    host.hear_versions(1, std::slice::from_ref(&edit));
    while host.step() {}
    let asked = host.take_sent(1).into_iter().find_map(|it| match it {
        PeerMessage::Sync(Message::Want(Want { id, ids })) => Some((id, ids)),
        _ => None,
    });
    let (id, ids) = asked.expect("asks for what it follows");
    assert_eq!(ids, [id_of(&first)]);
    host.hear_sync(1, answer(9.into(), &[&other]));
    host.hear_sync(1, answer(id, &[&other, &first, &first]));
    host.hear_sync(1, answer(id, &[&other]));
    host.settle();
    assert_eq!(
        host.rows.versions.len(),
        2,
        "nothing that was not asked for"
    );
    assert!(!host.rows.versions.contains_key(&id_of(&other)));
}

#[test]
fn what_an_answer_left_out_is_asked_for_again_while_answers_bring_something() {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let mut host = Host::new(key(900).did(), &space);
    host.join(1, founder.did());
    host.take_sent(1);
    let mut pen = Pen::new(founder, &space);
    let chains: Vec<(Object, Object)> = (0..5)
        .map(|n| {
            let first = pen.write(&Draft::first(&format!("r{n}"), "one"));
            let edit = pen.write(&Draft::after(&first, Some("two")));
            (first, edit)
        })
        .collect();
    let edits: Vec<Object> = chains.iter().map(|(_, edit)| edit.clone()).collect();
    host.hear_versions(1, &edits);
    while host.step() {}
    let mut asked = 0;
    let mut rounds = 0;
    loop {
        let said = host.take_sent(1);
        let wants: Vec<&Want> = said
            .iter()
            .filter_map(|it| match it {
                PeerMessage::Sync(Message::Want(want)) => Some(want),
                _ => None,
            })
            .collect();
        if wants.is_empty() {
            break;
        }
        rounds += 1;
        for want in wants {
            asked += want.ids.len();
            // One at a time, and in the end nothing.
            let brought: Vec<Value> = chains
                .iter()
                .filter(|(first, _)| id_of(first) == want.ids[0] && rounds < 4)
                .map(|(first, _)| Value::Object(first.clone()))
                .collect();
            host.hear_sync(
                1,
                Message::Versions(Versions {
                    id: Some(want.id),
                    versions: brought,
                }),
            );
        }
        while host.step() {}
    }
    assert_eq!(host.rows.versions.len(), 6, "three chains went in");
    assert_eq!(
        asked,
        5 + 4 + 3 + 2,
        "and what brought nothing was not asked again"
    );
}

#[test]
fn what_a_peer_lacks_goes_out_newest_first_and_a_records_versions_together() {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let (lower, higher) = {
        let (a, b) = (key(900).did(), key(901).did());
        if a < b { (a, b) } else { (b, a) }
    };
    let config = EngineConfig {
        ids_per_request: 7,
        ..EngineConfig::default()
    };
    let mut a = Host::with(lower, &space, config);
    let mut pen = Pen::new(founder, &space);
    a.join(7, key(1).did());
    let mut last = BTreeMap::new();
    let mut firsts = Vec::new();
    for n in 0..30u64 {
        let first = pen.write(&Draft {
            second: n,
            ..Draft::first(&format!("r{n:02}"), "one")
        });
        a.hear_versions(7, std::slice::from_ref(&first));
        firsts.push(first);
    }
    for n in [3usize, 17, 25] {
        let edit = pen.write(&Draft {
            second: 100 + n as u64,
            ..Draft::after(&firsts[n], Some("two"))
        });
        a.hear_versions(7, std::slice::from_ref(&edit));
        last.insert(support::pen::text(&edit, "key").to_owned(), id_of(&edit));
    }
    a.settle();
    a.event(Event::PeerLeft { peer: PeerId(7) });
    a.sent.clear();
    let mut b = Host::new(higher, &space);
    // As each other's only peer, numbered by their place.
    a.join(1, higher);
    b.join(0, lower);
    let mut hosts = [a, b];
    let mut sent: Vec<Vec<Object>> = Vec::new();
    for _ in 0..200 {
        let [a, b] = &mut hosts;
        while a.step() {}
        while b.step() {}
        for (_, message) in &a.sent {
            if let PeerMessage::Sync(Message::Versions(versions)) = support::host::read(message) {
                let objects = versions.versions.into_iter().filter_map(Value::into_object);
                sent.push(objects.collect());
            }
        }
        for (from, to) in [(0, 1), (1, 0)] {
            for (peer, message) in std::mem::take(&mut hosts[from].sent) {
                let bytes = message.len();
                hosts[from].event(Event::Room { peer, bytes });
                hosts[to].hear(from as u64, &message);
            }
        }
    }
    assert_eq!(hosts[1].rows, hosts[0].rows);
    let mut before = u64::MAX;
    for message in &sent {
        assert!(message.len() <= 7);
        let mut by_key: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for version in message {
            let item = hosts[0].rows.versions[&id_of(version)].timestamp;
            let key = support::pen::text(version, "key");
            by_key.entry(key).or_default().push(item);
        }
        for (key, times) in &by_key {
            let whole = if last.contains_key(*key) { 2 } else { 1 };
            assert_eq!(times.len(), whole, "a record's versions go together");
        }
        let newest = by_key.values().filter_map(|it| it.iter().max()).max();
        let newest = *newest.expect("not empty");
        assert!(newest <= before, "newest first");
        before = newest;
    }
    assert_eq!(sent.iter().map(Vec::len).sum::<usize>(), 33);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]

    /// Peers join, say things, leave and come back while reads and commits fail at
    /// random, some of them after they landed: in the end the rows are those of one
    /// peer that said all of it to a store that works; sums are those of the rows;
    /// and everyone present got back what it said, to the byte.
    #[test]
    fn nothing_is_lost_whoever_leaves_and_whatever_fails(
        seed in any::<u64>(),
        records in 1u64..14,
        one_fails_of in 2u32..8,
        lands_anyway in any::<bool>(),
        intake_bytes in prop_oneof![Just(0usize), Just(1 << 20)],
        group in 1usize..12,
    ) {
        let founder = key(1);
        let space = space(&[&founder], &[]);
        let mut pen = Pen::new(founder.clone(), &space);
        let versions = history(&mut pen, records, "r");
        let mut plain = Host::new(key(900).did(), &space);
        plain.join(1, founder.did());
        for version in &versions {
            plain.hear_versions(1, std::slice::from_ref(version));
            plain.settle();
        }

        let mut random = StdRng::seed_from_u64(seed);
        let config = EngineConfig { intake_bytes, versions_per_commit: group, ..EngineConfig::default() };
        let mut host = Host::with(key(900).did(), &space, config);
        host.shuffle(seed);
        host.one_fails_of = Some(one_fails_of);
        host.lands_anyway = lands_anyway;
        host.failure = StoreFailure::Unavailable;
        let mut said: BTreeMap<u64, usize> = BTreeMap::new();
        let mut next_peer = 0;
        for _ in 0..120 {
            match random.random_range(0..10) {
                0 | 1 => {
                    next_peer += 1;
                    said.insert(next_peer, 0);
                    // Two sockets of one DID now and then.
                    host.join(next_peer, key(100 + next_peer % 4).did());
                }
                2 => if let Some(peer) = said.keys().copied().collect::<Vec<_>>().choose_one(&mut random) {
                    said.remove(&peer);
                    host.event(Event::PeerLeft { peer: PeerId(peer) });
                },
                3 | 4 => if let Some(peer) = said.keys().copied().collect::<Vec<_>>().choose_one(&mut random) {
                    let mut some = versions.clone();
                    some.shuffle(&mut random);
                    some.truncate(random.random_range(1..6));
                    host.hear_versions(peer, &some);
                    *said.entry(peer).or_default() += 1;
                },
                5 => if let Some(peer) = said.keys().copied().collect::<Vec<_>>().choose_one(&mut random) {
                    let ids = versions.iter().map(id_of).collect();
                    host.hear_sync(peer, Message::Want(Want { id: 5.into(), ids }));
                    *said.entry(peer).or_default() += 1;
                },
                6 => {
                    if let Some(wake) = host.engine.next_wake() {
                        host.now = host.now.max(wake);
                    }
                    host.event(Event::Tick);
                }
                _ => {
                    for _ in 0..random.random_range(1..6) {
                        host.step();
                    }
                    for peer in said.keys() {
                        host.take_sent(*peer);
                    }
                }
            }
        }
        host.one_fails_of = None;
        next_peer += 1;
        host.join(next_peer, key(99).did());
        said.insert(next_peer, 0);
        for version in &versions {
            host.hear_versions(next_peer, std::slice::from_ref(version));
            *said.entry(next_peer).or_default() += 1;
        }
        for _ in 0..200 {
            while host.step() {}
            for peer in said.keys() {
                host.take_sent(*peer);
            }
            if let Some(wake) = host.engine.next_wake().filter(|wake| *wake < host.now + 29_000) {
                host.now = host.now.max(wake);
                host.event(Event::Tick);
            }
        }
        host.in_doubt = false;
        prop_assert_eq!(host.engine.waiting(), (0, 0));
        let kept = |host: &Host| host.rows.versions.values().map(|row| (row.id, row.body.clone())).collect::<Vec<_>>();
        prop_assert_eq!(kept(&host), kept(&plain));
        prop_assert_eq!(&host.rows.records, &plain.rows.records);
        // Its hello is compared with the rows, and so are its items, by a host that is level.
        host.join(next_peer + 1, key(98).did());
        host.take_sent(next_peer + 1);
        for (peer, bytes) in &said {
            let handled = host.handled_by.get(&PeerId(*peer)).copied().unwrap_or_default();
            prop_assert_eq!(handled, *bytes, "peer {}", peer);
        }
    }
}

/// Carries what hosts say over the links that are up; what is said over others is lost.
fn carry_over(hosts: &mut [Host], links: &BTreeMap<(usize, u64), (usize, u64)>) {
    for from in 0..hosts.len() {
        for (peer, message) in std::mem::take(&mut hosts[from].sent) {
            let Some((to, as_peer)) = links.get(&(from, peer.0)).copied() else {
                continue;
            };
            let bytes = message.len();
            hosts[from].event(Event::Room { peer, bytes });
            hosts[to].hear(as_peer, &message);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Three hosts in a ring, each with versions of its own and of common records, whose
    /// links break and whose stores fail: once all is well they reach the same rows.
    #[test]
    fn a_ring_whose_links_break_and_whose_stores_fail_reaches_the_same_rows(
        seed in any::<u64>(),
        records in 3u64..12,
        one_fails_of in 3u32..9,
        lands_anyway in any::<bool>(),
        offer_bytes in prop_oneof![Just(1usize), Just(1 << 20)],
    ) {
        let founder = key(1);
        let space = space(&[&founder], &[]);
        let mut random = StdRng::seed_from_u64(seed);
        let nodes: Vec<Did> = (0..3).map(|n| key(900 + n).did()).collect();
        let config = EngineConfig { offer_bytes, items_per_read: 7, ids_per_request: 5, ..EngineConfig::default() };
        let mut hosts: Vec<Host> = nodes
            .iter()
            .map(|node| Host::with(*node, &space, config.clone()))
            .collect();
        let mut pen = Pen::new(founder.clone(), &space);
        let versions = history(&mut pen, records, "r");
        for (n, host) in hosts.iter_mut().enumerate() {
            host.join(1_000, founder.did());
            for version in &versions {
                if random.random_bool(0.5) {
                    host.hear_versions(1_000, std::slice::from_ref(version));
                }
            }
            host.settle();
            host.event(Event::PeerLeft { peer: PeerId(1_000) });
            host.sent.clear();
            host.shuffle(seed.wrapping_add(n as u64));
            host.one_fails_of = Some(one_fails_of);
            host.lands_anyway = lands_anyway;
        }
        // Links by both their ends: a host, and the other's number there.
        let mut links: BTreeMap<(usize, u64), (usize, u64)> = BTreeMap::new();
        let mut next_peer = 0;
        for _ in 0..150 {
            match random.random_range(0..12) {
                0 => {
                    let (a, b) = [(0, 1), (1, 2), (2, 0)][random.random_range(0..3)];
                    let up = links.iter().find(|((from, _), (to, _))| (*from, *to) == (a, b));
                    if let Some((one, other)) = up.map(|(one, other)| (*one, *other)) {
                        for (host, peer) in [one, other] {
                            links.remove(&(host, peer));
                            hosts[host].event(Event::PeerLeft { peer: PeerId(peer) });
                        }
                    } else {
                        next_peer += 1;
                        links.insert((a, next_peer), (b, next_peer));
                        links.insert((b, next_peer), (a, next_peer));
                        hosts[a].join(next_peer, nodes[b]);
                        hosts[b].join(next_peer, nodes[a]);
                    }
                }
                1 => for host in &mut hosts {
                    if let Some(wake) = host.engine.next_wake() {
                        host.now = host.now.max(wake);
                        host.event(Event::Tick);
                    }
                },
                _ => {
                    for host in &mut hosts {
                        host.step();
                    }
                    carry_over(&mut hosts, &links);
                }
            }
        }
        for (host, peer) in links.keys().copied().collect::<Vec<_>>() {
            hosts[host].event(Event::PeerLeft { peer: PeerId(peer) });
        }
        links.clear();
        for host in &mut hosts {
            host.one_fails_of = None;
            host.sent.clear();
            // What is still judged again, whoever sent it.
            host.settle();
        }
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            next_peer += 1;
            links.insert((a, next_peer), (b, next_peer));
            links.insert((b, next_peer), (a, next_peer));
            hosts[a].join(next_peer, nodes[b]);
            hosts[b].join(next_peer, nodes[a]);
        }
        // Minutes of hellos, each followed to its end.
        for _ in 0..12 {
            for _ in 0..400 {
                for host in &mut hosts {
                    while host.step() {}
                }
                carry_over(&mut hosts, &links);
            }
            for host in &mut hosts {
                host.in_doubt = false;
                host.now += 31_000;
                host.event(Event::Tick);
            }
        }
        let known: std::collections::BTreeSet<_> = hosts
            .iter()
            .flat_map(|host| host.rows.versions.keys().copied())
            .collect();
        for host in &hosts {
            prop_assert_eq!(host.rows.versions.len(), known.len());
            let bodies = |host: &Host| host.rows.versions.values().map(|row| row.body.clone()).collect::<Vec<_>>();
            prop_assert_eq!(bodies(host), bodies(&hosts[0]));
            prop_assert_eq!(&host.rows.records, &hosts[0].rows.records);
            prop_assert_eq!(host.engine.ids_noted(), 0);
        }
    }
}

trait ChooseOne {
    fn choose_one(&self, random: &mut StdRng) -> Option<u64>;
}

impl ChooseOne for Vec<u64> {
    fn choose_one(&self, random: &mut StdRng) -> Option<u64> {
        (!self.is_empty()).then(|| self[random.random_range(0..self.len())])
    }
}
