//! Workers that share the shards of one Postgres database.
#![allow(clippy::unwrap_used, reason = "a test that finds an error fails")]

#[path = "../../../tests/postgres_server/mod.rs"]
mod postgres_server;
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use link::{ConnectionId, ToFront};
use minca_record::constitution::Constitution;
use minca_record::did::Did;
use minca_record::signing::SigningKey;
use postgres_server::Server;
use store::postgres::{PostgresOptions, migrate};
use store::{Holder, Lease, NewSpace, PostgresStore, Shard, Store, TakeLease};
use support::Running;
use support::pen::{Draft, Pen, id_of, key, space};
use worker::{CarryError, WorkerConfig};

const AN_HOUR: Duration = Duration::from_secs(3_600);
const SHARDS: u32 = 8;
const FIRST: Holder = Holder([7; 16]);
const SECOND: Holder = Holder([8; 16]);

fn config(lease: Duration) -> WorkerConfig {
    WorkerConfig {
        verify_threads: 1,
        lease,
        ..WorkerConfig::default()
    }
}

/// A lease short enough to see it run out.
fn soon_over() -> WorkerConfig {
    config(Duration::from_millis(900))
}

fn options(server: &Server) -> PostgresOptions {
    PostgresOptions::new(&server.url(), 8, AN_HOUR).unwrap()
}

async fn divided() -> Server {
    let server = Server::start();
    migrate(&options(&server), Some(SHARDS)).await.unwrap();
    server
}

async fn open(server: &Server) -> Arc<dyn Store> {
    Arc::new(PostgresStore::open(&options(server)).await.unwrap())
}

/// A space in a shard that fits, and who founded it.
fn space_in(store: &dyn Store, fits: impl Fn(Shard) -> bool) -> (SigningKey, Constitution) {
    (1..)
        .map(|number| (key(number), space(&[&key(number)], &[])))
        .find(|(_, space)| fits(store.shard_of(&space.id())))
        .unwrap()
}

/// Takes a shard's lease as soon as it has run out.
async fn take(store: &dyn Store, shard: Shard, holder: Holder) -> Lease {
    loop {
        match store.take_lease(shard, holder, AN_HOUR).await.unwrap() {
            TakeLease::Taken(lease) => return lease,
            TakeLease::HeldByOther { .. } => pause().await,
        }
    }
}

async fn pause() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

/// Two workers, each with a half of the shards: the first with the lower one.
async fn two_halves(server: &Server, config: WorkerConfig) -> (Running, Running) {
    let store = open(server).await;
    for shard in SHARDS / 2..SHARDS {
        take(&*store, Shard(shard), SECOND).await;
    }
    let first = Running::start_on(config.clone(), open(server).await, FIRST).await;
    let second = Running::start_on(config, open(server).await, SECOND).await;
    (first, second)
}

fn is_lower(shard: Shard) -> bool {
    shard.0 < SHARDS / 2
}

/// Dials until it is let in, by a connection not had before; each refusal must be to try
/// again later.
async fn join_at_last(host: &mut Running, space: &Constitution, peer: Did) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1_000);
    loop {
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        host.front.admit(number, space.id(), peer).await;
        match host.front.next(number).await {
            ToFront::Refused { code, .. } => assert_eq!(code, 1013),
            answer => {
                let connection = ConnectionId(number);
                assert_eq!(answer, ToFront::Admitted { connection });
                return number;
            }
        }
        pause().await;
    }
}

#[tokio::test]
async fn two_workers_share_the_shards_and_refuse_what_is_in_the_others_for_later() {
    let server = divided().await;
    let (mut first, mut second) = two_halves(&server, config(AN_HOUR)).await;
    assert_eq!(first.metrics.shards.get(), 4);
    assert_eq!(second.metrics.shards.get(), 4);
    assert!(first.worker.is_ready() && second.worker.is_ready());

    let (founder, lower) = space_in(&*first.store, is_lower);
    let (_, upper) = space_in(&*first.store, |shard| !is_lower(shard));
    let row = NewSpace {
        space: upper.id(),
        constitution: upper.canonical(),
        read_key: None,
    };
    let refused = first.worker.carry(&row).await;
    assert!(matches!(refused, Err(CarryError::NotHere)), "{refused:?}");
    let refused = first.worker.stop_carrying(upper.id()).await;
    assert!(matches!(refused, Err(CarryError::NotHere)), "{refused:?}");
    first.carry(&lower).await;
    second.carry(&upper).await;

    // Were it opened, this would end its task, and the answer would be 1011.
    first.store.panics_at_open.store(true, Ordering::SeqCst);
    first.front.admit(1, upper.id(), key(1).did()).await;
    assert_eq!(first.front.next_code(1).await, 1013);
    first.store.panics_at_open.store(false, Ordering::SeqCst);
    second.front.join(2, upper.id(), key(1).did()).await;

    first.front.join(3, lower.id(), key(2).did()).await;
    let version = Pen::new(founder, &lower).write(&Draft::first("a", "one"));
    first.front.push(3, &version).await;
    assert_eq!(first.front.next_stored(3).await, [id_of(&version)]);
    // Each writes to the bucket what is in its own shards.
    assert!(second.worker.flush().await);
    assert_eq!((first.segments(), second.segments()), (0, 0));
    assert!(first.worker.flush().await);
    assert_eq!((first.segments(), second.segments()), (1, 0));

    // What one gives back is free at once.
    let (flushed, store, _folder) = first.stop().await;
    assert!(flushed);
    let free = store.take_lease(Shard(0), SECOND, AN_HOUR).await.unwrap();
    assert!(matches!(free, TakeLease::Taken(_)));
}

