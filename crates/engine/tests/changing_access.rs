//! Access that changes while records come in, in any order, over a store that fails: in
//! the end the same is stored, and the same is judged, as had it all come in order.

mod support;

use engine::{Answer, Count, EngineConfig, Event, PeerId, StoreFailure};
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{Object, Value};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use support::host::Host;
use support::pen::{Draft, Pen, id_of, key, private_space, stub_of};

/// What people did in a space, in the order they did it.
struct Story {
    space: Constitution,
    /// The founder, three guests, and someone nobody ever assigns anything.
    pens: Vec<Pen>,
    changes: Vec<ContentId>,
    records: Vec<Object>,
    versions: Vec<Object>,
}

const FOUNDER: usize = 0;
const GUESTS: std::ops::Range<usize> = 1..4;

impl Story {
    fn new() -> Story {
        let keys: Vec<_> = (1..6).map(key).collect();
        let space = private_space(&[&keys[FOUNDER]], &[&keys[1]], &key(50).did());
        Story {
            pens: keys.into_iter().map(|key| Pen::new(key, &space)).collect(),
            space,
            changes: Vec::new(),
            records: Vec::new(),
            versions: Vec::new(),
        }
    }

    /// One that changes access about as often as it writes records. Only the founder
    /// defines collections: a definition that may be struck later can have a version
    /// refused or not, whichever comes first (03 §5.2 step 9 asks `at(seen)`).
    fn random(random: &mut StdRng, length: usize) -> Story {
        let mut story = Story::new();
        for at in 0..length {
            let version = story.next(random, at as u64);
            story.versions.push(version);
        }
        story
    }

    /// Some of the changes so far, as one who didn't hear of all would name them.
    fn seen(&self, random: &mut StdRng) -> Vec<ContentId> {
        let newest = self.changes.len().saturating_sub(random.random_range(0..6));
        let mut seen = self.changes[..newest].to_vec();
        if random.random_bool(0.5) {
            seen.shuffle(random);
        } else {
            seen.reverse();
        }
        seen.truncate(random.random_range(0..4));
        seen
    }

    fn next(&mut self, random: &mut StdRng, at: u64) -> Object {
        let seen = self.seen(random);
        let guest = random.random_range(GUESTS);
        let did: Did = self.pens[guest].did;
        let founder = &mut self.pens[FOUNDER];
        let change = match random.random_range(0..14) {
            0 | 1 => founder.assign(&did, "guest", true, &seen),
            2 => founder.assign(&did, "guest", false, &seen),
            3 => founder.remove(&did, &seen),
            4 => self.pens[guest].remove(&did, &seen),
            5 => self.pens[guest].change_key(&key(60 + at).did(), &seen),
            6 => {
                let rules = match random.random_range(0..3) {
                    0 => Object::new(),
                    1 => Object::from([("final", true)]),
                    _ => Object::from([("fixed", Value::from(vec!["text".into()]))]),
                };
                let body = Object::from([
                    ("name", Value::from("app.note")),
                    ("version", 1u32.into()),
                    ("schema", Object::new().into()),
                    ("rules", rules.into()),
                ]);
                founder.define("app.note", body, &seen)
            }
            _ => return self.record(random, at, &seen),
        };
        self.changes.push(id_of(&change));
        change
    }

    fn record(&mut self, random: &mut StdRng, at: u64, seen: &[ContentId]) -> Object {
        let pen = random.random_range(0..self.pens.len());
        let prev = self.records.choose(random).cloned();
        let prev = prev.filter(|_| random.random_bool(0.6));
        let words = ["one", "two", "three"].choose(random).copied();
        let name = format!("r{at}");
        let draft = match &prev {
            Some(prev) => Draft::after(prev, words.filter(|_| random.random_bool(0.8))),
            None => Draft::first(&name, words.unwrap_or_default()),
        };
        let draft = Draft {
            retain: random.random_bool(0.4),
            second: at,
            ..draft
        };
        let version = self.pens[pen].write_seeing(&draft, seen);
        self.records.push(version.clone());
        version
    }
}

fn node() -> Did {
    key(900).did()
}

/// Has a peer of its own push versions one by one, and says what each was answered.
fn told(host: &mut Host, peer: u64, versions: &[Object]) -> Vec<Vec<Answer>> {
    host.join(peer, key(300 + peer).did());
    let mut told = Vec::new();
    for version in versions {
        host.counts.clear();
        host.hear_versions(peer, std::slice::from_ref(version));
        host.settle();
        host.take_sent(peer);
        told.push(answers(host));
    }
    told
}

