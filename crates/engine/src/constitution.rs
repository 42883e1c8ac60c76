//! Standing by the constitution alone: its founders, and the accounts it assigns
//! founding roles.
//!
//! What names any access change in `seen` waits: without a replay nobody here can
//! say what its writer saw. An access change is stored when it yields an event
//! and the constitution names its root, and changes nothing yet.

use std::collections::{BTreeSet, HashMap, HashSet};

use minca_record::command::covers;
use minca_record::constitution::{Constitution, FoundingRole};
use minca_record::did::Did;
use minca_record::json::{Object, Text};
use minca_record::policy::Policy;
use minca_record::required::{RECORD_DELETE, RECORD_WRITE, is_access_collection};
use minca_record::version::Version;

use crate::standing::{Judge, Question, Standing};

/// See the module's documentation.
#[derive(Debug)]
pub struct ConstitutionJudge {
    constitution: Constitution,
    founders: HashSet<Box<str>>,
    roles: HashMap<Box<str>, FoundingRole>,
    /// The founding roles of each account the constitution assigns any.
    assigned: HashMap<Box<str>, Vec<Box<str>>>,
}

impl ConstitutionJudge {
    /// Judges by this constitution.
    pub fn new(constitution: Constitution) -> ConstitutionJudge {
        let as_account = |text: &Text| text.as_str().map(Box::from);
        ConstitutionJudge {
            founders: constitution
                .founders()
                .iter()
                .filter_map(as_account)
                .collect(),
            roles: constitution
                .roles()
                .iter()
                .map(|role| (role.name.clone(), role.clone()))
                .collect(),
            assigned: constitution
                .assigned()
                .iter()
                .filter_map(|one| Some((as_account(&one.account)?, one.roles.clone())))
                .collect(),
            constitution,
        }
    }

    fn judge_access(&self, question: &Question<'_>) -> Standing {
        let version = &question.checked.version;
        if !version.retain() {
            return Standing::Refused("access-not-retained");
        }
        if !matches!(question.event, Some(Ok(_))) {
            return Standing::Refused("no-event");
        }
        if let Some(waiting) = self.seen_missing(version) {
            return waiting;
        }
        if !self.names(&question.checked.root) {
            return Standing::RootNotNamed;
        }
        Standing::Stands
    }

    fn judge_record(&self, question: &Question<'_>) -> Standing {
        let version = &question.checked.version;
        if let Some(waiting) = self.seen_missing(version) {
            return waiting;
        }
        let account = question.checked.root.to_string();
        if !self.is_member(&account) {
            return Standing::Refused("not-allowed");
        }
        if version.collection().starts_with("sys.") {
            return Standing::Stands;
        }
        let (command, arguments) = invocation(question);
        let body_is_unread = self.constitution.is_private() || version.is_stub();
        if self.may(&account, command, &arguments, body_is_unread) {
            Standing::Stands
        } else {
            Standing::Refused("not-allowed")
        }
    }

    /// Ids that its writer saw and that aren't known: all but the space's own.
    fn seen_missing(&self, version: &Version) -> Option<Standing> {
        let space = self.constitution.id();
        let missing: Vec<_> = version
            .seen()
            .iter()
            .filter(|id| **id != space)
            .copied()
            .collect();
        (!missing.is_empty()).then_some(Standing::SeenMissing(missing))
    }

    fn is_member(&self, account: &str) -> bool {
        self.founders.contains(account) || self.assigned.contains_key(account)
    }

    /// `may` of 03 §4.1 in the start state.
    fn may(&self, account: &str, command: &str, arguments: &Object, body_is_unread: bool) -> bool {
        if self.founders.contains(account) {
            return true;
        }
        let mut asked = BTreeSet::new();
        let mut to_ask: Vec<&str> = self
            .assigned
            .get(account)
            .into_iter()
            .flatten()
            .map(|it| &**it)
            .collect();
        while let Some(name) = to_ask.pop() {
            let Some(role) = self.roles.get(name).filter(|_| asked.insert(name)) else {
                continue;
            };
            let fits = |policy: &Policy| match body_is_unread {
                true => policy.holds_unread(arguments),
                false => policy.holds(arguments),
            };
            if role
                .grants
                .iter()
                .any(|grant| covers(&grant.cmd, command) && fits(&grant.pol))
            {
                return true;
            }
            to_ask.extend(role.nests.iter().map(|it| &**it));
        }
        false
    }
}

impl Judge for ConstitutionJudge {
    fn judge(&self, question: &Question<'_>) -> Standing {
        if is_access_collection(&Text::from(question.checked.version.collection())) {
            self.judge_access(question)
        } else {
            self.judge_record(question)
        }
    }

    fn names(&self, account: &Did) -> bool {
        self.is_member(&account.to_string())
    }
}

/// The command a record's version invokes, with its arguments (03 §2.3).
fn invocation(question: &Question<'_>) -> (&'static str, Object) {
    let version = &question.checked.version;
    let mut arguments = Object::new();
    arguments.insert("collection", version.collection());
    arguments.insert("byCreator", question.checked.root == *question.creator);
    if version.deleted() {
        return (RECORD_DELETE, arguments);
    }
    if let Some(body) = version.body() {
        arguments.insert("body", body.clone());
    }
    (RECORD_WRITE, arguments)
}
