//! One record judged over the worst histories, each naming another `seen`: what the slowest
//! takes.

use std::time::Duration;

use minca_access::Kind;
use minca_access::history::{Body, Record, RecordInvocation};
use minca_record::content_id::ContentId;
use minca_record::json::{self, Value};

use crate::builder::{ADMINS, Builder, role};
use crate::hostile::branches;
use crate::{Stopwatch, replayed, resident};

const SIZE: usize = 2_000;
/// Records judged over each.
const RECORDS: usize = 60;

pub fn measure(builder: &Builder, is_wanted: impl Fn(&str) -> bool) {
    let small = json::read(br#"{"text":"a"}"#, 100).unwrap();
    let large: Vec<String> = (0..60_000).map(|it| format!("\"{it}\"")).collect();
    let large = format!(r#"{{"list":[{}]}}"#, large.join(","));
    let large = json::read(large.as_bytes(), 100).unwrap();
    let shapes: [(&str, Builder, &Value); 5] = [
        (
            "record: a revoke at the end of 2,000",
            revoked(builder, false),
            &small,
        ),
        (
            "record: every other event struck",
            revoked(builder, true),
            &small,
        ),
        (
            "record: 500 reductions it saw none of",
            reduced(builder),
            &small,
        ),
        (
            "record: views on views through nested roles",
            nested(builder),
            &small,
        ),
        (
            "record: one great policy over a great body",
            policies(builder),
            &large,
        ),
    ];
    for (name, built, body) in shapes {
        if is_wanted(name) {
            measure_one(name, &built, body);
        }
    }
}

/// What a history of 5,000 takes in memory whose every event merges two branches: alone, with
/// a start that is struck, and with records judged that each name two events.
pub fn measure_memory(builder: &Builder) {
    const EVENTS: usize = 5_000;
    for struck in [false, true] {
        let mut built = branches(builder, EVENTS);
        if struck {
            let did = built.text(1);
            built.add(0, &[], Kind::Remove { did });
        }
        let before = resident();
        let mut history = replayed(&built.constitution, &built.events);
        let replayed = resident().saturating_sub(before);
        let invocation = RecordInvocation::new("app.a", false, true, Body::Read(None));
        let member = built.accounts[ADMINS + 1];
        for number in 0..EVENTS / 2 - 1 {
            let seen = [
                built.events[number].id,
                built.events[EVENTS / 2 - 1 - number % 2].id,
            ];
            let record = Record {
                root: &member,
                author: &member,
                seen: &seen,
                collection: "app.a",
                place: 0,
                invocation: &invocation,
            };
            std::hint::black_box(history.standing(&record, None));
        }
        println!(
            "  memory: 5,000 merges{:<30} {:>5} MB, with 2,500 records {:>5} MB",
            if struck { ", over a struck start" } else { "" },
            replayed >> 20,
            resident().saturating_sub(before) >> 20,
        );
    }
}

fn measure_one(name: &str, built: &Builder, body: &Value) {
    let mut history = replayed(&built.constitution, &built.events);
    let member = built.accounts[ADMINS + 1];
    let mut times = Vec::new();
    for number in 0..RECORDS {
        let seen = [built.events[built.events.len() - 3 - number * 13].id];
        let read = Body::Read(Some(body));
        let collection = format!("app.c{number}");
        let invocation = RecordInvocation::new(&collection, false, true, read);
        let record = Record {
            root: &member,
            author: &member,
            seen: &seen,
            collection: &collection,
            place: 0,
            invocation: &invocation,
        };
        let start = Stopwatch::start();
        std::hint::black_box(history.standing(&record, None));
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let slowest = times.last().copied().unwrap_or(Duration::ZERO);
    println!(
        "  {name:<50} {:>9.2?}  slowest {slowest:>9.2?}",
        times[times.len() / 2]
    );
}

/// A long chain by two accounts of which one's key is revoked at the end, or again and again.
fn revoked(builder: &Builder, all: bool) -> Builder {
    let mut built = builder.anew();
    let kind = built.assign(ADMINS + 1, "member", true);
    let mut seen = vec![built.add(0, &[], kind)];
    while built.events.len() < SIZE - 1 {
        let number = built.events.len();
        let kind = built.assign(ADMINS + 2 + number % 1_900, "member", true);
        let by = if all { 1 + number % 2 } else { 2 };
        seen = vec![built.add(by, &seen, kind)];
    }
    let target = built.text(1);
    built.add(1, &seen, Kind::Revoke { target });
    built
}

fn reduced(builder: &Builder) -> Builder {
    let mut built = revoked(builder, true);
    let seen = [built.events[900].id];
    built.events.truncate(1_500);
    while built.events.len() < SIZE {
        let number = built.events.len();
        let did = built.text(1 + number % ADMINS);
        built.add(0, &seen, Kind::Remove { did });
    }
    built
}

/// The chain of definitions through nested roles, over a start that a revoke at the end strikes.
fn nested(builder: &Builder) -> Builder {
    let mut built = builder.anew();
    let kind = built.assign(ADMINS + 1_990, "member", true);
    let mut seen = vec![built.add(1, &[], kind)];
    let able = [("/role", "[]"), ("/record", "[]")];
    seen = vec![built.add(0, &seen, role("deep", &able, &[]))];
    let links = 300;
    for link in (0..links).rev() {
        let next = match link + 1 == links {
            true => "deep".to_owned(),
            false => format!("link{}", link + 1),
        };
        seen = vec![built.add(0, &seen, role(&format!("link{link}"), &[], &[next]))];
    }
    for account in [ADMINS + 1, ADMINS + 2] {
        let kind = built.assign(account, "link0", true);
        seen = vec![built.add(0, &seen, kind)];
    }
    while built.events.len() < SIZE - 1 {
        let by = ADMINS + 1 + built.events.len() % 2;
        seen = vec![built.add(by, &seen, role("deep", &able, &[]))];
    }
    let target = built.text(1);
    built.add(1, &[] as &[ContentId], Kind::Revoke { target });
    built
}

/// Definitions stacked on each other that all hold by one great policy on the body.
fn policies(builder: &Builder) -> Builder {
    let mut built = builder.anew();
    let statements: Vec<String> = (0..20).map(|it| format!(r#"["!=",".","x{it}"]"#)).collect();
    let pol = format!(
        r#"[["all",".body.list",["and",[{}]]]]"#,
        statements.join(",")
    );
    let able = [("/role", "[]"), ("/record", &*pol)];
    let mut seen = vec![built.add(0, &[], role("deep", &able, &[]))];
    for account in [ADMINS + 1, ADMINS + 2] {
        let kind = built.assign(account, "deep", true);
        seen = vec![built.add(0, &seen, kind)];
    }
    while built.events.len() < SIZE {
        let by = ADMINS + 1 + built.events.len() % 2;
        seen = vec![built.add(by, &seen, role("deep", &able, &[]))];
    }
    built
}
