//! Checking versions with what is remembered of keys and notes: as without.

#![allow(clippy::unwrap_used, reason = "a test")]

use engine::{Space, Vetter};
use minca_record::json::{self, MESSAGE_DEPTH, Object, Value};
use minca_record::version::check;
use minca_record::{constitution::Constitution, content_id::ContentId};

fn vectors() -> Object {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/vectors/records.json"
    );
    let read = json::read(&std::fs::read(path).unwrap(), MESSAGE_DEPTH).unwrap();
    read.into_object().unwrap()
}

fn member<'a>(value: &'a Value, name: &str) -> &'a Value {
    value.as_object().unwrap().get(name).unwrap()
}

#[test]
fn a_vetter_that_remembers_says_what_a_check_from_scratch_says() {
    let vectors = vectors();
    let spaces: Vec<(ContentId, bool)> = vectors.get("spaces").unwrap().as_array().unwrap()[..2]
        .iter()
        .map(|case| {
            let mut space = member(case, "constitution").as_object().unwrap().clone();
            space.insert("id", member(case, "id").as_str().unwrap());
            let space = Constitution::check(space.into()).unwrap();
            (space.id(), space.is_private())
        })
        .collect();
    let cases = member(vectors.get("judged").unwrap(), "cases");
    let cases = cases.as_array().unwrap();
    let mut remembering = Vetter::default();
    let (mut passed, mut refused) = (0, 0);
    // Twice, so that everything there is to remember is; and in both spaces.
    for case in cases.iter().chain(cases) {
        for (id, is_private) in &spaces {
            let version = member(case, "version").clone();
            let space = Space {
                id: *id,
                is_private: *is_private,
            };
            let scratch = check(version.clone(), *id);
            let vetted = remembering.vet(version, space);
            match (scratch, vetted) {
                (Ok(checked), Ok(vetted)) => {
                    assert_eq!(checked, vetted.checked);
                    passed += 1;
                }
                (Err(one), Err(other)) => {
                    assert_eq!(one, other);
                    refused += 1;
                }
                (one, other) => panic!(
                    "{one:?} and {other:?}: {}",
                    member(case, "name").as_str().unwrap()
                ),
            }
        }
    }
    assert!(passed > 100 && refused > 100, "{passed} {refused}");
}
