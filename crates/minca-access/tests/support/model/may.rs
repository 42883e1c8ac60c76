//! What an account may invoke in a state (03 §4.1, §2.2, §2.3).

use minca_record::command::covers;
use minca_record::json::{Object, Text, Value};
use minca_record::policy::Policy;

use super::state::{Definition, Granted, State};

/// A command with its arguments.
#[derive(Clone)]
pub struct Invocation {
    pub command: &'static str,
    pub arguments: Object,
    pub body: Body,
}

/// What whoever judges knows of the argument `body`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// What the arguments have.
    Known,
    /// Nothing: a statement that reads it and finds no data is taken as holding.
    TakenOnTrust,
    /// Nothing, and no statement is taken as holding.
    Needed,
}

impl Invocation {
    pub fn of(command: &'static str, arguments: impl Into<Object>) -> Invocation {
        Invocation {
            command,
            arguments: arguments.into(),
            body: Body::Known,
        }
    }
}

impl State {
    pub fn may(&self, account: &Text, it: &Invocation) -> bool {
        self.founders.contains(account)
            || self
                .roles_of(account)
                .iter()
                .any(|role| self.holds(role, it, &[]))
    }

    /// Whether a role holds it, while the roles in `asked` are being asked about.
    fn holds(&self, role: &Text, it: &Invocation, asked: &[&Text]) -> bool {
        if asked.contains(&role) {
            return false;
        }
        let asked = &[asked, &[role]].concat();
        let Some((first, others)) = self.roles.get(role).and_then(|it| it.split_first()) else {
            return false;
        };
        let granted = first
            .grants
            .iter()
            .any(|grant| fits(grant, it) && others.iter().all(|other| has(other, grant)));
        let is_held = granted
            || first.nests.iter().any(|nest| {
                nest != role
                    && others.iter().all(|other| other.nests.contains(nest))
                    && self.holds(nest, it, asked)
            });
        is_held
            && self.roles[role]
                .iter()
                .all(|definition| match (&definition.by, &definition.view) {
                    (Some(by), Some(view)) => view.may(by, it),
                    _ => true,
                })
    }
}

fn has(definition: &Definition, grant: &Granted) -> bool {
    let mut grants = definition.grants.iter();
    grants.any(|own| own.canonical == grant.canonical)
}

fn fits(grant: &Granted, it: &Invocation) -> bool {
    if !covers(&grant.cmd, it.command) {
        return false;
    }
    match it.body {
        Body::Known => grant.pol.holds(&it.arguments),
        Body::TakenOnTrust => grant.pol.holds_unread(&it.arguments),
        Body::Needed => statements(grant).iter().all(|it_says| {
            // A statement that is taken on trust is so negated too, and one that
            // is true is false negated.
            let holds = |statement: Value| {
                let policy = Policy::read(&Value::Array(vec![statement])).unwrap();
                policy.holds_unread(&it.arguments)
            };
            holds(it_says.clone()) && !holds(vec!["not".into(), it_says.clone()].into())
        }),
    }
}

fn statements(grant: &Granted) -> &[Value] {
    let pol = grant.written.as_object().and_then(|it| it.get("pol"));
    pol.and_then(Value::as_array).unwrap_or_default()
}
