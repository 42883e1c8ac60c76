//! Policies: what a note or a grant says about a command's arguments (01 §7.4).

mod pattern;
mod selector;
mod statement;

pub use pattern::Pattern;
pub use selector::{Selector, SelectorError};
pub use statement::{GREATEST_DEPTH, GREATEST_STATEMENTS, Outcome, PolicyError, Statement};

use crate::json::{Object, Value};
use statement::Reader;

/// The argument a peer without the space key can't read; only `/record/write` has it.
pub const UNREADABLE: &str = "body";

/// A well-formed policy: a list of statements, which holds when every one of them does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    statements: Vec<Statement>,
}

impl Policy {
    /// Reads a policy; anything not exactly in the language makes all of it ill-formed.
    pub fn read(value: &Value) -> Result<Policy, PolicyError> {
        let list = value.as_array().ok_or(PolicyError::NoList)?;
        let mut reader = Reader::default();
        let statements = list
            .iter()
            .map(|statement| reader.read(statement, 1))
            .collect::<Result<_, _>>()?;
        Ok(Policy { statements })
    }

    /// How heavy the policy is: its statements and its selectors' steps. Judging it takes at most
    /// about that much work for each value inside the arguments, so whoever judges strangers'
    /// policies over strangers' bodies bounds the product.
    pub fn weight(&self) -> usize {
        self.statements.iter().map(Statement::weight).sum()
    }

    /// Whether the policy holds whatever the argument [`UNREADABLE`] is: every statement is true
    /// without reading it.
    pub fn holds_unread_for_certain(&self, arguments: &Object) -> bool {
        self.statements
            .iter()
            .all(|statement| statement.outcome_unread(arguments) == Outcome::True)
    }

    /// Whether some statement, at the level of the arguments, reads the argument [`UNREADABLE`].
    pub fn reads_unreadable(&self) -> bool {
        self.statements.iter().any(Statement::reads_unreadable)
    }

    /// What each statement comes to, in order.
    pub fn outcomes(&self, arguments: &Object) -> Vec<Outcome> {
        self.statements
            .iter()
            .map(|statement| statement.outcome(arguments))
            .collect()
    }

    /// Whether every statement is true of `arguments`.
    pub fn holds(&self, arguments: &Object) -> bool {
        self.statements
            .iter()
            .all(|statement| statement.outcome(arguments) == Outcome::True)
    }

    /// Whether the policy holds for a peer that can't read the argument [`UNREADABLE`], whatever
    /// `arguments` has for it. A statement without data that reads it is taken as holding.
    pub fn holds_unread(&self, arguments: &Object) -> bool {
        self.statements
            .iter()
            .all(|statement| match statement.outcome_unread(arguments) {
                Outcome::True => true,
                Outcome::False => false,
                Outcome::NoData => statement.reads_unreadable(),
            })
    }
}
