//! What is wrong with a case, and where.

use std::fmt;

use minca_record::constitution::ConstitutionError;
use minca_record::json::Value;

/// Why a value is no case.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaseError {
    /// Something else is at a place than a case has there.
    #[error("{at}: expected {expected}, and there is {came}")]
    Unlike {
        /// The place, as `events[3].did`.
        at: String,
        /// What a case has there.
        expected: &'static str,
        /// What is there.
        came: Came,
    },
    /// The constitution doesn't make the space.
    #[error("constitution: {0}")]
    Constitution(#[from] ConstitutionError),
}

/// What is at a place, without saying what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// The member is missing.
    Nothing,
    /// `null`.
    Null,
    /// A boolean.
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Came {
    pub(super) fn of(value: Option<&Value>) -> Came {
        match value {
            None => Came::Nothing,
            Some(Value::Null) => Came::Null,
            Some(Value::Bool(_)) => Came::Boolean,
            Some(Value::Number(_)) => Came::Number,
            Some(Value::String(_)) => Came::String,
            Some(Value::Array(_)) => Came::Array,
            Some(Value::Object(_)) => Came::Object,
        }
    }
}

/// Reads on after "there is". What is expected may be of the same sort.
impl fmt::Display for Came {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Came::Nothing => "nothing",
            Came::Null => "null",
            Came::Boolean => "a boolean",
            Came::Number => "a number",
            Came::String => "a string",
            Came::Array => "an array",
            Came::Object => "an object",
        })
    }
}

/// A place in a case, put into words only when something is wrong there.
#[derive(Clone, Debug)]
pub(super) struct At<'a> {
    list: Option<(&'a str, usize)>,
    within: Option<&'a At<'a>>,
}

impl<'a> At<'a> {
    pub(super) fn top() -> At<'static> {
        At {
            list: None,
            within: None,
        }
    }

    /// An element of the list called `name`.
    pub(super) fn element(&'a self, name: &'a str, index: usize) -> At<'a> {
        At {
            list: Some((name, index)),
            within: Some(self),
        }
    }

    /// The member called `name`, in words.
    pub(super) fn member(&self, name: &str) -> String {
        let own = self.own();
        match (own.is_empty(), name.is_empty()) {
            (true, true) => "the case".to_owned(),
            (true, false) => name.to_owned(),
            (false, true) => own,
            (false, false) => format!("{own}.{name}"),
        }
    }

    fn own(&self) -> String {
        let Some((name, index)) = self.list else {
            return String::new();
        };
        let within = self.within.map(At::own).unwrap_or_default();
        if within.is_empty() {
            format!("{name}[{index}]")
        } else {
            format!("{within}.{name}[{index}]")
        }
    }
}
