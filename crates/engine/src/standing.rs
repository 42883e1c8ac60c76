//! Whether a version stands, asked of one interface (02 §9.4).

use minca_access::{Event, NoEvent};
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::version::Checked;

/// What standing needs to know beside the version itself.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The version, which passed 02 §9 steps 1–7, and whose it is.
    pub checked: &'a Checked,
    /// The access event it yields, or why none; `None` outside the access collections.
    pub event: Option<&'a Result<Event, NoEvent>>,
    /// The root of the first version its chain names; its own for `seq` 0 (02 §4.1).
    pub creator: &'a Did,
}

/// The answer of 02 §9.4, with the protocol's reason where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It counts.
    Stands,
    /// Stored and passed on, and counts for nothing.
    Withdrawn(&'static str),
    /// Its writer saw these ids, which are not known here.
    SeenMissing(Vec<ContentId>),
    /// No history names its root; any access change may.
    RootNotNamed,
    /// Never to be stored.
    Refused(&'static str),
}

/// Who may write what in a space, as far as its history is known here.
pub trait Judge: Send + std::fmt::Debug {
    /// Judges one version that passed 02 §9 steps 1–7.
    fn judge(&self, question: &Question<'_>) -> Standing;

    /// Whether the history names an account (03 §3.4): a founder, or one that was
    /// ever assigned a role.
    fn names(&self, account: &Did) -> bool;
}
