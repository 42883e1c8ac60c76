//! A space as it is held somewhere: its constitution, and its access versions replayed.

use std::collections::BTreeMap;

use minca_access::history::{History, Status};
use minca_access::{Event, NoEvent, Space, event_of};
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::json::{Text, Value};
use minca_record::required::is_access_collection;
use minca_record::rules::Sight;
use minca_record::topics::TagKey;
use minca_record::version::{
    ChainRefusal, Checked, Held as HeldPlace, Missing, Refusal, Version, check, follows,
};

use super::facts::{Mention, Told, VersionFacts};

/// A space, replayed. See the [module's documentation](super).
pub struct Held {
    pub(super) constitution: Constitution,
    pub(super) sight: Sight,
    pub(super) history: History,
    pub(super) access: BTreeMap<ContentId, Access>,
}

/// A version of an access collection, as far as it came.
pub(super) enum Access {
    /// It yields an event, which is in the history.
    Event(Box<(Checked, Event)>),
    /// It yields none.
    NoEvent(Box<Checked>, NoEvent),
    /// It doesn't follow what it names, or what it names isn't held.
    Chain(Box<Checked>, Result<Missing, ChainRefusal>),
    /// It fails one of steps 1 to 6 of 02 §9.
    Refused(Box<Value>, Refusal),
}

impl Held {
    /// Replays what is held of a space's access history. Of several copies of a version
    /// one that passes is taken, whatever the others are. What names no id is passed over.
    pub fn new(constitution: Constitution, versions: impl IntoIterator<Item = Value>) -> Held {
        let space = constitution.id();
        let sight = match constitution.is_private() {
            true => Sight::Blind,
            false => Sight::Public(TagKey::of_public_space(space)),
        };
        let mut access = BTreeMap::new();
        let mut passed: BTreeMap<ContentId, Checked> = BTreeMap::new();
        for version in versions {
            let Some(id) = id_of(&version) else {
                continue;
            };
            if passed.contains_key(&id) {
                continue;
            }
            match check(version.clone(), space) {
                Ok(checked) => {
                    access.remove(&id);
                    passed.insert(id, checked);
                }
                Err(refusal) => {
                    access.insert(id, Access::Refused(Box::new(version), refusal));
                }
            }
        }
        let mut held = Held {
            history: History::new(&constitution),
            constitution,
            sight,
            access,
        };
        held.take_in(passed.into_values().collect());
        held
    }

    /// Takes versions in as a gatekeeper does, each after those it follows.
    fn take_in(&mut self, mut versions: Vec<Checked>) {
        versions.sort_by_key(|checked| (checked.version.seq(), checked.version.id()));
        let mut places: BTreeMap<ContentId, HeldPlace> = BTreeMap::new();
        for checked in versions {
            let version = &checked.version;
            let id = version.id();
            let chain = version.chain();
            let prev = chain.and_then(|chain| places.get(&chain.prev));
            let genesis = chain.and_then(|chain| places.get(&chain.genesis));
            let came = match follows(version, prev, genesis) {
                Ok(Missing::Nothing) => match event_of(&checked, self.space()) {
                    Ok(event) => {
                        places.insert(id, HeldPlace::from(version));
                        self.history.add(event.clone());
                        Access::Event(Box::new((checked, event)))
                    }
                    Err(no_event) => Access::NoEvent(Box::new(checked), no_event),
                },
                other => Access::Chain(Box::new(checked), other),
            };
            self.access.insert(id, came);
        }
    }

    pub(super) fn space(&self) -> Space {
        Space {
            id: self.constitution.id(),
            is_private: self.constitution.is_private(),
        }
    }

    /// Whether a version of an access collection with this id is held, good or not.
    pub fn holds_access(&self, id: &ContentId) -> bool {
        self.access.contains_key(id)
    }

    pub(super) fn event(&self, id: &ContentId) -> Option<&Event> {
        match self.access.get(id) {
            Some(Access::Event(both)) => Some(&both.1),
            _ => None,
        }
    }

    /// Names a change where another is told of.
    pub(super) fn mention(&mut self, id: &ContentId) -> Mention {
        let event = self.event(id);
        let kind = event.map(|event| event.kind.name());
        let account = event.map(|event| event.root.to_string());
        Mention {
            id: *id,
            kind,
            account,
            status: self.status_word(id),
        }
    }

    pub(super) fn mentions(&mut self, ids: &[ContentId]) -> Vec<Mention> {
        ids.iter().map(|id| self.mention(id)).collect()
    }

    fn status_word(&mut self, id: &ContentId) -> &'static str {
        if *id == self.constitution.id() {
            return "constitution";
        }
        match self.access.get(id) {
            None => "not-held",
            Some(Access::NoEvent(..)) => "no-event",
            Some(Access::Chain(_, Ok(_))) => "not-yet",
            Some(Access::Chain(_, Err(_)) | Access::Refused(..)) => "refused",
            Some(Access::Event(_)) => match self.history.status(id) {
                Some(Status::Applied) => "applied",
                Some(Status::Refused(_)) => "refused",
                Some(Status::Struck { .. }) => "struck",
                Some(Status::Waiting) | None => "waiting",
            },
        }
    }

    /// What is said of a version itself.
    pub(super) fn version_facts(
        &mut self,
        version: &Version,
        checked: Option<&Checked>,
    ) -> VersionFacts {
        VersionFacts {
            collection: version.collection().to_owned(),
            key: version.key().to_owned(),
            seq: version.seq(),
            place: version.log().n,
            author: version.author().clone(),
            account: checked.map(|checked| checked.root.to_string()),
            deletes: version.deleted(),
            seen: self.mentions(version.seen()),
        }
    }

    /// Tells of a version, of which `copies` are held, and `around` what is held of the
    /// versions it names ([`named_by`]). `None` where nothing of that id is held.
    pub fn tell(&mut self, id: &ContentId, copies: Vec<Value>, around: Vec<Value>) -> Option<Told> {
        if self.holds_access(id) {
            return Some(self.tell_access(id));
        }
        let mut best: Option<(Value, Result<Checked, Refusal>)> = None;
        for copy in copies {
            if id_of(&copy) != Some(*id) {
                continue;
            }
            let checked = check(copy.clone(), self.constitution.id());
            let is_whole = matches!(&checked, Ok(checked) if !checked.version.is_stub());
            if is_whole || best.is_none() || checked.is_ok() && matches!(best, Some((_, Err(_)))) {
                best = Some((copy, checked));
            }
        }
        let (value, checked) = best?;
        Some(match checked {
            Ok(checked) => self.tell_record(checked, around),
            Err(refusal) => self.tell_refused(*id, &value, &refusal),
        })
    }
}

/// The id a value says it has.
pub fn id_of(version: &Value) -> Option<ContentId> {
    let id = version.as_object()?.get("id")?.as_str()?;
    ContentId::parse(id).ok()
}

/// Whether a value says it is a version of an access collection.
pub fn is_access(version: &Value) -> bool {
    let collection = version.as_object().and_then(|it| it.get("collection"));
    let collection = collection.and_then(Value::as_text);
    collection.is_some_and(|collection: &Text| is_access_collection(collection))
}

/// The versions that judging this one asks for: the one it follows and its record's first.
pub fn named_by(version: &Value) -> Vec<ContentId> {
    let names = ["prev", "genesis"].into_iter();
    let ids = names.filter_map(|name| {
        let id = version.as_object()?.get(name)?.as_str()?;
        ContentId::parse(id).ok()
    });
    let mut ids: Vec<ContentId> = ids.collect();
    ids.dedup();
    ids
}
