//! Hostile histories where nothing remembered helps: each question is another, or asked where
//! something struck lies under everything.

use std::collections::BTreeMap;

use minca_access::{Cutoff, Kind};
use minca_record::content_id::ContentId;
use minca_record::json::Text;

use crate::builder::{ADMINS, Builder, role};
use crate::hostile::{Shape, gather};

pub const SHAPES: [(&str, Shape); 12] = [
    ("views on views, asked something else each time", |b, n| {
        deep(b, n, 1, false)
    }),
    ("through 300 nested roles, something else each", |b, n| {
        deep(b, n, n * 3 / 20, false)
    }),
    ("views on views over a struck start", |b, n| {
        deep(b, n, 1, true)
    }),
    ("through 300 nested roles over a struck start", |b, n| {
        deep(b, n, n * 3 / 20, true)
    }),
    ("an invite opened by a third, joined by a third", openers),
    ("the greatest policies over many roles", heavy_policies),
    ("the greatest policies of views on views", heavy_views),
    ("members naming successors where nobody may", successors),
    ("an account of many roles removed by half", torn_roles),
    ("a contested definition over a struck start", contested),
    ("cutoffs of 1,024 places against each other", cutoffs),
    ("a key revoked and forked again and again", revokes),
];

/// An event that is struck by the last one, [`strike`], for all else to rest on.
fn doomed(built: &mut Builder, struck: bool) -> Vec<ContentId> {
    if !struck {
        return Vec::new();
    }
    let kind = built.assign(ADMINS + 1_990, "member", true);
    vec![built.add(60, &[], kind)]
}

fn strike(built: &mut Builder, struck: bool) {
    if struck {
        let did = built.text(60);
        built.add(0, &[], Kind::Remove { did });
    }
}

fn define(name: String, deleted: bool) -> Kind {
    Kind::Definition {
        name: name.into(),
        deleted,
    }
}

/// A chain of definitions, each by an account that may by the one before alone and through
/// `links` nested roles; then questions no two of which have the same arguments.
fn deep(builder: &Builder, size: usize, links: usize, struck: bool) -> Builder {
    let mut built = builder.anew();
    let able = [("/role", "[]"), ("/collection/define", "[]")];
    let mut seen = doomed(&mut built, struck);
    seen = vec![built.add(0, &seen, role("deep", &able, &[]))];
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
    while built.events.len() < size - usize::from(struck) {
        let kind = define(format!("app.c{}", built.events.len()), false);
        built.add(ADMINS + 1, &seen, kind);
    }
    strike(&mut built, struck);
    built
}

fn openers(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    let invite = built.text(2_050);
    let mut seen = Vec::new();
    for number in 0..size / 3 {
        let kind = built.assign(ADMINS + 1 + number, "admin", true);
        seen = vec![built.add(0, &seen, kind)];
    }
    let opened: Vec<ContentId> = (0..size / 3)
        .map(|number| {
            let kind = Kind::Invite {
                invite_key: invite.clone(),
                role: "member".into(),
                open: true,
            };
            built.add(ADMINS + 1 + number, &seen, kind)
        })
        .collect();
    let last = gather(&mut built, opened);
    let mut joiner = 0;
    while built.events.len() < size {
        joiner += 1;
        let by = ADMINS + 1_000 + joiner;
        let kind = Kind::Assign {
            did: built.text(by),
            role: "member".into(),
            assigned: true,
            via_invite: Some(built.accounts[2_050]),
        };
        built.add(by, &[last], kind);
    }
    built
}

