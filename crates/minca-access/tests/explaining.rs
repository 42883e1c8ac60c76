//! What explains a replay's answers, on small histories and on every committed case.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

#[path = "support/cases.rs"]
mod cases;
#[path = "support/model/mod.rs"]
mod model;
#[path = "support/tale.rs"]
mod tale;

use minca_access::history::{Asked, History, JudgedIn, Place, Refusal, Status};
use minca_record::content_id::ContentId;
use minca_record::json::Text;
use tale::{
    ALICE, BOB, CAROL, DAN, Tale, assign, join, open_invite, remove, revoke, role, step_down, take,
    text,
};

fn judged(history: &mut History, id: ContentId) -> JudgedIn {
    history.judged_in(&id).unwrap()
}

fn roles(place: &Place) -> Vec<&str> {
    let roles = place.roles.iter();
    roles.map(|held| held.role.as_str().unwrap()).collect()
}

fn asks(asked: &Asked) -> String {
    match asked {
        Asked::Command { command, arguments } => {
            let arguments = String::from_utf8(arguments.canonical()).unwrap();
            format!("{command} {arguments}")
        }
        Asked::OfOpeners { command, openers } => format!("{command} of {}", openers.len()),
        Asked::Membership => "membership".to_owned(),
        Asked::OwnChoice => "own choice".to_owned(),
    }
}

#[test]
fn a_refused_change_is_told_with_what_its_author_was_and_asked_for() {
    let mut tale = Tale::new(&[ALICE]);
    let bob = tale.tell(ALICE, &[], assign(BOB, "member"));
    let carol = tale.tell(ALICE, &[bob], assign(CAROL, "mod"));
    let refused = tale.tell(BOB, &[carol], remove(CAROL));
    let mut history = tale.history();
    assert_eq!(
        history.status(&refused),
        Some(Status::Refused(Refusal::NotGranted))
    );
    let told = judged(&mut history, refused);
    assert!(!told.author.is_founder && told.author.is_member());
    assert_eq!(roles(&told.author), ["member"]);
    assert_eq!(told.author.roles[0].by, bob);
    assert_eq!(told.author_among_valid, None);
    assert_eq!(
        asks(&told.asked),
        r#"/member/remove {"roles":["mod"],"self":false}"#
    );
    assert!(judged(&mut history, carol).author.is_founder);
    assert_eq!(history.judged_in(&ContentId::of(b"nothing")), None);
}

#[test]
fn what_rests_on_something_struck_is_told_with_it() {
    let mut tale = Tale::new(&[ALICE]);
    let dan = tale.tell(ALICE, &[], assign(DAN, "admin"));
    let demotion = tale.tell(ALICE, &[dan], take(DAN, "admin"));
    let bob = tale.tell(DAN, &[dan], assign(BOB, "mod"));
    let carol = tale.tell(DAN, &[bob], assign(CAROL, "member"));
    let ban = tale.tell(BOB, &[carol], remove(CAROL));
    let mut history = tale.history();
    let rests = Status::Struck {
        by: vec![],
        rests: Some(Refusal::TargetNotMember),
    };
    assert_eq!(history.status(&ban), Some(rests));
    assert_eq!(history.struck_among(&[carol]), [bob, carol]);
    assert_eq!(history.struck_among(&[dan, demotion]), []);
    let told = judged(&mut history, ban);
    assert_eq!(roles(&told.author), ["mod"]);
    assert_eq!(told.author_among_valid, Some(Place::default()));

    let struck = history.struck_by(&bob);
    assert_eq!(struck.len(), 1);
    assert_eq!(struck[0].event, demotion);
    assert!(struck[0].takes_effect && !struck[0].is_mutual);
    let strikes = history.strikes(&demotion);
    let strikes: Vec<ContentId> = strikes.iter().map(|strike| strike.event).collect();
    assert_eq!(strikes, [bob, carol]);
}

#[test]
fn reductions_that_strike_each_other_are_told_as_mutual() {
    let mut tale = Tale::new(&[ALICE]);
    let bob = tale.tell(ALICE, &[], assign(BOB, "mod"));
    let carol = tale.tell(ALICE, &[bob], assign(CAROL, "mod"));
    let one = tale.tell(BOB, &[carol], remove(CAROL));
    let other = tale.tell(CAROL, &[carol], remove(BOB));
    let mut history = tale.history();
    for (striker, struck) in [(one, other), (other, one)] {
        assert_eq!(history.status(&striker), Some(Status::Applied));
        let strikes = history.strikes(&striker);
        assert_eq!(strikes, history.struck_by(&striker));
        assert_eq!(strikes.len(), 1);
        assert_eq!(strikes[0].event, struck);
        assert!(strikes[0].is_mutual && !strikes[0].takes_effect);
    }
}

