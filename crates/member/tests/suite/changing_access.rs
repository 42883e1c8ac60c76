//! Access changes between members: what each sees of the others' records afterwards.

use crate::people::{
    NOTES, account, at, device, did, founded, founder_and_editor, make, meet, name, note, notes,
    refused, unreadable,
};
use member::access::{self, RoleDraft};
use member::cutoff;
use member::forks;
use member::holdings::Holdings;
use member::randomness::FixedRandomness;
use member::replica::{Replica, Write, WriteError};
use member::space::{Space, Visibility};
use member::write::{Draft, Position};
use minca_access::history::{Refusal, Verdict};
use minca_record::content_id::ContentId;
use minca_record::json::{Object, Text, Value};
use minca_record::version::Version;

#[test]
fn who_holds_no_role_writes_nothing_and_a_role_lets_it() {
    let space = founded(Visibility::Public);
    let (mut founder, mut other) = (device(&space, 1, 11), device(&space, 2, 12));
    let refused = other.create(NOTES, "x".into(), at(1)).unwrap_err();
    assert!(matches!(refused, WriteError::NotMember));
    assert!(other.holdings().is_empty());
    make(&mut founder, access::assign(&name(&other), "editor"));
    meet(&mut founder, &mut other);
    note(&mut other, "hello");
    meet(&mut founder, &mut other);
    assert_eq!(notes(&founder), ["hello"]);
}

#[test]
fn a_write_names_the_heads_of_the_history_as_seen() {
    let [mut founder, mut editor] = founder_and_editor(Visibility::Public);
    let heads = founder.heads(NOTES);
    assert_eq!(heads.len(), 1);
    assert_eq!(note(&mut editor, "x").seen(), heads);
    let relays = make(&mut founder, access::relays(&["wss://relay.example"]));
    assert_eq!(relays.seen(), heads);
    assert_eq!(founder.heads(NOTES), [relays.id()]);
}

#[test]
fn of_more_than_64_heads_those_the_writers_standing_rests_on_come_first() {
    let [mut founder, mut editor] = founder_and_editor(Visibility::Public);
    // Changes made apart, none of which saw another.
    for number in 0..70 {
        let successor = ContentId::of(format!("space {number}").as_bytes());
        let write = Write {
            seen: Some(vec![founder.space().id()]),
            ..access::succeed(successor)
        };
        founder.write(write, at(100 + number)).unwrap();
    }
    meet(&mut founder, &mut editor);
    let heads = editor.heads(NOTES);
    assert_eq!(heads.len(), 64);
    let assigned = editor.gatekeeper().history().current().assigned[&name(&editor).into()].clone();
    assert_eq!(heads[0], assigned[&"editor".into()]);
    let made_last = founder
        .holdings()
        .versions_in("sys.succeed")
        .last()
        .unwrap();
    assert_eq!(heads[1], made_last.id());
    assert_eq!(notes(&editor), [""; 0]);
    note(&mut editor, "still allowed");
}

#[test]
fn what_a_demoted_member_wrote_meanwhile_is_withdrawn_everywhere() {
    let [mut founder, mut editor] = founder_and_editor(Visibility::Public);
    note(&mut editor, "before");
    meet(&mut founder, &mut editor);
    let cutoff = cutoff::of_account(&founder, &did(&editor));
    make(
        &mut founder,
        access::unassign(&name(&editor), "editor", cutoff),
    );
    let meanwhile = note(&mut editor, "meanwhile");
    meet(&mut founder, &mut editor);
    for replica in [&founder, &editor] {
        assert_eq!(notes(replica), ["before"]);
        let held = replica.holdings().get(&meanwhile.id()).unwrap();
        let verdict = replica.gatekeeper().stands(held, replica.holdings());
        assert_eq!(verdict, Verdict::Withdrawn);
    }
    let refused = editor.create(NOTES, "after".into(), at(30)).unwrap_err();
    assert!(matches!(refused, WriteError::NotMember));
}

#[test]
fn an_edit_that_is_withdrawn_leaves_the_version_before_it_as_the_record() {
    let [mut founder, mut editor] = founder_and_editor(Visibility::Public);
    let write = Write {
        collection: NOTES.to_owned(),
        body: Some("first".into()),
        retain: true,
        ..Write::default()
    };
    let first = founder.write(write, at(20)).unwrap();
    meet(&mut founder, &mut editor);
    let cutoff = cutoff::of_account(&founder, &did(&editor));
    make(&mut founder, access::remove(&name(&editor), cutoff));
    editor
        .edit(first.key(), "vandalised".into(), at(25))
        .unwrap();
    meet(&mut founder, &mut editor);
    assert_eq!(notes(&founder), ["first"]);
    assert_eq!(founder.records(Some(NOTES))[0].id, first.id());
}

