//! `files.wantFile` and `files.fetches` of sync.json; the rest of `files` is
//! the record crate's.

use minca_record::{
    files::{ChunkList, FileId},
    json::{self, MESSAGE_DEPTH},
};
use minca_sync::{
    files::{FileFetch, Took, part_len, pieces, serve},
    message::{
        Asked, FileBytes, FileDone, Message, Part, WantFile, write_file_bytes, write_file_done,
        write_want_file,
    },
};
use proptest::prelude::*;
use serde_json::Value;

use crate::vectors::{assert_sections, expand, file, raw, text};

fn read(message: &Value) -> Option<Message> {
    let payload = json::read(expand(message).as_bytes(), MESSAGE_DEPTH).unwrap();
    Message::read(payload).ok()
}

fn parts(list: &Value) -> Vec<Part> {
    let list = list.as_array().unwrap().iter();
    list.map(|part| match part.as_u64() {
        Some(index) => Part::Chunk(index as u32),
        None => {
            assert_eq!(part, "list");
            Part::List
        }
    })
    .collect()
}

#[test]
fn every_want_file_is_answered_as_given() {
    let sync = file("sync.json");
    let files = &sync["files"];
    assert_sections(
        files,
        vec![
            // The record crate's.
            "content", "seal", "read", "counts", "lists", "chunks", "oneChunk",
            // Both crates'.
            "raw", // Here.
            "wantFile", "fetches",
        ],
    );
    let list = ChunkList::of_file(&raw()).unwrap();
    assert_eq!(list.id().to_string(), files["raw"]["id"]);
    let holds =
        |want: &WantFile, part| want.file == list.id() && part_len(list.size(), part).is_some();
    let cases = files["wantFile"].as_array().unwrap();
    assert_eq!(cases.len(), 33);
    for case in cases {
        match (text(&case["does"]), read(&case["message"])) {
            ("drop", None) => {}
            ("answer", Some(Message::WantFile(want))) => {
                let (sent, missing) = serve(&want, |part| holds(&want, part));
                assert_eq!(missing, parts(&case["missing"]), "{}", case["name"]);
                assert_eq!(sent.len() + missing.len(), want.asked.parts().count());
            }
            (does, read) => panic!("{}: {does}, {read:?}", case["name"]),
        }
    }
}

#[test]
fn every_fetch_goes_as_given() {
    let sync = file("sync.json");
    let cases = sync["files"]["fetches"].as_array().unwrap();
    assert_eq!(cases.len(), 14);
    let list = ChunkList::of_file(&raw()).unwrap();
    for case in cases {
        let name = text(&case["name"]);
        let Some(Message::WantFile(want)) = read(&case["want"]) else {
            panic!("{name}");
        };
        let mut fetch = Some(FileFetch::new(want, list.size()));
        let mut ended = None;
        for (at, step) in case["messages"].as_array().unwrap().iter().enumerate() {
            let done = match (read(&step["message"]), &mut fetch) {
                (None, _) | (Some(_), None) => "drop",
                (Some(Message::File(bytes)), Some(fetch)) => match fetch.take(bytes, Some(&list)) {
                    Took::Dropped => "drop",
                    _ => "take",
                },
                (Some(Message::FileDone(done)), Some(running)) => match running.done(&done) {
                    None => "drop",
                    end => {
                        ended = end;
                        fetch = None;
                        "done"
                    }
                },
                (other, _) => panic!("{name}: {other:?}"),
            };
            assert_eq!(done, step["does"], "{name}, message {at}");
        }
        let ended = ended.unwrap();
        assert_eq!(ended.have, parts(&case["ends"]["have"]), "{name}");
        if let Some(elsewhere) = case["ends"].get("askElsewhere") {
            assert_eq!(ended.ask_elsewhere, parts(elsewhere), "{name}");
        }
    }
}

#[test]
fn a_file_of_one_chunk_needs_no_list() {
    let stored = b"just one chunk".to_vec();
    let list = ChunkList::of_file(&stored).unwrap();
    for (bytes, whole) in [(stored.clone(), true), (b"another chunk!".to_vec(), false)] {
        let (want, sent) = one_chunk(list.id(), &bytes);
        let mut fetch = FileFetch::new(want, stored.len() as u64);
        let expected = match whole {
            true => Took::Whole(Part::Chunk(0), bytes),
            false => Took::Discarded(Part::Chunk(0)),
        };
        assert_eq!(fetch.take(sent, None), expected);
        assert_eq!(fetch.end().have.len(), usize::from(whole));
    }
}

#[test]
fn a_list_of_another_file_vouches_for_nothing() {
    let stored = vec![7; 300_000];
    let other = ChunkList::of_file(&[vec![7; 262_144], vec![8; 37_856]].concat()).unwrap();
    let id = ChunkList::of_file(&stored).unwrap().id();
    let (want, _) = one_chunk(id, &[]);
    let mut fetch = FileFetch::new(want, 300_000);
    for (at, length) in pieces(262_144) {
        let (_, mut sent) = one_chunk(id, &stored[at as usize..(at + length) as usize]);
        sent.at = at;
        let took = fetch.take(sent, Some(&other));
        let last = at + length == 262_144;
        assert_eq!(took == Took::Discarded(Part::Chunk(0)), last);
    }
}

