//! Judging and placing: 02 §9 steps 7 and 8, 05 §10.1.
//!
//! What comes here passed steps 1–6 in the pool. It is judged against the rows
//! read for it with the overlay over them, and what is stored goes on the
//! overlay at once, so that the next version of the same batch sees it.

use minca_record::json::{self, Value};
use minca_record::placement::{Form, Placed, RecordRow as PlacedRecord, place};
use minca_record::rules::FirstVersion;
use minca_record::version::{Missing as ChainMissing, Parts, Version, follows};

use crate::Engine;
use crate::event::{Answer, Count, Effect};
use crate::intake::Candidate;
use crate::pending::View;
use crate::rows::{Found, HeldVersion, RecordRow, VersionRow};
use crate::standing::{Question, Standing};
use crate::waiting::Missing;

/// What becomes of a candidate.
enum Verdict {
    /// Held already in the form that would be kept: acknowledged, nothing stored.
    Held,
    /// To be placed; whether it counts is for readers.
    Store(Answer),
    Later(Missing),
    Refused(&'static str),
    /// To be judged again, with all that come after it.
    Again,
}

impl Engine {
    /// Judges candidates in order and places what is to be stored.
    pub(crate) fn judge_batch(&mut self, candidates: Vec<Candidate>, found: &Found) {
        let mut candidates = candidates.into_iter();
        while let Some(candidate) = candidates.next() {
            let verdict = self.verdict(&candidate, found);
            if matches!(verdict, Verdict::Again) {
                let again = std::iter::once(candidate).chain(candidates);
                self.intake.try_again(again.collect());
                break;
            }
            let id = candidate.id();
            let is_committed =
                self.intake.overlay.version(&id).is_none() && found.versions.contains_key(&id);
            self.intake.settle_doubt(id, is_committed);
            match verdict {
                Verdict::Again => {}
                Verdict::Held => {
                    self.count(Count::Answer(Answer::Held));
                    self.intake.group.stored.push(candidate);
                }
                Verdict::Store(answer) => {
                    self.count(Count::Answer(answer));
                    self.place(&candidate, found);
                    self.intake.group.stored.push(candidate);
                }
                Verdict::Later(missing) => self.have_wait(candidate, missing),
                Verdict::Refused(reason) => self.refuse(&candidate, reason),
            }
        }
        self.follow_read_key();
    }

    /// Has the group write the read key that its access changes make the current one.
    fn follow_read_key(&mut self) {
        if !self.judge.advance() {
            return;
        }
        let current = self.judge.read_key(self.read_key.as_ref());
        if let Some(current) = current.filter(|current| Some(*current) != self.read_key) {
            self.read_key = Some(current);
            self.intake.group.batch.read_key(current);
        }
    }

    fn verdict(&mut self, candidate: &Candidate, found: &Found) -> Verdict {
        let view = View {
            overlay: &self.intake.overlay,
            found,
        };
        let version = &candidate.vetted.checked.version;
        let held = view.version(&version.id());
        if let Some(held) = held
            && !would_complete(version, held, &view)
        {
            return Verdict::Held;
        }
        let root = candidate.vetted.checked.root;
        let held_at = |id| view.version(&id).map(HeldVersion::chain_place);
        let prev = version.prev().and_then(held_at);
        let genesis = version.genesis().and_then(held_at);
        match follows(version, prev.as_ref(), genesis.as_ref()) {
            Ok(ChainMissing::Nothing) => {}
            Ok(ChainMissing::Prev(_) | ChainMissing::Genesis(_)) => {
                if candidate.vetted.event.is_none()
                    && self.judge.was_no_member(&candidate.vetted.checked)
                {
                    return Verdict::Refused("not-allowed");
                }
                let missing = [version.prev(), version.genesis()].into_iter().flatten();
                return Verdict::Later(Missing {
                    ids: missing.filter(|id| view.version(id).is_none()).collect(),
                    root_named: self.judge.names(&root),
                });
            }
            Err(refusal) => return Verdict::Refused(refusal.reason()),
        }
        let first = version.genesis().and_then(|id| view.version(&id));
        let creator = first.map_or(root, |first| first.root);
        let body = first.and_then(|first| first_body(first, &view));
        let first = first.map(|first| FirstVersion {
            retain: first.retain,
            body: body.as_ref(),
        });
        let standing = self.judge.judge(&Question {
            vetted: &candidate.vetted,
            creator: &creator,
            first: candidate.first_read.then(|| first.unwrap_or_default()),
        });
        match standing {
            Standing::Stands => Verdict::Store(Answer::Stands),
            Standing::Withdrawn => Verdict::Store(Answer::Withdrawn),
            Standing::Unsettled => Verdict::Store(Answer::Unsettled),
            Standing::SeenMissing(ids) => Verdict::Later(Missing {
                ids,
                root_named: self.judge.names(&root),
            }),
            Standing::RootNotNamed => Verdict::Later(Missing {
                ids: Vec::new(),
                root_named: false,
            }),
            Standing::Refused(reason) => Verdict::Refused(reason),
            Standing::Replaying | Standing::FirstWanted => Verdict::Again,
        }
    }

