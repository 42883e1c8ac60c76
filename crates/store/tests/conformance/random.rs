//! Random batches against the dumb model.

use std::sync::Arc;

use engine::rows::{Batch, RecordRow, VersionRow};
use minca_record::content_id::ContentId;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use store::{RUN_ITEMS, SpaceBatch, Store};

use super::model::{Model, commit, did, keeping, version};
use super::{carry, new_space};

const COLLECTIONS: [&str; 4] = ["notes", "tasks", "sys.role", "ü"];

/// A version whose timestamp is out of order and whose pieces are of any length.
fn any_version(random: &mut StdRng, number: u64, history: &[VersionRow]) -> VersionRow {
    // Most in one collection, so that its runs are cut.
    let collection = COLLECTIONS[random.random_range(0..12_usize).saturating_sub(8)];
    let previous = history.get(random.random_range(0..history.len() + 20));
    let bytes = |random: &mut StdRng| vec![random.random(); random.random_range(0..300)];
    VersionRow {
        collection: collection.to_owned(),
        timestamp: random.random_range(0..5_000),
        key: previous.map_or(format!("key{number}"), |row| row.key.clone()),
        seq: previous.map_or(0, |row| row.seq + 1),
        genesis: previous.map(|row| row.genesis.unwrap_or(row.id)),
        root: did(random.random_range(0..2)),
        retain: random.random_bool(0.1),
        deleted: random.random_bool(0.05),
        envelope: bytes(random),
        proof: random
            .random_bool(0.5)
            .then(|| vec![random.random_range(0..20)]),
        body: random.random_bool(0.7).then(|| bytes(random)),
        ..version(number)
    }
}

fn any_batch(random: &mut StdRng, model: &Model, next: &mut u64) -> Batch {
    let history: Vec<VersionRow> = model.versions.values().take(200).cloned().collect();
    let mut batch = Batch::default();
    for _ in 0..random.random_range(0..300) {
        let row = any_version(random, *next, &history);
        *next += 1;
        if random.random_bool(0.8) {
            let first = random.random_bool(0.5).then_some(row.genesis).flatten();
            batch.records.retain(|record| record.key != row.key);
            batch.records.push(RecordRow {
                key: row.key.clone(),
                current: row.id,
                first,
            });
        }
        batch.keep.push(row);
    }
    for row in model.versions.values() {
        if row.body.is_some() && random.random_bool(0.02) {
            batch.drop_bodies.push(row.id);
        } else if !row.is_whole() && random.random_bool(0.05) {
            batch
                .fill
                .push((row.id, vec![9; random.random_range(0..500)]));
        }
    }
    batch
}

pub(crate) async fn random_batches_give_what_the_model_gives(store: &dyn Store) {
    for seed in 0..3 {
        let mut random = StdRng::seed_from_u64(seed);
        let numbers = [seed as u32 * 2, seed as u32 * 2 + 1];
        let mut spaces: Vec<(ContentId, Model)> = Vec::new();
        let mut lease = None;
        for number in numbers {
            let (held, current) = carry(store, number).await;
            lease = Some(current);
            spaces.push((held, Model::default()));
        }
        let lease = lease.unwrap();
        let mut next = seed << 32;
        for round in 0..25 {
            let mut batches = Vec::new();
            for (space, model) in &mut spaces {
                let batch = any_batch(&mut random, model, &mut next);
                model.apply(&batch);
                batches.push(SpaceBatch {
                    space: *space,
                    batch: Arc::new(batch),
                });
            }
            let answers = store.commit(&lease, &batches).await.unwrap();
            for answer in answers {
                answer.unwrap_or_else(|error| panic!("seed {seed}, round {round}: {error}"));
            }
            if round % 6 == 0 || round == 24 {
                for (space, model) in &spaces {
                    model.check(store, *space).await;
                }
            }
        }
        let runs = store.runs(&spaces[0].0, "notes").await.unwrap();
        assert!(runs.len() > 2, "the runs were never cut");
    }
}

