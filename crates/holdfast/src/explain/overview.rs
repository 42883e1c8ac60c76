//! A space's access history at a glance.

use std::collections::{BTreeMap, BTreeSet};

use minca_access::history::{HeldRole, Status};
use minca_record::content_id::ContentId;
use minca_record::json::Text;

use super::facts::Mention;
use super::held::Held;
use super::step::{Verdict, WhichStep};

/// Who is a member now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The account.
    pub account: Text,
    /// Whether it is a founder.
    pub is_founder: bool,
    /// Its roles, and what assigns each.
    pub roles: Vec<HeldRole>,
}

/// A version of an access collection that isn't applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotApplied {
    /// It, and what it comes to.
    pub change: Mention,
    /// What it comes to.
    pub verdict: Verdict,
    /// The step that says so.
    pub step: WhichStep,
    /// A word for programs.
    pub reason: Option<&'static str>,
    /// The rule in words.
    pub rule: String,
    /// The reductions that strike it.
    pub struck_by: Vec<ContentId>,
    /// What it waits for.
    pub waits_for: Vec<Mention>,
}

/// See the module's documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview {
    /// The space.
    pub space: ContentId,
    /// Whether it is private.
    pub is_private: bool,
    /// How many versions of access collections there are of each verdict.
    pub counts: BTreeMap<Verdict, usize>,
    /// What a writer names in `seen` now.
    pub heads: Vec<ContentId>,
    /// The members, sorted.
    pub members: Vec<Member>,
    /// Whether the key is due for a change; `None` in a public space.
    pub key_due: Option<bool>,
    /// Everything that isn't applied, by id.
    pub not_applied: Vec<NotApplied>,
}

impl Held {
    /// Tells of the access history as a whole.
    pub fn overview(&mut self) -> Overview {
        let ids: Vec<ContentId> = self.access.keys().copied().collect();
        let mut counts = BTreeMap::new();
        let mut not_applied = Vec::new();
        for id in ids {
            let ruling = self.ruling_of_access(&id);
            *counts.entry(ruling.verdict).or_default() += 1;
            if ruling.verdict == Verdict::Applied {
                continue;
            }
            let waits_for = match (ruling.verdict, self.event(&id).cloned()) {
                (Verdict::Waiting, Some(event)) => self.waits_for(&event),
                _ => Vec::new(),
            };
            let struck_by = match self.history.status(&id) {
                Some(Status::Struck { by, .. }) => by,
                _ => Vec::new(),
            };
            not_applied.push(NotApplied {
                change: self.mention(&id),
                verdict: ruling.verdict,
                step: ruling.step,
                reason: ruling.reason,
                rule: ruling.rule,
                struck_by,
                waits_for: self.mentions(&waits_for),
            });
        }
        Overview {
            space: self.constitution.id(),
            is_private: self.constitution.is_private(),
            counts,
            heads: self.history.heads(),
            members: self.members(),
            key_due: self
                .constitution
                .is_private()
                .then(|| self.history.key_is_due()),
            not_applied,
        }
    }

    fn members(&mut self) -> Vec<Member> {
        let mut now = self.history.current();
        let founders: BTreeSet<Text> = now.founders.into_iter().collect();
        let assigned = now.assigned.keys().cloned();
        let accounts: BTreeSet<Text> = founders.iter().cloned().chain(assigned).collect();
        let members = accounts.into_iter().map(|account| {
            let roles = now.assigned.remove(&account).unwrap_or_default();
            let roles = roles.into_iter().map(|(role, by)| HeldRole { role, by });
            Member {
                is_founder: founders.contains(&account),
                roles: roles.collect(),
                account,
            }
        });
        members.collect()
    }
}
