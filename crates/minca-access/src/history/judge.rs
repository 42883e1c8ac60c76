//! Judging a record against the history (03 §5.1), and the part of its standing
//! that is the history's (03 §5.2 steps 5 to 8 and 10).

use std::fmt;

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{Object, Text, Value};
use minca_record::required::{RECORD_DELETE, RECORD_WRITE};

use super::arena::Change;
use super::bit_set::BitSet;
use super::may::Invocation;
use super::names::Name;
use super::seen::{closure, heads_of};
use super::view::View;
use super::work::Work;
use super::{History, Index};

/// What of a record is judged.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The account it speaks for.
    pub root: &'a Did,
    /// The key that signed it.
    pub author: &'a Did,
    /// The heads its writer named.
    pub seen: &'a [ContentId],
    /// The collection it is in.
    pub collection: &'a str,
    /// Its place in its author's line there, `log.n`.
    pub place: u64,
    /// What its writer must have been allowed to do.
    pub invocation: &'a RecordInvocation,
}

/// The command a record's version runs, and its arguments (03 §5.2 step 6).
#[derive(Clone, Debug)]
pub struct RecordInvocation {
    /// In a `sys.*` collection any member may write.
    needs_only_membership: bool,
    cmd: &'static str,
    arguments: Object,
    body: Body,
    values: usize,
}

/// What this peer has of a version's body.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// All of it, or there is none: a delete.
    Read(Option<Value>),
    /// It is sealed, and this peer has no key.
    Sealed,
    /// Nothing, as the version came as a stub to a peer that reads the space.
    Stub,
}

impl RecordInvocation {
    /// Of a version in `collection` that `deletes` its record or writes it; `by_creator`
    /// says whether its root is the root of the record's first version (02 §4.1).
    pub fn new(collection: &str, deletes: bool, by_creator: bool, body: Body) -> RecordInvocation {
        let mut arguments = Object::new();
        arguments.insert("collection", collection);
        arguments.insert("byCreator", by_creator);
        let mut values = 2;
        if let (false, Body::Read(Some(read))) = (deletes, &body) {
            values += values_in(read);
            arguments.insert("body", read.clone());
        }
        RecordInvocation {
            needs_only_membership: collection.starts_with("sys."),
            cmd: if deletes { RECORD_DELETE } else { RECORD_WRITE },
            arguments,
            body: match body {
                Body::Read(_) => Body::Read(None),
                unread => unread,
            },
            values,
        }
    }

    /// Whether the account may; `take_on_trust` takes a policy on a body that isn't
    /// here as holding (03 §2.2).
    fn is_allowed(
        &self,
        view: View<'_>,
        account: Name,
        take_on_trust: bool,
        work: &mut Work,
    ) -> bool {
        if self.needs_only_membership {
            return view.is_member(account, work);
        }
        let mut invocation = Invocation::new(self.cmd, &self.arguments, self.values);
        invocation.body_is_unread = take_on_trust && self.body != Body::Read(None);
        view.may(account, invocation, work)
    }
}

fn values_in(value: &Value) -> usize {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(values_in).sum::<usize>(),
        Value::Object(object) => {
            1 + object
                .iter()
                .map(|(_, value)| values_in(value))
                .sum::<usize>()
        }
        _ => 1,
    }
}

/// How a record stands, as far as the history says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It counts.
    Stands,
    /// Stored, and counts for nothing.
    Withdrawn,
    /// Its writer might not.
    Refused,
    /// Nobody can say yet.
    NotYet,
}

impl Verdict {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Stands => "stands",
            Verdict::Withdrawn => "withdrawn",
            Verdict::Refused => "refused",
            Verdict::NotYet => "not-yet",
        }
    }
}

/// The step of part 03 that gave a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Of §5.1, `judge`.
    Judge(u8),
    /// Of §5.2, standing.
    Standing(u8),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Judge(number) => write!(f, "5.1.{number}"),
            Step::Standing(number) => write!(f, "5.2.{number}"),
        }
    }
}

/// A verdict and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The step that gave it.
    pub step: Step,
    /// The revoke, fork proof or reduction that withdrew it.
    pub by: Option<ContentId>,
    /// The ids its writer saw that are not placed here, for a verdict that waits for them.
    pub missing: Vec<ContentId>,
}

impl Judgement {
    fn of(verdict: Verdict, step: Step) -> Judgement {
        Judgement {
            verdict,
            step,
            by: None,
            missing: Vec::new(),
        }
    }

    fn waits(step: Step, missing: Vec<ContentId>) -> Judgement {
        Judgement {
            missing,
            ..Judgement::of(Verdict::NotYet, step)
        }
    }
}

/// A record, with what the history has of its root, key and collection.
struct Known<'a> {
    record: &'a Record<'a>,
    root: Option<Name>,
    author: Option<Name>,
    collection: Option<Name>,
}