pub(crate) async fn runs_are_cut_when_they_grow_at_the_end_at_the_front_or_inside(
    store: &dyn Store,
) {
    let (held, lease) = carry(store, 1).await;
    let mut model = Model::default();
    let at = |number: u64, timestamp: u64| VersionRow {
        timestamp,
        ..version(number)
    };
    let run = RUN_ITEMS as u64;
    let first_run: Vec<_> = (0..run).map(|n| at(n, 1_000_000 + n)).collect();
    // As many as fit in one run, then one more, at its end.
    let one_more = vec![at(run, 1_000_000 + run)];
    let before_all: Vec<_> = (0..3 * run).map(|n| at(10_000 + n, 5_000 - n)).collect();
    let inside: Vec<_> = (0..2 * run)
        .map(|n| at(20_000 + n, 1_000_000 + n / 4))
        .collect();
    let one_before_all = vec![at(30_000, 0)];
    let lengths = [1, 2];
    for (place, rows) in [first_run, one_more, before_all, inside, one_before_all]
        .into_iter()
        .enumerate()
    {
        let batch = keeping(rows);
        model.apply(&batch);
        commit(store, &lease, held, batch).await;
        model.check(store, held).await;
        if let Some(length) = lengths.get(place) {
            assert_eq!(store.runs(&held, "notes").await.unwrap().len(), *length);
        }
    }
    // The cut is in halves.
    let (other, _) = carry(store, 2).await;
    commit(
        store,
        &lease,
        other,
        keeping((0..=run).map(version).collect()),
    )
    .await;
    let halves = store.runs(&other, "notes").await.unwrap();
    let counts: Vec<u64> = halves.iter().map(|run| run.sum.count()).collect();
    assert_eq!(counts, [512, 513]);
}

pub(crate) async fn readers_see_whole_commits_and_only_those(store: &dyn Store) {
    const ROUNDS: u64 = 60;
    const EACH: u64 = 40;
    let (held, lease) = carry(store, 1).await;
    let rows = |round: u64| -> Vec<VersionRow> {
        let spread = |place: u64| VersionRow {
            collection: COLLECTIONS[place as usize % 2].to_owned(),
            ..version(round * EACH + place)
        };
        (0..EACH).map(spread).collect()
    };
    let writing = async {
        for round in 0..ROUNDS {
            commit(store, &lease, held, keeping(rows(round))).await;
        }
    };
    let reading = async {
        let mut seen = 0;
        while seen < ROUNDS * EACH {
            let opened = store.open(&held).await.unwrap().unwrap();
            let counts: Vec<u64> = opened.sums.iter().map(|(_, sum)| sum.count()).collect();
            let count: u64 = counts.iter().sum();
            assert!(count >= seen && count.is_multiple_of(EACH), "{counts:?}");
            assert!(counts.iter().all(|some| some * 2 == count), "{counts:?}");
            seen = count;
            if let Some(last) = count
                .checked_div(EACH)
                .and_then(|rounds| rounds.checked_sub(1))
            {
                let ids: Vec<ContentId> = rows(last).iter().map(|row| row.id).collect();
                let given = store.versions(&held, &ids, usize::MAX).await.unwrap();
                assert_eq!(given.len() as u64, EACH);
            }
        }
    };
    tokio::join!(writing, reading);
}

pub(crate) async fn a_commit_that_nobody_waits_for_lands_whole_or_not_at_all(store: &dyn Store) {
    let (held, lease) = carry(store, 1).await;
    let mut model = Model::default();
    let (mut landed, mut did_not) = (0, 0);
    for round in 0..80 {
        let batch = keeping((0..50).map(|place| version(round * 100 + place)).collect());
        let batches = [SpaceBatch {
            space: held,
            batch: Arc::new(batch),
        }];
        let committing = store.commit(&lease, &batches);
        // Given up after a number of steps.
        tokio::select! {
            biased;
            () = steps(round % 40) => {}
            answers = committing => answers.unwrap().into_iter().for_each(Result::unwrap),
        }
        let first = store
            .versions(&held, &[version(round * 100).id], 0)
            .await
            .unwrap();
        // What was given up may still be on its way; the space's next write comes after it.
        store.carry(&lease, &new_space(1)).await.unwrap();
        let settled = store
            .versions(&held, &[version(round * 100).id], 0)
            .await
            .unwrap();
        assert!(first.len() <= settled.len());
        if settled.is_empty() {
            did_not += 1;
        } else {
            landed += 1;
            model.apply(&batches[0].batch);
        }
    }
    model.check(store, held).await;
    assert!(
        landed > 0 && did_not > 0,
        "{landed} landed, {did_not} did not"
    );
}

/// Ready once it was polled `count` times more, each time the task is woken.
async fn steps(count: u64) {
    let mut left = count;
    std::future::poll_fn(|_| {
        left = left.saturating_sub(1);
        if left == 0 {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
}
