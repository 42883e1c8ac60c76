//! Access changes on their way in, and what they change for what comes after.

mod support;

use engine::{Answer, Count, EngineConfig, StoreFailure};
use minca_record::content_id::ContentId;
use minca_record::json::{Object, Value};
use support::host::Host;
use support::pen::{Draft, Pen, id_of, key, space, stub_of};

/// A host, its space's founder, and someone it has never heard of.
fn host_and_pens() -> (Host, Pen, Pen) {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let mut host = Host::new(key(900).did(), &space);
    host.join(1, founder.did());
    host.take_sent(1);
    (host, Pen::new(founder, &space), Pen::new(key(2), &space))
}

/// Has peer 1 push versions in one message, and says how many were acknowledged.
fn push(host: &mut Host, versions: &[Object]) -> usize {
    host.hear_versions(1, versions);
    host.settle();
    host.acknowledged(1).len()
}

fn answers(host: &mut Host) -> Vec<Answer> {
    let counts = std::mem::take(&mut host.counts);
    let answers = counts.into_iter().filter_map(|count| match count {
        Count::Answer(answer) => Some(answer),
        _ => None,
    });
    answers.collect()
}

fn note(words: &str) -> Draft<'_> {
    Draft::first(words, words)
}

#[test]
fn an_assignment_lets_in_what_it_allows_in_the_same_message() {
    let (mut host, mut founder, mut guest) = host_and_pens();
    let unseen = guest.write(&note("unseen"));
    assert_eq!(push(&mut host, &[unseen]), 0);
    assert_eq!(answers(&mut host), [Answer::Refused]);
    let assign = founder.assign(&guest.did, "guest", true, &[]);
    let seen = [id_of(&assign)];
    let allowed = guest.write_seeing(&note("a"), &seen);
    let elsewhere = Draft {
        collection: "app.other",
        ..note("b")
    };
    let elsewhere = guest.write_seeing(&elsewhere, &seen);
    assert_eq!(push(&mut host, &[assign, allowed, elsewhere]), 2);
    let stands = Answer::Stands;
    assert_eq!(answers(&mut host), [stands, stands, Answer::Refused]);
}

#[test]
fn what_saw_a_change_that_is_still_to_come_waits_for_it() {
    let (mut host, mut founder, mut guest) = host_and_pens();
    let assign = founder.assign(&guest.did, "guest", true, &[]);
    let record = guest.write_seeing(&note("a"), &[id_of(&assign)]);
    assert_eq!(push(&mut host, &[record]), 0);
    assert_eq!(answers(&mut host), [Answer::Later]);
    assert_eq!(push(&mut host, &[assign]), 2);
}

#[test]
fn a_strangers_change_waits_until_the_history_names_it() {
    let (mut host, mut founder, mut guest) = host_and_pens();
    let leave = guest.remove(&guest.did.clone(), &[]);
    assert_eq!(push(&mut host, &[leave]), 0);
    assert_eq!(answers(&mut host), [Answer::Later]);
    let assign = founder.assign(&guest.did, "guest", true, &[]);
    assert_eq!(push(&mut host, &[assign]), 2);
    // It left before it had a place, as it saw it: stored, and counts for nothing.
    assert!(answers(&mut host).contains(&Answer::Withdrawn));
}

#[test]
fn what_a_removed_member_wrote_unseen_is_stored_and_counts_for_nothing() {
    let (mut host, mut founder, mut guest) = host_and_pens();
    let assign = founder.assign(&guest.did, "guest", true, &[]);
    let seen = [id_of(&assign)];
    let before = guest.write_seeing(&note("before"), &seen);
    let removal = founder.remove(&guest.did, &seen);
    let unseen = guest.write_seeing(&note("unseen"), &seen);
    let after = guest.write_seeing(&note("after"), &[id_of(&removal)]);
    assert_eq!(push(&mut host, &[assign, before]), 2);
    assert_eq!(push(&mut host, &[removal]), 1);
    answers(&mut host);
    assert_eq!(push(&mut host, &[unseen, after]), 1);
    assert_eq!(answers(&mut host), [Answer::Withdrawn, Answer::Refused]);
}

#[test]
fn what_can_never_stand_is_refused_while_its_chain_is_missing() {
    let (mut host, _, mut guest) = host_and_pens();
    let first = guest.write(&note("a"));
    let second = guest.write(&Draft::after(&first, Some("b")));
    assert_eq!(push(&mut host, &[second]), 0);
    assert_eq!(answers(&mut host), [Answer::Refused]);
    assert_eq!(host.engine.waiting(), (0, 0));
}

#[test]
fn changes_that_did_not_land_let_nothing_in() {
    for lands_anyway in [false, true] {
        let (mut host, mut founder, mut guest) = host_and_pens();
        host.failing_commits = 2;
        host.failure = StoreFailure::Unavailable;
        host.lands_anyway = lands_anyway;
        let assign = founder.assign(&guest.did, "guest", true, &[]);
        let record = guest.write_seeing(&note("a"), &[id_of(&assign)]);
        assert_eq!(push(&mut host, &[assign, record]), 2);
        assert_eq!(host.rows.versions.len(), 2);
    }
    // A change no store takes is gone, and so is what it would have allowed.
    let (mut host, mut founder, mut guest) = host_and_pens();
    let assign = founder.assign(&guest.did, "guest", true, &[]);
    let record = guest.write_seeing(&note("a"), &[id_of(&assign)]);
    host.unfit = Some(id_of(&assign));
    assert_eq!(push(&mut host, &[assign, record]), 0);
    assert_eq!(host.rows.versions.len(), 0);
}

