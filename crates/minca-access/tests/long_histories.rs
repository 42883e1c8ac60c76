//! Histories so long or so deep that anything that went down them by calling itself would run
//! out of stack.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::sync::LazyLock;

use minca_access::history::{History, Status};
use minca_access::{Cutoff, Event, Grant, Kind, RoleDefinition, keys};
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{MESSAGE_DEPTH, Object, Value, read};
use minca_record::policy::Policy;
use minca_record::signing::SigningKey;

/// A stack frame of a hundred bytes for each would be more than a test has.
const LONG: usize = 20_000;

static ACCOUNTS: LazyLock<[Did; 4]> =
    LazyLock::new(|| [1, 2, 3, 4].map(|seed| SigningKey::from_uniform(&[seed; 48]).did()));

fn account(number: u8) -> Did {
    ACCOUNTS[usize::from(number)]
}

/// A space of one founder where `admin` may define roles and two others hold it.
fn constitution() -> Constitution {
    let text = format!(
        r#"{{"minca":"constitution/1","name":"Long","visibility":"public","resolver":"strong-remove/1",
        "top":{{"founders":["{}"]}},"roles":[{{"name":"admin","grants":[{{"cmd":"/role","pol":[]}}]}}],
        "assigned":{{"{}":["admin"],"{}":["admin"]}},
        "createdAt":"2026-01-01T00:00:00.000Z","nonce":"AAECAwQFBgcICQoL"}}"#,
        account(0),
        account(1),
        account(2),
    );
    let mut object = read(text.as_bytes(), MESSAGE_DEPTH)
        .unwrap()
        .as_object()
        .unwrap()
        .clone();
    let id = ContentId::of(&object.canonical());
    object.insert("id", id.to_string());
    Constitution::check(object.into()).unwrap()
}

fn id(number: usize) -> ContentId {
    ContentId::of(&(number as u64).to_be_bytes())
}

fn event(number: usize, by: u8, seen: Vec<ContentId>, kind: Kind) -> Event {
    let root = account(by);
    Event {
        id: id(number),
        key: keys::of(&kind, &root).into(),
        root,
        author: root,
        seen,
        log_place: number as u64,
        cutoff: Cutoff::default(),
        kind,
    }
}

fn assign(to: u8, role: &str, assigned: bool) -> Kind {
    Kind::Assign {
        did: account(to).to_string().into(),
        role: role.into(),
        assigned,
        via_invite: None,
    }
}

fn admin() -> Kind {
    let grant = Object::from([("cmd", Value::from("/role")), ("pol", Value::Array(vec![]))]);
    Kind::Role(RoleDefinition {
        name: "admin".into(),
        title: None,
        grants: vec![Grant {
            cmd: "/role".into(),
            pol: Policy::default(),
            canonical: grant.canonical(),
        }],
        nests: Vec::new(),
    })
}

/// Seen one after another.
fn chain(kind: impl Fn(usize) -> (u8, Kind)) -> Vec<Event> {
    let one = |number: usize| {
        let (by, kind) = kind(number);
        let seen = number.checked_sub(1).map(id);
        event(number, by, seen.into_iter().collect(), kind)
    };
    (0..LONG).map(one).collect()
}

fn replayed(events: impl IntoIterator<Item = Event>) -> History {
    let mut history = History::new(&constitution());
    for event in events {
        history.add(event);
    }
    while !history.advance(1 << 20) {}
    history
}

#[test]
fn a_long_chain_that_arrives_from_its_end_is_replayed() {
    let mut history = replayed(chain(|_| (0, assign(3, "admin", true))).into_iter().rev());
    assert_eq!(history.heads(), [id(LONG - 1)]);
}

#[test]
fn a_long_chain_that_waits_for_its_start_waits() {
    let events = chain(|_| (0, assign(3, "admin", true)));
    let mut history = replayed(events.into_iter().skip(1).rev());
    assert_eq!(history.status(&id(LONG - 1)), Some(Status::Waiting));
    drop(history);
}

#[test]
fn definitions_that_each_rest_on_the_last_are_asked_about_to_the_end() {
    let mut events = chain(|number| (1 + (number % 2) as u8, admin()));
    let last = event(LONG, 1, vec![id(LONG - 1)], assign(3, "admin", true));
    events.push(last);
    let mut history = replayed(events);
    assert_eq!(history.status(&id(LONG)), Some(Status::Applied));
}

#[test]
fn what_rests_on_a_struck_start_is_judged_to_the_end() {
    let mut events = chain(|number| match number {
        0 => (1, assign(3, "admin", true)),
        _ => (2, admin()),
    });
    let did = account(1).to_string().into();
    events.push(event(LONG, 0, Vec::new(), Kind::Remove { did }));
    let mut history = replayed(events);
    let status = history.status(&id(0));
    assert!(matches!(status, Some(Status::Struck { .. })), "{status:?}");
    assert_eq!(history.status(&id(LONG - 1)), Some(Status::Applied));
}

/// Views of 300 different `seen`, each a replay of its own as a revoke strikes.
#[test]
fn views_that_are_remembered_take_no_more_than_their_budget() {
    const BUDGET: usize = 64 << 10;
    const EVENTS: usize = 300;
    let constitution = constitution();
    let mut within = History::with_budget(&constitution, BUDGET);
    let mut beyond = History::new(&constitution);
    let mut seen = Vec::new();
    let target = account(1).to_string().into();
    let revoke = event(EVENTS, 1, Vec::new(), Kind::Revoke { target });
    let chain = (0..EVENTS).map(|number| {
        let next = event(
            number,
            (number % 2) as u8,
            seen.clone(),
            assign(3, "admin", true),
        );
        seen = vec![next.id];
        next
    });
    for event in chain.chain([revoke]) {
        within.add(event.clone());
        beyond.add(event);
    }
    for number in 0..EVENTS {
        let seen = [id(number)];
        assert_eq!(within.seen_as(&seen), beyond.seen_as(&seen));
        let bytes = within.remembered_bytes();
        assert!(bytes <= BUDGET, "{bytes} bytes after {number}");
    }
    assert!(
        beyond.remembered_bytes() > BUDGET,
        "there was something to forget"
    );
}
