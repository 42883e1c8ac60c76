//! The committed corpus through every target, as an ordinary test: no fuzzer is needed for it.

use std::path::Path;

type Run = fn(&[u8]);

const TARGETS: [(&str, Run); 20] = [
    ("access_case", holdfast_fuzz::access_case::run),
    ("did", holdfast_fuzz::did::run),
    ("handshake", holdfast_fuzz::handshake::run),
    ("history", holdfast_fuzz::history::run),
    ("invite", holdfast_fuzz::invite::run),
    ("json_differential", holdfast_fuzz::json_differential::run),
    ("json_read", holdfast_fuzz::json_read::run),
    ("link_wire", holdfast_fuzz::link_wire::run),
    ("negentropy", holdfast_fuzz::negentropy::run),
    ("pattern", holdfast_fuzz::pattern::run),
    ("policy", holdfast_fuzz::policy::run),
    ("readers", holdfast_fuzz::readers::run),
    ("sealed_invite", holdfast_fuzz::sealed_invite::run),
    ("segment", holdfast_fuzz::segment::run),
    ("short_link", holdfast_fuzz::short_link::run),
    ("sync_message", holdfast_fuzz::sync_message::run),
    ("text", holdfast_fuzz::text::run),
    ("url", holdfast_fuzz::url::run),
    ("version", holdfast_fuzz::version::run),
    ("web_socket", holdfast_fuzz::web_socket::run),
];

#[test]
fn every_input_of_the_corpus_passes_its_target() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (name, run) in TARGETS {
        let inputs = std::fs::read_dir(corpus.join(name)).expect("a folder per target");
        let mut count = 0;
        for input in inputs {
            run(&std::fs::read(input.expect("a file").path()).expect("an input"));
            count += 1;
        }
        assert!(count > 0, "{name} has no corpus");
    }
}

#[test]
fn every_target_is_in_the_list() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz_targets");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("the targets")
        .filter_map(|file| Some(file.ok()?.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    files.sort();
    assert_eq!(files, TARGETS.map(|(name, _)| name.to_owned()));
}
