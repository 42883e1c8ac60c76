//! Access changes on their way in, and what they change for what comes after.

mod support;

use engine::{Answer, Count, EngineConfig, StoreFailure};
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::json::{Object, Value};
use support::host::Host;
use support::pen::{Draft, Pen, id_of, key, private_space, space, stub_of};

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

/// A private space with one founder, and a guest that may change its key.
fn private_host_and_pens() -> (Host, Pen, Pen) {
    let (founder, guest) = (key(1), key(2));
    let space = private_space(&[&founder], &[&guest], &key(50).did());
    let mut host = Host::new(key(900).did(), &space);
    host.join(1, founder.did());
    host.take_sent(1);
    (host, Pen::new(founder, &space), Pen::new(guest, &space))
}

#[test]
fn a_key_change_lands_with_the_read_key_it_makes() {
    let (mut host, mut founder, mut guest) = private_host_and_pens();
    let change = founder.change_key(&key(51).did(), &[]);
    assert_eq!(push(&mut host, std::slice::from_ref(&change)), 1);
    assert_eq!(host.commits, 1);
    assert_eq!(host.read_key, Some(key(51).did()));
    let next = guest.change_key(&key(52).did(), &[id_of(&change)]);
    let next_but_one = founder.change_key(&key(53).did(), &[id_of(&next)]);
    assert_eq!(push(&mut host, &[next, next_but_one]), 2);
    assert_eq!(host.read_key, Some(key(53).did()));
    assert_eq!(host.rows.read_key, host.read_key);
}

#[test]
fn a_key_change_whose_commit_seemed_to_fail_is_told_once_it_is_found() {
    let (mut host, mut founder, _) = private_host_and_pens();
    host.failing_commits = 1;
    host.lands_anyway = true;
    let change = founder.change_key(&key(51).did(), &[]);
    assert_eq!(push(&mut host, &[change]), 1);
    assert_eq!(host.read_key, Some(key(51).did()));
}

#[test]
fn a_key_change_that_does_not_land_changes_no_read_key() {
    let (mut host, mut founder, _) = private_host_and_pens();
    let change = founder.change_key(&key(51).did(), &[]);
    host.unfit = Some(id_of(&change));
    assert_eq!(push(&mut host, std::slice::from_ref(&change)), 0);
    assert_eq!((host.read_key, host.rows.read_key), (None, None));
    host.unfit = None;
    host.failing_commits = 3;
    assert_eq!(push(&mut host, &[change]), 1);
    assert_eq!(host.read_key, Some(key(51).did()));
}

#[test]
fn a_key_whose_change_is_struck_gives_way_to_the_one_before_it() {
    let (mut host, mut founder, mut guest) = private_host_and_pens();
    let change = guest.change_key(&key(51).did(), &[]);
    assert_eq!(push(&mut host, &[change]), 1);
    assert_eq!(host.read_key, Some(key(51).did()));
    // It had not seen the guest's change, so the change goes with its author.
    let taken = founder.assign(&guest.did, "guest", false, &[]);
    assert_eq!(push(&mut host, &[taken]), 1);
    assert_eq!(host.read_key, Some(key(50).did()));
    assert_eq!(host.rows.read_key, host.read_key);
}

#[test]
fn a_read_key_the_history_knows_nothing_of_stays_until_it_does() {
    let (mut host, mut founder, _) = private_host_and_pens();
    // A pass said it before the change came (04 §13.3).
    host.rows.read_key = Some(key(52).did());
    host.restart(key(900).did(), EngineConfig::default());
    host.join(1, founder.did);
    let first = founder.change_key(&key(51).did(), &[]);
    let second = founder.change_key(&key(52).did(), &[id_of(&first)]);
    let third = founder.change_key(&key(53).did(), &[id_of(&second)]);
    assert_eq!(push(&mut host, &[first]), 1);
    assert_eq!(host.rows.read_key, Some(key(52).did()));
    assert_eq!(push(&mut host, &[second]), 1);
    assert_eq!(host.rows.read_key, Some(key(52).did()));
    assert_eq!(push(&mut host, &[third]), 1);
    assert_eq!(host.rows.read_key, Some(key(53).did()));
}

