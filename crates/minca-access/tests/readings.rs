//! The examples of part 03 §4, and places where its text leaves room: what the
//! replay takes it to say, on histories small enough to follow. The model of the
//! replay must say so too.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

#[path = "support/cases.rs"]
mod cases;
#[path = "support/model/mod.rs"]
mod model;
#[path = "support/tale.rs"]
mod tale;

use minca_record::content_id::ContentId;
use minca_record::json::Text;
use tale::{
    ALICE, ANN, BOB, CAROL, DAN, Tale, assign, assign_text, define, delete, join, key, open_invite,
    remove, revoke, role, role_under, step_down, succeed, take, text,
};

#[test]
fn a_removal_strikes_a_ban_its_account_made_apart() {
    let mut tale = Tale::new(&[ALICE]);
    let bob = tale.tell(ALICE, &[], assign(BOB, "mod"));
    let carol = tale.tell(ALICE, &[bob], assign(CAROL, "member"));
    let removal = tale.tell(ALICE, &[carol], remove(BOB));
    let ban = tale.tell(BOB, &[carol], remove(CAROL));
    let told = tale.told();
    assert_eq!(told.status(removal), "applied");
    assert_eq!(told.status(ban), "struck");
    assert_eq!(told.roles_of(BOB), "{}");
    assert_eq!(told.roles_of(CAROL), format!("{{\"member\":\"{carol}\"}}"));
}

#[test]
fn what_rests_on_a_definition_struck_with_its_author_is_struck() {
    let mut tale = Tale::new(&[ALICE]);
    let erin = tale.tell(ALICE, &[], assign(DAN, "admin"));
    let bob = tale.tell(ALICE, &[erin], assign(BOB, "member"));
    let carol = tale.tell(ALICE, &[bob], assign(CAROL, "member"));
    let demotion = tale.tell(ALICE, &[carol], take(DAN, "admin"));
    let definition = tale.tell(DAN, &[carol], role("member", &["/member/remove"]));
    let removal = tale.tell(BOB, &[definition], remove(CAROL));
    let told = tale.told();
    assert_eq!(told.status(demotion), "applied");
    assert_eq!(told.status(definition), "struck");
    assert_eq!(told.status(removal), "struck");
    assert_ne!(told.roles_of(CAROL), "{}");
}

#[test]
fn a_founder_who_stepped_down_cannot_backdate_what_it_does() {
    let mut tale = Tale::new(&[ALICE, BOB]);
    let stays = tale.tell(ALICE, &[], assign(ALICE, "member"));
    let carol = tale.tell(BOB, &[stays], assign(CAROL, "admin"));
    let down = tale.tell(ALICE, &[carol], step_down(ALICE));
    let backdated = tale.tell(ALICE, &[carol], assign(DAN, "admin"));
    let too_early = tale.tell(CAROL, &[carol], remove(ALICE));
    let removal = tale.tell(CAROL, &[down], remove(ALICE));
    let told = tale.told();
    assert_eq!(told.status(down), "applied");
    assert_eq!(told.status(backdated), "struck");
    assert_eq!(told.status(too_early), "refused");
    assert_eq!(told.status(removal), "applied");
}

#[test]
fn events_that_name_each_other_wait() {
    let mut tale = Tale::new(&[ALICE]);
    let (first, second) = (tale.next_id(), tale.id_after(1));
    tale.tell(ALICE, &[second], assign(BOB, "member"));
    tale.tell(ALICE, &[first], assign(CAROL, "member"));
    let third = tale.tell(ALICE, &[second], assign(DAN, "member"));
    let told = tale.told();
    for id in [first, second, third] {
        assert_eq!(told.status(id), "waiting");
    }
}

#[test]
fn a_revoke_disarms_a_stepping_down_whether_or_not_it_covers_it() {
    let mut tale = Tale::new(&[ALICE]);
    let down = tale.tell_with(ALICE, 1, &[], step_down(ALICE));
    let apart = tale.tell_with(ALICE, 2, &[], assign(DAN, "admin"));
    let told = tale.told();
    assert_eq!(told.status(apart), "struck");

    tale.cover(ALICE, 1, "sys.stepdown", 0);
    tale.tell_with(ALICE, 2, &[], revoke(ALICE, 1));
    let told = tale.told();
    assert_eq!(told.status(down), "applied");
    assert_eq!(told.status(apart), "applied");
    assert_eq!(told.current("founders"), "[]");
}

