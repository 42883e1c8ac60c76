//! Files from one machine to another.

use super::*;
use crate::files::SealedFile;

/// Both devices, level, after the first wrote a version that names a file of `length` bytes.
fn with_a_file(length: usize) -> ([Replica; 2], Wires, SealedFile) {
    let mut pair = two_devices(Visibility::Private);
    let content: Vec<u8> = (0..length).map(|byte| byte as u8).collect();
    let file = pair[0].add_file(&content).unwrap();
    let write = Write {
        collection: NOTES.to_owned(),
        key: Some("k".to_owned()),
        body: Some(file.in_body()),
        files: vec![file.entry()],
        ..Write::default()
    };
    pair[0].write(write, at(1)).unwrap();
    let mut wires = Wires::connect(&mut pair);
    wires.run(&mut pair);
    (pair, wires, file)
}

fn fetch(pair: &mut [Replica; 2], wires: &mut Wires, file: &SealedFile) {
    let from = pair[0].device().did();
    let effects = pair[1].fetch_file(from, file.named);
    wires.carry_out(1, effects);
    wires.run(pair);
    assert!(!pair[1].sync().is_fetching(&from, &file.named.id));
}

#[test]
fn a_file_is_fetched_chunk_by_chunk_and_opens() {
    // Of one chunk, of two, and of more than are asked for at once.
    for length in [0, 1000, 300_000, 4_700_000] {
        let (mut pair, mut wires, file) = with_a_file(length);
        fetch(&mut pair, &mut wires, &file);
        let fetched = pair[1].sync().files().get(&file.named.id).unwrap();
        assert_eq!(fetched, file.stored);
        let opened = SealedFile::open(&file.key, fetched).unwrap();
        assert_eq!(opened.len(), length);
        let id = file.named.id;
        assert!(
            wires
                .events
                .iter()
                .any(|e| matches!(e, Event::FileFetched { file, .. } if *file == id))
        );
    }
}

#[test]
fn a_file_that_is_not_held_or_that_no_whole_version_names_is_told_as_missing() {
    let (mut pair, mut wires, file) = with_a_file(300_000);
    pair[0].edit("k", text("names no file"), at(2)).unwrap();
    fetch(&mut pair, &mut wires, &file);
    assert_eq!(pair[1].sync().files().get(&file.named.id), None);
    assert!(matches!(
        wires.events.last(),
        Some(Event::FileMissing { .. })
    ));

    let (mut pair, mut wires, file) = with_a_file(300_000);
    pair[0].sync_mut().files_mut().remove(&file.named.id);
    fetch(&mut pair, &mut wires, &file);
    assert!(matches!(
        wires.events.last(),
        Some(Event::FileMissing { .. })
    ));
}

#[test]
fn a_file_whose_bytes_are_others_is_not_held() {
    let (mut pair, mut wires, file) = with_a_file(1000);
    let from = pair[0].device().did();
    let effects = pair[1].fetch_file(from, file.named);
    wires.carry_out(1, effects);
    wires.deliver(&mut pair, 0);
    let first = wires.to[1].front_mut().unwrap();
    let text = String::from_utf8(first.clone()).unwrap();
    let at = text.find("\"bytes\":\"").unwrap() + 12;
    first[at] = if first[at] == b'A' { b'B' } else { b'A' };
    wires.run(&mut pair);
    assert_eq!(pair[1].sync().files().get(&file.named.id), None);
    assert!(matches!(
        wires.events.last(),
        Some(Event::FileMissing { .. })
    ));
}
