//! Opening a space with a long access history: from the rows stored to a judge that
//! answers.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::unwrap_used,
    unreachable_pub,
    dead_code
)]

#[path = "../tests/support/pen.rs"]
mod pen;

use std::hint::black_box;
use std::time::{Duration, Instant};

use engine::Judge;
use engine::rows::StoredVersion;
use minca_record::constitution::Constitution;
use minca_record::json::{Object, Value};
use minca_record::version::{Parts, Version};
use pen::{Pen, id_of, key, space};

const MEMBERS: u64 = 1_600;
const ROUNDS: usize = 15;
const BAR: Duration = Duration::from_millis(50);

fn main() {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let mut pen = Pen::new(founder, &space);
    let mut seen = Vec::new();
    let assigned: Vec<StoredVersion> = (0..MEMBERS)
        .map(|number| {
            let change = pen.assign(&key(10 + number).did(), "guest", true, &seen);
            seen = vec![id_of(&change)];
            stored(change)
        })
        .collect();
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| open(&space, &assigned)).collect();
    times.sort_unstable();
    let median = times[ROUNDS / 2];
    let ratio = median.as_secs_f64() / BAR.as_secs_f64();
    println!(
        "a judge over {MEMBERS} access versions, median of {ROUNDS}: {median:.2?}, {ratio:.3} of the bar, {BAR:?}"
    );
}

fn open(space: &Constitution, access: &[StoredVersion]) -> Duration {
    let start = Instant::now();
    black_box(Judge::open(space.clone(), access).unwrap());
    start.elapsed()
}

fn stored(version: Object) -> StoredVersion {
    let version = Version::shape(Value::Object(version)).unwrap();
    let parts = Parts::split(&version);
    StoredVersion {
        id: version.id(),
        collection: version.collection().to_owned(),
        key: version.key().to_owned(),
        envelope: parts.envelope,
        proof: parts.proof,
        body: parts.body,
    }
}
