//! A member's gatekeeper: what it takes in and what it drops.
//!
//! It checks what can be told from a version, its note and its chain. It does not replay the
//! space's access history: what an honest host gives out was judged there, and what a member of
//! the space may not do is a matter of part 03.

use minca_record::content_id::ContentId;
use minca_record::json::{Object, Value};
use minca_record::version::{self, ChainRefusal, Checked, Held, Missing, Version, follows};
use thiserror::Error;

use crate::holdings::Holdings;

/// Why a version is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Something is wrong with the copy itself, whatever is held.
    #[error(transparent)]
    Copy(#[from] version::Refusal),
    /// It doesn't follow the version it names.
    #[error(transparent)]
    Chain(#[from] ChainRefusal),
}

/// Checks everything that needs nothing held (02 §9, steps 1 to 6).
///
/// # Errors
/// The first check that fails.
pub fn check(object: Object, space: ContentId) -> Result<Checked, Refusal> {
    Ok(version::check(Value::from(object), space)?)
}

/// Whether what the version follows is held (02 §4.7), and if not, what is missing.
///
/// # Errors
/// [`ChainRefusal`] where it follows nothing that could come.
pub fn chain(version: &Version, holdings: &Holdings) -> Result<Missing, ChainRefusal> {
    let held = |id: Option<ContentId>| holdings.get(&id?).map(|held| Held::from(&**held));
    let (prev, genesis) = (held(version.prev()), held(version.genesis()));
    follows(version, prev.as_ref(), genesis.as_ref())
}
