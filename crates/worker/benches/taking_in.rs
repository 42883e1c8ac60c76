//! Taking versions in, from the wire's bytes to committed rows: what a version costs the
//! host's processor and the database's, against one bare verify in the same run.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::unwrap_used,
    unreachable_pub,
    dead_code
)]

#[path = "../../engine/tests/support/pen.rs"]
mod pen;
#[path = "../../../tests/postgres_server/mod.rs"]
mod postgres_server;

use std::hint::black_box;
use std::time::{Duration, Instant};

use engine::{Effect, Engine, EngineConfig, Event, Judge, PeerId, PeerMessage, Space, Vetter};
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::json::Object;
use minca_record::note::sign_note;
use minca_record::signature::PublicKey;
use minca_sync::envelope::write_sync;
use minca_sync::envelope::{Envelope, Kind};
use minca_sync::frame::Frame;
use minca_sync::message::{Message, write_versions};
use pen::{Draft, Pen, id_of, key, space};
use postgres_server::Server;
use store::postgres::{PostgresOptions, migrate};
use store::{Holder, NewSpace, PostgresStore, Shard, SpaceBatch, SqliteStore, Store, TakeLease};

const MESSAGES: usize = 100;
const PER_MESSAGE: usize = 200;
const MEMBERS: u64 = 50;
/// A version, and its note, as most are.
const WORDS: usize = 300;
const HOSTS_BAR: f64 = 1.7;
const DATABASES_BAR: f64 = 0.7;
const AN_HOUR: Duration = Duration::from_secs(3_600);

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(measure());
}

/// The messages of a device that uploads: its account's member, under a note.
fn messages(space: &Constitution, founder: &mut Pen) -> (Vec<Object>, Vec<Vec<u8>>, usize) {
    let mut changes = Vec::new();
    let mut seen = Vec::new();
    for number in 0..MEMBERS {
        let change = founder.assign(&key(100 + number).did(), "guest", true, &seen);
        seen = vec![id_of(&change)];
        changes.push(change);
    }
    let account = key(100);
    let mut device = Pen::new(key(90), space);
    let note = sign_note(
        Object::from([
            ("iss", account.did().to_string().into()),
            ("aud", device.did.to_string().into()),
            ("sub", account.did().to_string().into()),
            ("cmd", "/".into()),
            ("pol", Vec::<minca_record::json::Value>::new().into()),
            ("nonce", "AAECAwQFBgcICQoL".into()),
            ("exp", minca_record::json::Value::Null),
        ]),
        &account,
    );
    let words = "x".repeat(WORDS);
    let mut bytes = 0;
    let owner = minca_record::hash::hex40(&account.did().to_string());
    let messages = (0..MESSAGES)
        .map(|message| {
            let versions: Vec<Vec<u8>> = (0..PER_MESSAGE)
                .map(|number| {
                    let draft = Draft {
                        second: (message * PER_MESSAGE + number) as u64 % 3_600,
                        ..Draft::first("", &words)
                    };
                    let name = format!("{owner}:{message}x{number}");
                    let version = device.write_with(&draft, |version| {
                        version.insert("key", name);
                        version.insert("seen", vec![seen[0].to_string().into()]);
                        version.insert("proof", note.clone());
                    });
                    version.canonical()
                })
                .collect();
            bytes += versions.iter().map(Vec::len).sum::<usize>();
            write_sync(&device.did, |out| {
                write_versions(out, None, versions.iter().map(Vec::as_slice));
            })
        })
        .collect();
    (changes, messages, bytes)
}

async fn measure() {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let mut pen = Pen::new(founder, &space);
    let (changes, messages, bytes) = messages(&space, &mut pen);
    let changes: Vec<Vec<u8>> = changes.iter().map(Object::canonical).collect();
    let changes = write_sync(&pen.did, |out| {
        write_versions(out, None, changes.iter().map(Vec::as_slice));
    });
    let verify = bare_verify();
    println!(
        "{} versions of {} bytes in messages of {PER_MESSAGE}, a history of {MEMBERS} changes; a verify takes {verify:.1?}",
        MESSAGES * PER_MESSAGE,
        bytes / (MESSAGES * PER_MESSAGE)
    );

    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).await.unwrap();
    let (each, rate) = take_in(&store, &space, &changes, &messages, cpu).await;
    println!(
        "SQLite: {each:.1?} of processor each, {:.2} of a verify, the database's with it; {rate:.0}/s",
        each.as_secs_f64() / verify.as_secs_f64()
    );

    let server = Server::start();
    let options = PostgresOptions::new(&server.url(), 4, AN_HOUR).unwrap();
    migrate(&options, Some(1)).await.unwrap();
    let store = PostgresStore::open(&options).await.unwrap();
    let before = postgres();
    let (each, rate) = take_in(&store, &space, &changes, &messages, cpu).await;
    let database = (postgres() - before) / (MESSAGES * PER_MESSAGE) as u32;
    println!("Postgres: {rate:.0}/s");
    compare("the host", each, verify, HOSTS_BAR);
    compare("Postgres", database, verify, DATABASES_BAR);
}

fn compare(who: &str, each: Duration, verify: Duration, bar: f64) {
    let ratio = each.as_secs_f64() / verify.as_secs_f64();
    let verdict = if ratio <= bar { "met" } else { "MISSED" };
    println!("  {who}: {each:.1?} of processor each, {ratio:.2} of a verify, bar {bar}: {verdict}");
}

