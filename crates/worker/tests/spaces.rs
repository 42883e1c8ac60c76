//! A worker over a real store, heard and spoken to as a front-end does.

mod support;

use std::sync::atomic::Ordering;
use std::time::Duration;

use link::{ConnectionId, ToFront, ToWorker};
use minca_record::constitution::Constitution;
use minca_record::json::Object;
use store::{Holder, Shard, Store, TakeLease};
use support::Running;
use support::pen::{Draft, Pen, id_of, key, space};
use worker::WorkerConfig;

fn quick() -> WorkerConfig {
    WorkerConfig {
        verify_threads: 1,
        idle_close: Duration::from_millis(50),
        ..WorkerConfig::default()
    }
}

/// A worker that holds one space, and a pen to write there.
async fn running(config: WorkerConfig) -> (Running, Constitution, Pen) {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let running = Running::start(config).await;
    running.carry(&space).await;
    let pen = Pen::new(founder, &space);
    (running, space, pen)
}

fn note(pen: &mut Pen, name: &str) -> Object {
    pen.write(&Draft::first(name, "one"))
}

#[tokio::test]
async fn what_one_connection_sends_reaches_the_other_once_it_is_stored() {
    let (mut host, space, mut pen) = running(quick()).await;
    host.front.join(1, space.id(), key(1).did()).await;
    host.front.join(2, space.id(), key(2).did()).await;
    let version = note(&mut pen, "a");
    host.front.push(1, &version).await;
    assert_eq!(host.front.next_stored(1).await, [id_of(&version)]);
    assert_eq!(host.front.next_pushed(2).await, id_of(&version));
    let held = host
        .store
        .versions(&space.id(), &[id_of(&version)], 1)
        .await;
    assert_eq!(held.unwrap().len(), 1);
}

#[tokio::test]
async fn an_idle_space_is_closed_and_opened_again_with_what_it_had() {
    let (mut host, space, mut pen) = running(quick()).await;
    host.front.join(1, space.id(), key(1).did()).await;
    host.front.push(1, &note(&mut pen, "a")).await;
    host.front.next_stored(1).await;
    host.open_spaces(1).await;
    host.front.gone(1).await;
    host.open_spaces(0).await;
    host.front.join(2, space.id(), key(1).did()).await;
    let hello = host.front.next_hello(2).await;
    assert!(hello.sums.contains_key("app.note"));
}

#[tokio::test]
async fn whoever_comes_while_a_space_closes_gets_an_answer() {
    let config = WorkerConfig {
        idle_close: Duration::from_micros(300),
        ..quick()
    };
    let (mut host, space, _) = running(config).await;
    for connection in 0..300 {
        let pause = u64::from(rand::random::<u16>()) % 1_500;
        tokio::time::sleep(Duration::from_micros(pause)).await;
        host.front.join(connection, space.id(), key(1).did()).await;
        host.front.gone(connection).await;
    }
}

#[tokio::test]
async fn a_space_held_no_more_lets_everyone_go_and_nobody_in() {
    let (mut host, space, _) = running(quick()).await;
    host.front.join(1, space.id(), key(1).did()).await;
    host.front.join(2, space.id(), key(2).did()).await;
    assert!(host.worker.stop_carrying(space.id()).await.unwrap());
    assert_eq!(host.front.next_code(1).await, 4003);
    assert_eq!(host.front.next_code(2).await, 4003);
    host.front.admit(3, space.id(), key(3).did()).await;
    assert_eq!(host.front.next_code(3).await, 4003);
    host.carry(&space).await;
    host.front.join(4, space.id(), key(3).did()).await;
}

#[tokio::test]
async fn a_changed_read_key_lets_everyone_go_and_one_that_is_the_same_nobody() {
    let (mut host, space, mut pen) = running(quick()).await;
    host.front.join(1, space.id(), key(1).did()).await;
    host.carry(&space).await;
    let version = note(&mut pen, "a");
    host.front.push(1, &version).await;
    assert_eq!(host.front.next_stored(1).await, [id_of(&version)]);
    host.carry_with(&space, Some(key(5).did())).await;
    assert_eq!(host.front.next_code(1).await, 4003);
    host.front.admit(2, space.id(), key(1).did()).await;
    assert_eq!(host.front.next_code(2).await, 4003, "proved no read key");
    host.front
        .admit_on(3, space.id(), key(1).did(), key(5).did())
        .await;
    let connection = ConnectionId(3);
    assert_eq!(host.front.next(3).await, ToFront::Admitted { connection });
}

