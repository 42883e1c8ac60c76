//! Packing versions into segments (05 §16.3).

use engine::rows::StoredVersion;
use minca_record::content_id::ContentId;
use minca_record::segment::SegmentWriter;
use minca_record::version::join;

/// The size segments are packed to unless the operator says otherwise.
pub const DEFAULT_SEGMENT_BYTES: usize = 1024 * 1024;

/// A segment that is full, or the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedSegment {
    /// The segment's bytes, as they go into the bucket.
    pub bytes: Vec<u8>,
    /// What it holds, in order.
    pub versions: Vec<ContentId>,
}

/// Packs versions, in the order they come, into segments of at most a given
/// size. A version that is larger has a segment to itself.
#[derive(Debug)]
pub struct Segmenter {
    max_bytes: usize,
    open: SegmentWriter,
    versions: Vec<ContentId>,
}

impl Segmenter {
    /// Packs segments of at most `max_bytes`.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            open: SegmentWriter::new(),
            versions: Vec::new(),
        }
    }

    /// Adds a version; gives the segment before it when that is full.
    pub fn push(&mut self, version: &StoredVersion) -> Option<PackedSegment> {
        let json = join(
            &version.envelope,
            version.proof.as_deref(),
            version.body.as_deref(),
        );
        let with_it = self.open.len() + json.len() + b",".len();
        let full = if with_it > self.max_bytes {
            self.take()
        } else {
            None
        };
        self.open.push(&json);
        self.versions.push(version.id);
        full
    }

    /// Gives the last segment; `None` if nothing came since the one before.
    pub fn finish(mut self) -> Option<PackedSegment> {
        self.take()
    }

    fn take(&mut self) -> Option<PackedSegment> {
        if self.open.is_empty() {
            return None;
        }
        Some(PackedSegment {
            bytes: std::mem::take(&mut self.open).finish(),
            versions: std::mem::take(&mut self.versions),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use minca_record::segment::read_segment;
    use proptest::prelude::*;

    fn version(number: u8, body: Option<usize>) -> StoredVersion {
        let id = ContentId::of(&[number]);
        StoredVersion {
            id,
            collection: "app.note".to_owned(),
            key: "k".to_owned(),
            envelope: format!("{{\"id\":\"{id}\",\"seq\":0}}").into_bytes(),
            proof: number.is_multiple_of(2).then(|| b"{\"sig\":1}".to_vec()),
            body: body.map(|length| format!("\"{}\"", "x".repeat(length)).into_bytes()),
        }
    }

    fn pack(max_bytes: usize, versions: &[StoredVersion]) -> Vec<PackedSegment> {
        let mut segmenter = Segmenter::new(max_bytes);
        let mut packed: Vec<_> = versions
            .iter()
            .filter_map(|version| segmenter.push(version))
            .collect();
        packed.extend(segmenter.finish());
        packed
    }

    #[test]
    fn nothing_makes_no_segment() {
        assert!(pack(1_000, &[]).is_empty());
    }

    #[test]
    fn a_segment_is_the_versions_as_on_the_wire() {
        let versions = [version(1, Some(3)), version(2, None)];
        let packed = pack(10_000, &versions);
        let (one, two) = (versions[0].id, versions[1].id);
        let expected = format!(
            "{{\"v\":8,\"versions\":[{{\"body\":\"xxx\",\"id\":\"{one}\",\"seq\":0}},{{\"proof\":{{\"sig\":1}},\"id\":\"{two}\",\"seq\":0}}]}}"
        );
        assert_eq!(packed.len(), 1);
        assert_eq!(
            String::from_utf8(packed[0].bytes.clone()).unwrap(),
            expected
        );
        assert_eq!(packed[0].versions, [one, two]);
    }

    #[test]
    fn a_version_larger_than_a_segment_has_one_to_itself() {
        let versions = [
            version(1, Some(1)),
            version(2, Some(5_000)),
            version(3, Some(1)),
        ];
        let packed = pack(1_000, &versions);
        let held: Vec<_> = packed
            .iter()
            .map(|segment| segment.versions.clone())
            .collect();
        assert_eq!(held, versions.map(|version| vec![version.id]));
    }

    proptest! {
        #[test]
        fn every_version_is_in_one_segment_in_order_and_none_is_too_large(
            bodies in prop::collection::vec(prop::option::of(0..400usize), 0..40),
            max_bytes in 1..1_500usize,
        ) {
            let versions: Vec<_> = bodies.iter().zip(0..).map(|(body, number)| version(number, *body)).collect();
            let packed = pack(max_bytes, &versions);
            let held: Vec<_> = packed.iter().flat_map(|segment| segment.versions.clone()).collect();
            prop_assert_eq!(held, versions.iter().map(|version| version.id).collect::<Vec<_>>());
            for segment in &packed {
                prop_assert!(segment.bytes.len() <= max_bytes || segment.versions.len() == 1);
                let read = read_segment(&segment.bytes);
                let ids: Vec<_> = read.iter().map(|value| value.as_object().unwrap().get("id").unwrap().as_str().unwrap().to_owned()).collect();
                prop_assert_eq!(ids, segment.versions.iter().map(ToString::to_string).collect::<Vec<_>>());
            }
            // The first version of a segment would have been too much for the one before.
            for pair in packed.windows(2) {
                let first = versions.iter().find(|version| version.id == pair[1].versions[0]).unwrap();
                let alone = pack(usize::MAX, std::slice::from_ref(first)).remove(0).bytes.len();
                let json = alone - SegmentWriter::new().len();
                prop_assert!(pair[0].bytes.len() + b",".len() + json > max_bytes);
            }
        }
    }
}