#[test]
fn a_removal_leaves_what_its_cutoff_covers_and_one_without_withdraws_all_it_had_not_seen() {
    for covers in [true, false] {
        let [mut founder, mut editor] = founder_and_editor(Visibility::Public);
        note(&mut editor, "one");
        note(&mut editor, "two");
        meet(&mut founder, &mut editor);
        let cutoff = match covers {
            true => cutoff::of_account(&founder, &did(&editor)),
            false => Object::new(),
        };
        make(&mut founder, access::remove(&name(&editor), cutoff));
        note(&mut editor, "three");
        meet(&mut founder, &mut editor);
        let left: &[&str] = if covers { &["one", "two"] } else { &[] };
        assert_eq!(notes(&founder), left);
        assert_eq!(notes(&editor), left);
        assert!(!founder.gatekeeper().history().is_member(&did(&editor)));
    }
}

#[test]
fn a_cutoff_names_the_unbroken_line_of_each_key_and_collection() {
    let [mut founder, mut editor] = founder_and_editor(Visibility::Public);
    let mut second = device(founder.space(), 2, 13);
    meet(&mut founder, &mut second);
    for text in ["a", "b", "c"] {
        note(&mut editor, text);
    }
    editor.create("app.other", "x".into(), at(20)).unwrap();
    note(&mut second, "from the second device");
    meet(&mut founder, &mut second);
    let key = |replica: &Replica| replica.device().did().to_string();
    meet(&mut founder, &mut editor);
    let all = cutoff::of_account(&founder, &did(&editor));
    assert_eq!(all.len(), 2);
    let lines = |of: &Replica| {
        all.get(&key(of))
            .and_then(Value::as_object)
            .unwrap()
            .clone()
    };
    let expected = Object::from([("app.note", 2_u64), ("app.other", 0)]);
    assert_eq!(lines(&editor), expected);
    assert_eq!(lines(&second), Object::from([("app.note", 0_u64)]));

    // Of the first device's notes only those at the places 0 and 2 have arrived.
    let mut partly = device(founder.space(), 1, 14);
    for version in founder.holdings().versions_in(NOTES) {
        let is_first_devices = version.author().as_str() == Some(&*key(&editor));
        if is_first_devices && version.log().n != 1 {
            partly.adopt((**version).clone()).unwrap();
        }
    }
    let all = cutoff::of_account(&partly, &did(&editor));
    let lines = all.get(&key(&editor)).and_then(Value::as_object);
    assert_eq!(lines, Some(&Object::from([("app.note", 0_u64)])));
}

#[test]
fn who_joins_by_an_invite_writes_and_a_closed_one_lets_nobody_in() {
    let space = founded(Visibility::Public);
    let (mut founder, mut joiner) = (device(&space, 1, 11), device(&space, 2, 12));
    let secret = [7; 32];
    let key = minca_record::derive::invite_key(&secret).did().to_string();
    let join = access::join(space.id(), &did(&joiner), "editor", &secret);
    // The invite has not arrived yet.
    let why = refused(&mut joiner, join.clone());
    assert!(matches!(
        why,
        WriteError::ChangeRefused(Refusal::InviteUnknown)
    ));
    make(&mut founder, access::invite(&key, "editor", true));
    meet(&mut founder, &mut joiner);
    make(&mut joiner, join);
    note(&mut joiner, "joined");
    meet(&mut founder, &mut joiner);
    assert_eq!(notes(&founder), ["joined"]);

    make(&mut founder, access::invite(&key, "editor", false));
    let mut late = device(&space, 3, 13);
    meet(&mut founder, &mut late);
    let join = access::join(space.id(), &did(&late), "editor", &secret);
    let why = refused(&mut late, join);
    assert!(matches!(
        why,
        WriteError::ChangeRefused(Refusal::InviteClosed)
    ));
}

