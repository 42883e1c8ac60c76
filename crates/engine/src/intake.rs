//! Taking in versions: from a peer's message to committed rows (05 §8, 02 §9).
//!
//! A **take** is one message's versions. Takes of one peer go through in the
//! order they came; those of several peers side by side. A take is checked in
//! the pool (`Verify`), then its versions are **candidates**: a batch of
//! candidates is judged after one `Read` of what they name, and what is stored
//! goes into the **group** being put together, which is committed when the one
//! before it has landed.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::Value;
use minca_record::version::{Refusal, Version};

use crate::event::{JobId, Millis, PeerId};
use crate::judging::{Judging, ToJudge};
use crate::pending::{BatchBuilder, GroupNumber, Overlay};
use crate::rows::{Batch, Found, VersionRow, Wanted};
use crate::vetting::Vetted;

/// Number of a take; grows, so lower ones came first.
pub(crate) type TakeId = u64;

/// A version that passed 02 §9 steps 1–6, on its way in.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) vetted: Arc<Vetted>,
    /// The rows read for it held the first version it is measured by, if anything did.
    pub(crate) first_read: bool,
    /// Who sent it: acknowledged to this socket, refused and waiting under this DID.
    pub(crate) peer: PeerId,
    pub(crate) did: Did,
    /// The message it came in; `None` once it waited, when its message is done with.
    pub(crate) take: Option<TakeId>,
    /// Its canonical bytes, for the bounds on what waits.
    pub(crate) bytes: usize,
    pub(crate) received: Millis,
}

impl Candidate {
    pub(crate) fn version(&self) -> &Version {
        &self.vetted.checked.version
    }

    pub(crate) fn id(&self) -> ContentId {
        self.version().id()
    }
}

/// One message's versions, from its arrival until the last is done with.
#[derive(Debug)]
pub(crate) struct Take {
    pub(crate) peer: PeerId,
    pub(crate) did: Did,
    /// Length of the message, given back when the take is done.
    pub(crate) bytes: usize,
    pub(crate) received: Millis,
    /// The ids its versions claim, while they are in the pool.
    claimed: Vec<Option<ContentId>>,
    /// Checked and not yet among the candidates; `None` while in the pool.
    checked: Option<Vec<Candidate>>,
    /// Candidates not yet stored, put to wait, or refused for good.
    left: usize,
}

/// A take as it came out of the pool.
pub(crate) struct Verified {
    pub(crate) peer: PeerId,
    pub(crate) did: Did,
    /// With the ids they claimed, where those were ids.
    pub(crate) refused: Vec<(Option<ContentId>, Refusal)>,
}

/// What is committed together, and what follows from it once it landed.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) batch: BatchBuilder,
    /// Versions the group stores or found held, whose senders are told so.
    pub(crate) stored: Vec<Candidate>,
    /// Rows that a commit was to write which seemed to fail, and that are there.
    pub(crate) there_already: Vec<VersionRow>,
    /// Versions refused, and why, by access changes that are not committed yet: if those
    /// don't land, these are judged again.
    pub(crate) refused: Vec<(Candidate, &'static str)>,
}

impl Group {
    fn is_empty(&self) -> bool {
        self.batch.is_empty()
            && self.stored.is_empty()
            && self.there_already.is_empty()
            && self.refused.is_empty()
    }
}

/// A commit under way.
#[derive(Debug)]
pub(crate) struct Landing {
    pub(crate) job: JobId,
    number: GroupNumber,
    pub(crate) batch: Arc<Batch>,
    pub(crate) stored: Vec<Candidate>,
    pub(crate) there_already: Vec<VersionRow>,
    pub(crate) refused: Vec<(Candidate, &'static str)>,
}

impl Landing {
    /// The versions that are held now and were not known to be.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &VersionRow> {
        self.batch.keep.iter().chain(&self.there_already)
    }
}