#[tokio::test]
async fn what_a_worker_held_that_renews_nothing_is_served_by_the_other() {
    let server = divided().await;
    let (mut first, mut second) = two_halves(&server, soon_over()).await;
    let (founder, lower) = space_in(&*first.store, is_lower);
    let mut pen = Pen::new(founder, &lower);
    first.carry(&lower).await;
    let reader = join_at_last(&mut first, &lower, key(1).did()).await;
    let version = pen.write(&Draft::first("a", "one"));
    first.front.push(reader, &version).await;
    assert_eq!(first.front.next_stored(reader).await, [id_of(&version)]);

    first.store.renews_nothing.store(true, Ordering::SeqCst);
    assert_eq!(first.front.next_code(reader).await, 1013);
    let reader = join_at_last(&mut second, &lower, key(1).did()).await;
    let hello = second.front.next_hello(reader).await;
    assert!(hello.sums.contains_key("app.note"));
    let version = pen.write(&Draft::first("b", "two"));
    second.front.push(reader, &version).await;
    assert_eq!(second.front.next_stored(reader).await, [id_of(&version)]);
    // And what the other left for the bucket is written by who has it now.
    assert!(second.worker.flush().await);
    assert!(second.segments() > 0);

    while second.metrics.shards.get() < i64::from(SHARDS) {
        pause().await;
    }
    first.store.renews_nothing.store(false, Ordering::SeqCst);
    while !first.worker.has_lost_its_leases() {
        pause().await;
    }
    assert!(!first.worker.is_ready());
    assert!(second.worker.is_ready() && !second.worker.has_lost_its_leases());
}

#[tokio::test]
async fn a_worker_goes_on_without_a_shard_that_it_lost_and_takes_it_back_once_it_is_free() {
    let server = divided().await;
    let mut host = Running::start_on(soon_over(), open(&server).await, FIRST).await;
    let (founder, lower) = space_in(&*host.store, is_lower);
    let (_, upper) = space_in(&*host.store, |shard| !is_lower(shard));
    host.carry(&lower).await;
    host.carry(&upper).await;
    let reader = join_at_last(&mut host, &lower, key(1).did()).await;

    let shard = host.store.shard_of(&lower.id());
    let other = open(&server).await;
    host.store.renews_nothing.store(true, Ordering::SeqCst);
    let taken = take(&*other, shard, SECOND).await;
    host.store.renews_nothing.store(false, Ordering::SeqCst);
    assert_eq!(host.front.next_code(reader).await, 1013);
    join_at_last(&mut host, &upper, key(1).did()).await;
    host.front.admit(1, lower.id(), key(1).did()).await;
    assert_eq!(host.front.next_code(1).await, 1013);
    assert!(host.worker.is_ready() && !host.worker.has_lost_its_leases());
    while host.metrics.shards.get() != i64::from(SHARDS) - 1 {
        pause().await;
    }

    other.release_lease(&taken).await.unwrap();
    let reader = join_at_last(&mut host, &lower, key(1).did()).await;
    let version = Pen::new(founder, &lower).write(&Draft::first("a", "one"));
    host.front.push(reader, &version).await;
    assert_eq!(host.front.next_stored(reader).await, [id_of(&version)]);
}

#[tokio::test]
async fn a_worker_that_holds_nothing_starts_once_a_single_shard_is_free() {
    let server = divided().await;
    let store = open(&server).await;
    let mut leases = Vec::new();
    for shard in 0..SHARDS {
        leases.push(take(&*store, Shard(shard), SECOND).await);
    }
    let starting = Running::start_on(soon_over(), open(&server).await, FIRST);
    let freeing = async {
        pause().await;
        store.release_lease(&leases[5]).await.unwrap();
    };
    let (host, ()) = tokio::join!(starting, freeing);
    assert!(host.worker.is_ready());
    assert_eq!(host.metrics.shards.get(), 1);
}

#[tokio::test]
async fn commits_of_several_shards_land_side_by_side_and_no_more_than_may() {
    let server = divided().await;
    let config = WorkerConfig {
        commits_at_once: 2,
        ..config(AN_HOUR)
    };
    let mut host = Running::start_on(config, open(&server).await, FIRST).await;
    let mut written = Vec::new();
    for number in 0..3 {
        let (founder, space) = space_in(&*host.store, |shard| shard == Shard(number));
        host.carry(&space).await;
        let connection = u64::from(number);
        host.front.join(connection, space.id(), founder.did()).await;
        let version = Pen::new(founder, &space).write(&Draft::first("a", "one"));
        written.push((connection, version));
    }
    let permits = host.store.hold_commits().await;
    for (connection, version) in &written {
        host.front.push(*connection, version).await;
    }
    host.store.until_commits_wait(2).await;
    for _ in 0..5 {
        pause().await;
    }
    host.store.commits.add_permits(permits);
    for (connection, version) in &written {
        assert_eq!(host.front.next_stored(*connection).await, [id_of(version)]);
    }
    assert_eq!(host.store.most_commits_waiting.load(Ordering::SeqCst), 2);
}