#[test]
fn after_a_key_change_readers_read_old_and_new_and_the_removed_member_does_not() {
    let [mut founder, mut leaver] = founder_and_editor(Visibility::Private);
    let mut stays = device(founder.space(), 3, 13);
    make(&mut founder, access::assign(&name(&stays), "editor"));
    meet(&mut founder, &mut stays);
    for replica in [&mut founder, &mut leaver, &mut stays] {
        assert!(replica.publish_member_key(at(15)).unwrap().is_some());
        assert!(replica.publish_member_key(at(15)).unwrap().is_none());
    }
    note(&mut founder, "old");
    meet(&mut founder, &mut stays);
    meet(&mut founder, &mut leaver);
    assert_eq!(notes(&leaver), ["old"]);

    let cutoff = cutoff::of_account(&founder, &did(&leaver));
    make(&mut founder, access::remove(&name(&leaver), cutoff));
    assert!(founder.gatekeeper().history().key_is_due());
    let first = founder.space().current_key().unwrap().key_id();
    let written = founder.change_key(at(30)).unwrap();
    assert!(!founder.gatekeeper().history().key_is_due());
    let second = founder.space().current_key().unwrap().key_id();
    assert_ne!(first, second);
    // Its own box comes before the change: whatever happens in between, the new key isn't lost.
    let order: Vec<&str> = written.iter().map(Version::collection).collect();
    assert_eq!(order, ["sys.box", "sys.key", "sys.box"]);
    let boxes = written.iter().filter(|it| it.collection() == "sys.box");
    assert_eq!(boxes.count(), 2);
    note(&mut founder, "new");

    // Nobody would send it to the removed member; it has the bytes all the same.
    meet(&mut founder, &mut leaver);
    assert_eq!(notes(&leaver), ["old"]);
    assert_eq!(unreadable(&leaver), 1);
    meet(&mut founder, &mut stays);
    assert_eq!(notes(&stays), ["new", "old"]);
    note(&mut stays, "under the new key");
    meet(&mut founder, &mut stays);
    assert_eq!(notes(&founder), ["new", "old", "under the new key"]);
    assert_eq!(stays.space().current_key().unwrap().key_id(), second);

    // Who comes later with the new key alone opens the earlier ones with it.
    let key = founder.space().current_key().unwrap().clone();
    let space = Space::holding(founder.space().constitution().clone(), [key]);
    let mut invited = device(&space, 4, 14);
    meet(&mut founder, &mut invited);
    assert_eq!(notes(&invited), ["new", "old", "under the new key"]);
    assert_eq!(invited.space().space_keys().count(), 2);
}

#[test]
fn a_reader_that_publishes_its_member_key_after_a_change_gets_a_box_then() {
    let [mut founder, mut editor] = founder_and_editor(Visibility::Private);
    founder.change_key(at(30)).unwrap();
    note(&mut founder, "new");
    meet(&mut founder, &mut editor);
    assert_eq!(unreadable(&editor), 1);
    let refused = editor.create(NOTES, "x".into(), at(31)).unwrap_err();
    assert!(refused.to_string().contains("current key"));
    // A member key is in the clear, so it can be published without the key.
    editor.publish_member_key(at(32)).unwrap();
    meet(&mut founder, &mut editor);
    assert_eq!(editor.share_key(at(33)).unwrap(), []);
    assert_eq!(founder.share_key(at(33)).unwrap().len(), 1);
    assert_eq!(founder.share_key(at(34)).unwrap(), []);
    meet(&mut founder, &mut editor);
    assert_eq!(notes(&editor), ["new"]);
    // Started again, it still has the key.
    let mut holdings = Holdings::in_memory();
    for version in editor.holdings().versions() {
        holdings.stage_own((**version).clone());
    }
    let randomness = Box::new(FixedRandomness::new(50));
    let space = founded(Visibility::Private);
    let again = Replica::new(space, editor.device().clone(), holdings, randomness);
    assert_eq!(notes(&again), ["new"]);
}

#[test]
fn only_who_may_changes_the_key_and_a_public_space_has_none() {
    let [_, mut editor] = founder_and_editor(Visibility::Private);
    let before = editor.holdings().len();
    let why = editor.change_key(at(30)).unwrap_err();
    assert!(matches!(
        why,
        WriteError::ChangeNotGranted {
            command: "/key/change",
            ..
        }
    ));
    assert_eq!(editor.holdings().len(), before);
    let [mut founder, _] = founder_and_editor(Visibility::Public);
    assert!(founder.change_key(at(30)).is_err());
}