/// Everything on its way in.
#[derive(Debug)]
pub(crate) struct Intake {
    next_take: TakeId,
    takes: BTreeMap<TakeId, Take>,
    /// Each peer's takes, oldest first.
    by_peer: BTreeMap<PeerId, Vec<TakeId>>,
    /// Which take a `Verify` is for.
    verifying: BTreeMap<JobId, TakeId>,
    /// Checked versions to be judged next, in order.
    pub(crate) candidates: VecDeque<Candidate>,
    /// Those taken out of line to be judged, if any.
    pub(crate) judging: Option<Judging>,
    pub(crate) overlay: Overlay,
    /// The group being put together, and its number, from 1.
    pub(crate) group: Group,
    pub(crate) group_number: GroupNumber,
    landed: GroupNumber,
    pub(crate) landing: Option<Landing>,
    /// Rows of commits that failed and may have landed all the same: the store can be
    /// lost between a commit and its answer. Until they are judged again.
    in_doubt: HashMap<ContentId, VersionRow>,
    /// Bytes of messages whose takes are not done.
    pub(crate) bytes: usize,
}

impl Intake {
    pub(crate) fn new() -> Intake {
        Intake {
            next_take: 0,
            takes: BTreeMap::new(),
            by_peer: BTreeMap::new(),
            verifying: BTreeMap::new(),
            candidates: VecDeque::new(),
            judging: None,
            overlay: Overlay::default(),
            group: Group::default(),
            group_number: 1,
            landed: 0,
            landing: None,
            in_doubt: HashMap::new(),
            bytes: 0,
        }
    }

    /// Begins a take; `job` is the `Verify` its versions go through.
    pub(crate) fn begin(
        &mut self,
        job: JobId,
        from: (PeerId, Did),
        versions: &[Value],
        bytes: usize,
        received: Millis,
    ) {
        let (peer, did) = from;
        let claimed = versions.iter().map(claimed_id).collect();
        let id = self.next_take;
        self.next_take += 1;
        let take = Take {
            peer,
            did,
            bytes,
            received,
            claimed,
            checked: None,
            left: 0,
        };
        self.takes.insert(id, take);
        self.by_peer.entry(peer).or_default().push(id);
        self.verifying.insert(job, id);
        self.bytes += bytes;
    }

    /// How many of a peer's messages of versions are on their way in.
    pub(crate) fn takes_of(&self, peer: PeerId) -> usize {
        self.by_peer.get(&peer).map_or(0, Vec::len)
    }

    /// Takes the answer to a `Verify`. `None` for an answer to nothing that was asked.
    pub(crate) fn verified(
        &mut self,
        job: JobId,
        outcomes: Vec<Result<Vetted, Refusal>>,
    ) -> Option<Verified> {
        let id = self.verifying.remove(&job)?;
        let take = self.takes.get_mut(&id)?;
        let mut passed = Vec::with_capacity(outcomes.len());
        let mut refused = Vec::new();
        let claimed = std::mem::take(&mut take.claimed);
        for (outcome, claimed) in outcomes.into_iter().zip(claimed) {
            match outcome {
                Ok(vetted) => passed.push(Candidate {
                    bytes: canonical_bytes(&vetted.checked.version),
                    vetted: Arc::new(vetted),
                    first_read: false,
                    peer: take.peer,
                    did: take.did,
                    take: Some(id),
                    received: take.received,
                }),
                Err(refusal) => refused.push((claimed, refusal)),
            }
        }
        take.left = passed.len();
        take.checked = Some(passed);
        Some(Verified {
            peer: take.peer,
            did: take.did,
            refused,
        })
    }

    /// Moves a peer's checked takes among the candidates, in the order they came
    /// and not past one that is still in the pool. Returns takes that are done
    /// at once because nothing of them passed.
    pub(crate) fn line_up(&mut self, peer: PeerId) -> Vec<TakeId> {
        let mut done = Vec::new();
        for id in self.by_peer.get(&peer).into_iter().flatten() {
            let Some(take) = self.takes.get_mut(id) else {
                continue;
            };
            match take.checked.as_mut() {
                None => break,
                Some(_) if take.left == 0 => done.push(*id),
                Some(checked) => self.candidates.extend(std::mem::take(checked)),
            }
        }
        done
    }

