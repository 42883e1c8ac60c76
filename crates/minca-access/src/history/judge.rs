//! Judging a record against the history (03 §5.1), and the part of its standing
//! that is the history's (03 §5.2 steps 5 to 8 and 10).

use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{Object, Text, Value};
use minca_record::required::{RECORD_DELETE, RECORD_WRITE};

use super::arena::Change;
use super::bit_set::BitSet;
use super::may::{Arguments, BodyIs, Invocation};
use super::names::Name;
use super::seen::{SeenView, closure, heads_of};
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
    pub invocation: &'a RecordInvocation<'a>,
}

/// The command a record's version runs, and its arguments (03 §5.2 step 6). They are
/// put together when a policy asks for them, the body only when it reads one.
#[derive(Clone, Debug)]
pub struct RecordInvocation<'a> {
    collection: &'a str,
    deletes: bool,
    by_creator: bool,
    body: Body<'a>,
    arguments: OnceCell<Object>,
    with_body: OnceCell<Object>,
}

/// What this peer has of a version's body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Body<'a> {
    /// All of it, or there is none: a delete.
    Read(Option<&'a Value>),
    /// It is sealed, and this peer has no key.
    Sealed,
    /// Nothing, as the version came as a stub to a peer that reads the space.
    Stub,
}

impl<'a> RecordInvocation<'a> {
    /// Of a version in `collection` that `deletes` its record or writes it; `by_creator`
    /// says whether its root is the root of the record's first version (02 §4.1).
    pub fn new(
        collection: &'a str,
        deletes: bool,
        by_creator: bool,
        body: Body<'a>,
    ) -> RecordInvocation<'a> {
        RecordInvocation {
            collection,
            deletes,
            by_creator,
            body,
            arguments: OnceCell::new(),
            with_body: OnceCell::new(),
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
        if self.collection.starts_with("sys.") {
            return view.is_member(account, work);
        }
        let body = match self.body {
            // A delete says nothing of a body, so nobody lacks it.
            _ if self.deletes => BodyIs::Read,
            Body::Read(_) => BodyIs::Read,
            Body::Sealed | Body::Stub if take_on_trust => BodyIs::TakenOnTrust,
            Body::Sealed | Body::Stub => BodyIs::Lacking,
        };
        let invocation = Invocation {
            cmd: if self.deletes {
                RECORD_DELETE
            } else {
                RECORD_WRITE
            },
            arguments: self,
            body,
        };
        view.may(account, invocation, work)
    }

    fn new_arguments(&self) -> Object {
        let mut arguments = Object::new();
        arguments.insert("collection", self.collection);
        arguments.insert("byCreator", self.by_creator);
        arguments
    }
}

