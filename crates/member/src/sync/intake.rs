//! Taking in versions from peers (05 §8).

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{Object, Value};
use minca_record::version::Checked;
use minca_sync::message::{MAX_STORED_IDS, Versions, arrange, write_stored};

use super::{Event, Sync};
use crate::gatekeeper::{Answer, Refusal, WaitsFor};
use crate::holdings::{Holdings, JournalError};

/// What became of one batch, before it is on disk.
#[derive(Default)]
struct Taken {
    /// Newly stored or held already, by who sent them: what each hears of.
    stored: BTreeMap<Did, Vec<ContentId>>,
    /// Newly stored.
    new: BTreeMap<Did, Vec<ContentId>>,
    /// Not held, and named by a version of this batch that waits: its collection with it.
    missing: Vec<(Box<str>, ContentId)>,
}

impl Sync {
    /// `versions`: an answer to a `want`, or what the peer found lacking here.
    pub(super) fn on_versions(
        &mut self,
        from: Did,
        versions: Versions,
        holdings: &mut Holdings,
    ) -> Result<(), JournalError> {
        let Some(id) = versions.id else {
            self.take_batch(from, versions.versions, holdings)?;
            self.go_on_asking(from);
            return Ok(());
        };
        let Some(wanted) = self
            .peers
            .get_mut(&from)
            .and_then(|peer| peer.wanted.remove(&id))
        else {
            return Ok(());
        };
        let asked: HashSet<ContentId> = wanted.ids.iter().copied().collect();
        let mut came = HashSet::new();
        let mut batch = versions.versions;
        batch.retain(|entry| {
            let id = entry
                .as_object()
                .and_then(claimed_id)
                .filter(|id| asked.contains(id));
            came.extend(id);
            id.is_some()
        });
        if let Some(peer) = self.peers.get_mut(&from) {
            for id in &wanted.ids {
                peer.asking.remove(id);
            }
        }
        self.take_batch(from, batch, holdings)?;
        // An answer need not hold everything asked for; the rest is asked for again as long as
        // answers bring something.
        if !came.is_empty()
            && let Some(peer) = self.peers.get_mut(&from)
        {
            let rest = wanted.ids.into_iter().filter(|id| !came.contains(id));
            peer.ask(&wanted.collection, rest);
        }
        self.go_on_asking(from);
        self.finish_collections(from, holdings);
        Ok(())
    }

    /// Takes in one batch in the order of 05 §8: what goes in is put on disk, then acknowledged;
    /// what it lets in of what waits, likewise; and what is still missing is lined up to be asked
    /// for.
    pub(super) fn take_batch(
        &mut self,
        from: Did,
        batch: Vec<Value>,
        holdings: &mut Holdings,
    ) -> Result<(), JournalError> {
        let mut taken = Taken::default();
        for object in arrange(batch, &self.holds) {
            self.take_one(from, object, holdings, &mut taken);
        }
        holdings.commit()?;
        for (to, ids) in taken.stored {
            for ids in ids.chunks(MAX_STORED_IDS) {
                let mut payload = Vec::new();
                write_stored(&mut payload, ids);
                self.send(to, payload);
            }
        }
        for (from, ids) in taken.new {
            self.tell(Event::TookIn { from, ids });
        }
        if let Some(peer) = self.peers.get_mut(&from) {
            for (collection, id) in taken.missing {
                if !holdings.holds(&id) {
                    peer.ask(&collection, [id]);
                }
            }
        }
        Ok(())
    }

    fn take_one(&mut self, from: Did, object: Object, holdings: &mut Holdings, taken: &mut Taken) {
        let claimed = claimed_id(&object);
        let checked = match self.gatekeeper.check(object) {
            Ok(checked) => checked,
            Err(why) => return self.refuse(from, claimed, why),
        };
        self.place_or_wait(checked, BTreeSet::from([from]), holdings, taken);
    }

    /// Places a verified version and all that waited for it; or has it wait.
    fn place_or_wait(
        &mut self,
        checked: Checked,
        from: BTreeSet<Did>,
        holdings: &mut Holdings,
        taken: &mut Taken,
    ) {
        let mut next = VecDeque::from([(checked, from)]);
        while let Some((checked, from)) = next.pop_front() {
            let id = checked.version.id();
            match self.gatekeeper.judge(&checked, holdings) {
                Answer::Refuse(why) => {
                    for from in from {
                        self.refuse(from, Some(id), why);
                    }
                }
                Answer::Wait { first, ask } => {
                    let collection = checked.version.collection();
                    let ask = ask.into_iter().map(|id| (collection.into(), id));
                    taken.missing.extend(ask);
                    self.waiting.add(checked, from, first);
                }
                Answer::Take => {
                    let arrived = self.take_in(checked, from, holdings, taken);
                    for arrived in arrived {
                        let waited = self.waiting.take(arrived);
                        next.extend(waited.into_iter().map(|waits| (waits.checked, waits.from)));
                    }
                }
            }
        }
    }

    /// Stores a version; what may have waited for it.
    fn take_in(
        &mut self,
        checked: Checked,
        from: BTreeSet<Did>,
        holdings: &mut Holdings,
        taken: &mut Taken,
    ) -> Vec<WaitsFor> {
        let id = checked.version.id();
        let was_held = holdings.holds(&id);
        let is_own = checked.version.author().as_str() == Some(&self.author);
        if is_own && !was_held {
            self.tell(Event::OwnLineUnknown { id });
        }
        let is_change = self.gatekeeper.took_in(&checked);
        let is_new = holdings.stage(checked.version);
        for from in from {
            taken.stored.entry(from).or_default().push(id);
            if is_new {
                taken.new.entry(from).or_default().push(id);
            }
        }
        let mut arrived = Vec::new();
        if !was_held {
            arrived.push(WaitsFor::Version(id));
        }
        if is_change {
            arrived.push(WaitsFor::AnyChange);
        }
        arrived
    }

    fn refuse(&mut self, from: Did, id: Option<ContentId>, why: Refusal) {
        if let (Some(peer), Some(id)) = (self.peers.get_mut(&from), id) {
            peer.refuse(id);
        }
        self.tell(Event::Refused { from, id, why });
    }
}

fn claimed_id(object: &Object) -> Option<ContentId> {
    ContentId::parse(object.get("id")?.as_str()?).ok()
}
