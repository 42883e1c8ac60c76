//! A member's gatekeeper: what it takes in and what it drops (02 §9), and whether what it took in
//! counts (03 §5).
//!
//! It holds the space and the replay of its access history, made of the access versions that are
//! held. Of the rules of a definition (02 §7, §8) it checks what a host does; in a private space
//! it reads definitions, which a host can't, but checks tags, `onePer` keys and `fixed` fields no
//! more than one.

use std::sync::{Mutex, MutexGuard, PoisonError};

use minca_access::history::{
    Admission, Asked, Body, History, Judgement, Record, RecordInvocation, Status, Verdict,
};
use minca_access::{Event, NoEvent, event_of, event_of_kept};
use minca_record::content_id::ContentId;
use minca_record::definition::{Definition, read_definition};
use minca_record::did::{Did, Dids};
use minca_record::json::{Object, Value};
use minca_record::note::UnverifiedNote;
use minca_record::required::{ACCESS_COLLECTIONS, is_access_collection};
use minca_record::rules::{FirstVersion, RuleRefusal, Sight, check_final, check_rules, has_rules};
use minca_record::topics::TagKey;
use minca_record::version::{self, ChainRefusal, Checked, Held, Missing, Version, follows};
use thiserror::Error;

use crate::holdings::Holdings;
use crate::space::{Opened, Space};