    /// One version of a take is stored, waits, or is refused. True when it was the last.
    pub(crate) fn one_done(&mut self, take: TakeId) -> bool {
        let Some(take) = self.takes.get_mut(&take) else {
            return false;
        };
        take.left = take.left.saturating_sub(1);
        take.left == 0
    }

    /// Ends a take and gives it back.
    pub(crate) fn end(&mut self, id: TakeId) -> Option<Take> {
        let take = self.takes.remove(&id)?;
        self.bytes -= take.bytes;
        if let Some(takes) = self.by_peer.get_mut(&take.peer) {
            takes.retain(|other| *other != id);
            if takes.is_empty() {
                self.by_peer.remove(&take.peer);
            }
        }
        Some(take)
    }

    /// Has versions judged that waited: before all others, in their order.
    pub(crate) fn try_again(&mut self, candidates: Vec<Candidate>) {
        for candidate in candidates.into_iter().rev() {
            self.candidates.push_front(candidate);
        }
    }

    /// The read for some candidates brought this; `None`: it failed, and they are judged
    /// later. Nothing happens if they are to be judged again meanwhile.
    pub(crate) fn read_done(&mut self, job: JobId, found: Option<Found>) {
        let is_it =
            |judging: &mut Judging| matches!(judging, Judging::Reading(it, _) if *it == job);
        let Some(Judging::Reading(_, candidates)) = self.judging.take_if(is_it) else {
            return;
        };
        match found {
            Some(found) => self.judging = Some(Judging::Read(ToJudge::new(candidates, found))),
            None => self.try_again(candidates),
        }
    }

    /// Takes out the candidates that wait for nothing but to be judged.
    pub(crate) fn take_to_judge(&mut self) -> Option<ToJudge> {
        match self.judging.take()? {
            Judging::Read(to_judge) => Some(to_judge),
            reading @ Judging::Reading(..) => {
                self.judging = Some(reading);
                None
            }
        }
    }

    /// Candidates to be judged next, up to `most`, and what to read for them: the body of
    /// a first version too, where `may_want_first` of its collection, but no more than
    /// `most_bodies`. `None` while others are judged, or where there are none.
    pub(crate) fn next_to_judge(
        &mut self,
        most: usize,
        most_bodies: usize,
        may_want_first: impl Fn(&str) -> bool,
    ) -> Option<(Vec<Candidate>, Wanted)> {
        if self.judging.is_some() || self.candidates.is_empty() || most == 0 {
            return None;
        }
        self.overlay.forget_landed(self.landed);
        let mut batch = Vec::new();
        let mut wanted = Wanted::default();
        while batch.len() < most
            && let Some(mut candidate) = self.candidates.pop_front()
        {
            candidate.first_read = may_want_first(candidate.version().collection());
            if let Some(first) = self.first_to_read(&candidate)
                && !wanted.bodies.contains(&first)
            {
                if wanted.bodies.len() >= most_bodies.max(1) {
                    self.candidates.push_front(candidate);
                    break;
                }
                wanted.bodies.push(first);
            }
            self.want_rows(&candidate, &mut wanted);
            batch.push(candidate);
        }
        wanted.versions.sort_unstable();
        wanted.versions.dedup();
        wanted.records.sort_unstable();
        wanted.records.dedup();
        Some((batch, wanted))
    }

    /// The first version whose body a candidate's may be measured by and which is not on
    /// the overlay.
    fn first_to_read(&self, candidate: &Candidate) -> Option<ContentId> {
        let version = candidate.version();
        let is_measured = candidate.first_read && version.body().is_some();
        let first = version.genesis().filter(|_| is_measured)?;
        self.overlay.first(&first).is_none().then_some(first)
    }

