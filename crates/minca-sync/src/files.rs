//! Serving a file's parts, and fetching them from one peer (05 §16.6).

use std::collections::{BTreeMap, BTreeSet};

use minca_record::files::{ChunkList, FileId, chunk_count, chunk_len};

use crate::message::{Asked, FileBytes, FileDone, MAX_FILE_BYTES, Part, RequestId, WantFile};

/// The bytes a part of a file of `size` bytes has; `None` where it has no such
/// part.
pub fn part_len(size: u64, part: Part) -> Option<u64> {
    match part {
        Part::Chunk(index) => chunk_len(size, u64::from(index)),
        Part::List => Some(32 * chunk_count(size)?),
    }
}

/// Which parts of what `want` asks for are sent, and which are missing, for the
/// last answer. `holds` says whether a part is held, for this space, of a file
/// named by a version kept whole here; it is asked about parts the file doesn't
/// have as well, and says no.
pub fn serve(want: &WantFile, holds: impl Fn(Part) -> bool) -> (Vec<Part>, Vec<Part>) {
    want.asked.parts().partition(|part| holds(*part))
}

/// The `file` messages a part of `length` bytes goes out in: where each begins
/// and how many bytes it has.
pub fn pieces(length: u64) -> impl Iterator<Item = (u64, u64)> {
    let most = MAX_FILE_BYTES as u64;
    (0..length.div_ceil(most)).map(move |piece| {
        let at = piece * most;
        (at, most.min(length - at))
    })
}

/// Parts of one file being fetched from one peer: one `want-file` in flight.
///
/// It keeps the bytes of parts begun and not whole yet: at most all that was
/// asked for, which is 16 MiB for 64 chunks. Who minds asks for fewer.
#[derive(Debug)]
pub struct FileFetch {
    id: RequestId,
    file: FileId,
    size: u64,
    asked: Asked,
    /// Bytes received so far of parts not complete yet.
    begun: BTreeMap<Part, Vec<u8>>,
    /// Parts that came whole, good or not: nothing more is taken for them.
    complete: BTreeSet<Part>,
    good: BTreeSet<Part>,
}

/// What became of a `file` message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Took {
    /// It belongs to no part being fetched, or not there: dropped.
    Dropped,
    /// Taken; the part isn't whole yet.
    Bytes,
    /// The part is whole and is the file's.
    Whole(Part, Vec<u8>),
    /// The part is whole and is not the file's: discarded.
    Discarded(Part),
}

/// What came of a fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Parts that came and were good, as [`Took::Whole`] gave them.
    pub have: Vec<Part>,
    /// Parts asked for that didn't come or weren't good: to be asked for
    /// elsewhere.
    pub ask_elsewhere: Vec<Part>,
}

impl FileFetch {
    /// A fetch, by the `want-file` sent. `size` is what a version names with
    /// the file.
    pub fn new(want: WantFile, size: u64) -> Self {
        Self {
            id: want.id,
            file: want.file,
            size,
            asked: want.asked,
            begun: BTreeMap::new(),
            complete: BTreeSet::new(),
            good: BTreeSet::new(),
        }
    }

    /// Whether a message with this id and file belongs to this fetch.
    pub fn is_for(&self, id: RequestId, file: &FileId) -> bool {
        self.id == id && self.file == *file
    }

    /// Takes bytes that came. `list` is the file's; there need be none where it
    /// is what is being fetched, or the file has one chunk only.
    pub fn take(&mut self, message: FileBytes, list: Option<&ChunkList>) -> Took {
        let part = message.part;
        let fits = self.is_for(message.id, &message.file)
            && self.asked.includes(part)
            && !self.complete.contains(&part);
        let Some(length) = part_len(self.size, part).filter(|_| fits) else {
            return Took::Dropped;
        };
        let so_far = self.begun.get(&part).map_or(0, |bytes| bytes.len() as u64);
        if message.at != so_far || message.bytes.len() as u64 > length - so_far {
            return Took::Dropped;
        }
        let bytes = self.begun.entry(part).or_default();
        bytes.extend_from_slice(&message.bytes);
        if (bytes.len() as u64) < length {
            return Took::Bytes;
        }
        let bytes = self.begun.remove(&part).unwrap_or_default();
        self.complete.insert(part);
        if !self.is_good(part, &bytes, list) {
            return Took::Discarded(part);
        }
        self.good.insert(part);
        Took::Whole(part, bytes)
    }

    /// Ends the fetch with the peer's last answer; `None`, and it goes on,
    /// where that belongs to another.
    pub fn done(&self, message: &FileDone) -> Option<Ended> {
        self.is_for(message.id, &message.file).then(|| self.end())
    }

    /// Ends the fetch, as where the peer left or fell silent.
    pub fn end(&self) -> Ended {
        let (have, ask_elsewhere) = self
            .asked
            .parts()
            .partition(|part| self.good.contains(part));
        Ended {
            have,
            ask_elsewhere,
        }
    }

    fn is_good(&self, part: Part, bytes: &[u8], list: Option<&ChunkList>) -> bool {
        match (part, list) {
            (Part::List, _) => ChunkList::read(&self.file, self.size, bytes).is_ok(),
            (Part::Chunk(index), Some(list)) => {
                list.id() == self.file && list.is_chunk(u64::from(index), bytes)
            }
            (Part::Chunk(_), None) => self.file.is_of_one_chunk(self.size, bytes),
        }
    }
}