#[tokio::test]
async fn a_space_let_go_of_amid_a_commit_is_opened_with_what_that_wrote() {
    let (mut host, space, mut pen) = running(quick()).await;
    host.front.join(1, space.id(), key(1).did()).await;
    let permits = host.store.hold_commits().await;
    host.front.push(1, &note(&mut pen, "a")).await;
    host.store.until_a_commit_waits().await;
    // Lets everyone go; the commit is still under way.
    host.worker.stop_carrying(space.id()).await.unwrap();
    host.carry(&space).await;
    assert_eq!(host.front.next_code(1).await, 4003);
    host.front.admit(2, space.id(), key(1).did()).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    host.store.commits.add_permits(permits);
    let connection = ConnectionId(2);
    assert_eq!(host.front.next(2).await, ToFront::Admitted { connection });
    let hello = host.front.next_hello(2).await;
    assert!(
        hello.sums.contains_key("app.note"),
        "its sums lack what was committed"
    );
    // And the bucket gets it, though nobody waited for that commit.
    assert!(host.worker.flush().await);
    assert_eq!(host.segments(), 1);
}

#[tokio::test]
async fn the_older_of_two_sockets_of_one_did_goes_and_takes_nothing_along() {
    let (mut host, space, mut pen) = running(quick()).await;
    host.front.join(1, space.id(), key(1).did()).await;
    // One that is not let in closes nobody.
    host.front
        .admit_on(9, space.id(), key(1).did(), key(5).did())
        .await;
    assert_eq!(host.front.next_code(9).await, 4003);
    let version = note(&mut pen, "a");
    host.front.push(1, &version).await;
    assert_eq!(host.front.next_stored(1).await, [id_of(&version)]);
    host.front.join(2, space.id(), key(1).did()).await;
    assert_eq!(host.front.next_code(1).await, 4009);
    host.front.gone(1).await;
    host.front.join(3, space.id(), key(3).did()).await;
    let version = note(&mut pen, "b");
    host.front.push(3, &version).await;
    assert_eq!(host.front.next_pushed(2).await, id_of(&version));
}

#[tokio::test]
async fn a_space_that_panics_closes_its_own_peers_and_no_others() {
    let (mut host, first, mut pen) = running(quick()).await;
    let second = space(&[&key(1), &key(2)], &[]);
    host.carry(&second).await;
    host.front.join(1, first.id(), key(1).did()).await;
    host.store.panics_at_open.store(true, Ordering::SeqCst);
    host.front.admit(2, second.id(), key(2).did()).await;
    assert_eq!(host.front.next_code(2).await, 1011);
    host.front.push(1, &note(&mut pen, "a")).await;
    host.front.next_stored(1).await;
    host.front.join(3, second.id(), key(2).did()).await;
}

#[tokio::test]
async fn a_commit_that_panics_is_made_again() {
    let (mut host, space, mut pen) = running(quick()).await;
    host.front.join(1, space.id(), key(1).did()).await;
    host.store.panics_at_commit.store(true, Ordering::SeqCst);
    let version = note(&mut pen, "a");
    host.front.push(1, &version).await;
    assert_eq!(host.front.next_stored(1).await, [id_of(&version)]);
}

#[tokio::test]
async fn a_stop_stores_and_writes_to_the_bucket_what_is_on_its_way_in() {
    for _ in 0..5 {
        let (mut host, space, mut pen) = running(quick()).await;
        host.front.join(1, space.id(), key(1).did()).await;
        let versions: Vec<Object> = (0..100).map(|n| note(&mut pen, &format!("r{n}"))).collect();
        host.front.send_versions(1, &versions).await;
        host.front.gone(1).await;
        let (flushed, store, _folder) = host.stop().await;
        assert!(flushed);
        let carried = store.carried(None, 10).await.unwrap();
        assert_eq!(carried[0].versions, 100);
        let lacking = store.spaces_to_segment(Shard(0), 10).await.unwrap();
        assert!(lacking.is_empty());
    }
}

