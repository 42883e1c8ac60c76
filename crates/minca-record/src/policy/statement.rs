//! Statements: well-formedness and the three outcomes (01 §7.4).

use thiserror::Error;

use super::UNREADABLE;
use super::pattern::Pattern;
use super::selector::{Found, Selector, SelectorError};
use crate::json::{Object, Value};

/// Statements a policy may have, counted at every depth.
pub const GREATEST_STATEMENTS: usize = 1024;
/// How deep a statement may be; one of the policy's own list is at depth 1.
pub const GREATEST_DEPTH: usize = 16;

/// Why a value is no policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PolicyError {
    /// It, or what `and` or `or` hold, is no list.
    #[error("expected a list of statements")]
    NoList,
    /// A statement isn't a list of an operator and what belongs to it.
    #[error("expected a statement: [operator, ...] in one of the known shapes")]
    Statement,
    /// A selector is ill-formed.
    #[error("selector: {0}")]
    Selector(#[from] SelectorError),
    /// What is compared with isn't of the type the operator takes.
    #[error("expected {0} as the third member of the statement")]
    Operand(&'static str),
    /// More statements than [`GREATEST_STATEMENTS`].
    #[error("more than {GREATEST_STATEMENTS} statements")]
    TooMany,
    /// A statement deeper than [`GREATEST_DEPTH`].
    #[error("statements deeper than {GREATEST_DEPTH}")]
    TooDeep,
}

/// What a statement comes to. It holds only when it is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is so.
    True,
    /// It is not so.
    False,
    /// A selector found no data. Never holds, and a negation doesn't change that.
    NoData,
}

