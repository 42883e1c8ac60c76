//! Every kind of verdict on an access change.

use holdfast::explain::{AskedFacts, ChangeFacts, Held, Told, Verdict};
use member::access;
use member::randomness::FixedRandomness;
use minca_record::content_id::ContentId;
use minca_record::json::{Object, Value};

use crate::story::{ALICE, AMY, BOB, CAROL, DAN, SECRET, Story, assert_ruled, value};

fn change(told: &Told) -> &ChangeFacts {
    told.change.as_ref().unwrap()
}

fn ids<'a>(mentions: impl IntoIterator<Item = &'a holdfast::explain::Mention>) -> Vec<ContentId> {
    mentions.into_iter().map(|it| it.id).collect()
}

#[test]
fn one_that_counts_is_told_with_what_its_author_was_and_what_it_strikes() {
    let mut story = Story::public();
    let bob = story.assign(ALICE, &[], BOB, "mod");
    let removal = story.remove(ALICE, &[bob], BOB);
    let apart = story.assign(BOB, &[bob], CAROL, "editor");
    let told = story.tell(removal);
    assert_ruled(&told, "applied", "03 §4.3.4", None);
    let facts = change(&told);
    assert_eq!(facts.kind, "remove");
    assert_eq!(facts.about, Object::from([("did", story.account(BOB))]));
    let says = format!("It removes {}\n", story.account(BOB));
    assert!(told.as_text().contains(&says));
    assert!(facts.account_is_named && facts.author.as_ref().unwrap().is_founder);
    assert_eq!(ids(facts.strikes.iter().map(|it| &it.other)), [apart]);
    assert!(facts.strikes[0].takes_effect);

    let struck = story.tell(apart);
    assert_ruled(&struck, "struck", "03 §4.3.3", Some("struck"));
    let by = &change(&struck).struck_by;
    assert_eq!(ids(by.iter().map(|it| &it.other)), [removal]);
    assert_eq!(by[0].other.kind, Some("remove"));
    assert_eq!(by[0].other.account, Some(story.account(ALICE)));
    assert!(!by[0].is_mutual);
}