    /// Adds the rows that a candidate names and that are not on the overlay.
    fn want_rows(&self, candidate: &Candidate, wanted: &mut Wanted) {
        let version = candidate.version();
        let ids = [Some(version.id()), version.prev(), version.genesis()];
        for id in ids.into_iter().flatten() {
            if self.overlay.version(&id).is_none() {
                wanted.versions.push(id);
            }
        }
        match self.overlay.record(version.key()) {
            None => wanted.records.push(version.key().to_owned()),
            // A row may outlive its current version on the overlay: another of
            // the record's was placed after it.
            Some(row) if self.overlay.version(&row.current).is_none() => {
                wanted.versions.push(row.current);
            }
            Some(_) => {}
        }
    }

    /// Whether there is a group, and none before it is landing.
    pub(crate) fn may_land(&self) -> bool {
        self.landing.is_none() && !self.group.is_empty()
    }

    /// The group as a batch to write, if none is landing and there is anything in it.
    pub(crate) fn next_to_land(&mut self, job: JobId) -> Option<&Landing> {
        if !self.may_land() {
            return None;
        }
        let batch = Arc::new(self.group.batch.take());
        let stored = std::mem::take(&mut self.group.stored);
        let there_already = std::mem::take(&mut self.group.there_already);
        let refused = std::mem::take(&mut self.group.refused);
        let number = self.group_number;
        self.group_number += 1;
        Some(self.landing.insert(Landing {
            job,
            number,
            batch,
            stored,
            there_already,
            refused,
        }))
    }

    /// The commit that landed.
    pub(crate) fn landed(&mut self, job: JobId) -> Option<Landing> {
        let landing = self.landing.take_if(|landing| landing.job == job)?;
        self.landed = landing.number;
        Some(landing)
    }

    /// After a failed commit: everything judged on the overlay is judged again,
    /// in the order it was. So is what rows were read for, or are: those that were on
    /// the overlay were left out.
    pub(crate) fn judge_again(&mut self) {
        let judging = match self.judging.take() {
            None => VecDeque::new(),
            Some(Judging::Reading(_, candidates)) => candidates.into(),
            Some(Judging::Read(to_judge)) => to_judge.candidates,
        };
        let mut in_doubt = std::mem::take(&mut self.group.there_already);
        let mut landing = Vec::new();
        if let Some(failed) = self.landing.take() {
            in_doubt.extend(failed.rows().cloned());
            landing = failed.stored;
            landing.extend(failed.refused.into_iter().map(|(candidate, _)| candidate));
        }
        self.in_doubt
            .extend(in_doubt.into_iter().map(|row| (row.id, row)));
        self.group.batch = BatchBuilder::default();
        let mut grouped = std::mem::take(&mut self.group.stored);
        let refused = std::mem::take(&mut self.group.refused);
        grouped.extend(refused.into_iter().map(|(candidate, _)| candidate));
        for candidate in landing.into_iter().chain(grouped).chain(judging).rev() {
            self.candidates.push_front(candidate);
        }
        self.group_number += 1;
        self.overlay.clear();
    }

    /// Notes of a version that is judged whether it `is_held`: if a commit that seemed to
    /// fail was to write it, that commit landed, and what follows is still to be done.
    pub(crate) fn settle_doubt(&mut self, id: ContentId, is_held: bool) {
        if let Some(row) = self.in_doubt.remove(&id)
            && is_held
        {
            self.group.there_already.push(row);
        }
    }

    /// Whether nothing is on its way in.
    pub(crate) fn is_idle(&self) -> bool {
        self.takes.is_empty()
            && self.candidates.is_empty()
            && self.judging.is_none()
            && self.landing.is_none()
            && self.group.is_empty()
    }
}

/// The id a version claims, if it is one.
pub(crate) fn claimed_id(version: &Value) -> Option<ContentId> {
    let claimed = version.as_object()?.get("id")?.as_str()?;
    ContentId::parse(claimed).ok()
}

/// Canonical bytes of a whole version, near enough for a bound.
fn canonical_bytes(version: &Version) -> usize {
    const ID_AND_SIGNATURE: usize = 180;
    version.signed_part().len() + version.body_canonical().map_or(0, <[u8]>::len) + ID_AND_SIGNATURE
}