    /// Places a version (05 §10.1), on the overlay and in the group's batch.
    fn place(&mut self, candidate: &Candidate, found: &Found) {
        let version = &candidate.vetted.checked.version;
        let group = self.intake.group_number;
        let arriving = Placed::from(version);
        let view = View {
            overlay: &self.intake.overlay,
            found,
        };
        let row = view.record(version.key()).cloned();
        let current = row
            .as_ref()
            .and_then(|row| view.version(&row.current))
            .cloned();
        let held = view.version(&version.id()).cloned();
        let placed_row = row
            .as_ref()
            .zip(current.as_ref())
            .map(|(row, current)| PlacedRecord {
                current: current.placed(),
                first: row.first,
            });
        let held_form = held.as_ref().map(|held| held.placed().form);
        let placement = place(placed_row.as_ref(), &arriving, held_form);

        let batch = &mut self.intake.group.batch;
        let overlay = &mut self.intake.overlay;
        match (placement.keep, held) {
            (Some(form), None) => {
                let row = version_row(candidate, form);
                overlay.put_version(group, row.held());
                overlay.put_first(group, &candidate.vetted);
                batch.keep(row);
            }
            (Some(Form::Whole), Some(held)) => {
                if let Some(body) = version.body_canonical() {
                    batch.fill(held.id, body.to_vec());
                    overlay.put_version(
                        group,
                        HeldVersion {
                            whole: true,
                            ..held
                        },
                    );
                }
            }
            (Some(Form::Stub), Some(held)) => {
                batch.drop_body(held.id);
                overlay.put_version(
                    group,
                    HeldVersion {
                        whole: false,
                        ..held
                    },
                );
            }
            (None, _) => {}
        }
        if let Some(dropped) = placement.drop_body
            && let Some(current) = current.filter(|current| current.id == dropped)
        {
            batch.drop_body(dropped);
            overlay.put_version(
                group,
                HeldVersion {
                    whole: false,
                    ..current
                },
            );
        }
        if placement.set_current || placement.set_first.is_some() {
            let kept_current = row.as_ref().map(|row| row.current);
            let kept_first = row.as_ref().and_then(|row| row.first);
            let row = RecordRow {
                key: version.key().to_owned(),
                current: kept_current
                    .filter(|_| !placement.set_current)
                    .unwrap_or(arriving.id),
                first: placement.set_first.or(kept_first),
            };
            overlay.put_record(group, row.clone());
            batch.record(row);
        }
    }

    /// Has a version wait, and asks its sender for what it follows (05 §8 step 6).
    fn have_wait(&mut self, candidate: Candidate, missing: Missing) {
        self.count(Count::Answer(Answer::Later));
        let version = &candidate.vetted.checked.version;
        let collection: Box<str> = version.collection().into();
        let followed: Vec<_> = [version.prev(), version.genesis()]
            .into_iter()
            .flatten()
            .filter(|id| missing.ids.contains(id))
            .collect();
        let (peer, did, take) = (candidate.peer, candidate.did, candidate.take);
        let candidate = Candidate {
            take: None,
            ..candidate
        };
        let gave_way = self.waiting.insert(candidate, missing);
        for _ in 0..gave_way {
            self.count(Count::Limited("waiting"));
        }
        let refused = |id: &_| self.refusals.knows(did, *id);
        let to_ask: Vec<_> = followed.into_iter().filter(|id| !refused(id)).collect();
        if let Some(peer) = self.peers.get_mut(&peer) {
            for id in to_ask {
                peer.asks.ask(id, &collection, true);
            }
        }
        self.one_of_take_done(take);
    }

    /// Drops a version and remembers it as refused from its sender (02 §9.5).
    fn refuse(&mut self, candidate: &Candidate, reason: &'static str) {
        self.count(Count::Answer(Answer::Refused));
        self.count(Count::Refused(reason));
        self.refusals.remember(candidate.did, candidate.id());
        self.one_of_take_done(candidate.take);
    }

    pub(crate) fn count(&mut self, count: Count) {
        self.effects.push(Effect::Count(count));
    }
}

/// Whether a copy of a held version brings a body that is to be kept: it is
/// whole, a stub is held, and that is current or retained (05 §10.1).
fn would_complete(version: &Version, held: &HeldVersion, view: &View<'_>) -> bool {
    let is_current = || {
        view.record(version.key())
            .is_some_and(|row| row.current == held.id)
    };
    !held.whole && !version.is_stub() && (held.retain || is_current())
}

/// The body of a first version, as far as it is held: on the overlay, or read.
fn first_body(first: &HeldVersion, view: &View<'_>) -> Option<Value> {
    if let Some(version) = view.overlay.first(&first.id) {
        return version.body().cloned();
    }
    let read = view.found.bodies.get(&first.id)?;
    json::read(read, json::MESSAGE_DEPTH).ok()
}

/// A version as it is written: its pieces, without its body where it is kept as a stub.
fn version_row(candidate: &Candidate, form: Form) -> VersionRow {
    let version = &candidate.vetted.checked.version;
    let parts = Parts::split(version);
    VersionRow {
        id: version.id(),
        collection: version.collection().to_owned(),
        timestamp: version.item().0,
        key: version.key().to_owned(),
        seq: version.seq(),
        genesis: version.genesis(),
        root: candidate.vetted.checked.root,
        retain: version.retain(),
        deleted: version.deleted(),
        envelope: parts.envelope,
        proof: parts.proof,
        body: parts.body.filter(|_| form == Form::Whole),
    }
}
