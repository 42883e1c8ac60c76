//! Whose key a peer's is: the note in its `who` (04 §6.4).

use minca_record::{
    did::Did,
    json::{Object, Value},
    note::Note,
};

/// The largest note in a `who`, in bytes of canonical JSON (04 §7.1).
pub const MAX_WHO_NOTE_BYTES: usize = 16_384;

/// The note a `who` shows: good at the moment it arrives, and for the key the
/// handshake proved. The account is its [`root`](Note::root). `None` where it
/// shows no account.
///
/// Verifies one signature.
pub fn shown_note(payload: &Value, session: &Did, now_seconds: u64) -> Option<Note> {
    let note = payload.as_object()?.get("note")?;
    if note.as_object()?.canonical().len() > MAX_WHO_NOTE_BYTES {
        return None;
    }
    let note = Note::check(note, session).ok()?;
    note.in_time(now_seconds).then_some(note)
}

/// Whether a note lets its key read the space, as it must for its account to
/// count as a reader on this socket. That its key isn't revoked is besides
/// (04 §6.4).
pub fn lets_read(note: &Note, space: &str) -> bool {
    note.grants("/record/read", &Object::from([("space", space)]))
}