#[test]
fn a_stepping_down_that_a_revoke_reaches_is_told_as_disarmed() {
    let mut tale = Tale::new(&[ALICE, BOB]);
    let down = tale.tell_with(ALICE, 1, &[], step_down(ALICE));
    let revoke = tale.tell(ALICE, &[], revoke(ALICE, 1));
    let mut history = tale.history();
    assert_eq!(history.status(&down), Some(Status::Applied));
    assert_eq!(history.disarmed_by(&down), [revoke]);
    assert_eq!(history.disarmed_by(&revoke), []);
    assert_eq!(asks(&judged(&mut history, down).asked), "own choice");
    assert_eq!(asks(&judged(&mut history, revoke).asked), "membership");
}

#[test]
fn a_join_asks_what_it_asks_of_who_opened_the_invite() {
    let mut tale = Tale::new(&[ALICE]);
    let open = tale.tell(ALICE, &[], open_invite("member", true));
    let joined = tale.tell(BOB, &[open], join(BOB, "member"));
    let too_early = tale.tell(CAROL, &[], join(CAROL, "member"));
    let mut history = tale.history();
    let Asked::OfOpeners { command, openers } = judged(&mut history, joined).asked else {
        panic!("a join asks something else");
    };
    assert_eq!(command, "/role/assign");
    let accounts: Vec<&Text> = openers.iter().map(|(account, _)| account).collect();
    assert_eq!(accounts, [&text(ALICE)]);
    assert_eq!(
        openers[0].1.canonical(),
        br#"{"role":"member","roles":[],"self":false}"#
    );
    let asked = judged(&mut history, too_early).asked;
    assert_eq!(asks(&asked), "/role/assign of 0");
}

#[test]
fn what_an_account_was_as_of_a_point_is_told_as_seen_and_as_it_stands() {
    let mut tale = Tale::new(&[ALICE]);
    let dan = tale.tell(ALICE, &[], assign(DAN, "admin"));
    tale.tell(ALICE, &[dan], take(DAN, "admin"));
    let bob = tale.tell(DAN, &[dan], assign(BOB, "mod"));
    let mut history = tale.history();
    let did = minca_record::did::Did::parse(text(BOB).as_str().unwrap()).unwrap();
    let (as_seen, at) = history.places_as_of(&did, &[bob]).unwrap();
    assert_eq!(roles(&as_seen), ["mod"]);
    assert_eq!(at, Place::default());
    let unknown = ContentId::of(b"nothing");
    assert_eq!(
        history.places_as_of(&did, &[bob, unknown]),
        Err(vec![unknown])
    );
}

/// In every case, what is told agrees with what became of each event.
#[test]
fn strikes_and_places_agree_with_what_became_of_the_events() {
    let mut seen = [0; 4];
    for (name, case) in cases::cases() {
        let mut history = History::new(&case.constitution);
        for event in &case.events {
            history.add(event.clone());
        }
        for event in &case.events {
            let status = history.status(&event.id).unwrap();
            let struck_by = history.struck_by(&event.id);
            let effective: Vec<ContentId> = struck_by
                .iter()
                .filter(|strike| strike.takes_effect)
                .map(|strike| strike.event)
                .collect();
            let expected = match &status {
                Status::Struck { by, rests } => {
                    if rests.is_some() {
                        seen[0] += 1;
                        assert_ne!(history.struck_among(&event.seen), [], "{name}");
                        let told = judged(&mut history, event.id);
                        assert!(told.author_among_valid.is_some(), "{name}");
                    }
                    by.clone()
                }
                _ => Vec::new(),
            };
            assert_eq!(effective, expected, "{name}");
            seen[1] += effective.len();
            for strike in &struck_by {
                let back = history.strikes(&strike.event);
                let back = back.iter().find(|back| back.event == event.id).unwrap();
                assert_eq!(back.is_mutual, strike.is_mutual);
                seen[2] += usize::from(strike.is_mutual);
            }
            if matches!(status, Status::Refused(Refusal::NotGranted)) {
                let told = judged(&mut history, event.id);
                assert!(!told.author.is_founder, "{name}");
                assert!(matches!(told.asked, Asked::Command { .. }), "{name}");
                seen[3] += 1;
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 10), "{seen:?}");
}

#[test]
fn a_definition_asks_for_defining_the_role() {
    let mut tale = Tale::new(&[ALICE]);
    let defined = tale.tell(ALICE, &[], role("member", &["/record"]));
    let mut history = tale.history();
    let asked = judged(&mut history, defined).asked;
    assert_eq!(asks(&asked), r#"/role/define {"role":"member"}"#);
}