/// A policy of the greatest weight that looks at each of `.roles`, and holds.
fn greatest(salt: usize) -> String {
    let statements: Vec<String> = (0..1_000)
        .map(|it| format!(r#"["!=",".","x{salt}.{it}"]"#))
        .collect();
    format!(r#"[["all",".roles",["and",[{}]]]]"#, statements.join(","))
}

fn heavy_policies(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    let pols: Vec<String> = (0..16).map(greatest).collect();
    let refusing = pols
        .iter()
        .map(|pol| pol.replace(r#"["!=",".","x"#, r#"["==",".","x"#));
    let refusing: Vec<String> = refusing.collect();
    let grants: Vec<(&str, &str)> = refusing
        .iter()
        .chain(&pols[..1])
        .map(|pol| ("/role/unassign", &**pol))
        .collect();
    let mut seen = vec![built.add(0, &[], role("careful", &grants, &[]))];
    let (asking, target) = (ADMINS + 1, ADMINS + 2);
    let kind = built.assign(asking, "careful", true);
    seen = vec![built.add(0, &seen, kind)];
    for number in 0..size / 4 {
        seen = vec![built.add(0, &seen, role(&format!("r{number}"), &[], &[]))];
        let kind = built.assign(target, &format!("r{number}"), true);
        seen = vec![built.add(0, &seen, kind)];
    }
    // No more than a few: each of these takes as long as all else together.
    for number in 0..20 {
        let kind = built.assign(target, &format!("r{number}"), false);
        built.add(asking, &seen, kind);
    }
    built
}

/// A chain of definitions as in [`deep`], each of which holds by one policy of the greatest
/// weight, over an account with some roles.
fn heavy_views(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    let pol = greatest(0);
    let able = [("/role/define", "[]"), ("/role/unassign", &*pol)];
    let mut seen = vec![built.add(0, &[], role("deep", &able, &[]))];
    for account in [ADMINS + 1, ADMINS + 2] {
        let kind = built.assign(account, "deep", true);
        seen = vec![built.add(0, &seen, kind)];
    }
    let target = ADMINS + 3;
    for number in 0..8 {
        seen = vec![built.add(0, &seen, role(&format!("r{number}"), &[], &[]))];
        let kind = built.assign(target, &format!("r{number}"), true);
        seen = vec![built.add(0, &seen, kind)];
    }
    while built.events.len() < size / 2 {
        let by = ADMINS + 1 + built.events.len() % 2;
        seen = vec![built.add(by, &seen, role("deep", &able, &[]))];
    }
    while built.events.len() < size {
        let kind = built.assign(target, &format!("r{}", built.events.len() % 8), false);
        seen = vec![built.add(ADMINS + 1, &seen, kind)];
        let kind = built.assign(target, &format!("r{}", built.events.len() % 8), true);
        seen = vec![built.add(0, &seen, kind)];
    }
    built.events.truncate(size);
    built
}

fn successors(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    let mut seen = Vec::new();
    for number in 0..size / 2 {
        let kind = built.assign(ADMINS + 1 + number, "member", true);
        seen = vec![built.add(0, &seen, kind)];
    }
    let did = built.text(0);
    seen = vec![built.add(0, &seen, Kind::StepDown { did })];
    while built.events.len() < size {
        let number = built.events.len();
        let space = ContentId::of(&(number as u64).to_be_bytes());
        built.add(
            ADMINS + 1 + number % (size / 2),
            &seen,
            Kind::Succeed { space },
        );
    }
    built
}

/// An account with many roles, removed many times apart from that, and asked about.
fn torn_roles(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    let torn = ADMINS + 1_900;
    let kind = built.assign(torn, "member", true);
    let mut seen = vec![built.add(0, &[], kind)];
    for number in 0..size / 6 {
        seen = vec![built.add(0, &seen, role(&format!("r{number}"), &[], &[]))];
    }
    let apart: Vec<ContentId> = (0..size / 6)
        .map(|number| {
            let did = built.text(torn);
            built.add(1 + number % ADMINS, &seen, Kind::Remove { did })
        })
        .collect();
    for number in 0..size / 6 {
        let kind = built.assign(torn, &format!("r{number}"), true);
        seen = vec![built.add(0, &seen, kind)];
    }
    let last = gather(&mut built, apart);
    let both = [last, seen[0]];
    while built.events.len() < size {
        let kind = built.assign(torn, "admin", true);
        built.add(1 + built.events.len() % ADMINS, &both, kind);
    }
    built
}

/// Definitions made apart whose first definer is the founder for all, so that who first
/// defined each must be found, and members asking for it.
fn contested(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    let name = || "app.chat".to_owned();
    let mut seen = doomed(&mut built, true);
    let member = ADMINS + 1;
    let kind = built.assign(member, "member", true);
    seen = vec![built.add(0, &seen, kind)];
    let first = built.add(0, &seen, define(name(), false));
    let mut rivals = Vec::new();
    while built.events.len() < size / 2 {
        let deleted = built.add(0, &[first], define(name(), true));
        let defined = built.add(0, &[deleted], define(name(), false));
        let by = 1 + built.events.len() % (ADMINS - 1);
        rivals.push(built.add(by, &[defined], define(name(), false)));
    }
    let last = gather(&mut built, rivals);
    while built.events.len() < size - 1 {
        built.add(member, &[last], define(name(), false));
    }
    strike(&mut built, true);
    built
}

/// As many places as a cutoff has, so named that a line is found late.
fn great_cutoff(built: &Builder, account: usize) -> Cutoff {
    let mut covered: BTreeMap<Text, BTreeMap<Text, u64>> = BTreeMap::new();
    let lines = covered.entry(built.text(account)).or_default();
    for number in 0..1_024 {
        lines.insert(format!("sys.assigm{number}").into(), 1);
    }
    covered.into()
}

/// Two accounts unassigning each other, with the greatest cutoffs.
fn cutoffs(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    let mut seen = Vec::new();
    let roles = size / 6;
    for number in 0..roles {
        seen = vec![built.add(0, &seen, role(&format!("r{number}"), &[], &[]))];
    }
    for number in 0..roles {
        for account in [1, 2] {
            let kind = built.assign(account, &format!("r{number}"), true);
            seen = vec![built.add(0, &seen, kind)];
        }
    }
    let great = [great_cutoff(&built, 2), great_cutoff(&built, 1)];
    while built.events.len() < size {
        let number = built.events.len();
        for (place, (by, account)) in [(1, 2), (2, 1)].into_iter().enumerate() {
            let kind = built.assign(account, &format!("r{}", number % roles), false);
            built.add_at(by, &seen, number as u64, kind);
            if let Some(event) = built.events.last_mut() {
                event.cutoff = great[place].clone();
            }
        }
    }
    built.events.truncate(size);
    built
}

/// A member that works on, and revokes its key and has its line proven forked as often.
fn revokes(builder: &Builder, size: usize) -> Builder {
    let mut built = builder.anew();
    let mut seen: Vec<ContentId> = Vec::new();
    while built.events.len() < size {
        let number = built.events.len();
        let kind = match number % 4 {
            0 => Kind::Revoke {
                target: built.text(1),
            },
            1 => Kind::Fork {
                writer: built.accounts[1],
                collection: "sys.assign".into(),
                from: number as u64,
            },
            _ => built.assign(ADMINS + 1 + number % 2_000, "member", true),
        };
        let is_change = number % 4 > 1;
        let id = built.add_at(1, &seen, number as u64, kind);
        if is_change {
            seen = vec![id];
        }
    }
    built
}