#[test]
fn a_refused_one_is_told_with_the_command_and_arguments_and_its_author_s_roles() {
    let mut story = Story::public();
    let bob = story.assign(ALICE, &[], BOB, "editor");
    let refused = story.assign(BOB, &[bob], CAROL, "mod");
    let told = story.tell(refused);
    assert_ruled(&told, "refused", "03 §4.5", Some("not-granted"));
    assert!(told.rule.contains("no role of its author grants it"));
    let facts = change(&told);
    let author = facts.author.as_ref().unwrap();
    assert_eq!(author.roles.len(), 1);
    assert_eq!(author.roles[0].by, bob);
    let Some(AskedFacts::Command { command, of }) = &facts.asked else {
        panic!("an assignment asks for a command");
    };
    assert_eq!(*command, "/role/assign");
    let arguments = String::from_utf8(of[0].1.canonical()).unwrap();
    assert_eq!(arguments, r#"{"role":"mod","roles":[],"self":false}"#);
    let text = told.as_text();
    assert!(text.contains(&format!("editor (by {bob})")), "{text}");
    assert!(text.contains(&arguments), "{text}");
}

#[test]
fn reductions_that_strike_each_other_are_told_as_such() {
    let mut story = Story::public();
    let bob = story.assign(ALICE, &[], BOB, "mod");
    let carol = story.assign(ALICE, &[bob], CAROL, "mod");
    let one = story.remove(BOB, &[carol], CAROL);
    let other = story.remove(CAROL, &[carol], BOB);
    let told = story.tell(one);
    assert_ruled(&told, "applied", "03 §4.3.4", None);
    let by = &change(&told).struck_by;
    assert_eq!(ids(by.iter().map(|it| &it.other)), [other]);
    assert!(by[0].is_mutual && !by[0].takes_effect);
    assert!(told.as_text().contains("they strike each other"));
}

#[test]
fn one_that_rests_on_something_struck_is_told_with_it_and_what_refuses_it_then() {
    let mut story = Story::public();
    let dan = story.assign(ALICE, &[], DAN, "mod");
    story.take(ALICE, &[dan], DAN, "mod");
    let bob = story.assign(DAN, &[dan], BOB, "mod");
    let carol = story.assign(BOB, &[bob], CAROL, "editor");
    let told = story.tell(carol);
    assert_ruled(&told, "struck", "03 §4.3.4", Some("not-granted"));
    assert!(told.rule.contains("rests on a change that was struck"));
    let facts = change(&told);
    assert_eq!(ids(&facts.struck_of_seen), [bob]);
    assert_eq!(facts.author.as_ref().unwrap().roles[0].by, bob);
    let among_valid = facts.author_among_valid.as_ref().unwrap();
    assert!(!among_valid.is_founder && among_valid.roles.is_empty());
    assert!(told.as_text().contains("no member"));
}

#[test]
fn one_whose_seen_is_not_held_waits_for_it() {
    let mut story = Story::public();
    let missing = ContentId::of(b"missing");
    let first = story.assign(ALICE, &[missing], BOB, "editor");
    let second = story.assign(ALICE, &[first], CAROL, "editor");
    let told = story.tell(second);
    assert_ruled(&told, "waiting", "03 §4.2", Some("seen-missing"));
    let waits = &change(&told).waits_for;
    assert_eq!(ids(waits), [first]);
    assert_eq!(waits[0].status, "waiting");
    assert_eq!(change(&story.tell(first)).waits_for[0].status, "not-held");
    assert!(change(&told).author.is_none() && change(&told).asked.is_none());
}

#[test]
fn a_version_that_says_no_change_is_told_with_why() {
    let mut story = Story::public();
    let mut write = access::assign(&story.account(BOB), "editor");
    write.body = Some(Object::from([("did", SECRET)]).into());
    let told = story.write(ALICE, &[], write.clone());
    let told = story.tell(told);
    assert_ruled(&told, "no-event", "03 §3.3", Some("fields"));
    assert!(told.change.is_none());
    let draft = story.draft(
        (ALICE, 0),
        &[],
        access::remove(&story.account(BOB), Object::new()),
    );
    let id = story.keep((ALICE, 0), draft.without("retain"));
    assert_ruled(&story.tell(id), "no-event", "03 §3.3", Some("not-retained"));
}

#[test]
fn a_copy_that_does_not_check_out_is_told_with_the_step_and_a_good_one_is_taken_before_it() {
    let mut story = Story::public();
    let id = story.assign(ALICE, &[], BOB, "editor");
    let good = story.versions[0].clone();
    let bad = story.versions[0].as_object_mut().unwrap();
    bad.insert("signature", "A".repeat(86));
    let told = story.tell(id);
    assert_ruled(&told, "refused", "02 §9 step 4", Some("signature-invalid"));
    assert_eq!(told.version.as_ref().unwrap().account, None);
    story.versions.push(good);
    assert_ruled(&story.tell(id), "applied", "03 §4.3.4", None);
    story.versions.swap(0, 1);
    assert_ruled(&story.tell(id), "applied", "03 §4.3.4", None);
}

#[test]
fn one_whose_chain_is_not_held_is_not_judged() {
    let mut story = Story::public();
    let first = story.assign(ALICE, &[], BOB, "editor");
    let second = story.take(ALICE, &[first], BOB, "editor");
    assert_ruled(&story.tell(second), "applied", "03 §4.3.4", None);
    story.forget(first);
    let told = story.tell(second);
    assert_ruled(&told, "not-yet", "02 §9 step 7", Some("prev-missing"));
}

#[test]
fn an_account_the_history_does_not_name_is_told_as_such() {
    let mut story = Story::public();
    let stranger = story.remove(DAN, &[], ALICE);
    let told = story.tell(stranger);
    assert_ruled(&told, "refused", "03 §4.5", Some("target-is-founder"));
    assert!(!change(&told).account_is_named);
    assert!(told.as_text().contains("names no such account"));
}

#[test]
fn a_stepping_down_that_a_revoke_reaches_is_told_with_it() {
    let mut story = Story::public();
    let stepping = access::step_down(&story.account(AMY), Object::new());
    let down = story.write_by_device(AMY, &[], stepping);
    let revoke = access::revoke(
        &story.device(AMY).did(),
        &story.device(AMY).account().did(),
        Object::new(),
    );
    let revoke = story.write(AMY, &[], revoke);
    let told = story.tell(down);
    assert_ruled(&told, "applied", "03 §4.3.4", None);
    assert_eq!(ids(&change(&told).disarmed_by), [revoke]);
    assert_eq!(change(&told).asked, Some(AskedFacts::OwnChoice));
    assert_eq!(
        change(&story.tell(revoke)).asked,
        Some(AskedFacts::Membership)
    );
}

#[test]
fn the_overview_has_heads_members_counts_and_everything_not_applied() {
    let mut story = Story::private();
    let missing = ContentId::of(b"missing");
    let bob = story.assign(ALICE, &[], BOB, "mod");
    let removal = story.remove(ALICE, &[bob], BOB);
    let struck = story.assign(BOB, &[bob], CAROL, "editor");
    let refused = story.assign(CAROL, &[bob], CAROL, "mod");
    let dan = story.assign(ALICE, &[removal], DAN, "editor");
    let waiting = story.assign(ALICE, &[missing], DAN, "mod");
    let overview = story.held().overview();
    assert_eq!(overview.space, story.id());
    assert_eq!(overview.heads, [dan]);
    assert_eq!(overview.key_due, Some(true));
    let counts: Vec<(&str, usize)> = overview
        .counts
        .iter()
        .map(|(verdict, count)| (verdict.word(), *count))
        .collect();
    assert_eq!(
        counts,
        [
            ("applied", 3),
            ("struck", 1),
            ("refused", 1),
            ("waiting", 1)
        ]
    );
    let mut members: Vec<(String, bool, usize)> = overview
        .members
        .iter()
        .map(|it| {
            (
                it.account.as_str().unwrap().to_owned(),
                it.is_founder,
                it.roles.len(),
            )
        })
        .collect();
    members.sort();
    let mut expected = [
        (story.account(ALICE), true, 0),
        (story.account(AMY), true, 0),
        (story.account(DAN), false, 1),
    ];
    expected.sort();
    assert_eq!(members, expected);
    let mut not_applied: Vec<ContentId> =
        overview.not_applied.iter().map(|it| it.change.id).collect();
    not_applied.sort();
    let mut expected = [struck, refused, waiting];
    expected.sort();
    assert_eq!(not_applied, expected);
    for one in &overview.not_applied {
        match one.verdict {
            Verdict::Struck => assert_eq!(one.struck_by, [removal]),
            Verdict::Refused => assert_eq!(one.reason, Some("not-granted")),
            Verdict::Waiting => assert_eq!(one.waits_for[0].id, missing),
            other => panic!("{other:?} is applied or wasn't made"),
        }
    }
    let text = overview.as_text();
    let json = String::from_utf8(overview.as_json().canonical()).unwrap();
    for words in [&text, &json] {
        assert!(!words.contains(SECRET));
        for id in [dan, struck, refused, waiting, removal, missing] {
            assert!(words.contains(&id.to_string()), "{words}");
        }
    }
    assert!(text.contains("The key is due for a change"), "{text}");
}

#[test]
fn a_space_where_nothing_happened_has_its_founders_and_no_key_to_change() {
    let story = Story::public();
    let overview = story.held().overview();
    assert_eq!(overview.members.len(), 2);
    assert_eq!(overview.key_due, None);
    assert!(overview.heads.is_empty() && overview.not_applied.is_empty());
    assert!(overview.as_text().contains("Access changes: none"));
}

#[test]
fn what_somebody_wrote_does_not_reach_the_terminal_as_it_is() {
    let mut story = Story::public();
    let role = "\u{1b}[2Jmod\u{202e}";
    let write = access::assign(&story.account(BOB), role);
    let id = story.write(ALICE, &[], write);
    let text = story.tell(id).as_text();
    assert!(
        !text.contains('\u{1b}') && !text.contains('\u{202e}'),
        "{text}"
    );
    assert!(text.contains("\\u{202e}"), "{text}");
}

#[test]
fn values_that_are_no_versions_are_passed_over() {
    let mut story = Story::public();
    let id = story.assign(ALICE, &[], BOB, "editor");
    let strange = [Value::Null, Object::from([("id", "b")]).into()];
    let versions = strange.into_iter().chain(story.versions.clone());
    let mut held = Held::new(story.space.constitution().clone(), versions);
    assert_eq!(held.overview().heads, [id]);
    assert!(
        held.tell(&ContentId::of(b"x"), vec![Value::Null], vec![])
            .is_none()
    );
}

#[test]
fn every_kind_of_change_is_told_with_what_it_is_about() {
    let mut story = Story::private();
    let bob = story.account(BOB);
    let device = story.device(ALICE).did();
    let alice = story.device(ALICE).account().did();
    let successor = ContentId::of(b"successor");
    let role = access::RoleDraft {
        name: "guest",
        title: Some(SECRET),
        grants: &[],
        nests: &[],
    };
    let mut randomness = FixedRandomness::new(1);
    let role = access::define_role(story.id(), &alice, &role, &mut randomness);
    let definition = value(r#"{"name":"app.note","version":1,"schema":{}}"#);
    let changes = [
        (role.unwrap(), "It defines the role guest\n".to_owned()),
        (
            access::assign(&bob, "mod"),
            format!("It assigns the role mod to {bob}\n"),
        ),
        (
            access::unassign(&bob, "mod", Object::new()),
            format!("It takes the role mod from {bob}\n"),
        ),
        (
            access::invite(&bob, "mod", true),
            format!("It opens the invite {bob} to the role mod\n"),
        ),
        (
            access::invite(&bob, "mod", false),
            format!("It closes the invite {bob} to the role mod\n"),
        ),
        (
            access::revoke(&device, &alice, Object::new()),
            format!("It revokes the key {device}\n"),
        ),
        (
            access::define_collection(definition.into_object().unwrap()),
            "It defines the collection app.note\n".to_owned(),
        ),
        (
            access::relays(&["wss://relay.example"]),
            "It names the relays the members meet on\n".to_owned(),
        ),
        (
            access::keepers(&[(&bob, SECRET)], Some(2)),
            "It names the nodes that keep the space whole\n".to_owned(),
        ),
        (
            access::succeed(successor),
            format!("It names the space {successor} a successor\n"),
        ),
        (
            access::step_down(&alice.to_string(), Object::new()),
            format!("It has {alice} step down as a founder\n"),
        ),
    ];
    let mut seen = Vec::new();
    for (write, says) in changes {
        let id = story.write(ALICE, &seen, write);
        let told = story.tell(id);
        assert_ruled(&told, "applied", "03 §4.3.4", None);
        assert!(told.as_text().contains(&says), "{}", told.as_text());
        let is_bare = ["relays", "keepers"].contains(&change(&told).kind);
        assert_eq!(change(&told).about.is_empty(), is_bare);
        seen = vec![id];
    }
}