fn answers(host: &Host) -> Vec<Answer> {
    let answers = host.counts.iter().filter_map(|count| match count {
        Count::Answer(answer) => Some(*answer),
        _ => None,
    });
    answers.collect()
}

/// What is kept: versions with their forms, the heads of records, the read key.
fn kept(host: &Host) -> impl PartialEq + std::fmt::Debug + use<> {
    let versions = host.rows.versions.values();
    let versions: Vec<_> = versions.map(|row| (row.id, row.body.clone())).collect();
    let read_key = host.rows.read_key.or(host.rows.first_read_key);
    (versions, host.rows.records.clone(), read_key)
}

/// Versions with stubs of some of them. Of those that `plain` holds: rules that read a
/// body pass its stub, so that what is refused whole may be stored as one (03 §5.2 step 11).
fn with_stubs(story: &Story, plain: &Host, random: &mut StdRng) -> Vec<Object> {
    let mut versions = story.versions.clone();
    for record in &story.records {
        let is_stored = plain.rows.versions.contains_key(&id_of(record));
        let may_be_stub = record.contains("body") && !record.contains("retain");
        if is_stored && may_be_stub && random.random_bool(0.3) {
            versions.push(stub_of(record));
        }
    }
    versions
}

/// Has some peers push versions in any order and grouping, while the store fails and the
/// host is started again now and then.
fn come_in_somehow(
    host: &mut Host,
    config: &EngineConfig,
    mut versions: Vec<Object>,
    random: &mut StdRng,
) {
    versions.shuffle(random);
    let mut peer = 1;
    host.join(peer, key(200 + peer).did());
    while !versions.is_empty() {
        let count = random.random_range(1..8).min(versions.len());
        let some: Vec<Object> = versions.drain(..count).collect();
        host.hear_versions(peer, &some);
        for _ in 0..random.random_range(0..12) {
            if !host.step()
                && let Some(wake) = host.engine.next_wake()
            {
                host.now = host.now.max(wake);
                host.event(Event::Tick);
            }
        }
        match random.random_range(0..12) {
            0 => host.restart(node(), config.clone()),
            1 | 2 => host.event(Event::PeerLeft { peer: PeerId(peer) }),
            _ => continue,
        }
        peer += 1;
        host.join(peer, key(200 + peer % 3).did());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_first_and_whatever_fails_the_same_is_stored_and_judged(
        seed in any::<u64>(),
        length in 1usize..40,
        replay_steps in prop_oneof![1u64..200, Just(200_000)],
        versions_per_commit in 1usize..9,
        one_fails_of in prop_oneof![Just(None), (2u32..8).prop_map(Some)],
        lands_anyway in any::<bool>(),
        fits in any::<bool>(),
    ) {
        let mut random = StdRng::seed_from_u64(seed);
        let mut story = Story::random(&mut random, length);
        let mut plain = Host::new(node(), &story.space);
        told(&mut plain, 1, &story.versions);

        let config = EngineConfig {
            replay_steps,
            versions_per_commit,
            first_bodies_per_read: 2,
            ..EngineConfig::default()
        };
        let mut host = Host::with(node(), &story.space, config.clone());
        host.shuffle(seed);
        host.one_fails_of = one_fails_of;
        host.lands_anyway = lands_anyway;
        host.failure = if fits { StoreFailure::Unavailable } else { StoreFailure::DoesNotFit };
        let versions = with_stubs(&story, &plain, &mut random);
        come_in_somehow(&mut host, &config, versions, &mut random);
        host.one_fails_of = None;
        host.settle();
        // What was dropped, or lost as it was started again, is found again in a later
        // round, of a store that works.
        told(&mut host, 1_000, &story.versions);
        prop_assert_eq!(kept(&host), kept(&plain));
        let handled = host.handled_by.get(&PeerId(1_000)).copied();
        prop_assert_eq!(handled, Some(story.versions.len()), "every message is given back");
        if let Some(read_key) = host.read_key {
            prop_assert_eq!(Some(read_key), host.rows.read_key);
        }

        // What is judged from now on is judged alike: by this host, by one that read
        // all of it from the store, and by the one all of it came to in order.
        let probes: Vec<Object> = (0..12)
            .map(|n| {
                let seen = story.seen(&mut random);
                story.record(&mut random, 1_000 + n, &seen)
            })
            .collect();
        let mut again = Host::new(node(), &story.space);
        again.rows = host.rows.clone();
        again.restart(node(), EngineConfig::default());
        let said = told(&mut host, 1_001, &probes);
        prop_assert_eq!(&said, &told(&mut again, 1_001, &probes));
        prop_assert_eq!(&said, &told(&mut plain, 1_001, &probes));
    }
}
