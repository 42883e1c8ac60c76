//! Judging a record (03 §5.1, and §5.2 steps 5 to 8 and 10).

use minca_access::Kind;
use minca_access::case::Probe;
use minca_record::content_id::ContentId;
use minca_record::json::{Object, Text, Value};

use super::may::{Body, Invocation};
use super::state::State;
use super::{Model, Set, account};

/// Collections where a member may write whatever its roles say.
const SYSTEM: &str = "sys.";

/// A verdict, and the step that came to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub verdict: &'static str,
    pub step: u32,
}

fn verdict(verdict: &'static str, step: u32) -> Verdict {
    Verdict { verdict, step }
}

impl Model {
    /// 03 §5.1.
    pub fn judge(&self, record: &Probe) -> Verdict {
        let trust = if record.blind || record.stub {
            Body::TakenOnTrust
        } else {
            Body::Known
        };
        let (Some(seen), Some(within)) = (
            self.closure(&record.seen),
            self.closure(record.within.as_deref().unwrap_or_default()),
        ) else {
            return verdict("not-yet", 1);
        };
        let counts = |event: usize| record.within.is_none() || within.contains(&event);
        let root = account(record.root);
        for &event in self.valid.iter().filter(|it| counts(**it)) {
            let is_withdrawn = match self.kind(event) {
                Kind::Revoke { target } => {
                    self.events[event].root == record.root
                        && *target == account(record.author)
                        && !self.covers_record(event, record)
                }
                Kind::Fork {
                    writer,
                    collection,
                    from,
                } => {
                    *writer == record.author
                        && *collection == record.collection
                        && *from <= record.place
                }
                _ => false,
            };
            if is_withdrawn {
                return verdict("withdrawn", 2);
            }
        }
        if !needs(&self.merge_valid_among(&seen, &seen), record, trust) {
            return verdict("refused", 3);
        }
        for &event in self.applied_reductions().iter().filter(|it| counts(**it)) {
            if self.reduced(event) == Some(&root)
                && !seen.contains(&event)
                && !self.covers_record(event, record)
            {
                return verdict("withdrawn", 4);
            }
        }
        let at = if record.within.is_some() {
            self.merge_valid_among(&seen, &(&seen | &within))
        } else {
            self.merge(&(&seen & &self.valid), &self.valid_views)
        };
        if !needs(&at, record, trust) {
            return verdict("withdrawn", 5);
        }
        verdict("stands", 6)
    }

    /// 03 §5.2, as `5.2.7` or, of what §5.1 decides, `5.1.4`.
    pub fn standing(&self, record: &Probe) -> (&'static str, String) {
        let Some(seen) = self.closure(&record.seen) else {
            return ("not-yet", "5.2.5".to_owned());
        };
        let trust = if record.blind || record.stub {
            Body::TakenOnTrust
        } else {
            Body::Known
        };
        let state = self.merge_valid_among(&seen, &seen);
        if !state.is_member(&account(record.root)) || !needs(&state, record, trust) {
            return ("refused", "5.2.7".to_owned());
        }
        if record.stub && !record.blind && !needs(&state, record, Body::Needed) {
            return ("not-yet", "5.2.8".to_owned());
        }
        let judged = self.judge(record);
        (judged.verdict, format!("5.1.{}", judged.step))
    }

    /// The state of those of `set` that are valid among the events `among`.
    fn merge_valid_among(&self, set: &Set, among: &Set) -> State {
        let mut known = self.known.borrow_mut();
        let (valid, views) = known
            .entry(among.clone())
            .or_insert_with(|| self.valid_among(among));
        self.merge(&(set & valid), views)
    }

    /// The state as the writer of a record with this `seen` saw it (`seenAs`).
    pub fn seen_as(&self, seen: &[ContentId]) -> Option<State> {
        let seen = self.closure(seen)?;
        Some(self.merge_valid_among(&seen, &seen))
    }

    fn covers_record(&self, event: usize, record: &Probe) -> bool {
        let (key, collection) = (account(record.author), Text::from(&*record.collection));
        let cutoff = &self.events[event].cutoff;
        cutoff.covers(&key, &collection, record.place)
    }
}

/// Whether the record's root may do in `state` what the record does.
fn needs(state: &State, record: &Probe, body: Body) -> bool {
    let root = account(record.root);
    if record.collection.starts_with(SYSTEM) {
        return state.is_member(&root);
    }
    let mut arguments = Object::from([
        ("collection", Value::from(&*record.collection)),
        ("byCreator", record.by_creator.into()),
    ]);
    if record.deletes {
        return state.may(&root, &Invocation::of("/record/delete", arguments));
    }
    if let Some(body) = &record.body {
        arguments.insert("body", body.clone());
    }
    let write = Invocation {
        command: "/record/write",
        arguments,
        body,
    };
    state.may(&root, &write)
}
