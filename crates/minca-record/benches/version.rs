//! What reading and hashing a version costs beside verifying its signature.
//!
//! `cargo bench -p minca-record --bench version` prints both, and their ratio against its bar,
//! from one run.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{self, MESSAGE_DEPTH, Object};
use minca_record::note::Note;
use minca_record::signature::{PublicKey, parse_signature};
use minca_record::signing::SigningKey;
use minca_record::{base64url, hex};

/// Reading, writing and hashing may take this share of a verify.
const BAR: f64 = 0.15;
/// A version as members write most of them: 1 KB with a note.
const LEAST_BYTES: usize = 1000;

fn main() {
    let version = version();
    let text = version.canonical();
    assert!(
        (LEAST_BYTES..2 * LEAST_BYTES).contains(&text.len()),
        "{} bytes",
        text.len()
    );
    let object = version.as_object().unwrap();
    let author = object.get("author").unwrap().as_str().unwrap();
    let did = Did::parse(author).unwrap();
    let key = did.public_key();
    let signature = parse_signature(object.get("signature").unwrap().as_str().unwrap()).unwrap();
    let mut signed = Vec::new();
    object.write_canonical_without(&["id", "signature", "body"], &mut signed);
    assert!(key.verify(&signed, &signature));

    let verify = time("verify a signature", || {
        key.verify(black_box(&signed), &signature)
    });
    let take_in = time("read, write and hash a version", || {
        let version = json::read(black_box(&text), MESSAGE_DEPTH).unwrap();
        let object = version.as_object().unwrap();
        let mut out = Vec::with_capacity(text.len());
        object.write_canonical_without(&["id", "signature", "body"], &mut out);
        let id = ContentId::of(&out);
        out.clear();
        object.get("body").unwrap().write_canonical(&mut out);
        (id, ContentId::of(&out))
    });
    time("  of which read", || {
        json::read(black_box(&text), MESSAGE_DEPTH).unwrap()
    });
    time("  of which write", || {
        let mut out = Vec::with_capacity(text.len());
        object.write_canonical(&mut out);
        out
    });
    time("  of which hash", || ContentId::of(black_box(&text)));
    time("make a DID's key ready", || {
        PublicKey::parse(black_box(author)).unwrap()
    });
    let note = object.get("proof").unwrap();
    time("check a note", || {
        Note::check(black_box(note), &did).unwrap()
    });

    let ratio = take_in.as_secs_f64() / verify.as_secs_f64();
    let verdict = if ratio <= BAR { "met" } else { "MISSED" };
    println!(
        "{} bytes read, written and hashed in {:.1} % of a verify; bar {:.0} %: {verdict}",
        text.len(),
        ratio * 100.0,
        BAR * 100.0
    );
}

/// A vector's whole version, written by a device under a vector's note.
fn version() -> json::Value {
    let note = first("identity.json", "notes", Some("valid"), "note");
    let mut version = first("records.json", "versions", None, "version")
        .into_object()
        .unwrap();
    let file = vectors("identity.json");
    let mut people = file
        .get("keys")
        .unwrap()
        .as_array()
        .unwrap()
        .iter()
        .map(|person| person.as_object().unwrap());
    let device = people
        .find(|person| person.get("name").unwrap().as_str() == Some("aliceLaptop"))
        .unwrap();
    let scalar = hex::decode_exact(device.get("d").unwrap().as_str().unwrap()).unwrap();
    let device = SigningKey::from_scalar(&scalar).unwrap();

    version.insert("author", device.did().to_string());
    version.insert("proof", note);
    let mut signed = Vec::new();
    version.write_canonical_without(&["id", "signature", "body"], &mut signed);
    version.insert("id", ContentId::of(&signed).to_string());
    version.insert("signature", base64url::encode(&device.sign(&signed)));
    version.into()
}

fn vectors(name: &str) -> Object {
    let path = format!("{}/../../tests/vectors/{name}", env!("CARGO_MANIFEST_DIR"));
    json::read(&std::fs::read(path).unwrap(), MESSAGE_DEPTH)
        .unwrap()
        .into_object()
        .unwrap()
}

/// The member `name` of the first case of a section, or of one of its lists.
fn first(file: &str, section: &str, list: Option<&str>, name: &str) -> json::Value {
    let file = vectors(file);
    let mut cases = file.get(section).unwrap();
    if let Some(list) = list {
        cases = cases.as_object().unwrap().get(list).unwrap();
    }
    cases.as_array().unwrap()[0]
        .as_object()
        .unwrap()
        .get(name)
        .unwrap()
        .clone()
}

/// Prints and gives the median of many runs.
fn time<T>(what: &str, mut work: impl FnMut() -> T) -> Duration {
    const ROUNDS: usize = 201;
    const RUNS: u32 = 200;
    let mut rounds: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..RUNS {
                black_box(work());
            }
            start.elapsed() / RUNS
        })
        .collect();
    rounds.sort();
    let median = rounds[ROUNDS / 2];
    println!("{what}: {:.2} µs", median.as_secs_f64() * 1e6);
    median
}
