//! Verdicts, and the steps of the protocol that give them.

use std::fmt;

use minca_access::history::{Refusal as ChangeRefusal, Step};
use minca_record::version::Refusal;

/// What a version comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// An access change that counts.
    Applied,
    /// An ordinary version that counts.
    Stands,
    /// An access change that was allowed, and doesn't count.
    Struck,
    /// Stored, and counts for nothing.
    Withdrawn,
    /// Its writer might not, or it is malformed.
    Refused,
    /// An access change whose `seen` isn't known.
    Waiting,
    /// Nobody can say yet.
    NotYet,
    /// A version of an access collection that says no change.
    NoEvent,
}

impl Verdict {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Applied => "applied",
            Verdict::Stands => "stands",
            Verdict::Struck => "struck",
            Verdict::Withdrawn => "withdrawn",
            Verdict::Refused => "refused",
            Verdict::Waiting => "waiting",
            Verdict::NotYet => "not-yet",
            Verdict::NoEvent => "no-event",
        }
    }
}

/// A step of the protocol's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhichStep {
    /// The part, `02` or `03`.
    pub part: &'static str,
    /// Section and step, as `5.1.4`.
    pub number: String,
}

impl WhichStep {
    pub(super) fn of_03(number: &str) -> WhichStep {
        WhichStep {
            part: "03",
            number: number.to_owned(),
        }
    }

    pub(super) fn of_02(number: &str) -> WhichStep {
        WhichStep {
            part: "02",
            number: number.to_owned(),
        }
    }
}

impl fmt::Display for WhichStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} §{}", self.part, self.number)
    }
}

/// A verdict with the step that gave it, and the rule there in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ruling {
    pub(super) verdict: Verdict,
    pub(super) step: WhichStep,
    /// The word for it that programs branch on, where there is one.
    pub(super) reason: Option<&'static str>,
    pub(super) rule: String,
}

/// One of steps 1 to 6 of 02 §9 failed.
pub(super) fn of_refusal(refusal: &Refusal) -> Ruling {
    let step = match refusal {
        Refusal::Shape(_) => "9.1",
        Refusal::WrongSpace => "9.2",
        Refusal::RetainedStub => "9.3",
        Refusal::IdMismatch
        | Refusal::AuthorNotAKey
        | Refusal::SignatureInvalid
        | Refusal::BodyMismatch => "9.4",
        Refusal::Note(_) | Refusal::NoteScope => "9.5",
        Refusal::KeyOwner => "9.6",
    };
    Ruling {
        verdict: Verdict::Refused,
        step: step_of_judging(step),
        reason: Some(refusal.reason()),
        rule: refusal.to_string(),
    }
}

/// A step of the table in 02 §9, which has sections of the same numbers.
pub(super) fn step_of_judging(number: &str) -> WhichStep {
    WhichStep::of_02(&number.replacen("9.", "9 step ", 1))
}

/// The words for a verdict of 03 §5.1 or §5.2.
pub(super) fn rule_of(step: Step) -> &'static str {
    match step {
        Step::Standing(5) | Step::Judge(1) => {
            "what its writer saw is not all known here, so nobody can say yet"
        }
        Step::Standing(7) | Step::Judge(3) => {
            "its author was no member as it saw the space, or held no role there that \
             grants the command with these arguments"
        }
        Step::Standing(8) => {
            "it is a stub, and a policy of a grant reads the body: the whole version is \
             judged when it comes"
        }
        Step::Judge(2) => {
            "its author revoked the key that signed it, or that key's line is proven to \
             fork at its place or before, and no cutoff covers it"
        }
        Step::Judge(4) => {
            "its author's access was taken away by a change its writer had not seen, and \
             no cutoff covers it"
        }
        Step::Judge(5) => {
            "it rests on a change that was struck: counting only the changes that stand of \
             what its writer saw, its author might not have written it"
        }
        Step::Judge(6) => {
            "its author might write it as it saw the space and might counting only what \
             stands of that, and no change its writer had not seen takes it away, or one's \
             cutoff covers it"
        }
        Step::Judge(_) | Step::Standing(_) => "a step that takes no version away",
    }
}

/// The words for a change refused by the grant rule (03 §4.5).
pub(super) fn rule_of_refusal(refusal: ChangeRefusal) -> String {
    format!("as its author saw the space: {refusal}")
}
