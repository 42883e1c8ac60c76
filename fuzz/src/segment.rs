//! Segments and their names: any bytes are taken, and what was read is written and read again.

use minca_record::segment::{SegmentName, SegmentWriter, read_segment};

/// One run.
pub fn run(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data)
        && let Some(name) = SegmentName::parse(text)
    {
        assert_eq!(name.to_string(), text, "one spelling");
    }
    let name = SegmentName::of(data.len() as u64, data);
    assert_eq!(SegmentName::parse(&name.to_string()), Some(name.clone()));
    assert!(name.is_of(data));

    let versions = read_segment(data);
    let mut writer = SegmentWriter::new();
    for version in &versions {
        writer.push(&version.canonical());
    }
    assert_eq!(writer.count(), versions.len());
    let announced = writer.len();
    let written = writer.finish();
    assert_eq!(written.len(), announced);
    assert_eq!(read_segment(&written), versions);
}
