//! Files: how versions name them, how they are cut into chunks, and how they
//! are sealed (02 §12, 05 §16.6).

mod chunks;
mod named;
mod seal;

pub use chunks::{
    BadList, CHUNK, ChunkList, FileId, MAX_FILE_CHUNKS, MAX_FILE_SIZE, chunk_count, chunk_len,
};
pub use named::{MAX_FILES, NamedFile, named_files};
pub use seal::{
    FileKey, NotOpened, RECORD_CONTENT, TooLong, open_file, open_record, seal_file, seal_record,
    sealed_size,
};
