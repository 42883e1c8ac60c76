//! What a replay of a case comes to, in the form cases have as `expect`.

use std::collections::BTreeSet;

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{Object, Text, Value};

use super::{Case, Probe};
use crate::event::Kind;
use crate::history::{Body, History, Judgement, Record, RecordInvocation, Status, Step};

impl Case {
    /// Replays the case and answers everything a case's `expect` says.
    pub fn outcome(&self) -> Object {
        let mut history = History::new(&self.constitution);
        for event in &self.events {
            history.add(event.clone());
        }
        self.outcome_in(&mut history)
    }

    /// What a history, holding the case's events, comes to.
    pub fn outcome_in(&self, history: &mut History) -> Object {
        let mut status = Object::new();
        for id in history.ids() {
            if let Some(became) = history.status(&id) {
                status.insert(id.to_string(), status_value(became));
            }
        }
        let mut probes = Object::new();
        for probe in &self.probes {
            probes.insert(probe.id.to_string(), self.verdicts(history, probe));
        }
        let revokes = history
            .revokes()
            .into_iter()
            .map(|(key, account, id)| Value::from(vec![key.into(), account.into(), id_value(&id)]));
        let revokes: Vec<Value> = revokes.collect();
        let forks = history
            .forks()
            .into_iter()
            .map(|(key, collection, from, id)| {
                Value::from(vec![
                    key.into(),
                    collection.into(),
                    from.into(),
                    id_value(&id),
                ])
            });
        let forks: Vec<Value> = forks.collect();
        let mutual = history.mutual();
        let mutual = mutual.iter().map(|ids| ids_value(ids));
        Object::from([
            ("status", Value::Object(status)),
            ("current", Value::Object(history.current().to_json())),
            ("heads", ids_value(&history.heads())),
            ("reductions", ids_value(&history.reductions())),
            ("mutual", mutual.collect::<Vec<Value>>().into()),
            ("revokes", revokes.into()),
            ("forks", forks.into()),
            ("named", Value::Object(self.named(history))),
            ("knownInvites", Value::Object(self.known_invites(history))),
            ("probes", Value::Object(probes)),
        ])
    }

    fn verdicts(&self, history: &mut History, probe: &Probe) -> Value {
        let body = match (&probe.body, probe.blind, probe.stub) {
            (_, true, _) => Body::Sealed,
            (_, _, true) => Body::Stub,
            (body, _, _) => Body::Read(body.as_ref()),
        };
        let invocation =
            RecordInvocation::new(&probe.collection, probe.deletes, probe.by_creator, body);
        let record = Record {
            root: &probe.root,
            author: &probe.author,
            seen: &probe.seen,
            collection: &probe.collection,
            place: probe.place,
            invocation: &invocation,
        };
        let within = probe.within.as_deref();
        let judged = history.judge(&record, within);
        let standing = history.standing(&record, within);
        let step = match judged.step {
            Step::Judge(step) | Step::Standing(step) => Value::from(u32::from(step)),
        };
        let verdict = |judgement: &Judgement, step: Value| {
            Value::Object(Object::from([
                ("verdict", Value::from(judgement.verdict.word())),
                ("step", step),
            ]))
        };
        Value::Object(Object::from([
            ("judge", verdict(&judged, step)),
            (
                "standing",
                verdict(&standing, standing.step.to_string().into()),
            ),
        ]))
    }

    /// The accounts asked about: those that `expect` has, else all the case speaks of.
    fn named(&self, history: &History) -> Object {
        let asked = self.asked("named").unwrap_or_else(|| {
            let mut accounts: BTreeSet<Text> =
                self.constitution.founders().iter().cloned().collect();
            let assigned = self.constitution.assigned().iter();
            accounts.extend(assigned.map(|assigned| assigned.account.clone()));
            for event in &self.events {
                accounts.insert(event.root.to_string().into());
                if let Kind::Assign { did, .. } = &event.kind {
                    accounts.insert(did.clone());
                }
            }
            accounts.extend(self.probes.iter().map(|it| it.root.to_string().into()));
            accounts
        });
        let is_named = |account: &Text| {
            let did = account.as_str().and_then(|did| Did::parse(did).ok());
            did.is_some_and(|did| history.names(&did))
        };
        let named = asked.into_iter().map(|account| {
            let is_named = is_named(&account);
            (account, Value::from(is_named))
        });
        named.collect()
    }

    fn known_invites(&self, history: &History) -> Object {
        let asked = self.asked("knownInvites").unwrap_or_else(|| {
            let invites = self.events.iter().filter_map(|event| match &event.kind {
                Kind::Invite { invite_key, .. } => Some(invite_key.clone()),
                _ => None,
            });
            invites.collect()
        });
        let known = asked.into_iter().map(|invite| {
            let did = invite.as_str().and_then(|did| Did::parse(did).ok());
            let is_known = did.is_some_and(|did| history.knows_invite(&did));
            (invite, Value::from(is_known))
        });
        known.collect()
    }

    fn asked(&self, member: &str) -> Option<BTreeSet<Text>> {
        let members = self.expect.as_ref()?.get(member)?.as_object()?;
        Some(members.iter().map(|(name, _)| name.clone()).collect())
    }
}

fn status_value(status: Status) -> Value {
    let of = |members: Vec<(&str, Value)>| Value::Object(members.into_iter().collect());
    match status {
        Status::Applied => of(vec![("status", "applied".into())]),
        Status::Waiting => of(vec![("status", "waiting".into())]),
        Status::Refused(refusal) => of(vec![
            ("status", "dropped".into()),
            ("class", "refused".into()),
            ("why", refusal.word().into()),
        ]),
        Status::Struck { by, rests } => {
            let mut members = vec![("status", "dropped".into()), ("class", "struck".into())];
            if !by.is_empty() {
                members.push(("by", ids_value(&by)));
            }
            if let Some(rests) = rests {
                members.push(("rests", rests.word().into()));
            }
            of(members)
        }
    }
}

fn id_value(id: &ContentId) -> Value {
    id.to_string().into()
}

fn ids_value(ids: &[ContentId]) -> Value {
    ids.iter().map(id_value).collect::<Vec<Value>>().into()
}