impl Arguments for RecordInvocation<'_> {
    fn without_body(&self) -> &Object {
        self.arguments.get_or_init(|| self.new_arguments())
    }

    fn with_body(&self) -> (&Object, u64) {
        let body = match self.body {
            Body::Read(Some(body)) if !self.deletes => body,
            _ => return (self.without_body(), 1),
        };
        let arguments = self.with_body.get_or_init(|| {
            let mut arguments = self.new_arguments();
            arguments.insert("body", body.clone());
            arguments
        });
        (arguments, values_in(body) as u64)
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

impl History {
    /// `judge` (03 §5.1); `within` is the `seen` of a version that cites the record,
    /// which peers judging a version's standing never give.
    pub fn judge(&mut self, record: &Record<'_>, within: Option<&[ContentId]>) -> Judgement {
        self.settle();
        match heads_of(&self.arena, record.seen) {
            Ok(heads) => self.judge_from(record, heads, within, None),
            Err(mut missing) => {
                let within = within.map(|within| heads_of(&self.arena, within));
                missing.extend(within.and_then(Result::err).unwrap_or_default());
                Judgement::waits(Step::Judge(1), missing)
            }
        }
    }

    /// The standing of a record outside the access collections, as far as it is the
    /// history's: 03 §5.2 steps 5, 7, 8 and 10.
    pub fn standing(&mut self, record: &Record<'_>, within: Option<&[ContentId]>) -> Judgement {
        self.settle();
        let heads = match heads_of(&self.arena, record.seen) {
            Ok(heads) => heads,
            Err(missing) => return Judgement::waits(Step::Standing(5), missing),
        };
        let root = self.arena.names.known_did(record.root);
        let seen = self.seen(&heads);
        let view = seen.seen_as(&self.arena, &self.whole);
        // Whoever may do anything is a member.
        if !record.is_allowed(root, view, true, &mut self.work) {
            return Judgement::of(Verdict::Refused, Step::Standing(7));
        }
        let is_stub = record.invocation.body == Body::Stub;
        if is_stub && !record.is_allowed(root, view, false, &mut self.work) {
            return Judgement::of(Verdict::NotYet, Step::Standing(8));
        }
        self.judge_from(record, heads, within, Some(seen))
    }

    /// From step 2 on; `allowed_as_seen` when step 3 passed already.
    fn judge_from(
        &mut self,
        record: &Record<'_>,
        heads: Vec<Index>,
        within: Option<&[ContentId]>,
        allowed_as_seen: Option<Arc<SeenView>>,
    ) -> Judgement {
        let within = match within
            .map(|within| heads_of(&self.arena, within))
            .transpose()
        {
            Ok(within) => within.map(|within| (closure(&self.arena, &within), within)),
            Err(missing) => return Judgement::waits(Step::Judge(1), missing),
        };
        let cited_from = within.as_ref().map(|(saw, _)| saw);
        let root = self.arena.names.known_did(record.root);
        if let Some(by) = self.withdrawing_revoke(record, root, cited_from) {
            return self.withdrawn(2, Some(by));
        }
        let seen = match allowed_as_seen {
            Some(seen) => seen,
            None => {
                let seen = self.seen(&heads);
                let view = seen.seen_as(&self.arena, &self.whole);
                if !record.is_allowed(root, view, true, &mut self.work) {
                    return Judgement::of(Verdict::Refused, Step::Judge(3));
                }
                seen
            }
        };
        if let Some(by) = self.withdrawing_reduction(record, root, &seen.saw, cited_from) {
            return self.withdrawn(4, Some(by));
        }
        let is_allowed = match within {
            None if seen.is_seen_as_it_is() => true,
            None => {
                let at = seen.at(&self.arena, &self.whole);
                record.is_allowed(root, at, true, &mut self.work)
            }
            Some((_, within)) => self.at_within(heads, within, |view, work| {
                record.is_allowed(root, view, true, work)
            }),
        };
        if !is_allowed {
            return self.withdrawn(5, None);
        }
        Judgement::of(Verdict::Stands, Step::Judge(6))
    }

    /// Step 2: an applied revoke of the record's key by its own root that doesn't cover
    /// it, or an applied proof that its line forks at its place or before.
    fn withdrawing_revoke(
        &self,
        record: &Record<'_>,
        root: Option<Name>,
        within: Option<&BitSet>,
    ) -> Option<Index> {
        if self.reach.revokes.is_empty() && self.reach.forks.is_empty() {
            return None;
        }
        let names = &self.arena.names;
        let author = names.known_did(record.author)?;
        let counts = |index: &Index| {
            self.whole.valid.contains(*index) && within.is_none_or(|saw| saw.contains(*index))
        };
        let revokes = root.and_then(|root| self.reach.revokes.get(&(author, root)));
        let mut revokes = revokes.into_iter().flatten().copied();
        let revoke = revokes.find(|revoke| counts(revoke) && !self.covers(*revoke, record));
        if revoke.is_some() {
            return revoke;
        }
        let collection = names.known(&Text::from(record.collection))?;
        let forks = self.reach.forks.get(&(author, collection));
        let reaches = |fork: &Index| match self.arena.event(*fork).change {
            Change::Fork { from, .. } => from <= record.place,
            _ => false,
        };
        let mut forks = forks.into_iter().flatten().copied();
        forks.find(|fork| counts(fork) && reaches(fork))
    }

    /// Step 4: an applied reduction of the root that its writer hadn't seen and that
    /// doesn't cover it. A stepdown that a revoke or proof disarms is none.
    fn withdrawing_reduction(
        &mut self,
        record: &Record<'_>,
        root: Option<Name>,
        saw: &BitSet,
        within: Option<&BitSet>,
    ) -> Option<Index> {
        let takers = self.reach.takers.get(&root?)?;
        self.work.spent += takers.len() as u64;
        let withdraws = |index: &Index| {
            self.whole.valid.contains(*index)
                && !self.whole.struck.disarmed.contains(*index)
                && !saw.contains(*index)
                && within.is_none_or(|within| within.contains(*index))
                && !self.covers(*index, record)
        };
        takers.iter().copied().find(withdraws)
    }

    fn covers(&self, reduction: Index, record: &Record<'_>) -> bool {
        let cutoff = &self.arena.event(reduction).event.cutoff;
        if cutoff.is_empty() {
            return false;
        }
        let author = Text::from(record.author.to_string());
        let collection = Text::from(record.collection);
        cutoff.covers(&author, &collection, record.place)
    }

    fn withdrawn(&self, step: u8, by: Option<Index>) -> Judgement {
        Judgement {
            by: by.map(|by| *self.arena.id(by)),
            ..Judgement::of(Verdict::Withdrawn, Step::Judge(step))
        }
    }
}

impl Record<'_> {
    /// Whether its root, whose name here is `root` if it has one, might.
    fn is_allowed(
        &self,
        root: Option<Name>,
        view: View<'_>,
        take_on_trust: bool,
        work: &mut Work,
    ) -> bool {
        root.is_some_and(|root| {
            let invocation = self.invocation;
            invocation.is_allowed(view, root, take_on_trust, work)
        })
    }
}
