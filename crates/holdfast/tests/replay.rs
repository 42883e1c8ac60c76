//! `holdfast replay`: over every committed case, and over what is none.
#![allow(clippy::unwrap_used, reason = "a test that finds an error fails")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use holdfast::replay::{ReplayArgs, ReplayError, check, replay, run};
use minca_record::content_id::ContentId;
use minca_record::json::{MESSAGE_DEPTH, Object, Value, read};
use minca_record::signing::SigningKey;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/access")
}

fn cases() -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder()).unwrap();
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "json"));
    paths.sort();
    paths
}

fn some_case() -> Object {
    let bytes = std::fs::read(&cases()[0]).unwrap();
    read(&bytes, MESSAGE_DEPTH).unwrap().into_object().unwrap()
}

fn args(case: &Path) -> ReplayArgs {
    ReplayArgs {
        case: case.to_owned(),
        compact: true,
        check: false,
    }
}

#[test]
fn every_committed_case_comes_to_what_it_expects() {
    let cases = cases();
    assert_eq!(cases.len(), 60);
    for path in cases {
        let bytes = std::fs::read(&path).unwrap();
        check(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

#[test]
fn what_is_printed_can_stand_as_the_case_s_expectation() {
    for path in cases().iter().take(5) {
        let printed = run(&args(path)).unwrap();
        assert_eq!(printed.lines().count(), 1);
        let pretty = ReplayArgs {
            compact: false,
            ..args(path)
        };
        let pretty = run(&pretty).unwrap();
        assert!(pretty.lines().count() > 20);
        let printed = read(printed.as_bytes(), MESSAGE_DEPTH).unwrap();
        assert_eq!(read(pretty.as_bytes(), MESSAGE_DEPTH).unwrap(), printed);
        let case = std::fs::read(path).unwrap();
        let mut case = read(&case, MESSAGE_DEPTH).unwrap().into_object().unwrap();
        case.insert("expect", printed);
        check(&case.canonical()).unwrap();
    }
}

#[test]
fn a_check_names_what_differs() {
    let mut case = some_case();
    let mut expect = case.get("expect").unwrap().as_object().unwrap().clone();
    expect.insert("heads", Vec::<Value>::new());
    case.insert("expect", expect);
    let error = check(&case.canonical()).unwrap_err();
    assert!(matches!(&error, ReplayError::Differs(one) if one.len() == 1));
    assert!(error.to_string().contains("/heads: expected [], came [\"b"));
    case.remove("expect");
    let error = check(&case.canonical()).unwrap_err();
    assert!(matches!(error, ReplayError::NoExpectation));
}

#[test]
fn what_is_no_case_is_refused_by_its_place() {
    let error = |bytes: &[u8]| replay(bytes).unwrap_err().to_string();
    assert!(error(b"{\"format\"").contains("at byte 9"));
    assert!(error(&[b'['; 1_000_000]).contains("deeper than 128"));
    assert!(error(b"[]").contains("the case: expected an object"));
    let mut case = some_case();
    let mut event = Object::from([("kind", "assign")]);
    event.insert("root", SigningKey::from_uniform(&[1; 48]).did().to_string());
    case.insert("events", vec![Value::from(event)]);
    let said = error(&case.canonical());
    assert_eq!(
        said,
        "events[0].did: expected a string, and there is nothing"
    );
}

/// Two founders' accounts give and take a hundred others' role, sometimes apart.
fn long_case(events: usize) -> Object {
    let did = |number: usize| {
        let mut seed = [7; 48];
        seed[..8].copy_from_slice(&(number as u64).to_be_bytes());
        SigningKey::from_uniform(&seed).did().to_string()
    };
    let accounts: Vec<String> = (0..102).map(did).collect();
    let mut case = some_case();
    let constitution = case.get("constitution").unwrap().as_object().unwrap();
    let mut constitution = constitution.clone();
    let founders = vec![Value::from(&*accounts[0]), Value::from(&*accounts[1])];
    constitution.insert("top", Object::from([("founders", founders)]));
    constitution.remove("assigned");
    let space = ContentId::of(&constitution.canonical()).to_string();
    case.insert("constitution", constitution);
    let id = |number: usize| ContentId::of(&number.to_be_bytes()).to_string();
    let written = (0..events).map(|number| {
        let member = &accounts[2 + number % 100];
        let root = &accounts[number % 2];
        let seen = match number {
            0 => space.clone(),
            _ => id(number - 1 - usize::from(number > 10 && number % 7 == 0)),
        };
        let key = minca_access::keys::assign(&(&**member).into(), &"member".into());
        Value::from(Object::from([
            ("id", Value::from(id(number))),
            ("key", key.into()),
            ("root", (&**root).into()),
            ("author", (&**root).into()),
            ("seen", vec![Value::from(seen)].into()),
            ("cutoff", Object::new().into()),
            ("n", (number as u64).into()),
            ("kind", "assign".into()),
            ("did", (&**member).into()),
            ("role", "member".into()),
            ("assigned", (number / 100 % 2 == 0).into()),
        ]))
    });
    let written: Vec<Value> = written.collect();
    case.insert("events", written);
    case.insert("probes", Vec::<Value>::new());
    case.insert("space", space);
    case.remove("expect");
    case
}

#[test]
fn a_case_of_ten_thousand_events_is_replayed() {
    let outcome = replay(&long_case(10_000).canonical()).unwrap();
    let status = outcome.get("status").and_then(Value::as_object).unwrap();
    assert_eq!(status.len(), 10_000);
}

fn holdfast(arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_holdfast"));
    program.arg("replay").args(arguments);
    program
}

#[test]
fn the_program_replays_checks_and_reads_standard_input() {
    let path = &cases()[0];
    let output = holdfast(&[path.to_str().unwrap(), "--compact"])
        .output()
        .unwrap();
    assert!(output.status.success());
    assert_eq!(output.stdout, run(&args(path)).unwrap().into_bytes());

    let output = holdfast(&[path.to_str().unwrap(), "--check"])
        .output()
        .unwrap();
    assert!(output.status.success() && output.stdout.is_empty());

    let mut case = some_case();
    case.insert("expect", Object::new());
    let mut child = holdfast(&["-", "--check"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(&case.canonical())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("/status: expected nothing"), "{said}");

    let missing = holdfast(&["/nowhere/at/all.json"]).output().unwrap();
    assert!(!missing.status.success() && !missing.stderr.is_empty());
}

#[test]
fn what_is_no_case_is_told_with_the_file_it_is_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.json");
    let missing = run(&args(&path)).unwrap_err().to_string();
    assert!(missing.starts_with(&format!("{}: the case can't be read", path.display())));
    std::fs::write(&path, "{}").unwrap();
    let told = run(&args(&path)).unwrap_err().to_string();
    let expected = "format: expected \"minca-access-case/1\", and there is nothing";
    assert_eq!(told, format!("{}: {expected}", path.display()));
}