#[test]
fn a_stepping_down_disarmed_since_withdraws_no_record_within_what_cites_it() {
    let mut tale = Tale::new(&[ALICE]);
    let down = tale.tell_with(ALICE, 1, &[], step_down(ALICE));
    let record = tale.record(ALICE, 2, &[], Some(&[down]));
    assert_eq!(tale.told().verdict(record), "withdrawn at 4");
    tale.tell_with(ALICE, 2, &[], revoke(ALICE, 1));
    assert_eq!(tale.told().verdict(record), "stands at 6");
}

#[test]
fn a_stepping_down_is_disarmed_by_a_revoke_that_came_before_it() {
    let mut tale = Tale::new(&[ALICE]);
    tale.tell_with(ALICE, 2, &[], revoke(ALICE, 1));
    tale.tell_with(ALICE, 1, &[], step_down(ALICE));
    let apart = tale.tell_with(ALICE, 2, &[], assign(DAN, "admin"));
    assert_eq!(tale.told().status(apart), "applied");
}

#[test]
fn a_revoke_a_writer_had_not_seen_disarms_nothing_as_it_saw_it() {
    let mut tale = Tale::new(&[ALICE]);
    let down = tale.tell_with(ALICE, 1, &[], step_down(ALICE));
    let apart = tale.tell_with(ALICE, 2, &[], assign(DAN, "member"));
    let revoked = tale.tell_with(ALICE, 2, &[], revoke(ALICE, 1));
    let without = tale.record(DAN, 0, &[down, apart], None);
    let with = tale.record(DAN, 0, &[down, apart, revoked], None);
    let told = tale.told();
    assert_eq!(told.status(apart), "applied");
    assert_eq!(told.verdict(without), "refused at 3");
    assert_eq!(told.verdict(with), "stands at 6");
}

#[test]
fn closing_an_invite_that_is_closed_still_strikes_joins() {
    let mut tale = Tale::new(&[ALICE]);
    let opened = tale.tell(ALICE, &[], open_invite("member", true));
    let closed = tale.tell(ALICE, &[opened], open_invite("member", false));
    let reopened = tale.tell(ALICE, &[closed], open_invite("member", true));
    let joined = tale.tell(DAN, &[reopened], join(DAN, "member"));
    assert_eq!(tale.told().status(joined), "applied");
    tale.tell(ALICE, &[closed], open_invite("member", false));
    assert_eq!(tale.told().status(joined), "struck");
}

#[test]
fn a_deleted_definition_leaves_room_for_another_first_definer_and_a_removal_does_not() {
    let mut tale = Tale::new(&[ALICE]);
    let bob = tale.tell(ALICE, &[], assign(BOB, "admin"));
    let carol = tale.tell(ALICE, &[bob], assign(CAROL, "member"));
    let defined = tale.tell(BOB, &[carol], define());
    let removal = tale.tell(ALICE, &[defined], remove(CAROL));
    let changed = tale.tell(ALICE, &[removal], define());
    assert_eq!(tale.told().definition(), (changed, Some(BOB)));
    let deleted = tale.tell(ALICE, &[changed], delete());
    assert_eq!(tale.told().current("definitions"), "{}");
    let anew = tale.tell(ALICE, &[deleted], define());
    assert_eq!(tale.told().definition(), (anew, Some(ALICE)));
}

#[test]
fn definitions_made_apart_without_one_first_definer_are_contested() {
    let mut tale = Tale::new(&[ALICE, ANN]);
    let first = tale.tell(ALICE, &[], define());
    let second = tale.tell(ANN, &[], define());
    let told = tale.told();
    assert_eq!(
        told.current("contested"),
        format!("{{\"app.chat\":[\"{first}\",\"{second}\"]}}")
    );
    let settled = tale.tell(ALICE, &[first, second], define());
    let told = tale.told();
    assert_eq!(told.current("contested"), "{}");
    assert_eq!(told.definition(), (settled, None));
}

