//! The readers of single values: notes, constitutions, definitions, links, pairs of versions, loose
//! versions. None panics, whatever it is given.

use minca_record::constitution::{Constitution, are_nests};
use minca_record::content_id::ContentId;
use minca_record::definition::{DEFINITION_KEY, Rules, is_sealed_body, read_definition};
use minca_record::fork::judge_pair;
use minca_record::json::{MESSAGE_DEPTH, Object, Value, read};
use minca_record::links::{Link, are_links};
use minca_record::loose::Loose;
use minca_record::note::UnverifiedNote;
use minca_record::one_per::{OnePerKey, derived_key};
use minca_record::record_key::is_record_key;
use minca_record::rules::{FirstVersion, Sight, check_final, check_rules};
use minca_record::topics::{TagKey, tags};
use minca_record::version::{MAX_TAGS, Version};
use minca_sync::who::{lets_read, shown_note};

const SPACE: ContentId = ContentId::from_digest([7; 32]);

/// One run.
pub fn run(data: &[u8]) {
    let Ok(value) = read(data, MESSAGE_DEPTH) else {
        return;
    };
    constitution(&value);
    note(&value);
    definition(&value);
    if let Ok(loose) = Loose::check(value.clone()) {
        let _ = (loose.root(), loose.body(), loose.created_at());
    }
    let _ = (
        are_links(&value),
        is_sealed_body(&value),
        are_nests(&value, "own"),
    );
    let _ = Rules::read(&value);
    if let Some([a, b]) = value.as_array() {
        let _ = judge_pair(a, b, SPACE);
        by_a_definition(a, b);
    }
}

fn constitution(value: &Value) {
    let Some(mut object) = value.clone().into_object() else {
        return;
    };
    let _ = Constitution::check(value.clone());
    // Given the id it should claim, so that this isn't what refuses it.
    object.remove("id");
    let id = ContentId::of(&object.canonical());
    object.insert("id", id.to_string());
    if let Ok(constitution) = Constitution::check(object.clone().into()) {
        assert_eq!(constitution.id(), id);
        assert_eq!(constitution.as_handed_around(), object);
        assert_eq!(constitution.is_private(), constitution.read_key().is_some());
    }
}

fn note(value: &Value) {
    let Ok(unverified) = UnverifiedNote::read(value) else {
        return;
    };
    let issuer = unverified.issuer();
    if let Ok(note) = unverified.verify(&issuer) {
        assert_eq!((note.root(), note.audience()), (issuer, issuer));
        assert!(!note.in_time(0) || !note.in_time(u64::MAX) || note.in_time(1 << 40));
        let _ = lets_read(&note, "a space");
    }
    let payload = Object::from([("note", value.clone())]).into();
    let _ = shown_note(&payload, &issuer, 1 << 30);
}

fn definition(value: &Value) {
    let name = value.as_object().and_then(|body| body.get("name"));
    let name = name.and_then(Value::as_str).unwrap_or_default();
    let _ = read_definition(&format!("{DEFINITION_KEY}{name}"), value);
}

/// A definition's body and a version that is judged by it.
fn by_a_definition(definition: &Value, version: &Value) {
    let name = definition.as_object().and_then(|body| body.get("name"));
    let name = name.and_then(Value::as_str).unwrap_or_default();
    let Ok(definition) = read_definition(&format!("{DEFINITION_KEY}{name}"), definition) else {
        return;
    };
    let tag_key = TagKey::of_public_space(SPACE);
    if let Ok(version) = Version::shape(version.clone()) {
        let _ = check_final(Some(&definition), &version);
        for sight in [Sight::Blind, Sight::Public(tag_key.clone())] {
            let first = FirstVersion::from(&version);
            let _ = check_rules(&sight, Some(&definition), &version, "did:key:z", first);
            let _ = sight.definition(&version);
        }
    }
    // As if the value were a body.
    let links: Vec<Link<'_>> = Vec::new();
    let found = tags(
        &tag_key,
        &definition.name,
        &definition.topics,
        version,
        &links,
    );
    assert!(found.len() <= MAX_TAGS);
    if let Some(parts) = &definition.rules.one_per {
        let key = OnePerKey::public();
        let key = derived_key(&key, &definition.name, parts, "did:key:z", version, &links);
        assert!(key.is_none_or(|key| is_record_key(&key)));
    }
}