#[tokio::test]
async fn a_bucket_that_fails_is_written_to_again() {
    let config = WorkerConfig {
        flush_after: Duration::from_millis(50),
        ..quick()
    };
    let (mut host, space, mut pen) = running(config).await;
    // A file where the space's folder is to be.
    let blocks = host
        .folder
        .path()
        .join("bucket")
        .join(space.id().to_string());
    std::fs::write(&blocks, b"no folder").unwrap();
    host.front.join(1, space.id(), key(1).did()).await;
    host.front.push(1, &note(&mut pen, "a")).await;
    host.front.next_stored(1).await;
    assert!(!host.worker.flush().await, "stored, and not in the bucket");
    std::fs::remove_file(&blocks).unwrap();
    while host.segments() == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_bucket_that_fails_is_left_alone_for_a_while_whatever_is_due() {
    let config = WorkerConfig {
        segment_bytes: 1,
        ..quick()
    };
    let (mut host, space, mut pen) = running(config).await;
    let blocks = host
        .folder
        .path()
        .join("bucket")
        .join(space.id().to_string());
    std::fs::write(&blocks, b"no folder").unwrap();
    host.front.join(1, space.id(), key(1).did()).await;
    for n in 0..30 {
        host.front.push(1, &note(&mut pen, &format!("r{n}"))).await;
        host.front.next_stored(1).await;
        tokio::task::yield_now().await;
    }
    let tried = || host.metrics.flushes_failed.get();
    while tried() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(tried() <= 2, "tried {} times", tried());
    std::fs::remove_file(&blocks).unwrap();
    assert!(host.worker.flush().await);
}

#[tokio::test]
async fn a_connection_that_is_busy_holds_no_other_space_up() {
    let (mut host, first, mut pen) = running(quick()).await;
    let second = space(&[&key(1), &key(2)], &[]);
    host.carry(&second).await;
    host.front.join(1, first.id(), key(1).did()).await;
    host.front.join(2, second.id(), key(2).did()).await;
    let junk = bytes::Bytes::from_static(b"{\"type\":\"x\"}");
    for _ in 0..3_000 {
        let connection = ConnectionId(1);
        let bytes = junk.clone();
        host.front
            .say(ToWorker::Message { connection, bytes })
            .await;
    }
    let mut other = Pen::new(key(2), &second);
    let version = note(&mut other, "a");
    host.front.push(2, &version).await;
    assert_eq!(host.front.next_stored(2).await, [id_of(&version)]);
    host.front.push(1, &note(&mut pen, "b")).await;
    host.front.next_stored(1).await;
}

#[tokio::test]
async fn a_worker_whose_lease_was_taken_over_stores_nothing_and_says_so() {
    let config = WorkerConfig {
        lease: Duration::from_millis(150),
        ..quick()
    };
    let (mut host, space, mut pen) = running(config).await;
    host.front.join(1, space.id(), key(1).did()).await;
    assert!(host.worker.is_ready() && !host.worker.has_lost_its_leases());

    host.store.renews_nothing.store(true, Ordering::SeqCst);
    let hour = Duration::from_secs(3_600);
    let mut taken = TakeLease::HeldByOther { runs_out_in: hour };
    while !matches!(taken, TakeLease::Taken(_)) {
        tokio::time::sleep(Duration::from_millis(20)).await;
        taken = host
            .store
            .take_lease(Shard(0), Holder([8; 16]), hour)
            .await
            .unwrap();
    }
    host.store.renews_nothing.store(false, Ordering::SeqCst);
    while !host.worker.has_lost_its_leases() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(!host.worker.is_ready());

    let version = note(&mut pen, "a");
    host.front.push(1, &version).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    let held = host
        .store
        .versions(&space.id(), &[id_of(&version)], 1)
        .await
        .unwrap();
    assert!(held.is_empty(), "stored under a lease that is another's");
}
