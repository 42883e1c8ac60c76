//! Telling of versions of access collections.

use minca_access::Event;
use minca_access::history::{Admission, Asked, Status, Strike};
use minca_record::content_id::ContentId;
use minca_record::json::{Object, Value};
use minca_record::version::{ChainRefusal, Missing, Refusal, Version};

use super::about::{about, says};
use super::facts::{AskedFacts, ChangeFacts, StrikeFacts, Told};
use super::held::{Access, Held};
use super::step::{Ruling, Verdict, WhichStep, of_refusal, rule_of_refusal, step_of_judging};

impl Held {
    /// Tells of a version of an access collection that is held.
    pub(super) fn tell_access(&mut self, id: &ContentId) -> Told {
        let ruling = self.ruling_of_access(id);
        let (version, event) = match self.access.get(id) {
            Some(Access::Event(both)) => (Some(both.0.clone()), Some(both.1.clone())),
            Some(Access::NoEvent(checked, _) | Access::Chain(checked, _)) => {
                (Some((**checked).clone()), None)
            }
            Some(Access::Refused(value, refusal)) => {
                let (value, refusal) = (value.clone(), *refusal);
                return self.tell_refused(*id, &value, &refusal);
            }
            None => (None, None),
        };
        let version = version.map(|checked| self.version_facts(&checked.version, Some(&checked)));
        let change = event.map(|event| self.change_facts(&event));
        told(*id, version, ruling, change)
    }

    /// Tells of a copy that fails one of steps 1 to 6 of 02 §9.
    pub(super) fn tell_refused(&mut self, id: ContentId, copy: &Value, refusal: &Refusal) -> Told {
        let version = Version::shape(copy.clone()).ok();
        let version = version.map(|version| self.version_facts(&version, None));
        told(id, version, of_refusal(refusal), None)
    }

    /// What a version of an access collection comes to.
    pub(super) fn ruling_of_access(&mut self, id: &ContentId) -> Ruling {
        match self.access.get(id) {
            Some(Access::Event(_)) => of_status(self.history.status(id)),
            Some(Access::NoEvent(_, no_event)) => Ruling {
                verdict: Verdict::NoEvent,
                step: WhichStep::of_03("3.3"),
                reason: Some(no_event.reason()),
                rule: no_event.to_string(),
            },
            Some(Access::Chain(_, chain)) => of_chain(chain),
            Some(Access::Refused(_, refusal)) => of_refusal(refusal),
            None => of_status(None),
        }
    }

    fn change_facts(&mut self, event: &Event) -> ChangeFacts {
        let id = &event.id;
        let judged = self.history.judged_in(id);
        let struck_of_seen = match judged.is_some() {
            true => self.history.struck_among(&event.seen),
            false => Vec::new(),
        };
        let waits_for = self.waits_for(event);
        let struck_by = self.history.struck_by(id);
        let strikes = self.history.strikes(id);
        let disarmed_by = self.history.disarmed_by(id);
        let (author, among_valid, asked) = match judged {
            None => (None, None, None),
            Some(judged) => (
                Some(judged.author.into()),
                judged.author_among_valid.map(Into::into),
                Some(asked_facts(event, judged.asked)),
            ),
        };
        ChangeFacts {
            kind: event.kind.name(),
            about: about(&event.kind),
            says: says(&event.kind),
            account_is_named: self.history.names(&event.root),
            author,
            author_among_valid: among_valid,
            asked,
            struck_of_seen: self.mentions(&struck_of_seen),
            struck_by: self.strike_facts(struck_by),
            strikes: self.strike_facts(strikes),
            disarmed_by: self.mentions(&disarmed_by),
            waits_for: self.mentions(&waits_for),
        }
    }

    /// The ids an event's `seen` names that aren't known: not held, or waiting.
    pub(super) fn waits_for(&self, event: &Event) -> Vec<ContentId> {
        match self.history.admit(event) {
            Admission::SeenMissing(missing) => missing,
            Admission::Admitted | Admission::RootNotNamed => Vec::new(),
        }
    }

    fn strike_facts(&mut self, strikes: Vec<Strike>) -> Vec<StrikeFacts> {
        let facts = strikes.into_iter().map(|strike| StrikeFacts {
            other: self.mention(&strike.event),
            is_mutual: strike.is_mutual,
            takes_effect: strike.takes_effect,
        });
        facts.collect()
    }
}

pub(super) fn told(
    id: ContentId,
    version: Option<super::VersionFacts>,
    ruling: Ruling,
    change: Option<ChangeFacts>,
) -> Told {
    Told {
        id,
        version,
        verdict: ruling.verdict,
        step: ruling.step,
        reason: ruling.reason,
        rule: ruling.rule,
        change,
        record: None,
    }
}

fn asked_facts(event: &Event, asked: Asked) -> AskedFacts {
    match asked {
        Asked::Command { command, arguments } => AskedFacts::Command {
            command,
            of: vec![(event.root.to_string().into(), arguments)],
        },
        Asked::OfOpeners { command, openers } => AskedFacts::Command {
            command,
            of: openers,
        },
        Asked::Membership => AskedFacts::Membership,
        Asked::OwnChoice => AskedFacts::OwnChoice,
    }
}

/// What became of an event; one that isn't in the history waits for all that can be said.
fn of_status(status: Option<Status>) -> Ruling {
    let ruling = |verdict, step, reason, rule: String| Ruling {
        verdict,
        step: WhichStep::of_03(step),
        reason,
        rule,
    };
    match status {
        Some(Status::Applied) => ruling(
            Verdict::Applied,
            "4.3.4",
            None,
            "it is allowed as its author saw the space, no reduction that stands strikes it, \
             and it is allowed counting only what stands of what it saw"
                .to_owned(),
        ),
        Some(Status::Refused(refusal)) => ruling(
            Verdict::Refused,
            "4.5",
            Some(refusal.word()),
            rule_of_refusal(refusal),
        ),
        Some(Status::Struck { by, .. }) if !by.is_empty() => ruling(
            Verdict::Struck,
            "4.3.3",
            Some("struck"),
            "a reduction that is not struck itself reaches it and does not cover it; but for \
             a revoke or a fork proof, neither had seen the other"
                .to_owned(),
        ),
        Some(Status::Struck { rests, .. }) => {
            let why = rests.map_or_else(String::new, |refusal| format!(": {refusal}"));
            ruling(
                Verdict::Struck,
                "4.3.4",
                rests.map(|refusal| refusal.word()),
                format!(
                    "it rests on a change that was struck: it was allowed as its author saw \
                     the space, and is not counting only what stands of that{why}"
                ),
            )
        }
        Some(Status::Waiting) | None => ruling(
            Verdict::Waiting,
            "4.2",
            Some("seen-missing"),
            "its `seen` names what is not held, or waits itself".to_owned(),
        ),
    }
}

/// Step 7 of 02 §9 failed.
pub(super) fn of_chain(chain: &Result<Missing, ChainRefusal>) -> Ruling {
    let (verdict, reason, rule) = match chain {
        Ok(missing) => (
            Verdict::NotYet,
            missing.reason(),
            "the version it follows, or its record's first, is not held".to_owned(),
        ),
        Err(refusal) => (
            Verdict::Refused,
            Some(refusal.reason()),
            refusal.to_string(),
        ),
    };
    Ruling {
        verdict,
        step: step_of_judging("9.7"),
        reason,
        rule,
    }
}

/// The arguments on one line.
pub(super) fn arguments_text(arguments: &Object) -> String {
    String::from_utf8_lossy(&arguments.canonical()).into_owned()
}