#[test]
fn a_read_key_stored_that_is_an_earlier_one_is_set_right_as_soon_as_somebody_comes() {
    for failing_commits in [0, 1] {
        let (mut host, mut founder, _) = private_host_and_pens();
        let change = founder.change_key(&key(51).did(), &[]);
        assert_eq!(push(&mut host, &[change]), 1);
        // As after the space was given up, and taken up again with its first key.
        host.rows.read_key = Some(key(50).did());
        host.read_key = None;
        host.failing_commits = failing_commits;
        host.restart(key(900).did(), EngineConfig::default());
        host.join(1, founder.did);
        host.settle();
        assert_eq!(host.read_key, Some(key(51).did()));
        assert_eq!(host.commits, 2 + failing_commits);
    }
}

#[test]
fn a_store_that_cannot_take_a_read_key_is_left_alone_for_a_while() {
    let (mut host, mut founder, _) = private_host_and_pens();
    let change = founder.change_key(&key(51).did(), &[]);
    assert_eq!(push(&mut host, &[change]), 1);
    host.rows.read_key = Some(key(50).did());
    host.failing_commits = 20;
    host.failure = StoreFailure::DoesNotFit;
    host.restart(key(900).did(), EngineConfig::default());
    host.join(1, founder.did);
    while host.step() {}
    assert_eq!(host.commits, 2, "one for the change, one that failed");
    host.settle();
    assert_eq!(host.rows.read_key, Some(key(51).did()));
}

#[test]
fn what_was_refused_by_a_change_that_never_lands_is_judged_again() {
    let (mut host, mut founder, mut guest) = private_host_and_pens();
    let is_final = Object::from([("final", true)]);
    let strict = founder.define("app.note", definition("app.note", is_final), &[]);
    let strict_id = [id_of(&strict)];
    let lax = guest.define(
        "app.note",
        definition("app.note", Object::new()),
        &strict_id,
    );
    let seen = [id_of(&lax)];
    let first = founder.write_seeing(&note("a"), &seen);
    let edit = founder.write_seeing(&Draft::after(&first, Some("b")), &seen);
    assert_eq!(push(&mut host, &[strict, lax, first]), 3);
    answers(&mut host);
    // With its author the guest's definition goes, and the one before it is in force.
    let taken = founder.assign(&guest.did, "guest", false, &[]);
    host.unfit = Some(id_of(&taken));
    assert_eq!(push(&mut host, &[taken.clone(), edit]), 1);
    assert_eq!(answers(&mut host).last(), Some(&Answer::Stands));
    host.unfit = None;
    let next = founder.write_seeing(&note("c"), &seen);
    let next_edit = founder.write_seeing(&Draft::after(&next, Some("d")), &seen);
    let handled = host.handled;
    assert_eq!(push(&mut host, &[taken, next, next_edit]), 2);
    assert!(host.counts.contains(&Count::Refused("final")));
    assert_eq!(host.handled, handled + 1);
}

#[test]
fn what_could_not_be_checked_is_given_back_and_may_be_said_again() {
    let (mut host, mut founder, _) = host_and_pens();
    let record = founder.write(&note("a"));
    let handled = host.handled;
    host.failing_checks = 1;
    assert_eq!(push(&mut host, std::slice::from_ref(&record)), 0);
    assert_eq!(host.handled, handled + 1);
    assert_eq!(push(&mut host, &[record]), 1);
}

/// A host that goes on with its replay one step at a time.
fn slowly(space: &Constitution) -> Host {
    let config = EngineConfig {
        replay_steps: 1,
        ..EngineConfig::default()
    };
    Host::with(key(900).did(), space, config)
}

#[test]
fn however_slow_a_replay_nothing_lands_before_what_it_was_judged_by() {
    let (founder, guest) = (key(1), key(2));
    let space = private_space(&[&founder], &[&guest], &key(50).did());
    let (mut founder, mut guest) = (Pen::new(founder, &space), Pen::new(guest, &space));
    let struck = guest.change_key(&key(51).did(), &[]);
    let taken = founder.assign(&guest.did, "guest", false, &[]);
    let other = founder.assign(&key(3).did(), "guest", true, &[]);
    let record = founder.write_seeing(&note("a"), &[id_of(&taken), id_of(&other)]);
    for replay_steps in (1..100).step_by(3) {
        for versions_per_commit in [1, 2, 1_000] {
            let config = EngineConfig {
                replay_steps,
                versions_per_commit,
                ..EngineConfig::default()
            };
            let mut host = Host::with(key(900).did(), &space, config);
            host.join(1, founder.did);
            host.take_sent(1);
            assert_eq!(push(&mut host, &[record.clone(), struck.clone()]), 1);
            assert_eq!(host.read_key, Some(key(51).did()));
            assert_eq!(push(&mut host, &[other.clone(), taken.clone()]), 3);
            assert_eq!(host.read_key, Some(key(50).did()));
        }
    }
}