#[test]
fn a_key_change_that_leaves_out_the_first_key_is_told_as_malformed() {
    let [mut founder, _] = founder_and_editor(Visibility::Private);
    let mut change = access::change_key(
        founder.space(),
        &minca_record::derive::SpaceKey::new([9; 32]),
        &mut FixedRandomness::new(60),
    )
    .unwrap();
    let body = change.body.as_mut().and_then(Value::as_object_mut).unwrap();
    body.insert("earlier", "AAAA");
    let change = make(&mut founder, change);
    // The key isn't held, so nothing can be said of it.
    assert_eq!(founder.malformed_key_changes(), []);
    let key = minca_record::derive::SpaceKey::new([9; 32]);
    let space = Space::holding(founder.space().constitution().clone(), [key]);
    let mut invited = device(&space, 4, 14);
    meet(&mut founder, &mut invited);
    assert_eq!(invited.malformed_key_changes(), [change.id()]);
    assert_eq!(invited.space().space_keys().count(), 1);
}

#[test]
fn a_forked_line_is_found_proven_and_withdrawn_from_there_on() {
    let [mut founder, mut editor] = founder_and_editor(Visibility::Public);
    note(&mut editor, "whole");
    assert!(forks::unproven(&editor).is_empty());
    // A copy of the device goes on from the same place.
    let draft = |editor: &mut Replica, text: &str| {
        let write = Write {
            collection: NOTES.to_owned(),
            body: Some(text.into()),
            ..Write::default()
        };
        let draft = editor.draft(write, at(25)).unwrap();
        Version::shape(draft.sign(editor.device().key()).into()).unwrap()
    };
    let (one, other) = (draft(&mut editor, "one"), draft(&mut editor, "other"));
    editor.adopt(one).unwrap();
    editor.adopt(other).unwrap();
    meet(&mut founder, &mut editor);
    assert_eq!(notes(&founder), ["one", "other", "whole"]);
    let found = forks::unproven(&founder);
    assert_eq!(found.len(), 1);
    assert_eq!((&*found[0].collection, found[0].from), (NOTES, 1));
    let proofs = forks::prove(&mut founder, &found, at(30)).unwrap();
    assert_eq!(proofs.len(), 1);
    assert!(forks::unproven(&founder).is_empty());
    meet(&mut founder, &mut editor);
    for replica in [&founder, &editor] {
        assert_eq!(notes(replica), ["whole"]);
    }
    let refused = editor.create(NOTES, "x".into(), at(31)).unwrap_err();
    assert!(matches!(refused, WriteError::Withdrawn));
    editor.use_fresh_key().unwrap();
    note(&mut editor, "under another key");
}

#[test]
fn a_line_broken_across_collections_is_found_too() {
    let [founder, mut editor] = founder_and_editor(Visibility::Public);
    let first = note(&mut editor, "first");
    let space = founder.space().id();
    let log = minca_record::version::LogPlace {
        n: 1,
        prev: Some(first.id()),
    };
    let key = first.key().replace(&first.key()[41..], "another");
    let draft = Draft::new(space, "app.other", &key, Position::FIRST, log, at(26));
    let seen: Vec<Value> = vec![editor.heads("app.other")[0].to_string().into()];
    let note = editor.note(at(26)).unwrap().unwrap();
    let draft = draft.body("x".into()).set("seen", seen).set("proof", note);
    let signed = Version::shape(draft.sign(editor.device().key()).into()).unwrap();
    editor.adopt(signed).unwrap();
    let found = forks::unproven(&editor);
    assert_eq!(found.len(), 1);
    assert_eq!((&*found[0].collection, found[0].from), ("app.other", 1));
    assert_eq!(found[0].writer, editor.device().did());
}

#[test]
fn a_revoked_key_writes_no_more_and_another_of_the_account_goes_on() {
    let [mut founder, mut lost] = founder_and_editor(Visibility::Public);
    let mut other = device(founder.space(), 2, 13);
    note(&mut lost, "known");
    meet(&mut founder, &mut lost);
    meet(&mut founder, &mut other);
    note(&mut lost, "by the thief");
    let cutoff = cutoff::of_key(&other, &lost.device().did());
    let revoke = access::revoke(&lost.device().did(), &did(&other), cutoff);
    make(&mut other, revoke);
    meet(&mut founder, &mut other);
    meet(&mut founder, &mut lost);
    assert_eq!(notes(&founder), ["known"]);
    let refused = lost.create(NOTES, "x".into(), at(31)).unwrap_err();
    assert!(matches!(refused, WriteError::Withdrawn));
    note(&mut other, "goes on");
}