/// What a version took by `clock`, and how many went in a second.
async fn take_in(
    store: &dyn Store,
    space: &Constitution,
    changes: &[u8],
    messages: &[Vec<u8>],
    clock: fn() -> Duration,
) -> (Duration, f64) {
    let mut host = Host::open(store, space).await;
    host.hear(changes).await;
    let before = clock();
    let start = Instant::now();
    for message in messages {
        host.hear(message).await;
    }
    let (took, wall) = (clock() - before, start.elapsed());
    let versions = MESSAGES * PER_MESSAGE;
    assert_eq!(host.stored, versions + MEMBERS as usize);
    (took / versions as u32, versions as f64 / wall.as_secs_f64())
}

/// What every Postgres process of this machine took of processors so far, in the
/// kernel's hundredths of a second. Nothing else may run one meanwhile.
fn postgres() -> Duration {
    let mut hundredths = 0_i64;
    for process in std::fs::read_dir("/proc").unwrap() {
        let path = process.unwrap().path();
        let Ok(statistics) = std::fs::read_to_string(path.join("stat")) else {
            continue;
        };
        let Some((name, rest)) = statistics.rsplit_once(')') else {
            continue;
        };
        if !name.ends_with("(postgres") {
            continue;
        }
        let numbers: Vec<i64> = rest
            .split_whitespace()
            .filter_map(|it| it.parse().ok())
            .collect();
        // Counted from `ppid`: user and system time.
        hundredths += numbers[10] + numbers[11];
    }
    Duration::from_millis(hundredths.unsigned_abs() * 10)
}

/// What the process took of processors so far.
fn cpu() -> Duration {
    let mut whole = Duration::ZERO;
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let statistics = std::fs::read_to_string(task.unwrap().path().join("schedstat")).unwrap();
        let nanoseconds = statistics.split_whitespace().next().unwrap();
        whole += Duration::from_nanos(nanoseconds.parse().unwrap());
    }
    whole
}

fn bare_verify() -> Duration {
    const TIMES: u32 = 5_000;
    let signer = key(7);
    let message = [7; 600];
    let signature = signer.sign(&message);
    let public = PublicKey::parse(&signer.did().to_string()).unwrap();
    let start = cpu();
    for _ in 0..TIMES {
        assert!(black_box(&public).verify(black_box(&message), &signature));
    }
    (cpu() - start) / TIMES
}

/// One space at a host, everything in one thread.
struct Host<'a> {
    store: &'a dyn Store,
    lease: store::Lease,
    space: Space,
    engine: Engine,
    vetter: Vetter,
    stored: usize,
}

impl<'a> Host<'a> {
    async fn open(store: &'a dyn Store, constitution: &Constitution) -> Host<'a> {
        let space = constitution.id();
        let lease = lease(store).await;
        let new = NewSpace {
            space,
            constitution: constitution.canonical(),
            read_key: None,
        };
        store.carry(&lease, &new).await.unwrap();
        let opened = store.open(&space).await.unwrap().unwrap();
        let judge = Judge::open(constitution.clone(), &opened.access).unwrap();
        let node = key(900).did();
        let config = EngineConfig::default();
        let mut host = Host {
            store,
            lease,
            space: Space {
                id: space,
                is_private: false,
            },
            engine: Engine::new(node, opened.sums, judge, None, config),
            vetter: Vetter::default(),
            stored: 0,
        };
        host.event(Event::PeerJoined {
            peer: PeerId(1),
            did: key(90).did(),
        })
        .await;
        host
    }

    async fn hear(&mut self, message: &[u8]) {
        let envelope = Envelope::read(Frame::Binary(message)).unwrap().unwrap();
        assert!(matches!(envelope.kind, Kind::Sync));
        let read = Message::read(envelope.payload).unwrap();
        self.event(Event::Message {
            peer: PeerId(1),
            message: PeerMessage::Sync(read),
            bytes: message.len(),
        })
        .await;
    }

    async fn event(&mut self, event: Event) {
        let mut events = vec![event];
        while let Some(event) = events.pop() {
            let mut effects = Vec::new();
            self.engine.handle(1_000, event, &mut effects);
            for effect in effects {
                if let Some(event) = self.carry_out(effect).await {
                    events.push(event);
                }
            }
        }
    }

    async fn carry_out(&mut self, effect: Effect) -> Option<Event> {
        let id: ContentId = self.space.id;
        Some(match effect {
            Effect::Verify { job, versions, .. } => {
                let space = self.space;
                let outcomes = versions.into_iter();
                let outcomes = outcomes.map(|version| self.vetter.vet(version, space));
                Event::Verified {
                    job,
                    outcomes: outcomes.collect(),
                }
            }
            Effect::Read { job, wanted } => Event::Found {
                job,
                found: Ok(self.store.read(&id, &wanted).await.unwrap()),
            },
            Effect::Commit { job, batch } => {
                self.stored += batch.keep.len();
                let batch = SpaceBatch { space: id, batch };
                let answers = self.store.commit(&self.lease, &[batch]).await.unwrap();
                assert!(answers[0].is_ok());
                Event::Committed {
                    job,
                    outcome: Ok(()),
                }
            }
            Effect::Send { peer, message } => Event::Room {
                peer,
                bytes: message.len(),
            },
            Effect::ReadItems { .. } | Effect::ReadVersions { .. } => {
                panic!("nothing is asked for")
            }
            _ => return None,
        })
    }
}

async fn lease(store: &dyn Store) -> store::Lease {
    let holder = Holder([1; 16]);
    match store.take_lease(Shard(0), holder, AN_HOUR).await.unwrap() {
        TakeLease::Taken(lease) => lease,
        other => panic!("{other:?}"),
    }
}
