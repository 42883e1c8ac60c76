//! Record keys, times, files, file names, store keys and segments (02 §4.1, §11, §12; 05 §10, §14.2,
//! §16).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_record::file_name::{decode_file_name, encode_file_name};
use minca_record::files::ChunkList;
use minca_record::record_key::{is_record_key, owner_part};
use minca_record::segment::{SegmentName, SegmentWriter, read_segment};
use minca_record::time::item_timestamp;
use minca_record::version::Version;
use minca_record::{hex, store_key};
use serde_json::Value;
use support::{list, read, section, string};

#[test]
fn record_keys_and_their_owners() {
    let cases = section("records.json", "recordKeys");
    let (valid, invalid) = (list(&cases, "valid"), list(&cases, "invalid"));
    let owner = list(&cases, "owner");
    assert_eq!((valid.len(), invalid.len(), owner.len()), (12, 8, 10));
    for key in valid {
        assert!(is_record_key(key.as_str().unwrap()), "{key}");
    }
    for key in invalid {
        assert!(!is_record_key(key.as_str().unwrap()), "{key}");
    }
    for case in owner {
        let expected = case["owner"].as_str();
        assert_eq!(owner_part(string(case, "key")), expected, "{case}");
    }
}

#[test]
fn created_at_gives_the_timestamp_of_an_item() {
    let cases = section("records.json", "createdAt");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 26);
    for case in cases {
        let timestamp = item_timestamp(string(case, "createdAt"));
        assert_eq!(Some(timestamp), case["timestamp"].as_u64(), "{case}");
    }
}

#[test]
fn file_names_are_percent_encoded_in_upper_case() {
    let cases = section("records.json", "fileNames");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 6);
    for case in cases {
        let (key, name) = (string(case, "key"), string(case, "name"));
        assert_eq!(encode_file_name(key), name);
        assert_eq!(decode_file_name(name).as_deref(), Some(key));
    }
}

#[test]
fn store_entries_have_their_keys() {
    let cases = section("records.json", "entries");
    assert_eq!(cases.as_object().unwrap().len(), 3);
    let versions = section("records.json", "versions");
    let named = |name: &str| {
        let case = versions
            .as_array()
            .unwrap()
            .iter()
            .find(|case| case["name"] == name);
        Version::shape(read(&case.unwrap()["version"])).unwrap()
    };
    let first = named("first");
    let timestamp = first.item().0;
    let item = store_key::item(first.collection(), timestamp, first.id());
    assert_eq!(item, string(&cases, "item"));
    let odd = &cases["itemOddCollection"];
    let item = store_key::item(string(odd, "collection"), timestamp, first.id());
    assert_eq!(item, string(odd, "key"));
    // The version it names is not in the file; its key is the first version's.
    let expected = string(&cases, "history");
    let (_, id) = expected.rsplit_once('/').unwrap();
    let history = store_key::history(first.key(), 0, id.parse().unwrap());
    assert_eq!(history, expected);
    assert_eq!(store_key::current("k1"), "r/k1");
    assert_eq!(store_key::first("k1"), "g/k1");
}

#[test]
fn segments_have_their_bytes_and_names() {
    let cases = section("records.json", "segments");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 3);
    for case in cases {
        let text = string(case, "text");
        let counter = case["counter"].as_u64().unwrap();
        let name = SegmentName::of(counter, text.as_bytes());
        assert_eq!(name.to_string(), string(case, "name"));
        let read_name = SegmentName::parse(string(case, "name")).unwrap();
        assert_eq!(read_name, name);
        assert!(read_name.is_of(text.as_bytes()));
        assert!(!read_name.is_of(&text.as_bytes()[1..]));

        let versions = read_segment(text.as_bytes());
        let parsed: Value = serde_json::from_str(text).unwrap();
        assert_eq!(versions.len(), list(&parsed, "versions").len());
        let mut writer = SegmentWriter::new();
        for version in &versions {
            writer.push(&version.canonical());
        }
        assert_eq!(writer.count(), versions.len());
        assert_eq!(writer.len(), text.len());
        assert_eq!(writer.finish(), text.as_bytes());
    }
}

#[test]
fn what_is_no_segment_holds_nothing() {
    let cases = section("records.json", "segmentsHoldingNothing");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 6);
    for case in cases {
        assert!(read_segment(case.as_str().unwrap().as_bytes()).is_empty());
    }
    let mixed = br#"{"v":8,"versions":[null,7,{},{"id":7},{"id":"x"},"x"],"more":1}"#;
    assert_eq!(read_segment(mixed).len(), 1);
}

#[test]
fn names_of_other_files_are_no_names_of_segments() {
    for name in [
        "000001-10773071eecc244b.tmp",
        "000001-10773071EECC244B.seg",
        "00001-10773071eecc244b.seg",
        "0000001-10773071eecc244b.seg",
        "000001-10773071eecc244.seg",
        "000001-10773071eecc244b0.seg",
        "+00001-10773071eecc244b.seg",
        "99999999999999999999999-10773071eecc244b.seg",
        "000001.seg",
        ".seg",
        "",
    ] {
        assert_eq!(SegmentName::parse(name), None, "{name}");
    }
    let seventh_digit = SegmentName::parse("1000000-10773071eecc244b.seg").unwrap();
    assert_eq!(seventh_digit.counter, 1_000_000);
}

#[test]
fn files_have_their_ids() {
    let files = section("records.json", "files");
    let cases = list(&files, "ids");
    assert_eq!((files.as_object().unwrap().len(), cases.len()), (2, 4));
    for case in cases {
        let size = case["size"].as_u64().unwrap();
        let count = usize::try_from(size).unwrap();
        let stored: Vec<u8> = match string(case, "bytes") {
            "02 seventeen times" => vec![2; 17],
            "byte i is i mod 251" => (0..count).map(|i| (i % 251) as u8).collect(),
            bytes if bytes.ends_with("zero bytes") => vec![0; count],
            other => panic!("unknown bytes {other}"),
        };
        assert_eq!(stored.len(), count);
        let chunks = ChunkList::of_file(&stored).unwrap();
        assert_eq!(Some(chunks.chunk_count()), case["chunks"].as_u64());
        assert_eq!(hex::encode(chunks.as_bytes()), string(case, "list"));
        assert_eq!(chunks.id().to_string(), string(case, "id"));
    }
}

#[test]
fn versions_name_the_files_every_peer_takes() {
    let files = section("records.json", "files");
    let cases = list(&files, "taken");
    assert_eq!(cases.len(), 8);
    let template = &section("records.json", "versions")[0]["version"];
    for case in cases {
        let mut version = template.clone();
        let object = version.as_object_mut().unwrap();
        for (name, value) in case["version"].as_object().unwrap() {
            object.insert(name.clone(), value.clone());
        }
        if case["version"]["deleted"] == true {
            object.remove("body");
            object.remove("bodyHash");
        }
        let version = Version::shape(read(&version)).unwrap();
        let taken: Vec<(String, u64)> = minca_record::files::named_files(&version)
            .iter()
            .map(|file| (file.id.to_string(), file.size))
            .collect();
        let expected: Vec<(String, u64)> = list(case, "taken")
            .iter()
            .map(|file| {
                (
                    string(file, "hash").to_owned(),
                    file["size"].as_u64().unwrap(),
                )
            })
            .collect();
        assert_eq!(taken, expected, "{case}");
    }
}