impl History {
    /// `judge` (03 §5.1); `within` is the `seen` of a version that cites the record,
    /// which peers judging a version's standing never give.
    pub fn judge(&mut self, record: &Record<'_>, within: Option<&[ContentId]>) -> Judgement {
        self.settle();
        let known = self.known(record);
        let heads = heads_of(&self.arena, record.seen);
        let within = within
            .map(|within| heads_of(&self.arena, within))
            .transpose();
        let (heads, within) = match (heads, within) {
            (Ok(heads), Ok(within)) => (heads, within),
            (heads, within) => {
                let mut missing = heads.err().unwrap_or_default();
                missing.extend(within.err().unwrap_or_default());
                return Judgement::waits(Step::Judge(1), missing);
            }
        };
        let within = within.map(|within| (closure(&self.arena, &within), within));
        let cited_from = within.as_ref().map(|(saw, _)| saw);
        if let Some(by) = self.withdrawing_revoke(&known, cited_from) {
            return self.withdrawn(2, Some(by));
        }
        let seen = self.seen(heads.clone());
        let as_seen = seen.seen_as(&self.arena, &self.whole);
        if !known.is_allowed(as_seen, true, &mut self.work) {
            return Judgement::of(Verdict::Refused, Step::Judge(3));
        }
        if let Some(by) = self.withdrawing_reduction(&known, &seen.saw, cited_from) {
            return self.withdrawn(4, Some(by));
        }
        let is_allowed = match within {
            None => {
                let at = seen.at(&self.arena, &self.whole);
                known.is_allowed(at, true, &mut self.work)
            }
            Some((_, within)) => self.at_within(heads, within, |view, work| {
                known.is_allowed(view, true, work)
            }),
        };
        if !is_allowed {
            return self.withdrawn(5, None);
        }
        Judgement::of(Verdict::Stands, Step::Judge(6))
    }

    /// The standing of a record outside the access collections, as far as it is the
    /// history's: 03 §5.2 steps 5, 7, 8 and 10.
    pub fn standing(&mut self, record: &Record<'_>, within: Option<&[ContentId]>) -> Judgement {
        self.settle();
        let heads = match heads_of(&self.arena, record.seen) {
            Ok(heads) => heads,
            Err(missing) => return Judgement::waits(Step::Standing(5), missing),
        };
        let known = self.known(record);
        let seen = self.seen(heads);
        let view = seen.seen_as(&self.arena, &self.whole);
        let work = &mut self.work;
        let is_member = known.root.is_some_and(|root| view.is_member(root, work));
        if !is_member || !known.is_allowed(view, true, work) {
            return Judgement::of(Verdict::Refused, Step::Standing(7));
        }
        if record.invocation.body == Body::Stub && !known.is_allowed(view, false, work) {
            return Judgement::of(Verdict::NotYet, Step::Standing(8));
        }
        self.judge(record, within)
    }

    fn known<'a>(&self, record: &'a Record<'a>) -> Known<'a> {
        let names = &self.arena.names;
        Known {
            record,
            root: names.known_did(record.root),
            author: names.known_did(record.author),
            collection: names.known(&Text::from(record.collection)),
        }
    }

    /// Step 2: an applied revoke of the record's key by its own root that doesn't cover
    /// it, or an applied proof that its line forks at its place or before.
    fn withdrawing_revoke(&self, known: &Known<'_>, within: Option<&BitSet>) -> Option<Index> {
        let author = known.author?;
        let revokes = known
            .root
            .and_then(|root| self.reach.revokes.get(&(author, root)));
        let revokes = revokes.into_iter().flatten().copied();
        let mut revokes = revokes.filter(|revoke| !self.covers(*revoke, known));
        let counts = |index: &Index| {
            self.whole.valid.contains(*index) && within.is_none_or(|saw| saw.contains(*index))
        };
        if let Some(revoke) = revokes.find(|revoke| counts(revoke)) {
            return Some(revoke);
        }
        let forks = self.reach.forks.get(&(author, known.collection?));
        let mut forks = forks.into_iter().flatten().copied();
        let reaches = |fork: &Index| match self.arena.event(*fork).change {
            Change::Fork { from, .. } => from <= known.record.place,
            _ => false,
        };
        forks.find(|fork| counts(fork) && reaches(fork))
    }

    /// Step 4: an applied reduction of the root that its writer hadn't seen and that
    /// doesn't cover it. A stepdown that a revoke or proof disarms is none.
    fn withdrawing_reduction(
        &mut self,
        known: &Known<'_>,
        saw: &BitSet,
        within: Option<&BitSet>,
    ) -> Option<Index> {
        let takers = self.reach.takers.get(&known.root?)?;
        self.work.spent += takers.len() as u64;
        let withdraws = |index: &Index| {
            self.whole.valid.contains(*index)
                && !self.whole.struck.disarmed.contains(*index)
                && !saw.contains(*index)
                && within.is_none_or(|within| within.contains(*index))
                && !self.covers(*index, known)
        };
        takers.iter().copied().find(withdraws)
    }

    fn covers(&self, reduction: Index, known: &Known<'_>) -> bool {
        let cutoff = &self.arena.event(reduction).event.cutoff;
        if cutoff.is_empty() {
            return false;
        }
        let author = Text::from(known.record.author.to_string());
        let collection = Text::from(known.record.collection);
        cutoff.covers(&author, &collection, known.record.place)
    }

    fn withdrawn(&self, step: u8, by: Option<Index>) -> Judgement {
        Judgement {
            by: by.map(|by| *self.arena.id(by)),
            ..Judgement::of(Verdict::Withdrawn, Step::Judge(step))
        }
    }
}

impl Known<'_> {
    fn is_allowed(&self, view: View<'_>, take_on_trust: bool, work: &mut Work) -> bool {
        self.root.is_some_and(|root| {
            let invocation = self.record.invocation;
            invocation.is_allowed(view, root, take_on_trust, work)
        })
    }
}