/// A request for chunk 0, and bytes from its start.
fn one_chunk(file: FileId, bytes: &[u8]) -> (WantFile, FileBytes) {
    let mut out = Vec::new();
    let id = 7.into();
    let asked = Asked::Chunks(0..=0);
    write_want_file(&mut out, id, &file, &asked);
    let payload = json::read(&out, MESSAGE_DEPTH).unwrap();
    let want = WantFile { id, file, asked };
    assert_eq!(Message::read(payload), Ok(Message::WantFile(want.clone())));
    let bytes = FileBytes {
        id,
        file,
        part: Part::Chunk(0),
        at: 0,
        bytes: bytes.to_vec(),
    };
    (want, bytes)
}

proptest! {
    #[test]
    fn what_is_said_of_files_reads_back(
        id in any::<u32>(),
        digest in any::<[u8; 32]>(),
        part in prop_oneof![Just(Part::List), (0u32..8192).prop_map(Part::Chunk)],
        at in 0u64..1 << 31,
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        missing in prop::collection::vec((0u32..8192).prop_map(Part::Chunk), 0..64),
        from in 0u32..8192,
        more in 0u32..64,
    ) {
        let (id, file) = (id.into(), FileId::from_bytes(digest));
        let read = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            write(&mut out);
            Message::read(json::read(&out, MESSAGE_DEPTH).unwrap())
        };
        let message = read(&|out| write_file_bytes(out, id, &file, part, at, &bytes));
        let expected = FileBytes { id, file, part, at, bytes: bytes.clone() };
        prop_assert_eq!(message, Ok(Message::File(expected)));
        let message = read(&|out| write_file_done(out, id, &file, &missing));
        let expected = FileDone { id, file, missing: missing.clone() };
        prop_assert_eq!(message, Ok(Message::FileDone(expected)));
        let to = from.saturating_add(more).min(8191);
        for asked in [Asked::Chunks(from..=to), Asked::List] {
            let message = read(&|out| write_want_file(out, id, &file, &asked));
            prop_assert_eq!(message, Ok(Message::WantFile(WantFile { id, file, asked: asked.clone() })));
        }
    }

    #[test]
    fn pieces_cover_a_part_once(length in 0u64..300_000) {
        let mut end = 0;
        for (at, bytes) in pieces(length) {
            prop_assert_eq!(at, end);
            prop_assert!((1..=24_000).contains(&bytes));
            end = at + bytes;
        }
        prop_assert_eq!(end, length);
    }

    #[test]
    fn bytes_sent_in_any_disorder_never_make_a_wrong_part_whole(
        order in prop::collection::vec((0usize..3, 0usize..3, any::<bool>()), 0..30),
    ) {
        let stored = vec![5; 262_144 + 50_000];
        let list = ChunkList::of_file(&stored).unwrap();
        let asked = Asked::Chunks(1..=1);
        let want = WantFile { id: 1.into(), file: list.id(), asked };
        let mut fetch = FileFetch::new(want, list.size());
        let sizes = [(0u64, 24_000usize), (24_000, 24_000), (48_000, 2_000)];
        let mut whole = 0;
        for (at, length, right) in order {
            let message = FileBytes {
                id: 1.into(),
                file: list.id(),
                part: Part::Chunk(1),
                at: sizes[at].0,
                bytes: vec![if right { 5 } else { 6 }; sizes[length].1],
            };
            if let Took::Whole(part, bytes) = fetch.take(message, Some(&list)) {
                whole += 1;
                prop_assert_eq!(part, Part::Chunk(1));
                prop_assert_eq!(bytes, &stored[262_144..]);
            }
        }
        prop_assert_eq!(fetch.end().have.len(), whole);
        prop_assert!(whole <= 1);
    }
}

#[test]
fn a_file_done_names_at_most_as_many_as_can_be_asked_for() {
    let file = FileId::from_bytes([7; 32]);
    let named = |count: u32| {
        let missing: Vec<Part> = (0..count).map(Part::Chunk).collect();
        let mut out = Vec::new();
        write_file_done(&mut out, 1.into(), &file, &missing);
        match Message::read(json::read(&out, MESSAGE_DEPTH).unwrap()) {
            Ok(Message::FileDone(done)) => done.missing.len(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(named(64), 64);
    assert_eq!(named(65), 64);
}

#[test]
fn what_is_no_part_is_left_out_of_a_file_done() {
    let message = format!(
        r#"{{"v":8,"type":"file-done","id":1,"hash":"{}","missing":[8191,8192,-1,"list","x",null,0.5,3]}}"#,
        "0".repeat(64),
    );
    let Ok(Message::FileDone(done)) =
        Message::read(json::read(message.as_bytes(), MESSAGE_DEPTH).unwrap())
    else {
        panic!("read");
    };
    assert_eq!(
        done.missing,
        [Part::Chunk(8191), Part::List, Part::Chunk(3)]
    );
}