#[test]
fn what_takes_long_to_judge_is_judged_in_several_goes() {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let mut host = slowly(&space);
    host.join(1, founder.did());
    host.take_sent(1);
    let mut founder = Pen::new(founder, &space);
    let notes: Vec<Object> = (0..100)
        .map(|n| founder.write(&note(&format!("n{n}"))))
        .collect();
    assert_eq!(push(&mut host, &notes), 100);
    assert!(host.most_judged < 5, "{} in one go", host.most_judged);
    assert!(host.reads < 5, "what was read is not read again");
}

#[test]
fn a_commit_that_fails_has_nothing_replayed_but_what_it_was_to_write() {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let mut host = slowly(&space);
    host.join(1, founder.did());
    host.take_sent(1);
    let mut founder = Pen::new(founder, &space);
    let mut seen = Vec::new();
    let changes: Vec<Object> = (0..30)
        .map(|n| {
            let change = founder.assign(&key(100 + n).did(), "guest", true, &seen);
            seen = vec![id_of(&change)];
            change
        })
        .collect();
    assert_eq!(push(&mut host, &changes), 30);
    assert!(host.went_on > 20, "replayed in {} goes", host.went_on);
    host.went_on = 0;
    host.failing_commits = 3;
    let record = founder.write_seeing(&note("a"), &seen);
    assert_eq!(push(&mut host, &[record]), 1);
    assert!(host.went_on < 10, "went on {} times", host.went_on);
}

#[test]
fn the_bodies_of_first_versions_are_read_a_few_at_a_time() {
    let founder = key(1);
    let space = space(&[&founder], &[]);
    let config = EngineConfig {
        first_bodies_per_read: 3,
        ..EngineConfig::default()
    };
    let mut host = Host::with(key(900).did(), &space, config);
    host.join(1, founder.did());
    host.take_sent(1);
    let mut founder = Pen::new(founder, &space);
    let rules = Object::from([("fixed", Value::from(vec!["text".into()]))]);
    let define = founder.define("app.note", definition("app.note", rules), &[]);
    let seen = [id_of(&define)];
    let names: Vec<String> = (0..10).map(|n| format!("r{n}")).collect();
    let kept = |name| Draft {
        retain: true,
        ..Draft::first(name, "a")
    };
    let firsts: Vec<Object> = names
        .iter()
        .map(|name| founder.write_seeing(&kept(name), &seen))
        .collect();
    assert_eq!(push(&mut host, &[define]), 1);
    assert_eq!(push(&mut host, &firsts), 10);
    let edits: Vec<Object> = firsts
        .iter()
        .flat_map(|first| {
            let same = founder.write_seeing(&Draft::after(first, Some("a")), &seen);
            let other = founder.write_seeing(&Draft::after(&same, Some("b")), &seen);
            [same, other]
        })
        .collect();
    assert_eq!(push(&mut host, &edits), 10);
    assert_eq!(host.most_bodies, 3);
}

#[test]
fn a_stranger_who_waits_is_not_judged_again_by_changes_that_name_others() {
    let (mut host, mut founder, mut guest) = host_and_pens();
    let mut stranger = Pen::new(key(3), &host.space.clone());
    let leave = guest.remove(&guest.did.clone(), &[]);
    let knock = stranger.remove(&stranger.did.clone(), &[]);
    assert_eq!(push(&mut host, &[leave, knock]), 0);
    answers(&mut host);
    let other = founder.assign(&key(4).did(), "guest", true, &[]);
    assert_eq!(push(&mut host, &[other]), 1);
    assert_eq!(answers(&mut host), [Answer::Stands]);
    let assign = founder.assign(&guest.did, "guest", true, &[]);
    assert_eq!(push(&mut host, &[assign]), 2);
    assert_eq!(answers(&mut host), [Answer::Stands, Answer::Withdrawn]);
    assert_eq!(host.engine.waiting().0, 1);
}
