//! The worst a member may make of a history: each shape at growing numbers of events,
//! and by which power of them the time grows.

use std::time::Duration;

use minca_access::Kind;
use minca_access::history::History;
use minca_record::content_id::ContentId;

use crate::builder::{ADMINS, Builder, role};
use crate::{Stopwatch, replayed, worse};

const SIZES: [usize; 3] = [500, 1_000, 2_000];

pub type Shape = fn(&Builder, usize) -> Builder;

pub fn measure(builder: &Builder, is_wanted: impl Fn(&str) -> bool) {
    let shapes: [(&str, Shape); 13] = [
        ("layers of 64, each naming all of the last", layers),
        ("rivals of rivals in layers of 64", rivals),
        (
            "one role's rivals, all apart, then asked about",
            flat_rivals,
        ),
        ("nestings of 16 that loop, asked about", nestings),
        ("views on views, each author able by the last", deep_views),
        ("views on views through 300 nested roles", deep_nests),
        ("two accounts unassigning each other", duel),
        ("everybody removing everybody", melee),
        ("two branches, merged again and again", branches),
        ("an account with half the roles, in policies", many_roles),
        (
            "a definition contested by half, then asked about",
            contested,
        ),
        ("assigned and removed by half, then asked about", torn),
        ("a struck start that all else rests on", struck_start),
    ];
    for (name, shape) in shapes.into_iter().chain(worse::SHAPES) {
        if !is_wanted(name) {
            continue;
        }
        measure_one(name, |size| {
            let built = shape(builder, size);
            let start = Stopwatch::start();
            let history = replayed(&built.constitution, &built.events);
            (start.elapsed(), history)
        });
    }
    if is_wanted("live") {
        measure_one(
            "live: two accounts unassigning, settled each time",
            |size| {
                let built = duel(builder, size);
                let start = Stopwatch::start();
                let mut history = History::new(&built.constitution);
                for event in &built.events {
                    history.add(event.clone());
                    while !history.advance(1 << 20) {}
                }
                (start.elapsed(), history)
            },
        );
    }
}

fn measure_one(name: &str, run: impl Fn(usize) -> (Duration, History)) {
    let mut figures = Vec::new();
    for size in SIZES {
        let (time, history) = run(size);
        figures.push((time, history.spent()));
    }
    let shown: Vec<String> = figures
        .iter()
        .map(|(time, spent)| format!("{time:>9.2?} ({spent:>9})"))
        .collect();
    let growth = figures[2].0.as_secs_f64() / figures[1].0.as_secs_f64();
    println!(
        "  {name:<50} {}  grows by the power of {:.1}",
        shown.join("  "),
        growth.log2()
    );
}

fn layers(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    in_layers(&mut built, size, |built, number| {
        built.assign(ADMINS + 1 + number % 2_000, "member", true)
    });
    built
}

/// Adds events in layers of 64, each naming the whole layer before.
pub fn in_layers(built: &mut Builder, size: usize, kind: impl Fn(&Builder, usize) -> Kind) {
    let mut last: Vec<ContentId> = Vec::new();
    let mut layer = Vec::new();
    for number in 0..size {
        let next = kind(built, number);
        layer.push(built.add(1 + number % ADMINS, &last, next));
        if layer.len() == 64 {
            last = std::mem::take(&mut layer);
        }
    }
}

