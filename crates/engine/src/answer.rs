//! Answering a peer (05 §6.4): `reconcile`, `want`, `want-file`.
//!
//! Each is always answered, late if need be; the peer's next message waits
//! meanwhile.

use minca_record::version::join;
use minca_sync::message::{
    Reconcile, Want, WantFile, write_file_done, write_reconciled, write_unreadable, write_versions,
};
use minca_sync::negentropy::{FrameLimit, Responder, ResponderStep, SortedItems};

use crate::Engine;
use crate::collections::Access;
use crate::engine::ReadFor;
use crate::event::{Count, JobId, Millis, PeerId, StoreFailure};
use crate::rows::StoredVersion;

/// A message that is being answered.
#[derive(Clone, Debug)]
pub(crate) enum Answering {
    Reconcile(Reconcile),
    Want(Want),
}

impl Engine {
    /// Answers a message, or has read what the answer needs.
    pub(crate) fn answer(&mut self, id: PeerId, answering: Answering) {
        self.set_answering(id, true);
        match answering {
            Answering::Want(want) if want.ids.is_empty() => {
                self.send(id, |out| write_versions(out, Some(want.id), []));
                self.set_answering(id, false);
            }
            Answering::Want(_) => self.read(ReadFor::Answer {
                peer: id,
                answering,
            }),
            Answering::Reconcile(reconcile) => self.answer_reconcile(id, reconcile),
        }
    }

    fn answer_reconcile(&mut self, id: PeerId, reconcile: Reconcile) {
        // A host holds every collection, whatever it is called.
        let name = reconcile.collection.as_deref().unwrap_or_default();
        let answer = match self.collections.access(name) {
            Access::Open(set) => responder_says(set, reconcile.message),
            access => {
                if matches!(access, Access::ReadAfter(_)) {
                    let collection = name.to_owned();
                    self.read(ReadFor::Items { collection });
                }
                self.waiting_answers
                    .push((id, Answering::Reconcile(reconcile)));
                return;
            }
        };
        match answer {
            Some(answer) => self.send(id, |out| write_reconciled(out, reconcile.id, &answer)),
            None => {
                self.count(Count::Limited("reconcile-malformed"));
                self.send(id, |out| write_unreadable(out, reconcile.id));
            }
        }
        self.set_answering(id, false);
    }

    /// A page of items came: what waited for the collection goes on.
    pub(crate) fn items_came(
        &mut self,
        job: JobId,
        items: Result<Vec<minca_sync::item::Item>, StoreFailure>,
        now: Millis,
    ) {
        let Some(ReadFor::Items { collection }) = self.reads.remove(&job) else {
            return;
        };
        let page = self.worked(items, now);
        let last = page
            .as_ref()
            .is_some_and(|page| page.len() < self.config.items_per_read);
        let failed = page.is_none();
        self.collections.page(&collection, page, last);
        if failed {
            self.put_off(ReadFor::Items { collection });
            return;
        }
        if !last {
            self.read(ReadFor::Items { collection });
            return;
        }
        for (peer, answering) in std::mem::take(&mut self.waiting_answers) {
            self.answer(peer, answering);
        }
        self.to_pump.extend(self.peers.keys().copied());
    }

    /// Versions came that a peer asked for or lacks.
    pub(crate) fn versions_came(
        &mut self,
        job: JobId,
        versions: Result<Vec<StoredVersion>, StoreFailure>,
        now: Millis,
    ) {
        let Some(read) = self.reads.remove(&job) else {
            return;
        };
        let Some(versions) = self.worked(versions, now) else {
            self.put_off(read);
            return;
        };
        match read {
            ReadFor::Answer {
                peer,
                answering: Answering::Want(want),
            } => {
                let bytes: Vec<Vec<u8>> = versions.iter().map(wire_form).collect();
                self.send(peer, |out| {
                    write_versions(out, Some(want.id), bytes.iter().map(Vec::as_slice))
                });
                self.set_answering(peer, false);
            }
            ReadFor::Offer { peer, ids } => self.offer(peer, ids, &versions),
            ReadFor::Judging
            | ReadFor::Items { .. }
            | ReadFor::Answer { .. }
            | ReadFor::Grouping { .. } => {}
        }
    }

    /// A host that holds no files answers that it lacks what is asked (05 §16.6).
    pub(crate) fn answer_file(&mut self, id: PeerId, want: &WantFile) {
        let missing: Vec<_> = want.asked.parts().collect();
        self.send(id, |out| {
            write_file_done(out, want.id, &want.file, &missing)
        });
    }

    fn set_answering(&mut self, id: PeerId, answering: bool) {
        if let Some(peer) = self.peers.get_mut(&id) {
            peer.answering = answering;
            self.to_pump.insert(id);
        }
    }
}

/// The responder's message; `None` where the peer's can't be parsed.
fn responder_says(set: &SortedItems, message: Option<Vec<u8>>) -> Option<Vec<u8>> {
    match Responder::new(message?, FrameLimit::SYNC).ok()?.step(set) {
        ResponderStep::Done(message) => Some(message),
        // A sorted list has all its items.
        ResponderStep::Needs(_) => None,
    }
}

/// A stored version as it goes over the wire.
pub(crate) fn wire_form(version: &StoredVersion) -> Vec<u8> {
    join(
        &version.envelope,
        version.proof.as_deref(),
        version.body.as_deref(),
    )
}
