//! Every verdict on an ordinary version, by the step that gives it.

use holdfast::explain::{BodyFacts, DefinitionFacts, RecordFacts, Told};
use member::access;
use member::replica::Write;
use minca_record::content_id::ContentId;
use minca_record::definition::KeyPart;
use minca_record::json::{Object, Value};
use minca_record::one_per::{OnePerKey, derived_key};
use minca_record::record_key::owned_key;
use minca_record::topics::{TagKey, Topic, tags};

use crate::story::{ALICE, AMY, BOB, CAROL, DAN, Story, assert_ruled, note, record, value};

fn facts(told: &Told) -> &RecordFacts {
    told.record.as_ref().unwrap()
}

fn withdrawn_by(told: &Told) -> ContentId {
    facts(told).withdrawn_by.as_ref().unwrap().id
}

#[test]
fn one_that_stands_is_told_with_its_author_s_roles() {
    let mut story = Story::public();
    let bob = story.assign(ALICE, &[], BOB, "editor");
    let id = story.write(BOB, &[bob], note());
    let told = story.tell(id);
    assert_ruled(&told, "stands", "03 §5.1.6", None);
    let facts = facts(&told);
    assert_eq!(facts.command, Some("/record/write"));
    assert_eq!(facts.by_creator, Some(true));
    assert_eq!(facts.body, BodyFacts::Read);
    assert_eq!(facts.author_as_seen.as_ref().unwrap().roles[0].by, bob);
    assert_eq!(facts.definition, Some(DefinitionFacts::None));
    let version = told.version.as_ref().unwrap();
    assert_eq!(version.seen[0].id, bob);
    assert_eq!(version.seen[0].status, "applied");
    assert_eq!(version.account, Some(story.account(BOB)));
}

#[test]
fn one_whose_seen_is_not_held_is_not_judged_yet() {
    let mut story = Story::public();
    let missing = ContentId::of(b"missing");
    let id = story.write(ALICE, &[missing], note());
    let told = story.tell(id);
    assert_ruled(&told, "not-yet", "03 §5.2.5", Some("seen-missing"));
    assert_eq!(facts(&told).missing[0].id, missing);
    assert_eq!(facts(&told).author_as_seen, None);
    assert_eq!(facts(&told).definition, None);
}