/// One statement of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Equal(Selector, Value),
    Unequal(Selector, Value),
    Compare(Selector, Comparison, f64),
    Like(Selector, Pattern),
    And(Vec<Statement>),
    Or(Vec<Statement>),
    Not(Box<Statement>),
    All(Selector, Box<Statement>),
    Any(Selector, Box<Statement>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Reads the statements of one policy and counts them.
#[derive(Default)]
pub(super) struct Reader {
    statements: usize,
}

impl Reader {
    pub(super) fn read(&mut self, value: &Value, depth: usize) -> Result<Statement, PolicyError> {
        self.statements += 1;
        if self.statements > GREATEST_STATEMENTS {
            return Err(PolicyError::TooMany);
        }
        if depth > GREATEST_DEPTH {
            return Err(PolicyError::TooDeep);
        }
        let (operator, operands) = match value.as_array() {
            Some([operator, operands @ ..]) => (operator.as_str(), operands),
            _ => return Err(PolicyError::Statement),
        };
        let kind = match (operator, operands) {
            (Some("=="), [selector, value]) => Kind::Equal(read_selector(selector)?, value.clone()),
            (Some("!="), [selector, value]) => {
                Kind::Unequal(read_selector(selector)?, value.clone())
            }
            (Some("<"), [selector, value]) => compare(selector, Comparison::Less, value)?,
            (Some("<="), [selector, value]) => compare(selector, Comparison::LessOrEqual, value)?,
            (Some(">"), [selector, value]) => compare(selector, Comparison::Greater, value)?,
            (Some(">="), [selector, value]) => {
                compare(selector, Comparison::GreaterOrEqual, value)?
            }
            (Some("like"), [selector, pattern]) => {
                let pattern = pattern.as_text().ok_or(PolicyError::Operand("a string"))?;
                Kind::Like(read_selector(selector)?, Pattern::new(pattern))
            }
            (Some("and"), [list]) => Kind::And(self.read_list(list, depth)?),
            (Some("or"), [list]) => Kind::Or(self.read_list(list, depth)?),
            (Some("not"), [inner]) => Kind::Not(Box::new(self.read(inner, depth + 1)?)),
            (Some("all"), [selector, inner]) => Kind::All(
                read_selector(selector)?,
                Box::new(self.read(inner, depth + 1)?),
            ),
            (Some("any"), [selector, inner]) => Kind::Any(
                read_selector(selector)?,
                Box::new(self.read(inner, depth + 1)?),
            ),
            _ => return Err(PolicyError::Statement),
        };
        Ok(Statement(kind))
    }

    fn read_list(&mut self, list: &Value, depth: usize) -> Result<Vec<Statement>, PolicyError> {
        let list = list.as_array().ok_or(PolicyError::NoList)?;
        list.iter()
            .map(|statement| self.read(statement, depth + 1))
            .collect()
    }
}

fn read_selector(value: &Value) -> Result<Selector, PolicyError> {
    let text = value.as_str().ok_or(PolicyError::Statement)?;
    Ok(Selector::read(text)?)
}

fn compare(selector: &Value, comparison: Comparison, number: &Value) -> Result<Kind, PolicyError> {
    let number = number.as_f64().ok_or(PolicyError::Operand("a number"))?;
    Ok(Kind::Compare(read_selector(selector)?, comparison, number))
}

/// What selectors start from.
#[derive(Clone, Copy)]
enum Start<'a> {
    Arguments(&'a Object),
    /// As `Arguments`, to a peer that can't read [`UNREADABLE`].
    Unread(&'a Object),
    /// Inside `all` and `any`.
    Element(&'a Value),
}

impl<'a> Start<'a> {
    fn find(self, selector: &Selector) -> Option<Found<'a>> {
        match self {
            Start::Arguments(arguments) => selector.find(Found::Object(arguments)),
            Start::Unread(_) if selector.reads(UNREADABLE) => None,
            Start::Unread(arguments) => selector.find(Found::Object(arguments)),
            Start::Element(value) => selector.find(value.into()),
        }
    }
}

impl Statement {
    /// What the statement comes to for `arguments`.
    pub fn outcome(&self, arguments: &Object) -> Outcome {
        self.judge(Start::Arguments(arguments))
    }

    pub(super) fn outcome_unread(&self, arguments: &Object) -> Outcome {
        self.judge(Start::Unread(arguments))
    }

    /// Statements and selectors' steps in it, itself included.
    pub(super) fn weight(&self) -> usize {
        let within = match &self.0 {
            Kind::Equal(selector, _)
            | Kind::Unequal(selector, _)
            | Kind::Compare(selector, _, _)
            | Kind::Like(selector, _) => selector.steps(),
            Kind::All(selector, inner) | Kind::Any(selector, inner) => {
                selector.steps() + inner.weight()
            }
            Kind::And(list) | Kind::Or(list) => list.iter().map(Statement::weight).sum(),
            Kind::Not(inner) => inner.weight(),
        };
        1 + within
    }

    /// Whether some selector in it, at the level of the arguments, reads [`UNREADABLE`].
    pub(super) fn reads_unreadable(&self) -> bool {
        match &self.0 {
            Kind::Equal(selector, _)
            | Kind::Unequal(selector, _)
            | Kind::Compare(selector, _, _)
            | Kind::Like(selector, _)
            | Kind::All(selector, _)
            | Kind::Any(selector, _) => selector.reads(UNREADABLE),
            Kind::And(list) | Kind::Or(list) => list.iter().any(Statement::reads_unreadable),
            Kind::Not(inner) => inner.reads_unreadable(),
        }
    }

    fn judge(&self, start: Start<'_>) -> Outcome {
        let about =
            |selector: &Selector, is_so: &dyn Fn(Found<'_>) -> bool| match start.find(selector) {
                Some(found) => Outcome::from(is_so(found)),
                None => Outcome::NoData,
            };
        match &self.0 {
            Kind::Equal(selector, value) => about(selector, &|found| found.equals(value)),
            Kind::Unequal(selector, value) => about(selector, &|found| !found.equals(value)),
            Kind::Compare(selector, comparison, number) => about(selector, &|found| {
                found
                    .scalar()
                    .and_then(Value::as_f64)
                    .is_some_and(|own| comparison.is_so(own, *number))
            }),
            Kind::Like(selector, pattern) => about(selector, &|found| {
                found
                    .scalar()
                    .and_then(Value::as_text)
                    .is_some_and(|text| pattern.matches(text))
            }),
            Kind::And(list) => every(list.iter().map(|statement| statement.judge(start))),
            Kind::Or(list) if list.is_empty() => Outcome::True,
            Kind::Or(list) => some(list.iter().map(|statement| statement.judge(start))),
            Kind::Not(inner) => inner.judge(start).negated(),
            Kind::All(selector, inner) => over_elements(start.find(selector), |elements| {
                every(
                    elements
                        .into_iter()
                        .map(|element| inner.judge(Start::Element(element))),
                )
            }),
            Kind::Any(selector, inner) => over_elements(start.find(selector), |elements| {
                some(
                    elements
                        .into_iter()
                        .map(|element| inner.judge(Start::Element(element))),
                )
            }),
        }
    }
}

fn over_elements<'a>(
    found: Option<Found<'a>>,
    judge: impl Fn(Vec<&'a Value>) -> Outcome,
) -> Outcome {
    match found {
        Some(found) => found.elements().map_or(Outcome::False, judge),
        None => Outcome::NoData,
    }
}

/// False if any is false, else no data if any has none, else true; of none: true.
fn every(outcomes: impl Iterator<Item = Outcome>) -> Outcome {
    let mut verdict = Outcome::True;
    for outcome in outcomes {
        match outcome {
            Outcome::False => return Outcome::False,
            Outcome::NoData => verdict = Outcome::NoData,
            Outcome::True => {}
        }
    }
    verdict
}

/// True if any is true, else no data if any has none, else false; of none: false.
fn some(outcomes: impl Iterator<Item = Outcome>) -> Outcome {
    every(outcomes.map(Outcome::negated)).negated()
}

impl Outcome {
    fn negated(self) -> Outcome {
        match self {
            Outcome::True => Outcome::False,
            Outcome::False => Outcome::True,
            Outcome::NoData => Outcome::NoData,
        }
    }
}

impl From<bool> for Outcome {
    fn from(is_so: bool) -> Outcome {
        if is_so { Outcome::True } else { Outcome::False }
    }
}

impl Comparison {
    fn is_so(self, own: f64, other: f64) -> bool {
        match self {
            Comparison::Less => own < other,
            Comparison::LessOrEqual => own <= other,
            Comparison::Greater => own > other,
            Comparison::GreaterOrEqual => own >= other,
        }
    }
}
