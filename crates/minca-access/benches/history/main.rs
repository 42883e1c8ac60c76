//! The access history: what a replay, one more event and one record judged take,
//! each against its bar, and the worst a hostile member can make of it.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::unwrap_used,
    unreachable_pub
)]

mod builder;
mod hostile;
mod hostile_records;
mod worse;

use std::hint::black_box;
use std::time::{Duration, Instant};

use builder::{ADMINS, Builder};
use minca_access::history::{Body, History, Record, RecordInvocation, Verdict};
use minca_access::{Event, Kind};
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::json::{self, Value};

const ROUNDS: usize = 15;

fn main() {
    let only = std::env::args().nth(1).filter(|it| !it.starts_with('-'));
    let is_wanted = |name: &str| {
        only.as_ref()
            .is_none_or(|only| name.contains(only.as_str()))
    };
    let builder = Builder::new();
    if is_wanted("usual") {
        println!("usual histories, median of {ROUNDS}");
        chained(&builder);
        one_more(&builder);
        ten_thousand(&builder);
        never_met(&builder);
    }
    if is_wanted("usual") || is_wanted("judged") {
        judged(&builder);
    }
    println!("hostile histories: steps and time by number of events");
    hostile::measure(&builder, is_wanted);
    println!("one record judged over hostile histories of 2,000 events");
    hostile_records::measure(&builder, is_wanted);
    if is_wanted("memory") {
        hostile_records::measure_memory(&builder);
    }
}

/// Time this thread was running, so that what else the machine does is left out.
pub struct Stopwatch {
    wall: Instant,
    running: Option<Duration>,
}

impl Stopwatch {
    pub fn start() -> Stopwatch {
        let running = running();
        Stopwatch {
            running,
            wall: Instant::now(),
        }
    }

    pub fn elapsed(&self) -> Duration {
        let wall = self.wall.elapsed();
        match running().zip(self.running) {
            Some((now, then)) if wall > TICKS => now - then,
            _ => wall,
        }
    }
}

/// The kernel brings what it has up to date every few milliseconds.
const TICKS: Duration = Duration::from_millis(25);

