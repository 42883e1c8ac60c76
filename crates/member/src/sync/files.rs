//! Serving files, and fetching them from one peer (05 §16.6).

use minca_record::did::Did;
use minca_record::files::{ChunkList, FileId, NamedFile, chunk_count};
use minca_sync::files::{FileFetch, Took, pieces, serve};
use minca_sync::message::{
    Asked, FileBytes, FileDone, Part, RequestId, WantFile, write_file_bytes, write_file_done,
    write_want_file,
};

use super::{Effect, Event, Sync};
use crate::files::Files;
use crate::holdings::Holdings;

/// Chunks asked for at once: 4 MiB.
const CHUNKS_AT_ONCE: u32 = 16;

/// A file being fetched from a peer, a `want-file` at a time.
#[derive(Debug)]
pub(super) struct Fetching {
    named: NamedFile,
    list: Option<ChunkList>,
    /// The chunks so far, in order.
    stored: Vec<u8>,
    next_chunk: u32,
    /// Chunks of the request in flight that came whole, by index.
    came: Vec<(Part, Vec<u8>)>,
    in_flight: FileFetch,
    pub(super) heard_at: u64,
}

impl Sync {
    /// The files this device holds.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// The files this device holds, to add to or take from.
    pub fn files_mut(&mut self) -> &mut Files {
        &mut self.files
    }

    /// Asks a peer for a file, which a version kept whole must name.
    pub fn fetch_file(&mut self, from: Did, named: NamedFile) -> Vec<Effect> {
        let is_one_chunk = chunk_count(named.size) == Some(1);
        let asked = if is_one_chunk {
            Asked::Chunks(0..=0)
        } else {
            Asked::List
        };
        if self.peers.contains_key(&from) && !self.is_fetching(&from, &named.id) {
            let in_flight = self.want_file(from, named, asked);
            let fetching = Fetching {
                named,
                list: None,
                stored: Vec::new(),
                next_chunk: 0,
                came: Vec::new(),
                in_flight,
                heard_at: self.now,
            };
            if let Some(peer) = self.peers.get_mut(&from) {
                peer.fetching.push(fetching);
            }
        }
        self.take_effects()
    }

    /// Whether a file is being fetched from a peer.
    pub fn is_fetching(&self, from: &Did, file: &FileId) -> bool {
        let peer = self.peers.get(from);
        peer.is_some_and(|peer| {
            peer.fetching
                .iter()
                .any(|fetching| fetching.named.id == *file)
        })
    }

    /// A peer asks for parts of a file: it gets those held of a file that a version kept whole
    /// names, and is told what is missing.
    pub(super) fn on_want_file(&mut self, from: Did, want: &WantFile, holdings: &Holdings) {
        let is_named = || holdings.names_file(&want.file);
        let (parts, missing) = if self.files.get(&want.file).is_some() && is_named() {
            serve(want, |part| self.files.part(&want.file, part).is_some())
        } else {
            (Vec::new(), want.asked.parts().collect())
        };
        let mut payloads = Vec::new();
        for part in parts {
            let bytes = self.files.part(&want.file, part).unwrap_or_default();
            for (at, length) in pieces(bytes.len() as u64) {
                let (start, end) = (at as usize, (at + length) as usize);
                let piece = bytes.get(start..end).unwrap_or_default();
                let mut payload = Vec::new();
                write_file_bytes(&mut payload, want.id, &want.file, part, at, piece);
                payloads.push(payload);
            }
        }
        let mut payload = Vec::new();
        write_file_done(&mut payload, want.id, &want.file, &missing);
        payloads.push(payload);
        for payload in payloads {
            self.send(from, payload);
        }
    }

    /// Bytes of a file came.
    pub(super) fn on_file(&mut self, from: Did, message: FileBytes) {
        let now = self.now;
        let Some(fetching) = self.fetching(from, message.id, &message.file) else {
            return;
        };
        fetching.heard_at = now;
        let part = message.part;
        if let Took::Whole(_, bytes) = fetching.in_flight.take(message, fetching.list.as_ref()) {
            fetching.came.push((part, bytes));
        }
    }