#[test]
fn a_delete_is_no_first_definition() {
    let mut tale = Tale::new(&[ALICE, ANN]);
    let first = tale.tell(ALICE, &[], define());
    let deleted = tale.tell(ANN, &[], delete());
    tale.tell(ALICE, &[deleted], define());
    assert_eq!(tale.told().definition(), (first, Some(ALICE)));
}

#[test]
fn first_definers_are_sought_in_the_whole_set() {
    let mut tale = Tale::new(&[ALICE, ANN]);
    let first = tale.tell(ALICE, &[], define());
    let second = tale.tell(ANN, &[], define());
    let third = tale.tell(ALICE, &[second], define());
    let told = tale.told();
    assert_eq!(told.definition(), (first, None));
    assert_ne!(first, third);
}

#[test]
fn a_struck_delete_is_no_removal_of_a_definition() {
    let mut tale = Tale::new(&[ALICE]);
    let carol = tale.tell(ALICE, &[], assign(CAROL, "admin"));
    let bob = tale.tell(ALICE, &[carol], assign(BOB, "admin"));
    let defined = tale.tell(CAROL, &[bob], define());
    let deleted = tale.tell(BOB, &[defined], delete());
    let changed = tale.tell(ALICE, &[deleted], define());
    assert_eq!(tale.told().definition(), (changed, Some(ALICE)));
    tale.tell(ALICE, &[defined], take(BOB, "admin"));
    assert_eq!(tale.told().definition(), (changed, Some(CAROL)));
}

#[test]
fn keys_made_apart_are_in_the_order_of_their_events() {
    let mut tale = Tale::new(&[ALICE]);
    let first = tale.tell(ALICE, &[], key("zzz", 1));
    let second = tale.tell(ALICE, &[], key("aaa", 2));
    assert_eq!(tale.told().key_ids(), ["first", "aaa", "zzz"]);
    tale.tell(ALICE, &[first, second], key("mmm", 3));
    assert_eq!(tale.told().key_ids(), ["first", "zzz", "aaa", "mmm"]);
}

#[test]
fn who_held_the_key_as_its_maker_saw_it_makes_a_change_due_however_it_reads_no_more() {
    let mut tale = Tale::new(&[ALICE]);
    let bob = tale.tell(ALICE, &[], assign(BOB, "admin"));
    let eve = tale.tell(BOB, &[bob], assign(DAN, "member"));
    let made = tale.tell(ALICE, &[eve], key("a", 1));
    assert!(!tale.told().key_due());
    let demotion = tale.tell(ALICE, &[bob], take(BOB, "admin"));
    let told = tale.told();
    assert_eq!(told.status(eve), "struck");
    assert!(told.key_due());
    tale.tell(ALICE, &[made, demotion], key("b", 2));
    assert!(!tale.told().key_due());
}

#[test]
fn any_assignment_a_key_had_not_seen_makes_a_holder() {
    let mut tale = Tale::new(&[ALICE, ANN]);
    let eve = tale.tell(ALICE, &[], assign(DAN, "member"));
    let removal = tale.tell(ALICE, &[eve], remove(DAN));
    tale.tell(ALICE, &[removal], key("a", 1));
    assert!(!tale.told().key_due());
    let second = tale.tell(ANN, &[eve], assign(DAN, "mod"));
    let told = tale.told();
    assert_eq!(told.status(second), "applied");
    assert_eq!(told.roles_of(DAN), "{}");
    assert!(told.key_due());
}

#[test]
fn an_assignment_that_waits_names_its_account() {
    let mut tale = Tale::new(&[ALICE]);
    assert!(!tale.told().is_named(BOB));
    let waiting = tale.tell(ALICE, &[ContentId::of(b"missing")], assign(BOB, "member"));
    let told = tale.told();
    assert_eq!(told.status(waiting), "waiting");
    assert!(told.is_named(BOB));
}

