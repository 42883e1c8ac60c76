//! The sync messages (05 §4, §16.6): read with every check the text names, and
//! written.

mod file;
mod hello;
mod id;
mod reconcile;
mod stored;
mod versions;
mod want;
mod write;
mod write_file;

use minca_record::json::{Object, Value};

pub use file::{Asked, FileBytes, FileDone, MAX_CHUNKS_ASKED, MAX_FILE_BYTES, Part, WantFile};
pub use hello::{Hello, Holds, MAX_HELLO_COLLECTIONS, is_system};
pub use id::RequestId;
pub use reconcile::{MAX_NEGENTROPY_BYTES, Reconcile, Reconciled, Says};
pub use stored::{MAX_STORED_IDS, Stored};
pub use versions::{PushUpdate, Versions, arrange};
pub use want::{MAX_IDS, Want};
pub use write::{
    write_hello, write_not_held, write_push_update, write_reconcile, write_reconciled,
    write_stored, write_unreadable, write_versions, write_want,
};

pub use write_file::{write_file_bytes, write_file_done, write_want_file};

/// `SYNC_PROTOCOL_VERSION`: `v` on every sync message.
pub const SYNC_VERSION: u64 = 8;

/// A sync message a peer sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// What the peer holds, and its sums.
    Hello(Hello),
    /// A round of a session the peer initiates.
    Reconcile(Reconcile),
    /// The peer's answer to a round of ours.
    Reconciled(Reconciled),
    /// The peer asks for versions.
    Want(Want),
    /// Versions: an answer, or what the peer found is lacking here.
    Versions(Versions),
    /// A version the peer just wrote.
    PushUpdate(PushUpdate),
    /// The peer took versions in.
    Stored(Stored),
    /// The peer asks for parts of a file.
    WantFile(WantFile),
    /// Bytes of a file we asked for.
    File(FileBytes),
    /// The end of the peer's answer to a `want-file`.
    FileDone(FileDone),
}

/// Why a sync message is dropped, unanswered (05 §4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotTaken {
    /// The payload is no object.
    #[error("expected an object")]
    NotAnObject,
    /// `v` is not [`SYNC_VERSION`].
    #[error("expected v 8")]
    OtherVersion,
    /// `type` is no string.
    #[error("expected a type that is a string")]
    NoType,
    /// A type nobody here knows.
    #[error("a type not known here")]
    UnknownType,
    /// `id` is not what it must be: there is nothing to answer under.
    #[error("expected an id that is a number")]
    Id,
    /// A hello's `sums` is no object.
    #[error("expected sums to be an object")]
    Sums,
    /// A hello names more than [`MAX_HELLO_COLLECTIONS`] collections.
    #[error("expected at most {MAX_HELLO_COLLECTIONS} collections, got {0}")]
    TooManyCollections(usize),
    /// A `reconcile` names no collection.
    #[error("expected a collection that is a string")]
    Collection,
    /// `versions` is no array, or `version` no object with a collection.
    #[error("expected versions")]
    Versions,
    /// A `stored` whose `ids` is no array.
    #[error("expected ids to be an array")]
    Ids,
    /// A `hash` that is no file's id.
    #[error("expected a hash of 64 lower-case hex characters")]
    Hash,
    /// `chunks` is no range of indices, or `chunk` names no part.
    #[error("expected indices below 8192, at most 64 of them, or the list")]
    Chunks,
    /// An `at` that is no offset.
    #[error("expected at to be a whole number")]
    At,
    /// `bytes` is no base64url, or of more than [`MAX_FILE_BYTES`].
    #[error("expected at most {MAX_FILE_BYTES} bytes in base64url")]
    Bytes,
}

impl Message {
    /// Reads the payload of a `sync` envelope. Whether the message belongs to
    /// anything in flight is not looked at.
    ///
    /// # Errors
    /// [`NotTaken`]: the message is dropped, and never answered.
    pub fn read(payload: Value) -> Result<Self, NotTaken> {
        let mut object = payload.into_object().ok_or(NotTaken::NotAnObject)?;
        if object.get("v").and_then(Value::whole_number) != Some(SYNC_VERSION) {
            return Err(NotTaken::OtherVersion);
        }
        let kind = object.get("type").and_then(Value::as_text);
        let kind = kind.ok_or(NotTaken::NoType)?.as_str().unwrap_or_default();
        match kind {
            "hello" => Hello::read(&object).map(Self::Hello),
            "reconcile" => Reconcile::read(&object).map(Self::Reconcile),
            "reconciled" => Reconciled::read(&object).map(Self::Reconciled),
            "want" => Want::read(&object).map(Self::Want),
            "versions" => Versions::read(&mut object).map(Self::Versions),
            "push-update" => PushUpdate::read(&mut object).map(Self::PushUpdate),
            "stored" => Stored::read(&object).map(Self::Stored),
            "want-file" => WantFile::read(&object).map(Self::WantFile),
            "file" => FileBytes::read(&object).map(Self::File),
            "file-done" => FileDone::read(&object).map(Self::FileDone),
            _ => Err(NotTaken::UnknownType),
        }
    }
}

fn request_id(object: &Object) -> Result<RequestId, NotTaken> {
    let number = object.get("id").and_then(Value::as_f64);
    number.and_then(RequestId::new).ok_or(NotTaken::Id)
}
