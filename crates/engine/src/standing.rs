//! How a version stands (02 §9.4), by its space's access history and the
//! definitions in force.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use minca_access::history::{
    Admission, Body, History, Judgement, Record, RecordInvocation, Status, Step, Verdict,
};
use minca_access::{Event, Kind, NoEvent, Space, event_of_kept};
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::definition::{Definition, is_sealed_body};
use minca_record::did::{Did, Dids};
use minca_record::json::{self, Text};
use minca_record::rules::{FirstVersion, Sight, check_final, check_rules, has_rules};
use minca_record::topics::TagKey;
use minca_record::version::{Checked, Version, join};

use crate::rows::StoredVersion;
use crate::vetting::Vetted;

/// What standing needs to know beside the version itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'a> {
    /// The version, which passed 02 §9 steps 1–7, with what it yields.
    pub(crate) vetted: &'a Vetted,
    /// The root of the first version its chain names; its own for `seq` 0 (02 §4.1).
    pub(crate) creator: &'a Did,
    /// What is held of that first version, once it was looked for.
    pub(crate) first: Option<FirstVersion<'a>>,
}

/// The answer of 02 §9.4, with the protocol's reason where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It counts.
    Stands,
    /// Stored and passed on, and counts for nothing.
    Withdrawn,
    /// An access change, stored whether it counts or not: what came of it is to be
    /// asked ([`Judge::counts`]) once the replay is done with it.
    Change,
    /// A stub that only its body can settle: stored as its record's history.
    Unsettled,
    /// Its writer saw these ids, which are not known here.
    SeenMissing(Vec<ContentId>),
    /// No history names its root; any access change may.
    RootNotNamed,
    /// Never to be stored.
    Refused(&'static str),
    /// The replay isn't done with what came before: ask again.
    Replaying,
    /// The first version's body is asked about: ask again with it.
    FirstWanted,
}

/// What a stored access version is that no host can have stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a stored access version does not read as one that was taken in")]
pub struct CorruptAccess;

/// Who may write what in a space, as far as its history is known here.
///
/// Judging runs ahead of the commit: events count from when they are placed. When a
/// commit fails they are forgotten, and the history is that of what is committed.
pub struct Judge {
    constitution: Constitution,
    sight: Sight,
    history: History,
    committed: BTreeMap<ContentId, Arc<Event>>,
    /// What each definition held says, where it can be read.
    definitions: HashMap<ContentId, Arc<Definition>>,
    /// The collections that some definition gave `fixed` fields. Where it was forgotten
    /// since, a body is read for nothing.
    fixed: HashSet<Box<str>>,
    /// Read keys that key changes in the history make, whatever became of them.
    made_read_keys: HashSet<Text>,
}

impl fmt::Debug for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judge")
            .field("events", &self.history.len())
            .finish_non_exhaustive()
    }
}

impl Judge {
    /// Of a space of which these access versions are stored. All of them are replayed,
    /// which takes too long for a thread that serves.
    ///
    /// # Errors
    /// A stored version reads as none.
    pub fn open(
        constitution: Constitution,
        access: &[StoredVersion],
    ) -> Result<Judge, CorruptAccess> {
        let mut judge = Judge {
            sight: sight_of(Space {
                id: constitution.id(),
                is_private: constitution.is_private(),
            }),
            history: History::new(&constitution),
            constitution,
            committed: BTreeMap::new(),
            definitions: HashMap::new(),
            fixed: HashSet::new(),
            made_read_keys: HashSet::new(),
        };
        let mut dids = Dids::default();
        for stored in access {
            let checked = kept(stored, &mut dids).ok_or(CorruptAccess)?;
            // One that yields no event would not have been stored.
            let event = event_of_kept(&checked, judge.space()).map_err(|_| CorruptAccess)?;
            let definition = judge.sight.definition(&checked.version).map(Arc::new);
            let event = Arc::new(event);
            judge.add(&event, definition.as_ref());
            judge.committed.insert(event.id, event);
        }
        while !judge.history.advance(u64::MAX) {}
        Ok(judge)
    }

    fn space(&self) -> Space {
        Space {
            id: self.constitution.id(),
            is_private: self.constitution.is_private(),
        }
    }

