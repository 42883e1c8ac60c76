//! Placing a version in its record (05 §10.1) as a pure function: what is held
//! and what arrives in, what changes out.

use crate::content_id::ContentId;
use crate::version::{Version, supersedes};

/// The form a version is held in, or arrives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// With its body; every delete is whole (02 §4.4).
    Whole,
    /// Without the body it had.
    Stub,
}

impl Form {
    /// The form this copy of a version has.
    pub fn of(version: &Version) -> Form {
        if version.is_stub() {
            Form::Stub
        } else {
            Form::Whole
        }
    }
}

/// What placing needs to know of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Its id.
    pub id: ContentId,
    /// Its `seq`.
    pub seq: u64,
    /// Whether it keeps its body once superseded.
    pub retain: bool,
    /// Whether it is a delete, which has no body to lose.
    pub deleted: bool,
    /// The form of the copy at hand.
    pub form: Form,
}

impl From<&Version> for Placed {
    fn from(version: &Version) -> Placed {
        Placed {
            id: version.id(),
            seq: version.seq(),
            retain: version.retain(),
            deleted: version.deleted(),
            form: Form::of(version),
        }
    }
}

/// What is kept of a record: what the entries `r/` and `g/` name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordRow {
    /// The version that no other held version supersedes.
    pub current: Placed,
    /// The first version (`seq` 0) of a record that has been edited, the one
    /// with the lowest id if it has several. For listing: it decides nothing.
    pub first: Option<ContentId>,
}

/// What placing one version changes. Nothing at all when everything is `None`
/// or `false`; all of it lands together or not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Write the arriving copy in this form, over whatever form is held; a
    /// whole copy written as a stub loses its body.
    pub keep: Option<Form>,
    /// The arriving version becomes the record's current one.
    pub set_current: bool,
    /// The version that was current loses its body: it is a stub now.
    pub drop_body: Option<ContentId>,
    /// The record's first version (`g/`) becomes this one.
    pub set_first: Option<ContentId>,
    /// This version, superseded and retained, is listed in the record's
    /// history (`h/`), if it isn't yet.
    pub set_history: Option<ContentId>,
}

impl Placement {
    /// Whether nothing changes.
    pub fn is_nothing(&self) -> bool {
        *self == Placement::default()
    }
}

/// Places `arriving` in its record. `row` is the record as it is held, if any
/// version of it is; `held` is the form in which this very version is held
/// already.
///
/// The same versions, in any order and any number of times, give the same rows
/// in the end.
pub fn place(row: Option<&RecordRow>, arriving: &Placed, held: Option<Form>) -> Placement {
    let Some(row) = row else {
        return Placement {
            keep: keep_this_copy(arriving.form, held),
            set_current: true,
            ..Placement::default()
        };
    };
    let current = &row.current;
    if current.id == arriving.id {
        let completes = current.form == Form::Stub && arriving.form == Form::Whole;
        return Placement {
            keep: completes.then_some(Form::Whole),
            ..Placement::default()
        };
    }
    if supersedes(arriving.seq, arriving.id, current.seq, current.id) {
        let demoted = demote(current, Some(current.form), arriving, row.first);
        return Placement {
            keep: keep_this_copy(arriving.form, held),
            set_current: true,
            drop_body: demoted.loses_body.then_some(current.id),
            set_first: demoted.first,
            set_history: demoted.history,
        };
    }
    let demoted = demote(arriving, held, current, row.first);
    Placement {
        keep: demoted.keep,
        set_current: false,
        drop_body: None,
        set_first: demoted.first,
        set_history: demoted.history,
    }
}

/// What demoting a version asks for.
struct Demoted {
    /// For an arriving version: the form to write, if not held so already.
    keep: Option<Form>,
    /// For a held one: whether its body goes.
    loses_body: bool,
    first: Option<ContentId>,
    history: Option<ContentId>,
}

/// Demotes `version`, held as `held`, against the current one.
fn demote(
    version: &Placed,
    held: Option<Form>,
    current: &Placed,
    first: Option<ContentId>,
) -> Demoted {
    let keeps_body = version.retain || version.deleted;
    let keep = if keeps_body {
        keep_this_copy(version.form, held)
    } else {
        // Keeping a stub over a stub changes nothing.
        (held != Some(Form::Stub)).then_some(Form::Stub)
    };
    let is_first = version.seq == 0 && current.seq > 0;
    let is_lowest = first.is_none_or(|first| version.id < first);
    Demoted {
        keep,
        loses_body: !keeps_body && held == Some(Form::Whole),
        first: (is_first && is_lowest).then_some(version.id),
        history: version.retain.then_some(version.id),
    }
}

/// The form to write a copy in that is kept as it came: none when it is held
/// so already, or held whole.
fn keep_this_copy(form: Form, held: Option<Form>) -> Option<Form> {
    match (held, form) {
        (None, form) => Some(form),
        (Some(Form::Stub), Form::Whole) => Some(Form::Whole),
        (Some(_), _) => None,
    }
}
