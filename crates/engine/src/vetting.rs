//! What judging a version takes that costs signatures: done in the driver's pool,
//! never on the engine's own thread (design line 6).

use std::sync::Arc;

use minca_access::{Event, NoEvent, Space, event_of};
use minca_record::definition::{DEFINITIONS, Definition};
use minca_record::did::Did;
use minca_record::hash::sha256;
use minca_record::json::{Text, Value};
use minca_record::note::Note;
use minca_record::required::is_access_collection;
use minca_record::signature::PublicKey;
use minca_record::version::{
    Checked, Refusal, Version, author_key, check_body, check_id, check_owner, check_place,
    check_scope, check_signature,
};

use crate::remembered::Remembered;
use crate::standing::sight_of;

/// Keys one vetter remembers, of some hundred bytes each.
const KEYS: usize = 4_096;

/// Bytes of the notes one vetter remembers.
const NOTE_BYTES: usize = 8 << 20;

/// What a note takes beside its canonical form, twice of which its policy may take.
const NOTE_OVERHEAD: usize = 512;

/// A version that passed 02 §9 steps 1–6.
#[derive(Clone, Debug)]
pub struct Vetted {
    /// The version, its author and its root.
    pub checked: Checked,
    /// The access event it yields, or why none; `None` outside the access
    /// collections. Invites and fork proofs hold signatures of their own.
    pub event: Option<Result<Arc<Event>, NoEvent>>,
    /// What it defines, in `sys.collection`, where that can be read here.
    pub definition: Option<Arc<Definition>>,
}

/// Checks versions, and remembers keys made ready and notes that passed: a note costs as
/// much to check as a version, and most versions of a space show the same few. One for
/// each thread, so that nobody waits for it.
#[derive(Debug)]
pub struct Vetter {
    keys: Remembered<Box<str>, PublicKey>,
    /// By the hash of a note's canonical form, and the key that showed it.
    notes: Remembered<([u8; 32], Did), Arc<Note>>,
}

impl Default for Vetter {
    fn default() -> Vetter {
        Vetter {
            keys: Remembered::new(KEYS),
            notes: Remembered::new(NOTE_BYTES),
        }
    }
}

impl Vetter {
    /// Checks a version that arrived in a space (02 §9 steps 1–6), and reads the access
    /// event it yields (03 §3.3). What the driver of an engine does for
    /// [`Effect::Verify`](crate::Effect::Verify).
    ///
    /// # Errors
    /// The first step that refuses it: what `minca_record::version::check` says.
    pub fn vet(&mut self, version: Value, space: Space) -> Result<Vetted, Refusal> {
        let checked = self.check(version, space)?;
        let collection = Text::from(checked.version.collection());
        let event =
            is_access_collection(&collection).then(|| event_of(&checked, space).map(Arc::new));
        let defines = collection == DEFINITIONS;
        let definition = defines.then(|| sight_of(space).definition(&checked.version));
        let definition = definition.flatten().map(Arc::new);
        Ok(Vetted {
            checked,
            event,
            definition,
        })
    }

    fn check(&mut self, version: Value, space: Space) -> Result<Checked, Refusal> {
        let version = Version::shape(version)?;
        check_place(&version, space.id)?;
        check_id(&version)?;
        let key = self.author_key(&version)?;
        check_signature(&version, &key)?;
        check_body(&version)?;
        let author = key.did();
        let root = self.check_note(&version, &author, space)?;
        check_owner(&version, &root)?;
        Ok(Checked {
            version,
            author,
            root,
        })
    }

    fn author_key(&mut self, version: &Version) -> Result<PublicKey, Refusal> {
        let author = version.author().as_str();
        if let Some(known) = author.and_then(|author| self.keys.get(author)) {
            return Ok(known);
        }
        let key = author_key(version)?;
        if let Some(author) = author {
            self.keys.put(author.into(), key.clone(), 1);
        }
        Ok(key)
    }

    fn check_note(
        &mut self,
        version: &Version,
        author: &Did,
        space: Space,
    ) -> Result<Did, Refusal> {
        let Some(proof) = version.proof() else {
            return Ok(*author);
        };
        let canonical = proof.canonical();
        let named = (sha256(&canonical), *author);
        let note = match self.notes.get(&named) {
            Some(known) => known,
            None => {
                let note = Arc::new(Note::check(proof, author)?);
                let weight = 3 * canonical.len() + NOTE_OVERHEAD;
                self.notes.put(named, Arc::clone(&note), weight);
                note
            }
        };
        check_scope(version, &note, space.id)?;
        Ok(note.root())
    }
}