#[test]
fn who_names_a_successor_twice_is_listed_once() {
    let mut tale = Tale::new(&[ALICE]);
    tale.tell_with(ALICE, 1, &[], succeed());
    tale.tell_with(ALICE, 2, &[], succeed());
    assert_eq!(tale.told().successors(), [[ALICE]]);
}

#[test]
fn a_record_that_rests_on_a_change_struck_since_is_withdrawn() {
    let mut tale = Tale::new(&[ALICE]);
    let bob = tale.tell(ALICE, &[], assign(BOB, "admin"));
    let carol = tale.tell(BOB, &[bob], assign(CAROL, "member"));
    let record = tale.record(CAROL, 0, &[carol], None);
    assert_eq!(tale.told().verdict(record), "stands at 6");
    tale.tell(ALICE, &[bob], remove(BOB));
    assert_eq!(tale.told().verdict(record), "withdrawn at 5");
}

#[test]
fn a_record_of_a_revoked_key_that_was_never_allowed_is_withdrawn_and_does_not_stand() {
    let mut tale = Tale::new(&[ALICE]);
    let bob = tale.tell(ALICE, &[], assign(BOB, "member"));
    tale.tell_with(BOB, 0, &[bob], revoke(BOB, 1));
    let record = tale.record(BOB, 1, &[], None);
    let told = tale.told();
    assert_eq!(told.verdict(record), "withdrawn at 2");
    assert_eq!(told.standing(record), "refused at 5.2.7");
}

#[test]
fn assignments_that_share_a_record_key_by_how_they_are_joined_are_two() {
    let mut tale = Tale::new(&[ALICE]);
    let joined: Text = format!("{}|x", text(BOB).as_str().unwrap()).into();
    let nobody = tale.tell(ALICE, &[], assign_text(&joined, "member"));
    let refused = tale.tell(ALICE, &[nobody], assign(BOB, "x|member"));
    let record = tale.record_in("sys.profile", BOB, 0, &[nobody, refused], None);
    let told = tale.told();
    assert_eq!(told.status(nobody), "applied");
    assert_eq!(told.status(refused), "refused");
    assert_eq!(told.roles_of(BOB), "{}");
    assert_eq!(told.verdict(record), "refused at 3");
}

#[test]
fn within_what_saw_nothing_a_record_is_judged_as_its_writer_saw_it() {
    let mut tale = Tale::new(&[ALICE]);
    let bob = tale.tell(ALICE, &[], assign(BOB, "admin"));
    let carol = tale.tell(BOB, &[bob], assign(CAROL, "member"));
    tale.tell(ALICE, &[bob], remove(BOB));
    let cited = tale.record(CAROL, 0, &[carol], Some(&[]));
    let not_cited = tale.record(CAROL, 0, &[carol], None);
    let told = tale.told();
    assert_eq!(told.verdict(cited), "stands at 6");
    assert_eq!(told.verdict(not_cited), "withdrawn at 5");
    let mut history = tale.history();
    let as_seen = history.seen_as(&[carol]).unwrap();
    assert_eq!(history.at(&[carol], Some(&[])), Ok(as_seen));
    let stands = history.at(&[carol], None).unwrap();
    assert!(!stands.assigned.contains_key(&text(CAROL)));
}

#[test]
fn nothing_of_a_delete_is_taken_on_trust() {
    let mut tale = Tale::new(&[ALICE]);
    let notes = role_under("mod", "/record", r#"[["==", ".body.kind", "note"]]"#);
    let defined = tale.tell(ALICE, &[], notes);
    let bob = tale.tell(ALICE, &[defined], assign(BOB, "mod"));
    let written = tale.record(BOB, 0, &[bob], None);
    let deleted = tale.record(BOB, 0, &[bob], None);
    for (place, deletes) in [false, true].into_iter().enumerate() {
        let probe = tale.probe(place);
        probe.body = None;
        probe.blind = true;
        probe.deletes = deletes;
    }
    let told = tale.told();
    assert_eq!(told.standing(written), "stands at 5.1.6");
    assert_eq!(told.standing(deleted), "refused at 5.2.7");
}