/// What the kernel has of it, where it says.
fn running() -> Option<Duration> {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = statistics.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// The history of these events, replayed.
pub fn replayed(constitution: &Constitution, events: &[Event]) -> History {
    let mut history = History::new(constitution);
    for event in events {
        history.add(event.clone());
    }
    while !history.advance(1 << 20) {}
    history
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn report(name: &str, time: Duration, bar: Duration) {
    let ratio = time.as_secs_f64() / bar.as_secs_f64();
    println!("  {name:<52} {time:>10.2?}   {ratio:>6.3} of the bar, {bar:?}");
}

/// A chain of assignments of `member` by the founder and the admins in turn.
fn chain(builder: &Builder, count: usize) -> Builder {
    let mut chain = builder.anew();
    let mut seen = Vec::new();
    for number in 0..count {
        let kind = chain.assign(ADMINS + 1 + number % 2_000, "member", true);
        let by = number % (ADMINS + 1);
        seen = vec![chain.add(by, &seen, kind)];
    }
    chain
}

fn chained(builder: &Builder) {
    let chain = chain(builder, 1_600);
    let times = (0..ROUNDS).map(|_| {
        let start = Stopwatch::start();
        black_box(replayed(&chain.constitution, &chain.events));
        start.elapsed()
    });
    let bar = Duration::from_millis(20);
    report("1,600 chained assignments", median(times.collect()), bar);
}

fn one_more(builder: &Builder) {
    let mut chain = chain(builder, 1_600);
    let last = chain.events.last().unwrap().id;
    let early = chain.events[700].id;
    let bar = Duration::from_millis(1);
    let assign = chain.assign(ADMINS + 1_700, "member", true);
    let unassign = chain.assign(ADMINS + 5, "member", false);
    let removal = Kind::Remove {
        did: chain.text(ADMINS + 7),
    };
    let striking = Kind::Remove { did: chain.text(3) };
    let more = [
        ("one more assignment at 1,600 members", vec![last], assign),
        ("one more unassignment", vec![last], unassign),
        ("one more removal", vec![last], removal),
        (
            "a removal that strikes some of 900 events",
            vec![early],
            striking,
        ),
    ];
    for (name, seen, kind) in more {
        chain.add(0, &seen, kind);
        let event = chain.events.pop().unwrap();
        let times = (0..ROUNDS).map(|_| {
            let mut history = replayed(&chain.constitution, &chain.events);
            let event = event.clone();
            let start = Stopwatch::start();
            history.add(event);
            history.advance(u64::MAX);
            black_box(history.heads());
            black_box(history.key_is_due());
            start.elapsed()
        });
        report(name, median(times.collect()), bar);
    }
}

/// 10,000 events of which a tenth did not see the one before.
fn ten_thousand(builder: &Builder) {
    let mut history = builder.anew();
    let mut ids: Vec<ContentId> = Vec::new();
    let mut heads: Vec<ContentId> = Vec::new();
    for number in 0..10_000_usize {
        let by = number % (ADMINS + 1);
        let kind = match number % 40 {
            39 => history.assign(ADMINS + 1 + number % 1_900, "member", false),
            _ => history.assign(ADMINS + 1 + (number * 7) % 1_900, "member", true),
        };
        let is_apart = number % 10 == 9;
        let seen = match is_apart {
            true => vec![ids[number - 5]],
            false => heads.clone(),
        };
        let id = history.add(by, &seen, kind);
        ids.push(id);
        match is_apart {
            true => heads.push(id),
            false => heads = vec![id],
        }
    }
    let before = resident();
    let start = Stopwatch::start();
    let replayed = replayed(&history.constitution, &history.events);
    let time = start.elapsed();
    let grown = resident().saturating_sub(before);
    report("10,000 events, a tenth apart", time, Duration::from_secs(1));
    println!(
        "  {:<52} {:>8} MB   {:>6.3} of the bar, 200 MB",
        "    and memory",
        grown >> 20,
        grown as f64 / (200 << 20) as f64
    );
    black_box(replayed);
}

/// Bytes this process has in memory.
pub fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    let kilobytes = line.split_whitespace().nth(1).unwrap();
    kilobytes.parse::<usize>().unwrap() << 10
}

fn body() -> Value {
    json::read(
        br#"{"text":"Buy milk","done":false,"tags":["home","food"]}"#,
        100,
    )
    .unwrap()
}

fn judged(builder: &Builder) {
    const TIMES: u32 = 50_000;
    let chain = chain(builder, 1_600);
    let mut history = replayed(&chain.constitution, &chain.events);
    let heads = history.heads();
    let member = chain.accounts[ADMINS + 9];
    let written = body();
    let times = (0..ROUNDS).map(|_| {
        let start = Stopwatch::start();
        for place in 0..TIMES {
            let read = Body::Read(Some(&written));
            let invocation = RecordInvocation::new("app.todo", false, true, read);
            let record = Record {
                root: &member,
                author: &member,
                seen: &heads,
                collection: "app.todo",
                place: u64::from(place),
                invocation: &invocation,
            };
            let judgement = history.standing(&record, None);
            assert_eq!(judgement.verdict, Verdict::Stands);
        }
        start.elapsed() / TIMES
    });
    let bar = Duration::from_micros(2);
    report(
        "a record judged, its seen the heads",
        median(times.collect()),
        bar,
    );
}

/// A record whose `seen` nobody named before, in a history where a revoke strikes:
/// no `seen` names it, so each is a replay of its own.
fn never_met(builder: &Builder) {
    let mut chain = chain(builder, 2_000);
    let last = chain.events.last().unwrap().id;
    let target = chain.text(30);
    chain.add(30, &[last], Kind::Revoke { target });
    let member = chain.accounts[ADMINS + 9];
    let written = body();
    let read = Body::Read(Some(&written));
    let invocation = RecordInvocation::new("app.todo", false, true, read);
    let mut history = replayed(&chain.constitution, &chain.events);
    let mut times = Vec::new();
    let mut most = 0;
    for number in (100..2_000).rev().step_by(7) {
        let seen = [chain.events[number].id];
        let record = Record {
            root: &member,
            author: &member,
            seen: &seen,
            collection: "app.todo",
            place: 0,
            invocation: &invocation,
        };
        let spent = history.spent();
        let start = Stopwatch::start();
        black_box(history.standing(&record, None));
        times.push(start.elapsed());
        most = most.max(history.spent() - spent);
    }
    let slowest = *times.iter().max().unwrap();
    println!(
        "  {:<52} {:>10.2?}   slowest {slowest:.2?}, {most} steps, {} KB remembered",
        "a seen never met, over 2,000 events and a revoke",
        median(times),
        history.remembered_bytes() >> 10
    );
}