/// Why a version is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Something is wrong with the copy itself, whatever is held.
    #[error(transparent)]
    Copy(#[from] version::Refusal),
    /// It doesn't follow the version it names.
    #[error(transparent)]
    Chain(#[from] ChainRefusal),
    /// It is in an access collection and changes nothing (03 §3.3).
    #[error("it is no change of access: {0}")]
    NoEvent(#[from] NoEvent),
    /// Its account might not write it, as of what it saw (03 §5.2 step 7).
    #[error("its account was not allowed to write it")]
    NotAllowed,
    /// It breaks a rule of the definition in force as of what it saw.
    #[error(transparent)]
    Rule(#[from] RuleRefusal),
}

/// What is to be done with a version whose copy is good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is stored, whether or not it counts.
    Take,
    /// It waits.
    Wait {
        /// What brings it back.
        first: WaitsFor,
        /// Versions it names in its own record that aren't held, to be asked for.
        ask: Vec<ContentId>,
    },
    /// It is dropped.
    Refuse(Refusal),
}

/// What a version waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitsFor {
    /// This version.
    Version(ContentId),
    /// An access change that names its account, which any may.
    AnyChange,
}

/// A space, and who may do what in it as far as this device knows.
#[derive(Debug)]
pub struct Gatekeeper {
    space: Space,
    /// Asking it works things out, which reading records must be able to do. It is large.
    history: Box<Mutex<History>>,
}

impl Gatekeeper {
    /// Of a space of which this is held.
    pub fn new(space: Space, holdings: &Holdings) -> Gatekeeper {
        let history = Box::new(Mutex::new(history_of(&space, holdings)));
        Gatekeeper { space, history }
    }

    /// The space.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The space, to change the keys that are held.
    pub fn space_mut(&mut self) -> &mut Space {
        &mut self.space
    }

    /// The replay of the access history.
    pub fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks everything that needs nothing held (02 §9, steps 1 to 6).
    ///
    /// # Errors
    /// The first check that fails.
    pub fn check(&self, object: Object) -> Result<Checked, Refusal> {
        Ok(version::check(Value::from(object), self.space.id())?)
    }

    /// Judges a version that passed [`check`](Gatekeeper::check): steps 7 and 8 of 02 §9.
    pub fn judge(&self, checked: &Checked, holdings: &Holdings) -> Answer {
        let version = &checked.version;
        match chain(version, holdings) {
            Err(why) => return Answer::Refuse(why.into()),
            Ok(Missing::Prev(missing) | Missing::Genesis(missing)) => {
                let named = [version.prev(), version.genesis()].into_iter().flatten();
                return Answer::Wait {
                    first: WaitsFor::Version(missing),
                    ask: named.filter(|id| !holdings.holds(id)).collect(),
                };
            }
            Ok(Missing::Nothing) => {}
        }
        let waits = |first| Answer::Wait {
            first,
            ask: Vec::new(),
        };
        let event = match self.event(checked) {
            None => {
                let judgement = self.judge_record(version, &checked.root, holdings);
                return match (judgement.verdict, judgement.missing.first()) {
                    (Verdict::Refused, _) => Answer::Refuse(Refusal::NotAllowed),
                    (Verdict::NotYet, Some(missing)) => waits(WaitsFor::Version(*missing)),
                    // A stub that can't be judged without its body is taken as it is.
                    (Verdict::NotYet, None) => Answer::Take,
                    (Verdict::Stands | Verdict::Withdrawn, _) => {
                        match self.check_rules(version, &checked.root, holdings) {
                            Ok(()) => Answer::Take,
                            Err(why) => Answer::Refuse(why.into()),
                        }
                    }
                };
            }
            Some(Err(why)) => return Answer::Refuse(why.into()),
            Some(Ok(event)) => event,
        };
        match self.history().admit(&event) {
            Admission::Admitted => Answer::Take,
            Admission::SeenMissing(missing) => match missing.first() {
                Some(missing) => waits(WaitsFor::Version(*missing)),
                None => Answer::Take,
            },
            Admission::RootNotNamed => waits(WaitsFor::AnyChange),
        }
    }

    /// A version was taken in, or written here. True where it is a change of access.
    pub fn took_in(&self, checked: &Checked) -> bool {
        match self.event(checked) {
            Some(Ok(event)) => self.history().add(event),
            _ => false,
        }
    }

    /// The change a version of an access collection makes, or why it is none; `None` for a version
    /// of another collection.
    pub fn event(&self, checked: &Checked) -> Option<Result<Event, NoEvent>> {
        is_change(&checked.version).then(|| event_of(checked, of(&self.space)))
    }

    /// What would become of a change, were it made on top of what is held, and what it asks for
    /// (`None` where it waits).
    pub fn would_become(&self, event: Event, holdings: &Holdings) -> (Status, Option<Asked>) {
        let id = event.id;
        let mut scratch = history_of(&self.space, holdings);
        scratch.add(event);
        // It was just added, so it has a status.
        let status = scratch.status(&id).unwrap_or(Status::Waiting);
        (status, scratch.judged_in(&id).map(|judged| judged.asked))
    }

    /// Whether a version counts: one that is held, or one this device is about to write.
    pub fn stands(&self, version: &Version, holdings: &Holdings) -> Verdict {
        if is_change(version) {
            return match self.history().status(&version.id()) {
                Some(Status::Applied) => Verdict::Stands,
                Some(Status::Struck { .. }) => Verdict::Withdrawn,
                Some(Status::Waiting) => Verdict::NotYet,
                Some(Status::Refused(_)) | None => Verdict::Refused,
            };
        }
        match root_of(version) {
            Some(root) => self.judge_record(version, &root, holdings).verdict,
            None => Verdict::Refused,
        }
    }

    /// The standing of a record's version as far as it is the history's (03 §5.2).
    pub fn judge_record(&self, version: &Version, root: &Did, holdings: &Holdings) -> Judgement {
        // No author that signed is anything but a key.
        let author = version
            .author()
            .as_str()
            .and_then(|did| Did::parse(did).ok());
        let author = author.unwrap_or(*root);
        let first = version.genesis().and_then(|first| holdings.get(&first));
        let creator = first.and_then(|first| root_of(first));
        let is_creator = version.seq() == 0 || creator == Some(*root);
        let opened = self.space.open(version);
        let body = match &opened {
            Opened::Body(body) => Body::Read(Some(body)),
            Opened::Deleted => Body::Read(None),
            Opened::Unreadable => Body::Sealed,
            Opened::Absent if self.reads() => Body::Stub,
            Opened::Absent => Body::Sealed,
        };
        let collection = version.collection();
        let invocation = RecordInvocation::new(collection, version.deleted(), is_creator, body);
        let record = Record {
            root,
            author: &author,
            seen: version.seen(),
            collection,
            place: version.log().n,
            invocation: &invocation,
        };
        self.history().standing(&record, None)
    }

    /// The definition in force for a collection, as a version that names `seen` is judged by it;
    /// `None` where there is none this device can read.
    pub fn definition(
        &self,
        collection: &str,
        seen: &[ContentId],
        holdings: &Holdings,
    ) -> Option<Definition> {
        if !has_rules(collection) {
            return None;
        }
        let in_force = self.history().definition_in_force(collection, seen)?;
        let version = holdings.get(&in_force)?;
        match self.space.open(version) {
            Opened::Body(body) => read_definition(version.key(), &body).ok(),
            _ => None,
        }
    }

    /// Checks a version by the definition in force (02 §9.4 B, steps 4 and 6 to 9).
    ///
    /// # Errors
    /// The first rule it breaks.
    pub fn check_rules(
        &self,
        version: &Version,
        root: &Did,
        holdings: &Holdings,
    ) -> Result<(), RuleRefusal> {
        let collection = version.collection();
        let Some(definition) = self.definition(collection, version.seen(), holdings) else {
            return Ok(());
        };
        let sight = match self.space.is_private() {
            true => Sight::Blind,
            false => Sight::Public(TagKey::of_public_space(self.space.id())),
        };
        let first = version.genesis().and_then(|first| holdings.get(&first));
        let first = first.map_or(FirstVersion::default(), |first| {
            FirstVersion::from(&**first)
        });
        check_final(Some(&definition), version)?;
        check_rules(&sight, Some(&definition), version, &root.to_string(), first)
    }

    /// Whether this device reads the space: a public one, or a private one of which it holds the
    /// current key.
    fn reads(&self) -> bool {
        !self.space.is_private() || self.space.current_key().is_some()
    }
}

/// Whether what the version follows is held (02 §4.7), and if not, what is missing.
///
/// # Errors
/// [`ChainRefusal`] where it follows nothing that could come.
fn chain(version: &Version, holdings: &Holdings) -> Result<Missing, ChainRefusal> {
    let held = |id: Option<ContentId>| holdings.get(&id?).map(|held| Held::from(&**held));
    let (prev, genesis) = (held(version.prev()), held(version.genesis()));
    follows(version, prev.as_ref(), genesis.as_ref())
}

/// The replay of the access versions that are held.
pub(crate) fn history_of(space: &Space, holdings: &Holdings) -> History {
    let mut history = History::new(space.constitution());
    let mut dids = Dids::default();
    for collection in ACCESS_COLLECTIONS {
        for version in holdings.versions_in(collection) {
            let kept = Checked::kept((**version).clone(), &mut dids);
            let event = kept.and_then(|kept| event_of_kept(&kept, of(space)).ok());
            if let Some(event) = event {
                history.add(event);
            }
        }
    }
    history
}

fn of(space: &Space) -> minca_access::Space {
    minca_access::Space {
        id: space.id(),
        is_private: space.is_private(),
    }
}

fn is_change(version: &Version) -> bool {
    is_access_collection(&version.collection().into())
}

/// The account a version speaks for that is held, and so was checked when it came: its note isn't
/// verified again.
pub fn root_of(version: &Version) -> Option<Did> {
    match version.proof() {
        None => Did::parse(version.author().as_str()?).ok(),
        Some(proof) => Some(UnverifiedNote::read(proof).ok()?.issuer()),
    }
}
