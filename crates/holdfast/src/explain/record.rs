//! Telling of versions outside the access collections.

use minca_access::history::{Body, Judgement, Record, RecordInvocation, Step, Verdict as Came};
use minca_record::content_id::ContentId;
use minca_record::definition::is_sealed_body;
use minca_record::json::Value;
use minca_record::required::{RECORD_DELETE, RECORD_WRITE};
use minca_record::rules::{FirstVersion, has_rules};
use minca_record::version::{Checked, Held as HeldPlace, Missing, Version, check, follows};

use super::change::{of_chain, told};
use super::facts::{BodyFacts, PlaceFacts, RecordFacts, Told};
use super::held::{Held, id_of};
use super::rules::Rules;
use super::step::{Ruling, Verdict, WhichStep, rule_of};

impl Held {
    /// Tells of an ordinary version that passes steps 1 to 6 of 02 §9; `around` are
    /// copies of what it follows and of its record's first version.
    pub(super) fn tell_record(&mut self, checked: Checked, around: Vec<Value>) -> Told {
        let version = &checked.version;
        let chain = version.chain();
        let prev = chain.and_then(|chain| self.named(&chain.prev, &around));
        let genesis = chain.and_then(|chain| self.named(&chain.genesis, &around));
        let place = |checked: &Option<Checked>| {
            let version = checked.as_ref().map(|checked| &checked.version);
            version.map(HeldPlace::from)
        };
        let chain = follows(version, place(&prev).as_ref(), place(&genesis).as_ref());
        let mut facts = RecordFacts {
            command: command_of(version),
            by_creator: match version.seq() {
                0 => Some(true),
                _ => genesis.as_ref().map(|first| first.root == checked.root),
            },
            body: self.body_facts(version),
            author_as_seen: None,
            author_at: None,
            withdrawn_by: None,
            struck_of_seen: Vec::new(),
            missing: Vec::new(),
            definition: None,
            unchecked: Vec::new(),
        };
        let ruling = match chain {
            Ok(Missing::Nothing) => self.judge(&checked, genesis.as_ref(), &mut facts),
            other => {
                if let Ok(Missing::Prev(id) | Missing::Genesis(id)) = &other {
                    facts.missing = vec![self.mention(id)];
                }
                of_chain(&other)
            }
        };
        let version = self.version_facts(version, Some(&checked));
        Told {
            record: Some(facts),
            ..told(checked.version.id(), Some(version), ruling, None)
        }
    }

    /// A copy that passes of a version named, a whole one before a stub.
    fn named(&self, id: &ContentId, copies: &[Value]) -> Option<Checked> {
        let copies = copies.iter().filter(|copy| id_of(copy) == Some(*id));
        let checked = copies.filter_map(|copy| check(copy.clone(), self.constitution.id()).ok());
        let mut checked: Vec<Checked> = checked.collect();
        checked.sort_by_key(|checked| checked.version.is_stub());
        checked.into_iter().next()
    }

    /// 02 §9.4 B, in its order.
    fn judge(
        &mut self,
        checked: &Checked,
        first: Option<&Checked>,
        facts: &mut RecordFacts,
    ) -> Ruling {
        let version = &checked.version;
        let by_creator = facts.by_creator.unwrap_or(false);
        let body = match facts.body {
            BodyFacts::Read => Body::Read(version.body()),
            BodyFacts::None => Body::Read(None),
            BodyFacts::Sealed => Body::Sealed,
            BodyFacts::Missing => Body::Stub,
        };
        let invocation =
            RecordInvocation::new(version.collection(), version.deleted(), by_creator, body);
        let record = Record {
            root: &checked.root,
            author: &checked.author,
            seen: version.seen(),
            collection: version.collection(),
            place: version.log().n,
            invocation: &invocation,
        };
        let judgement = self.history.standing(&record, None);
        if let Ok((as_seen, at)) = self.history.places_as_of(&checked.root, version.seen()) {
            facts.author_as_seen = Some(PlaceFacts::from(as_seen));
            facts.author_at = Some(PlaceFacts::from(at));
            let struck = self.history.struck_among(version.seen());
            facts.struck_of_seen = self.mentions(&struck);
        }
        facts.missing = self.mentions(&judgement.missing);
        facts.withdrawn_by = judgement.by.map(|by| self.mention(&by));
        let first = first.map_or_else(FirstVersion::default, |first| (&first.version).into());
        let rules = self.rules_of(version, first);
        let broken = match judgement.verdict {
            Came::Stands | Came::Withdrawn => rules.broken(&self.sight, checked, first),
            Came::Refused | Came::NotYet => None,
        };
        facts.definition = rules.facts;
        facts.unchecked = rules.unchecked;
        broken.unwrap_or_else(|| self.of_judgement(&judgement))
    }

    fn of_judgement(&self, judgement: &Judgement) -> Ruling {
        let by = judgement.by.and_then(|by| self.event(&by));
        let reason = match (judgement.step, by.map(|event| event.kind.name())) {
            (Step::Standing(5) | Step::Judge(1), _) => Some("seen-missing"),
            (Step::Standing(7) | Step::Judge(3), _) => Some("not-allowed"),
            (Step::Standing(8), _) => Some("stub"),
            (Step::Judge(2), Some("fork")) => Some("line-forked"),
            (Step::Judge(2), _) => Some("key-revoked"),
            (Step::Judge(4), _) => Some("access-taken"),
            (Step::Judge(5), _) => Some("rests-on-struck"),
            _ => None,
        };
        Ruling {
            verdict: match judgement.verdict {
                Came::Stands => Verdict::Stands,
                Came::Withdrawn => Verdict::Withdrawn,
                Came::Refused => Verdict::Refused,
                Came::NotYet => Verdict::NotYet,
            },
            step: WhichStep::of_03(&judgement.step.to_string()),
            reason,
            rule: rule_of(judgement.step).to_owned(),
        }
    }

    /// The body as a host has it: in a private space what isn't sealed anyone can read,
    /// and what is missing may have been sealed.
    fn body_facts(&self, version: &Version) -> BodyFacts {
        let is_private = self.constitution.is_private();
        match version.body() {
            _ if version.deleted() => BodyFacts::None,
            Some(body) if is_private && is_sealed_body(body) => BodyFacts::Sealed,
            Some(_) => BodyFacts::Read,
            None if is_private => BodyFacts::Sealed,
            None => BodyFacts::Missing,
        }
    }

    fn rules_of(&mut self, version: &Version, first: FirstVersion<'_>) -> Rules {
        if !has_rules(version.collection()) {
            return Rules::none_asked();
        }
        let Ok(at) = self.history.at(version.seen(), None) else {
            return Rules::unknown();
        };
        let collection = version.collection().into();
        if let Some(contested) = at.contested.get(&collection) {
            return Rules::contested(self.mentions(contested));
        }
        let Some(in_force) = at.definitions.get(&collection) else {
            return Rules::none();
        };
        let definition = self.definition(&in_force.event);
        let event = self.mention(&in_force.event);
        Rules::in_force(event, definition, &self.sight, version, first)
    }
}

/// The command a version runs; in `sys.*` none is asked for.
fn command_of(version: &Version) -> Option<&'static str> {
    match (has_rules(version.collection()), version.deleted()) {
        (false, _) => None,
        (true, true) => Some(RECORD_DELETE),
        (true, false) => Some(RECORD_WRITE),
    }
}