    fn add(&mut self, event: &Arc<Event>, definition: Option<&Arc<Definition>>) {
        self.history.add(Arc::clone(event));
        if let Kind::Key { read_key, .. } = &event.kind {
            self.made_read_keys.insert(read_key.clone());
        }
        if let Some(definition) = definition {
            if definition.rules.fixed.is_some() {
                self.fixed.insert(definition.name.clone());
            }
            self.definitions.insert(event.id, Arc::clone(definition));
        }
    }

    /// Whether the history names an account (03 §3.4): a founder, or one that was
    /// ever assigned a role.
    pub(crate) fn names(&self, account: &Did) -> bool {
        self.history.names(account)
    }

    /// Whether the history names a version's root, or the invite it joins by.
    pub(crate) fn names_root(&self, vetted: &Vetted) -> bool {
        let joins_by_known = match &vetted.event {
            Some(Ok(event)) => match &event.kind {
                Kind::Assign { via_invite, .. } => {
                    let invite = via_invite.as_ref();
                    invite.is_some_and(|invite| self.history.knows_invite(invite))
                }
                _ => false,
            },
            _ => false,
        };
        joins_by_known || self.names(&vetted.checked.root)
    }

    /// Goes on with the replay for about so many steps. True when it is done with all
    /// it has.
    pub(crate) fn advance(&mut self, steps: u64) -> bool {
        self.history.advance(steps)
    }

    /// Whether the replay is done with all it has.
    pub(crate) fn is_settled(&self) -> bool {
        self.history.is_settled()
    }

    /// Steps spent so far, on the replay and on judging.
    pub(crate) fn spent(&self) -> u64 {
        self.history.spent()
    }

    /// Whether a later version of this collection may be measured by its first.
    pub(crate) fn may_want_first(&self, collection: &str) -> bool {
        self.fixed.contains(collection)
    }

    /// Takes in what a version that is held says, if it says an access change.
    pub(crate) fn take_in(&mut self, vetted: &Vetted) {
        if let Some(Ok(event)) = &vetted.event {
            self.add(event, vetted.definition.as_ref());
        }
    }

    /// What a version says is stored now.
    pub(crate) fn committed(&mut self, vetted: &Vetted) {
        if let Some(Ok(event)) = &vetted.event {
            self.take_in(vetted);
            self.committed.insert(event.id, Arc::clone(event));
        }
    }

    /// Whether it judges by events that are not stored.
    pub(crate) fn is_ahead(&self) -> bool {
        // All that is stored is in the history.
        self.history.len() > self.committed.len()
    }

    /// Forgets the events that are not stored.
    pub(crate) fn forget_uncommitted(&mut self) {
        if !self.is_ahead() {
            return;
        }
        self.history = History::new(&self.constitution);
        self.made_read_keys.clear();
        for event in std::mem::take(&mut self.committed).into_values() {
            self.add(&event, None);
            self.committed.insert(event.id, event);
        }
    }

    /// Whether an access change counts, once the replay is done with it.
    pub(crate) fn counts(&mut self, change: &ContentId) -> bool {
        self.history.status(change) == Some(Status::Applied)
    }

    /// The read key peers must prove, where the one they must prove so far is `known`:
    /// the current one, unless nothing in the history ever made the known one, which
    /// then is behind whoever said it (04 §13.3).
    pub(crate) fn read_key(&mut self, known: &Did) -> Did {
        let spelled = Text::from(known.to_string());
        let is_made =
            self.constitution.read_key() == Some(known) || self.made_read_keys.contains(&spelled);
        let current = self.history.read_keys().pop();
        let current = current.filter(|current| is_made && *current != spelled);
        current
            .and_then(|current| Did::parse(current.as_str()?).ok())
            .unwrap_or(*known)
    }

    /// Whether the root was no member as its writer saw the space, which nothing that
    /// is still to come changes.
    pub(crate) fn was_no_member(&mut self, checked: &Checked) -> bool {
        self.history.is_settled()
            && self
                .history
                .was_member(&checked.root, checked.version.seen())
                == Some(false)
    }

    /// Judges one version that passed 02 §9 steps 1–7. An access change that is to be
    /// stored counts from now on.
    pub(crate) fn judge(&mut self, question: &Question<'_>) -> Standing {
        match &question.vetted.event {
            Some(event) => self.judge_access(question, event.as_ref()),
            None => self.judge_record(question),
        }
    }