fn grants(number: usize) -> Vec<(String, String)> {
    (0..60)
        .map(|grant| {
            let pol = format!(r#"[["==",".role","r{}"]]"#, (number * 60 + grant) % 997);
            ("/role/assign".to_owned(), pol)
        })
        .chain([("/role".to_owned(), "[]".to_owned())])
        .collect()
}

fn wide_role(name: &str, number: usize, nests: &[String]) -> Kind {
    let grants = grants(number);
    let grants: Vec<(&str, &str)> = grants.iter().map(|(a, b)| (&**a, &**b)).collect();
    role(name, &grants, nests)
}

fn rivals(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    in_layers(&mut built, size, |_, number| {
        wide_role("admin", number, &[])
    });
    built
}

fn flat_rivals(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    let rivals: Vec<ContentId> = (0..size / 2)
        .map(|number| built.add(1 + number % ADMINS, &[], wide_role("admin", number, &[])))
        .collect();
    let mut last = gather(&mut built, rivals);
    while built.events.len() < size {
        let number = built.events.len();
        let kind = built.assign(ADMINS + number % 2_000, "member", true);
        last = built.add(1 + number % ADMINS, &[last], kind);
    }
    built
}

fn nestings(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    let roles = size / 2;
    let mut seen = Vec::new();
    for number in 0..roles {
        let nests: Vec<String> = (1..=16)
            .map(|step| format!("r{}", (number + step * step) % roles))
            .filter(|name| *name != format!("r{number}"))
            .collect();
        let pol = format!(r#"[["==",".role","none{number}"]]"#);
        let kind = role(&format!("r{number}"), &[("/role/assign", &pol)], &nests);
        seen = vec![built.add(1 + number % ADMINS, &seen, kind)];
    }
    let asking = ADMINS + 1;
    let kind = built.assign(asking, "r0", true);
    seen = vec![built.add(0, &seen, kind)];
    while built.events.len() < size {
        let kind = built.assign(ADMINS + built.events.len() % 2_000, "member", true);
        built.add(asking, &seen, kind);
    }
    built
}

/// A chain of definitions of one role, each by an account that may only by the one
/// before; then changes that ask all the way down, each with other arguments.
pub fn deep_views(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    let able = [("/role", "[]")];
    let mut seen = vec![built.add(0, &[], role("deep", &able, &[]))];
    for account in [ADMINS + 1, ADMINS + 2] {
        let kind = built.assign(account, "deep", true);
        seen = vec![built.add(0, &seen, kind)];
    }
    while built.events.len() < size / 2 {
        let by = ADMINS + 1 + built.events.len() % 2;
        seen = vec![built.add(by, &seen, role("deep", &able, &[]))];
    }
    while built.events.len() < size {
        let kind = built.assign(ADMINS + 3 + built.events.len() % 2_000, "member", true);
        seen = vec![built.add(ADMINS + 1, &seen, kind)];
    }
    built
}

/// As [`deep_views`], where in each view the way leads through a chain of nested roles.
pub fn deep_nests(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    let able = [("/role", "[]")];
    let mut seen = vec![built.add(0, &[], role("deep", &able, &[]))];
    let links = size * 3 / 20;
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
    while built.events.len() < size / 2 {
        let by = ADMINS + 1 + built.events.len() % 2;
        seen = vec![built.add(by, &seen, role("deep", &able, &[]))];
    }
    while built.events.len() < size {
        let kind = built.assign(ADMINS + 3 + built.events.len() % 2_000, "member", true);
        seen = vec![built.add(ADMINS + 1, &seen, kind)];
    }
    built
}

fn duel(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    let mut seen = Vec::new();
    let roles = size / 6;
    for number in 0..roles {
        let kind = role(&format!("r{number}"), &[], &[]);
        seen = vec![built.add(0, &seen, kind)];
    }
    for number in 0..roles {
        for account in [1, 2] {
            let kind = built.assign(account, &format!("r{number}"), true);
            seen = vec![built.add(0, &seen, kind)];
        }
    }
    let mut number = 0;
    while built.events.len() < size {
        for (by, account) in [(1, 2), (2, 1)] {
            let kind = built.assign(account, &format!("r{}", number % roles), false);
            built.add_at(by, &seen, number as u64, kind);
        }
        number += 1;
    }
    built
}

fn melee(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    for number in 0..size {
        let by = 1 + number % ADMINS;
        let did = built.text(1 + (number / ADMINS + by) % ADMINS);
        let seen = built
            .events
            .iter()
            .rev()
            .find(|event| event.root == built.accounts[by]);
        let seen: Vec<ContentId> = seen.map(|event| event.id).into_iter().collect();
        let seen = if number % 3 == 0 { seen } else { Vec::new() };
        built.add(by, &seen, Kind::Remove { did });
    }
    built
}

pub fn branches(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    let mut ends: [Vec<ContentId>; 2] = [Vec::new(), Vec::new()];
    for number in 0..size / 2 {
        let kind = built.assign(ADMINS + 1 + number % 2_000, "member", true);
        ends[number % 2] = vec![built.add(1 + number % ADMINS, &ends[number % 2], kind)];
    }
    let both = ends.concat();
    while built.events.len() < size {
        let number = built.events.len();
        let kind = built.assign(ADMINS + 1 + number % 2_000, "member", true);
        built.add(1 + number % ADMINS, &both, kind);
    }
    built
}

fn many_roles(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    let mut seen = Vec::new();
    let pol: Vec<String> = (0..40).map(|it| format!(r#"["!=",".","x{it}"]"#)).collect();
    let pol = format!(r#"[["all",".roles",["and",[{}]]]]"#, pol.join(","));
    let careful = role("careful", &[("/role/unassign", &pol)], &[]);
    seen = vec![built.add(0, &seen, careful)];
    let asking = ADMINS + 1;
    let target = ADMINS + 2;
    let kind = built.assign(asking, "careful", true);
    seen = vec![built.add(0, &seen, kind)];
    for number in 0..size / 4 {
        let kind = role(&format!("r{number}"), &[], &[]);
        seen = vec![built.add(0, &seen, kind)];
        let kind = built.assign(target, &format!("r{number}"), true);
        seen = vec![built.add(0, &seen, kind)];
    }
    while built.events.len() < size {
        let role = format!("r{}", built.events.len() % (size / 4));
        let kind = built.assign(target, &role, false);
        built.add(asking, &seen, kind);
    }
    built
}

/// Definitions of one collection made apart, each after a delete of its own, and then
/// changes by an account that may only if it defined it first.
fn contested(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    let defines = |deleted| Kind::Definition {
        name: "app.chat".into(),
        deleted,
    };
    let member = ADMINS + 1;
    let kind = built.assign(member, "member", true);
    let assigned = built.add(0, &[], kind);
    let first = built.add(0, &[assigned], defines(false));
    let mut rivals = Vec::new();
    while built.events.len() < size / 2 {
        let deleted = built.add(0, &[first], defines(true));
        let by = 1 + built.events.len() % ADMINS;
        rivals.push(built.add(by, &[deleted], defines(false)));
    }
    let mut last = gather(&mut built, rivals);
    while built.events.len() < size {
        last = built.add(member, &[last], defines(false));
    }
    built
}

/// Names all of these in a tree of changes, as one can name sixty-four; its root.
pub fn gather(built: &mut Builder, mut gathered: Vec<ContentId>) -> ContentId {
    let mut number = 0;
    while gathered.len() > 1 {
        gathered = gathered
            .chunks(64)
            .map(|chunk| {
                number += 1;
                let kind = built.assign(ADMINS + number, "member", true);
                built.add(0, chunk, kind)
            })
            .collect();
    }
    gathered[0]
}

/// An account that is assigned a role and removed many times apart, whose changes come
/// after all of that.
fn torn(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    let torn = ADMINS + 1_900;
    let mut apart = Vec::new();
    let kind = built.assign(torn, "member", true);
    let assigned = built.add(0, &[], kind);
    while built.events.len() < size / 2 {
        let by = 1 + built.events.len() % ADMINS;
        let kind = match built.events.len() % 2 {
            0 => built.assign(torn, "member", true),
            _ => Kind::Remove {
                did: built.text(torn),
            },
        };
        apart.push(built.add(by, &[assigned], kind));
    }
    let mut last = gather(&mut built, apart);
    while built.events.len() < size {
        let kind = built.assign(ADMINS + built.events.len() % 1_800, "admin", true);
        last = built.add(torn, &[last], kind);
    }
    built
}

/// Two removals that strike what two admins did first, and a long chain on top of it.
fn struck_start(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    let kind = built.assign(ADMINS + 1, "admin", true);
    let mut seen = vec![built.add(1, &[], kind)];
    while built.events.len() < size - 1 {
        let number = built.events.len();
        let kind = built.assign(ADMINS + 2 + number % 2_000, "member", true);
        let by = if number.is_multiple_of(4) {
            ADMINS + 1
        } else {
            2
        };
        seen = vec![built.add(by, &seen, kind)];
    }
    let did = built.text(1);
    built.add(0, &[], Kind::Remove { did });
    built
}