    /// A peer's last answer to a `want-file`.
    pub(super) fn on_file_done(&mut self, from: Did, message: &FileDone) {
        let Some(fetching) = self.fetching(from, message.id, &message.file) else {
            return;
        };
        let named = fetching.named;
        let ended = fetching.in_flight.end();
        let asked = match ended.ask_elsewhere.is_empty() {
            true => fetching.go_on(),
            false => Next::Failed,
        };
        match asked {
            Next::Ask(asked) => {
                let in_flight = self.want_file(from, named, asked);
                if let Some(fetching) = self.fetching(from, message.id, &message.file) {
                    fetching.in_flight = in_flight;
                }
            }
            Next::Whole(stored) => {
                self.stop_fetching(from, &named.id);
                // Chunk by chunk it was checked to be the file.
                self.files.add(stored);
                self.tell(Event::FileFetched {
                    from,
                    file: named.id,
                });
            }
            Next::Failed => {
                self.stop_fetching(from, &named.id);
                self.tell(Event::FileMissing {
                    from,
                    file: named.id,
                });
            }
        }
    }

    /// Gives up fetches that heard nothing since `before`.
    pub(super) fn give_up_fetches(&mut self, from: Did, is_over: impl Fn(u64) -> bool) {
        let Some(peer) = self.peers.get_mut(&from) else {
            return;
        };
        let (over, going_on): (Vec<_>, Vec<_>) = peer
            .fetching
            .drain(..)
            .partition(|fetching| is_over(fetching.heard_at));
        peer.fetching = going_on;
        for fetching in over {
            self.tell(Event::FileMissing {
                from,
                file: fetching.named.id,
            });
        }
    }

    fn want_file(&mut self, from: Did, named: NamedFile, asked: Asked) -> FileFetch {
        self.last_request += 1;
        let id = RequestId::from(self.last_request);
        let mut payload = Vec::new();
        write_want_file(&mut payload, id, &named.id, &asked);
        self.send(from, payload);
        FileFetch::new(
            WantFile {
                id,
                file: named.id,
                asked,
            },
            named.size,
        )
    }

    fn fetching(&mut self, from: Did, id: RequestId, file: &FileId) -> Option<&mut Fetching> {
        let fetching = &mut self.peers.get_mut(&from)?.fetching;
        fetching
            .iter_mut()
            .find(|fetching| fetching.in_flight.is_for(id, file))
    }

    fn stop_fetching(&mut self, from: Did, file: &FileId) {
        if let Some(peer) = self.peers.get_mut(&from) {
            peer.fetching.retain(|fetching| fetching.named.id != *file);
        }
    }
}

/// What follows a request that was answered in full.
enum Next {
    Ask(Asked),
    Whole(Vec<u8>),
    Failed,
}

impl Fetching {
    fn go_on(&mut self) -> Next {
        // Chunks may come in any order.
        self.came.sort_unstable_by_key(|(part, _)| *part);
        for (part, bytes) in self.came.drain(..) {
            match part {
                Part::List => {
                    self.list = ChunkList::read(&self.named.id, self.named.size, &bytes).ok();
                }
                Part::Chunk(index) => {
                    self.stored.extend_from_slice(&bytes);
                    self.next_chunk = index + 1;
                }
            }
        }
        let count = chunk_count(self.named.size).and_then(|count| u32::try_from(count).ok());
        let Some(count) = count.filter(|count| *count == 1 || self.list.is_some()) else {
            return Next::Failed;
        };
        if self.next_chunk == count {
            return Next::Whole(std::mem::take(&mut self.stored));
        }
        let last = (self.next_chunk + CHUNKS_AT_ONCE).min(count) - 1;
        Next::Ask(Asked::Chunks(self.next_chunk..=last))
    }
}
