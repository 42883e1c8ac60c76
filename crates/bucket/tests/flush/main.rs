//! Flushing a space, and a flush that ends anywhere: nothing is lost.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod faults;
mod host;

use std::collections::BTreeSet;

use bucket::{FlushError, Flushed};
use faults::{Faults, When};
use host::{Host, SEGMENT_BYTES, version_id};
use store::{Store, StoreError};

/// What happens between a flush that failed and the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Between {
    /// The same process goes on.
    Nothing,
    /// The process ends, and another takes over.
    TakeOver,
    /// The same process goes on, and more is taken in first.
    MoreVersions,
}

#[tokio::test]
async fn what_was_taken_in_is_in_the_bucket_and_not_twice() {
    let host = Host::new().await;
    host.commit(0..20).await;
    let flushed = host.flush_all().await.unwrap();
    assert_eq!(flushed.versions, 20);
    assert!(flushed.segments > 2, "{flushed:?}");

    let in_bucket = host.check_bucket().await;
    assert_eq!(in_bucket, (0..20).map(version_id).collect());
    assert_eq!(host.bucket_segments().await, host.recorded_segments().await);
    let bytes: u64 = host
        .recorded_segments()
        .await
        .iter()
        .map(|(_, _, bytes)| bytes)
        .sum();
    assert_eq!(bytes, flushed.bytes);

    // Once more with nothing new: nothing is written.
    let before = host.all_keys().await;
    assert_eq!(host.flush().await.unwrap(), Flushed::default());
    assert_eq!(host.all_keys().await, before);
}

#[tokio::test]
async fn a_space_with_nothing_to_write_leaves_no_trace_in_the_bucket() {
    let host = Host::new().await;
    assert_eq!(host.flush().await.unwrap(), Flushed::default());
    assert!(host.all_keys().await.is_empty());
}

#[tokio::test]
async fn a_flush_says_whether_there_is_more() {
    let host = Host::new().await;
    host.commit(0..12).await;
    let mut seen = Vec::new();
    loop {
        let flushed = host.flush().await.unwrap();
        assert_eq!(flushed.segments, 1);
        seen.push(flushed.more);
        if !flushed.more {
            break;
        }
    }
    assert!(seen.len() > 1);
    assert_eq!(seen.iter().filter(|more| !**more).count(), 1);
}

#[tokio::test]
async fn a_backlog_makes_segments_as_large_as_they_may_be_but_for_the_last() {
    let host = Host::new().await;
    host.commit(0..60).await;
    host.flush_all().await.unwrap();
    let rows = host.store.segments(&host.space).await.unwrap();
    assert!(rows.len() > 5);
    for row in rows.iter().take(rows.len() - 1) {
        // No version of these is half a segment.
        assert!(
            (SEGMENT_BYTES / 2..=SEGMENT_BYTES).contains(&(row.bytes as usize)),
            "{} bytes",
            row.bytes
        );
    }
}

#[tokio::test]
async fn each_term_writes_under_an_id_of_its_own_with_counters_from_one() {
    let mut host = Host::new().await;
    host.commit(0..4).await;
    host.flush_all().await.unwrap();
    host.take_over().await;
    host.commit(4..8).await;
    host.flush_all().await.unwrap();

    let segments = host.bucket_segments().await;
    let writers: BTreeSet<_> = segments.iter().map(|(writer, ..)| *writer).collect();
    assert_eq!(writers.len(), 2);
    for writer in writers {
        let names = segments
            .iter()
            .filter(|(of, ..)| *of == writer)
            .map(|(_, name, _)| name);
        let counters: Vec<_> = names.map(|name| name[..6].to_owned()).collect();
        let expected: Vec<_> = (1..=counters.len())
            .map(|counter| format!("{counter:06}"))
            .collect();
        assert_eq!(counters, expected);
    }
    assert_eq!(host.check_bucket().await, (0..8).map(version_id).collect());
}

#[tokio::test]
async fn a_worker_that_was_replaced_records_nothing() {
    let mut host = Host::new().await;
    host.commit(0..4).await;
    let old = host.lease;
    host.take_over().await;
    let error = host.flush_under(&old).await.unwrap_err();
    assert!(
        matches!(error, FlushError::Store(StoreError::Fenced)),
        "{error}"
    );
    assert!(host.recorded_segments().await.is_empty());
    host.flush_all().await.unwrap();
    assert_eq!(host.check_bucket().await, (0..4).map(version_id).collect());
}

#[tokio::test]
async fn a_flush_that_ends_at_any_step_loses_nothing() {
    for between in [Between::Nothing, Between::TakeOver, Between::MoreVersions] {
        for when in [When::Before, When::After] {
            let steps = fail_at_each_step(between, when).await;
            assert!(steps > 8, "only {steps} steps failed");
        }
    }
}

/// Fails each step in turn, each time with a host of its own; gives how many there are.
async fn fail_at_each_step(between: Between, when: When) -> usize {
    for step in 0.. {
        let mut host = Host::new().await;
        host.commit(0..6).await;
        host.faults.fail_at(step, when);
        if host.flush_all().await.is_ok() {
            assert_eq!(host.check_bucket().await, (0..6).map(version_id).collect());
            return step;
        }
        let at = format!("step {step}, {when:?}, then {between:?}");

        let mut expected = 6;
        match between {
            Between::Nothing => {}
            Between::TakeOver => host.take_over().await,
            Between::MoreVersions => {
                host.commit(6..9).await;
                expected = 9;
            }
        }
        host.flush_all().await.unwrap();

        let all: BTreeSet<_> = (0..expected).map(version_id).collect();
        assert_eq!(host.check_bucket().await, all, "{at}");
        let (in_bucket, recorded) = (host.bucket_segments().await, host.recorded_segments().await);
        assert!(recorded.is_subset(&in_bucket), "{at}");
        if between == Between::Nothing {
            // The same versions under the same term: the same names.
            assert_eq!(in_bucket, recorded, "{at}");
        }
        let rows = host.store.segments(&host.space).await.unwrap();
        let mut held: Vec<_> = rows.iter().flat_map(|row| row.versions.clone()).collect();
        held.sort_by_key(|id| *id.digest());
        assert_eq!(held.len(), expected, "recorded once each, {at}");
        held.dedup();
        assert_eq!(held.len(), expected, "recorded once each, {at}");
    }
    unreachable!("a flush has an end")
}

#[test]
fn the_faults_fail_the_step_they_are_told_to_and_no_other() {
    let faults = Faults::default();
    faults.fail_at(1, When::Before);
    assert_eq!(
        [faults.step(), faults.step(), faults.step()],
        [None, Some(When::Before), None]
    );
}