#[test]
fn one_its_author_might_not_write_is_refused() {
    let mut story = Story::public();
    let bob = story.assign(ALICE, &[], BOB, "noter");
    let stranger = story.write(DAN, &[bob], note());
    assert_ruled(
        &story.tell(stranger),
        "refused",
        "03 §5.2.7",
        Some("not-allowed"),
    );
    let other = story.write(BOB, &[bob], record(r#"{"kind":"essay"}"#));
    assert_ruled(
        &story.tell(other),
        "refused",
        "03 §5.2.7",
        Some("not-allowed"),
    );
    let good = story.write(BOB, &[bob], note());
    assert_ruled(&story.tell(good), "stands", "03 §5.1.6", None);
}

#[test]
fn a_stub_that_a_policy_reads_the_body_of_is_not_judged_yet() {
    let mut story = Story::public();
    let bob = story.assign(ALICE, &[], BOB, "noter");
    let id = story.write(BOB, &[bob], note());
    story.strip(id);
    let told = story.tell(id);
    assert_ruled(&told, "not-yet", "03 §5.2.8", Some("stub"));
    assert_eq!(facts(&told).body, BodyFacts::Missing);
}

#[test]
fn a_sealed_body_is_taken_on_trust() {
    let mut story = Story::private();
    let bob = story.assign(ALICE, &[], BOB, "noter");
    let id = story.write(BOB, &[bob], record(r#"{"kind":"essay"}"#));
    let told = story.tell(id);
    assert_ruled(&told, "stands", "03 §5.1.6", None);
    assert_eq!(facts(&told).body, BodyFacts::Sealed);
    story.strip(id);
    assert_ruled(&story.tell(id), "stands", "03 §5.1.6", None);
}

#[test]
fn one_signed_with_a_revoked_key_is_withdrawn_by_the_revoke() {
    let mut story = Story::public();
    let id = story.write_by_device(ALICE, &[], note());
    let device = story.device(ALICE);
    let write = access::revoke(&device.did(), &device.account().did(), Object::new());
    let revoke = story.write(ALICE, &[], write);
    let told = story.tell(id);
    assert_ruled(&told, "withdrawn", "03 §5.1.2", Some("key-revoked"));
    assert_eq!(withdrawn_by(&told), revoke);
    assert_eq!(
        facts(&told).withdrawn_by.as_ref().unwrap().kind,
        Some("revoke")
    );
}

#[test]
fn one_on_a_forked_line_is_withdrawn_by_the_proof() {
    let mut story = Story::public();
    let first = story.write(BOB, &[], note());
    let again = story.draft((BOB, 0), &[], note());
    let again = again.set("log", Object::from([("n", Value::from(0u32))]));
    let second = story.keep((BOB, 0), again);
    let mut ids = [first, second];
    ids.sort();
    let [a, b] = ids.map(|id| story.without_body(id));
    let bob = story.assign(ALICE, &[], BOB, "editor");
    let after = story.write(BOB, &[bob], note());
    let write = access::fork(&story.device(BOB).account().did(), a, b);
    let proof = story.write(ALICE, &[], write);
    let told = story.tell(after);
    assert_ruled(&told, "withdrawn", "03 §5.1.2", Some("line-forked"));
    assert_eq!(withdrawn_by(&told), proof);
}

#[test]
fn one_of_an_account_removed_unseen_is_withdrawn_by_the_removal() {
    let mut story = Story::public();
    let bob = story.assign(ALICE, &[], BOB, "editor");
    let id = story.write(BOB, &[bob], note());
    let removal = story.remove(ALICE, &[bob], BOB);
    let told = story.tell(id);
    assert_ruled(&told, "withdrawn", "03 §5.1.4", Some("access-taken"));
    assert_eq!(withdrawn_by(&told), removal);
    assert!(
        told.as_text()
            .contains(&format!("{removal}  remove by {}", story.account(ALICE)))
    );
}

#[test]
fn one_that_rests_on_a_struck_change_is_withdrawn_and_told_with_it() {
    let mut story = Story::public();
    let carol = story.assign(ALICE, &[], CAROL, "mod");
    let bob = story.assign(CAROL, &[carol], BOB, "editor");
    story.remove(ALICE, &[carol], CAROL);
    let id = story.write(BOB, &[bob], note());
    let told = story.tell(id);
    assert_ruled(&told, "withdrawn", "03 §5.1.5", Some("rests-on-struck"));
    let facts = facts(&told);
    assert_eq!(facts.struck_of_seen[0].id, bob);
    assert_eq!(facts.withdrawn_by, None);
    assert!(!facts.author_as_seen.as_ref().unwrap().roles.is_empty());
    assert!(facts.author_at.as_ref().unwrap().roles.is_empty());
}

#[test]
fn a_later_version_in_a_final_collection_is_refused_withdrawn_or_not() {
    let mut story = Story::public();
    let defined = story.define(ALICE, &[], r#","rules":{"final":true}"#);
    let bob = story.assign(ALICE, &[defined], BOB, "editor");
    let first = story.draft((BOB, 0), &[bob], note());
    let first = story.keep((BOB, 0), first);
    assert_ruled(&story.tell(first), "stands", "03 §5.1.6", None);
    let key = story
        .versions
        .last()
        .unwrap()
        .as_object()
        .unwrap()
        .get("key");
    let key = key.unwrap().as_str().unwrap().to_owned();
    let second = story.write(
        BOB,
        &[bob],
        Write {
            key: Some(key),
            ..note()
        },
    );
    let told = story.tell(second);
    assert_ruled(&told, "refused", "03 §5.2.9", Some("final"));
    let Some(DefinitionFacts::InForce { event, rules }) = &facts(&told).definition else {
        panic!("a definition is in force");
    };
    assert_eq!(event.id, defined);
    assert_eq!(rules.as_deref(), Some(&["final"][..]));
    story.remove(ALICE, &[bob], BOB);
    assert_ruled(&story.tell(second), "refused", "03 §5.2.9", Some("final"));
    assert_ruled(
        &story.tell(first),
        "withdrawn",
        "03 §5.1.4",
        Some("access-taken"),
    );
}

#[test]
fn tags_other_than_the_topics_give_are_refused() {
    let mut story = Story::public();
    let defined = story.define(ALICE, &[], r#","topics":["kind"]"#);
    let without = story.write(ALICE, &[defined], note());
    assert_ruled(&story.tell(without), "refused", "03 §5.2.11", Some("tags"));
    let body = note().body.unwrap();
    let topics = [Topic::parse("kind").unwrap()];
    let key = TagKey::of_public_space(story.id());
    let due = tags(&key, "app.note", &topics, &body, &[]);
    let due: Vec<Value> = due.into_iter().map(Value::from).collect();
    let draft = story.draft((ALICE, 0), &[defined], note()).set("tags", due);
    let with = story.keep((ALICE, 0), draft);
    assert_ruled(&story.tell(with), "stands", "03 §5.1.6", None);
    story.strip(with);
    let told = story.tell(with);
    assert_ruled(&told, "stands", "03 §5.1.6", None);
    assert_eq!(facts(&told).unchecked, ["tags"]);
}

#[test]
fn first_versions_under_one_per_are_retained_and_at_the_derived_key() {
    let mut story = Story::public();
    let defined = story.define(ALICE, &[], r#","rules":{"onePer":["@author","kind"]}"#);
    let loose = story.write(ALICE, &[defined], note());
    assert_ruled(
        &story.tell(loose),
        "refused",
        "03 §5.2.11",
        Some("not-retained"),
    );
    let kept = Write {
        retain: true,
        ..note()
    };
    let elsewhere = story.write(ALICE, &[defined], kept.clone());
    assert_ruled(
        &story.tell(elsewhere),
        "refused",
        "03 §5.2.11",
        Some("one-per"),
    );
    let parts = [KeyPart::Author, KeyPart::Field("kind".into())];
    let body = note().body.unwrap();
    let root = story.account(ALICE);
    let key = derived_key(&OnePerKey::public(), "app.note", &parts, &root, &body, &[]);
    let there = story.write(ALICE, &[defined], Write { key, ..kept });
    assert_ruled(&story.tell(there), "stands", "03 §5.1.6", None);
}

#[test]
fn a_field_that_is_fixed_keeps_its_value() {
    let mut story = Story::public();
    let defined = story.define(ALICE, &[], r#","rules":{"fixed":["kind"]}"#);
    let key = owned_key(&story.account(ALICE), "fixed");
    let at = |write: Write| Write {
        key: Some(key.clone()),
        retain: true,
        ..write
    };
    let first = story.write(ALICE, &[defined], at(note()));
    let changed = story.write(ALICE, &[defined], at(record(r#"{"kind":"essay"}"#)));
    assert_ruled(&story.tell(first), "stands", "03 §5.1.6", None);
    let told = story.tell(changed);
    assert_ruled(&told, "refused", "03 §5.2.11", Some("fixed"));
    assert_eq!(facts(&told).unchecked, Vec::<&str>::new());
    story.forget(first);
    let told = story.tell(changed);
    assert_ruled(&told, "not-yet", "02 §9 step 7", Some("prev-missing"));
    assert_eq!(facts(&told).missing[0].id, first);
    assert_eq!(facts(&told).by_creator, None);
}

#[test]
fn a_definition_nobody_here_can_read_gives_no_rules_and_says_so() {
    let mut story = Story::private();
    let defined = story.define(ALICE, &[], r#","rules":{"final":true}"#);
    let id = story.write(ALICE, &[defined], note());
    let told = story.tell(id);
    assert_ruled(&told, "stands", "03 §5.1.6", None);
    let Some(DefinitionFacts::InForce { event, rules: None }) = &facts(&told).definition else {
        panic!("a sealed definition is in force and unread");
    };
    assert_eq!(event.id, defined);
    assert!(told.as_text().contains("can't be read here"));
}

#[test]
fn a_contested_definition_gives_no_rules_and_names_its_rivals() {
    let mut story = Story::public();
    let one = story.define(ALICE, &[], r#","rules":{"final":true}"#);
    let other = story.draft(
        (AMY, 0),
        &[],
        access::define_collection(
            value(r#"{"name":"app.note","version":1,"schema":{}}"#)
                .into_object()
                .unwrap(),
        ),
    );
    let other = other.set("seq", 0u32).without("prev").without("genesis");
    let other = story.keep((AMY, 0), other);
    let id = story.write(ALICE, &[one, other], note());
    let told = story.tell(id);
    assert_ruled(&told, "stands", "03 §5.1.6", None);
    let Some(DefinitionFacts::Contested(rivals)) = &facts(&told).definition else {
        panic!("the definition is contested");
    };
    let mut rivals: Vec<ContentId> = rivals.iter().map(|it| it.id).collect();
    rivals.sort();
    let mut expected = [one, other];
    expected.sort();
    assert_eq!(rivals, expected);
}

#[test]
fn records_of_the_protocol_ask_for_membership_alone() {
    let mut story = Story::public();
    let bob = story.assign(ALICE, &[], BOB, "mod");
    let profile = |story: &Story| Write {
        collection: "sys.profile".to_owned(),
        key: Some(owned_key(&story.account(BOB), "profile")),
        ..note()
    };
    let write = profile(&story);
    let id = story.write(BOB, &[bob], write.clone());
    let told = story.tell(id);
    assert_ruled(&told, "stands", "03 §5.1.6", None);
    assert_eq!(facts(&told).command, None);
    assert_eq!(facts(&told).definition, Some(DefinitionFacts::NotAsked));
    let early = story.write(BOB, &[], write);
    assert_ruled(
        &story.tell(early),
        "refused",
        "03 §5.2.7",
        Some("not-allowed"),
    );
}

#[test]
fn a_delete_asks_for_deleting_and_by_creator_says_whose_record_it_is() {
    let mut story = Story::public();
    let bob = story.assign(ALICE, &[], BOB, "editor");
    let key = owned_key(&story.account(ALICE), "shared");
    let at = |body: Option<Value>| Write {
        key: Some(key.clone()),
        body,
        ..note()
    };
    story.write(ALICE, &[bob], at(note().body));
    let id = story.write(BOB, &[bob], at(None));
    let told = story.tell(id);
    assert_ruled(&told, "stands", "03 §5.1.6", None);
    assert_eq!(facts(&told).command, Some("/record/delete"));
    assert_eq!(facts(&told).by_creator, Some(false));
    assert_eq!(facts(&told).body, BodyFacts::None);
    assert!(told.version.as_ref().unwrap().deletes);
}

#[test]
fn what_fails_the_first_six_steps_is_told_by_their_numbers() {
    let mut story = Story::public();
    let id = story.write_by_device(ALICE, &[], note());
    let good = story.versions[0].clone();
    let changed = |name: &str, to: Value| {
        let mut object = good.as_object().unwrap().clone();
        object.insert(name, to);
        Value::from(object)
    };
    for (copy, step, reason) in [
        (changed("seq", "0".into()), "02 §9 step 1", "bad-seq"),
        (changed("space", "b".into()), "02 §9 step 2", "wrong-space"),
        (
            changed("createdAt", "now".into()),
            "02 §9 step 4",
            "id-mismatch",
        ),
        (
            changed("body", 1u32.into()),
            "02 §9 step 4",
            "body-mismatch",
        ),
    ] {
        story.versions = vec![copy];
        assert_ruled(&story.tell(id), "refused", step, Some(reason));
    }
    let draft = story.draft((ALICE, 1), &[], note());
    let id = story.keep((ALICE, 1), draft.set("proof", Object::new()));
    assert_ruled(
        &story.tell(id),
        "refused",
        "02 §9 step 5",
        Some("note-shape"),
    );
    let key = owned_key(&story.account(BOB), "theirs");
    let id = story.write(
        ALICE,
        &[],
        Write {
            key: Some(key),
            ..note()
        },
    );
    assert_ruled(
        &story.tell(id),
        "refused",
        "02 §9 step 6",
        Some("key-owner"),
    );
}
