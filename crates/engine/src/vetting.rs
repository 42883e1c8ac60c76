//! What judging a version takes that costs signatures: done in the driver's pool,
//! never on the engine's own thread (design line 6).

use std::sync::Arc;

use minca_access::{Event, NoEvent, Space, event_of};
use minca_record::definition::{DEFINITIONS, Definition};
use minca_record::json::{Text, Value};
use minca_record::required::is_access_collection;
use minca_record::version::{Checked, Refusal, check};

use crate::standing::sight_of;

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

/// Checks a version that arrived in a space (02 §9 steps 1–6), and reads the access
/// event it yields (03 §3.3). What the driver of an engine does for
/// [`Effect::Verify`](crate::Effect::Verify).
///
/// # Errors
/// The first step that refuses it.
pub fn vet(version: Value, space: Space) -> Result<Vetted, Refusal> {
    let checked = check(version, space.id)?;
    let collection = Text::from(checked.version.collection());
    let event = is_access_collection(&collection).then(|| event_of(&checked, space).map(Arc::new));
    let defines = collection == DEFINITIONS;
    let definition = defines.then(|| sight_of(space).definition(&checked.version));
    let definition = definition.flatten().map(Arc::new);
    Ok(Vetted {
        checked,
        event,
        definition,
    })
}