#[test]
fn a_host_that_starts_again_judges_as_before() {
    let (mut host, mut founder, mut guest) = host_and_pens();
    let assign = founder.assign(&guest.did, "guest", true, &[]);
    let removal = founder.remove(&guest.did, &[id_of(&assign)]);
    let back = founder.assign(&guest.did, "guest", true, &[id_of(&removal)]);
    let changes = [assign.clone(), removal, back.clone()];
    assert_eq!(push(&mut host, &changes), 3);
    host.engine = host
        .rows
        .engine(key(900).did(), &host.space.clone(), EngineConfig::default());
    host.join(1, founder.did);
    host.take_sent(1);
    answers(&mut host);
    let old = guest.write_seeing(&note("old"), &[id_of(&assign)]);
    let new = guest.write_seeing(&note("new"), &[id_of(&back)]);
    assert_eq!(push(&mut host, &[old, new]), 2);
    assert_eq!(answers(&mut host), [Answer::Withdrawn, Answer::Stands]);
}

fn definition(name: &str, rules: Object) -> Object {
    Object::from([
        ("name", Value::from(name)),
        ("version", 1u32.into()),
        ("schema", Object::new().into()),
        ("rules", rules.into()),
    ])
}

#[test]
fn fixed_fields_are_held_against_a_first_version_on_its_way_in_or_stored() {
    for at_once in [true, false] {
        let (mut host, mut founder, _) = host_and_pens();
        let rules = Object::from([("fixed", Value::from(vec!["text".into()]))]);
        let define = founder.define("app.note", definition("app.note", rules), &[]);
        let seen = [id_of(&define)];
        let kept = Draft {
            retain: true,
            ..note("a")
        };
        let first = founder.write_seeing(&kept, &seen);
        let same = founder.write_seeing(&Draft::after(&first, Some("a")), &seen);
        let other = founder.write_seeing(&Draft::after(&same, Some("b")), &seen);
        let gone = founder.write_seeing(&Draft::after(&same, None), &seen);
        let not_kept = founder.write_seeing(&note("c"), &seen);
        let versions = [define, first, same, other, gone, not_kept];
        let stored: usize = match at_once {
            true => push(&mut host, &versions),
            false => versions.chunks(1).map(|one| push(&mut host, one)).sum(),
        };
        assert_eq!(
            stored, 4,
            "all but what changed the field, and what isn't kept"
        );
        assert!(host.counts.contains(&Count::Refused("fixed")));
        assert!(host.counts.contains(&Count::Refused("not-retained")));
    }
}

#[test]
fn a_final_collection_takes_no_later_versions() {
    let (mut host, mut founder, _) = host_and_pens();
    let rules = Object::from([("final", true)]);
    let define = founder.define("app.note", definition("app.note", rules), &[]);
    let seen = [id_of(&define)];
    let first = founder.write_seeing(&note("a"), &seen);
    let second = founder.write_seeing(&Draft::after(&first, Some("b")), &seen);
    // It binds what saw it.
    let unseeing = founder.write(&Draft::after(&first, Some("c")));
    assert_eq!(push(&mut host, &[define, first, second, unseeing]), 3);
    assert!(host.counts.contains(&Count::Refused("final")));
}

#[test]
fn a_stub_that_its_body_must_settle_is_kept_and_judged_when_it_is_whole() {
    let (mut host, mut founder, mut guest) = host_and_pens();
    let about = Value::from(vec!["==".into(), ".body.text".into(), "hi".into()]);
    let grant = Object::from([
        ("iss", Value::from(founder.did.to_string())),
        ("aud", "role:guest".into()),
        ("sub", format!("space:{}", host.space.id()).into()),
        ("cmd", "/record/write".into()),
        ("pol", vec![about].into()),
        ("nonce", "AAAA".into()),
    ]);
    let role = Object::from([
        ("name", Value::from("guest")),
        ("grants", vec![Value::from(grant)].into()),
    ]);
    let role = founder.change("sys.role", "role:guest", role, &[]);
    let assign = founder.assign(&guest.did, "guest", true, &[id_of(&role)]);
    let seen = [id_of(&assign)];
    let good = guest.write_seeing(&Draft::first("a", "hi"), &seen);
    let bad = guest.write_seeing(&Draft::first("b", "ho"), &seen);
    assert_eq!(push(&mut host, &[role, assign]), 2);
    answers(&mut host);
    assert_eq!(push(&mut host, &[stub_of(&good), stub_of(&bad)]), 2);
    assert_eq!(answers(&mut host), [Answer::Unsettled, Answer::Unsettled]);
    assert_eq!(push(&mut host, &[good, bad]), 1);
    assert_eq!(answers(&mut host), [Answer::Stands, Answer::Refused]);
}

#[test]
fn a_long_replay_is_taken_in_turns_with_the_peers() {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let mut host = Host::new(key(900).did(), &space);
    let mut pen = Pen::new(founder, &space);
    let guests: Vec<_> = (0..40).map(|number| key(10 + number).did()).collect();
    let mut versions: Vec<Object> = Vec::new();
    let mut ids: Vec<ContentId> = Vec::new();
    for round in 0..30 {
        // Each names all of the round before, and strikes what it hasn't seen.
        let seen: Vec<ContentId> = ids.iter().rev().take(40).copied().collect();
        for guest in &guests {
            let assigned = round % 2 == 0;
            let change = pen.assign(guest, "guest", assigned, &seen);
            ids.push(id_of(&change));
            versions.push(change);
        }
    }
    host.join(1, pen.did);
    host.take_sent(1);
    for chunk in versions.chunks(200) {
        host.hear_versions(1, chunk);
    }
    host.settle();
    assert_eq!(host.acknowledged(1).len(), versions.len());
}