    /// 02 §9.4 A.
    fn judge_access(
        &mut self,
        question: &Question<'_>,
        event: Result<&Arc<Event>, &NoEvent>,
    ) -> Standing {
        if !question.vetted.checked.version.retain() {
            return Standing::Refused("access-not-retained");
        }
        let Ok(event) = event else {
            return Standing::Refused("no-event");
        };
        match self.history.admit(event) {
            Admission::Admitted => {}
            Admission::SeenMissing(ids) => return Standing::SeenMissing(ids),
            Admission::RootNotNamed => return Standing::RootNotNamed,
        }
        self.add(event, question.vetted.definition.as_ref());
        Standing::Change
    }

    /// 02 §9.4 B.
    fn judge_record(&mut self, question: &Question<'_>) -> Standing {
        if !self.is_settled() {
            return Standing::Replaying;
        }
        let Checked {
            version,
            author,
            root,
        } = &question.vetted.checked;
        let by_creator = root == question.creator;
        let body = self.body_of(version);
        let invocation =
            RecordInvocation::new(version.collection(), version.deleted(), by_creator, body);
        let judgement = self.history.standing(
            &Record {
                root,
                author,
                seen: version.seen(),
                collection: version.collection(),
                place: version.log().n,
                invocation: &invocation,
            },
            None,
        );
        let standing = match standing_of(judgement) {
            standing @ (Standing::Stands | Standing::Withdrawn) => standing,
            other => return other,
        };
        match self.check_definition(question) {
            Ok(()) => standing,
            Err(other) => other,
        }
    }

    /// Steps 4 and 6–9: the rules of the definition in force.
    fn check_definition(&mut self, question: &Question<'_>) -> Result<(), Standing> {
        let Checked { version, root, .. } = &question.vetted.checked;
        if !has_rules(version.collection()) {
            return Ok(());
        }
        let in_force = self
            .history
            .definition_in_force(version.collection(), version.seen());
        let Some(definition) = in_force.and_then(|id| self.definitions.get(&id)) else {
            return Ok(());
        };
        let refused =
            |refusal: minca_record::rules::RuleRefusal| Standing::Refused(refusal.reason());
        check_final(Some(definition), version).map_err(refused)?;
        let wants_first = definition.rules.fixed.is_some() && version.seq() > 0;
        let first = match question.first {
            Some(first) => first,
            None if wants_first && !version.deleted() => return Err(Standing::FirstWanted),
            None => FirstVersion::default(),
        };
        check_rules(
            &self.sight,
            Some(definition),
            version,
            &root.to_string(),
            first,
        )
        .map_err(refused)
    }

    /// The body as this host has it (03 §2.2). In a private space what isn't sealed
    /// anyone can read, and what is missing may have been sealed.
    fn body_of<'a>(&self, version: &'a Version) -> Body<'a> {
        if version.deleted() {
            return Body::Read(None);
        }
        match version.body() {
            Some(body) if self.constitution.is_private() && is_sealed_body(body) => Body::Sealed,
            Some(body) => Body::Read(Some(body)),
            None if self.constitution.is_private() => Body::Sealed,
            None => Body::Stub,
        }
    }
}

fn standing_of(judgement: Judgement) -> Standing {
    match judgement.verdict {
        Verdict::Stands => Standing::Stands,
        Verdict::Withdrawn => Standing::Withdrawn,
        Verdict::Refused => Standing::Refused("not-allowed"),
        Verdict::NotYet if judgement.step == Step::Standing(8) => Standing::Unsettled,
        Verdict::NotYet => Standing::SeenMissing(judgement.missing),
    }
}

fn kept(stored: &StoredVersion, dids: &mut Dids) -> Option<Checked> {
    let written = join(
        &stored.envelope,
        stored.proof.as_deref(),
        stored.body.as_deref(),
    );
    let value = json::read(&written, json::MESSAGE_DEPTH).ok()?;
    Checked::kept(Version::shape(value).ok()?, dids)
}

/// What a host can read of a space's bodies.
pub(crate) fn sight_of(space: Space) -> Sight {
    match space.is_private {
        true => Sight::Blind,
        false => Sight::Public(TagKey::of_public_space(space.id)),
    }
}