#[test]
fn a_founder_that_steps_down_keeps_its_roles_and_can_then_be_removed() {
    let space = founded(Visibility::Public);
    let mut founder = device(&space, 1, 11);
    let admin = RoleDraft {
        name: "admin",
        title: Some("Admin"),
        grants: &[("/member/remove", Value::Array(Vec::new()))],
        nests: &["editor"],
    };
    let mut randomness = FixedRandomness::new(40);
    let defined = access::define_role(space.id(), &did(&founder), &admin, &mut randomness);
    make(&mut founder, defined.unwrap());
    let mut other = device(&space, 2, 12);
    make(&mut founder, access::assign(&name(&other), "admin"));
    meet(&mut founder, &mut other);
    let remove = access::remove(&name(&founder), Object::new());
    let why = refused(&mut other, remove.clone());
    assert!(matches!(
        why,
        WriteError::ChangeRefused(Refusal::TargetIsFounder)
    ));
    let itself = name(&founder);
    make(&mut founder, access::assign(&itself, "editor"));
    let cutoff = cutoff::of_account(&founder, &did(&founder));
    make(&mut founder, access::step_down(&itself, cutoff));
    note(&mut founder, "still an editor");
    meet(&mut founder, &mut other);
    assert!(other.gatekeeper().history().current().founders.is_empty());
    make(&mut other, remove);
    // The grants of a nested role are the role's too.
    note(&mut other, "by an admin");
}

#[test]
fn who_leaves_is_a_member_no_more_and_so_is_who_leaves_its_last_role() {
    let [mut founder, mut editor] = founder_and_editor(Visibility::Public);
    let itself = name(&editor);
    note(&mut editor, "kept");
    let cutoff = cutoff::of_account(&editor, &did(&editor));
    make(&mut editor, access::unassign(&itself, "editor", cutoff));
    meet(&mut founder, &mut editor);
    assert!(!founder.gatekeeper().history().is_member(&did(&editor)));
    let why = refused(&mut editor, access::remove(&itself, Object::new()));
    assert!(matches!(
        why,
        WriteError::ChangeRefused(Refusal::TargetNotMember)
    ));
    make(&mut founder, access::assign(&itself, "editor"));
    meet(&mut founder, &mut editor);
    let cutoff = cutoff::of_account(&editor, &did(&editor));
    make(&mut editor, access::remove(&itself, cutoff));
    meet(&mut founder, &mut editor);
    assert!(!founder.gatekeeper().history().is_member(&did(&editor)));
    assert_eq!(notes(&founder), ["kept"]);
}

#[test]
fn a_successor_is_named_and_nothing_else_changes() {
    let [mut founder, mut editor] = founder_and_editor(Visibility::Public);
    let successor = ContentId::of(b"another space");
    make(&mut founder, access::succeed(successor));
    meet(&mut founder, &mut editor);
    let state = editor.gatekeeper().history().current();
    let by = &state.successors[&successor.to_string().into()];
    assert_eq!(by[..], [Text::from(name(&founder))]);
    note(&mut editor, "goes on");
    let itself = access::succeed(founder.space().id());
    assert!(matches!(
        refused(&mut founder, itself),
        WriteError::NoEvent(_)
    ));
}

#[test]
fn what_an_editor_may_not_do_is_refused_before_anything_is_written() {
    let [founder, mut editor] = founder_and_editor(Visibility::Public);
    let (founder, itself) = (name(&founder), name(&editor));
    let other = account(9).did().to_string();
    let why = |editor: &mut Replica, write| match refused(editor, write) {
        WriteError::ChangeRefused(why) => why,
        WriteError::ChangeNotGranted { .. } => Refusal::NotGranted,
        other => panic!("{other:?}"),
    };
    let cases = [
        (access::assign(&other, "editor"), Refusal::NotGranted),
        (access::assign(&other, "nobody"), Refusal::RoleUnknown),
        (
            access::remove(&founder, Object::new()),
            Refusal::TargetIsFounder,
        ),
        (
            access::remove(&other, Object::new()),
            Refusal::TargetNotMember,
        ),
        (
            access::step_down(&itself, Object::new()),
            Refusal::NotFounder,
        ),
        (
            access::relays(&["wss://relay.example"]),
            Refusal::NotGranted,
        ),
        (
            access::keepers(&[(&other, "Keeper")], None),
            Refusal::NotGranted,
        ),
        (access::invite(&other, "editor", true), Refusal::NotGranted),
        (
            access::invite(&other, "editor", false),
            Refusal::InviteUnknown,
        ),
    ];
    for (write, expected) in cases {
        let collection = write.collection.clone();
        assert_eq!(why(&mut editor, write), expected, "{collection}");
    }
}
