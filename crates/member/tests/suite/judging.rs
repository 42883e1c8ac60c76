//! What a member takes in from others, and what it drops.

use crate::people::{NOTES, at, device, founder_and_editor, make, meet, name, note, notes};
use member::access;
use member::gatekeeper;
use member::replica::{Replica, Write, WriteError};
use member::space::{Opened, Visibility};
use member::sync::Event;
use minca_access::history::Verdict;
use minca_record::json::{MESSAGE_DEPTH, Object, Value, read};
use minca_record::rules::RuleRefusal;
use minca_record::version::Version;

#[test]
fn a_record_that_overtakes_the_change_it_saw_waits_for_it() {
    let [mut founder, mut editor] = founder_and_editor(Visibility::Public);
    let mut late = device(founder.space(), 3, 13);
    let written = note(&mut editor, "early");
    let (from, to) = (editor.device().did(), late.device().did());
    late.connected(from);
    editor.connected(to);
    let mut payload = Vec::new();
    minca_sync::message::write_push_update(&mut payload, &written.canonical());
    let payload = read(&payload, MESSAGE_DEPTH).unwrap();
    late.received(from, payload).unwrap();
    assert_eq!((late.sync().waiting(), late.holdings().len()), (1, 0));
    late.disconnected(from);
    meet(&mut founder, &mut late);
    assert_eq!(late.sync().waiting(), 0);
    assert_eq!(notes(&late), ["early"]);
}

#[test]
fn a_strangers_record_is_dropped_and_its_change_waits_to_be_named() {
    let [mut founder, _] = founder_and_editor(Visibility::Public);
    let mut stranger = device(founder.space(), 5, 15);
    let write = |stranger: &mut Replica, write: Write| {
        let draft = stranger.draft(write, at(25)).unwrap();
        let version = draft.sign(stranger.device().key());
        let version = Version::shape(version.into()).unwrap();
        stranger.adopt(version.clone()).unwrap();
        version
    };
    let record = Write {
        collection: NOTES.to_owned(),
        body: Some("spam".into()),
        ..Write::default()
    };
    let record = write(&mut stranger, record);
    let change = access::assign(&name(&stranger), "editor");
    let change = write(&mut stranger, change);
    let events = meet(&mut founder, &mut stranger);
    let dropped = Event::Refused {
        from: stranger.device().did(),
        id: Some(record.id()),
        why: gatekeeper::Refusal::NotAllowed,
    };
    assert!(events.contains(&dropped));
    assert!(!founder.holdings().holds(&change.id()));
    assert_eq!(founder.sync().waiting(), 1);
    // Once an assignment names its account, the change is stored, and counts for nothing.
    make(&mut founder, access::assign(&name(&stranger), "editor"));
    let mut second = device(founder.space(), 1, 16);
    meet(&mut founder, &mut second);
    meet(&mut stranger, &mut second);
    assert!(second.holdings().holds(&change.id()));
    let held = second.holdings().get(&change.id()).unwrap();
    let verdict = second.gatekeeper().stands(held, second.holdings());
    assert_eq!(verdict, Verdict::Refused);
    assert_eq!(notes(&second), [""; 0]);
    assert!(!second.records(None).iter().any(|it| it.id == change.id()));
    assert!(
        second
            .records(None)
            .iter()
            .all(|it| it.body != Opened::Unreadable)
    );
}

/// A collection's definition, with these members.
fn definition(name: &str, members: Object) -> Object {
    let schema = Object::from([("type", "object")]);
    let mut definition = Object::from([
        ("name", Value::from(name)),
        ("version", Value::from(1_u32)),
        ("schema", schema.into()),
    ]);
    for (name, value) in members.iter() {
        definition.insert(name.clone(), value.clone());
    }
    definition
}

#[test]
fn records_are_written_by_the_rules_of_the_definition_in_force() {
    for visibility in [Visibility::Public, Visibility::Private] {
        let [mut founder, mut editor] = founder_and_editor(visibility);
        let rules = Object::from([
            ("onePer", Value::from(vec![Value::from("@author")])),
            ("final", true.into()),
        ]);
        let topics = vec![Value::from("about")];
        let members = Object::from([("rules", Value::from(rules)), ("topics", topics.into())]);
        let defined = definition("app.vote", members);
        make(&mut founder, access::define_collection(defined));
        meet(&mut founder, &mut editor);
        let vote = |by: &mut Replica| {
            let body = Object::from([("about", "lunch")]);
            by.create("app.vote", body.into(), at(20))
        };
        let first = vote(&mut editor).unwrap();
        assert!(first.retain());
        assert_eq!(first.tags().count(), 1);
        let refused = vote(&mut editor).unwrap_err();
        assert!(matches!(refused, WriteError::Rule(RuleRefusal::Final)));
        let other = vote(&mut founder).unwrap();
        assert_ne!(other.key(), first.key());
        let tags = |version: &Version| version.tags().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(tags(&other), tags(&first));
        meet(&mut founder, &mut editor);
        assert_eq!(founder.records(Some("app.vote")).len(), 2);
        assert_eq!(editor.records(Some("app.vote")).len(), 2);
    }
}

#[test]
fn what_breaks_the_rules_of_a_definition_is_dropped() {
    let [mut founder, mut editor] = founder_and_editor(Visibility::Public);
    let topics = vec![Value::from("about")];
    let members = Object::from([("topics", topics)]);
    let defined = definition("app.tagged", members);
    make(&mut founder, access::define_collection(defined));
    meet(&mut founder, &mut editor);
    let write = Write {
        collection: "app.tagged".to_owned(),
        body: Some(Object::from([("about", "lunch")]).into()),
        ..Write::default()
    };
    let draft = editor.draft(write, at(20)).unwrap().without("tags");
    let untagged = draft.sign(editor.device().key());
    let untagged = Version::shape(untagged.into()).unwrap();
    editor.adopt(untagged.clone()).unwrap();
    let events = meet(&mut founder, &mut editor);
    let dropped = Event::Refused {
        from: editor.device().did(),
        id: Some(untagged.id()),
        why: gatekeeper::Refusal::Rule(RuleRefusal::Tags),
    };
    assert!(events.contains(&dropped));
    assert!(!founder.holdings().holds(&untagged.id()));
}
