//! Judging and placing: 02 §9 steps 7 and 8, 05 §10.1.
//!
//! What comes here passed steps 1–6 in the pool. It is judged against the rows
//! read for it with the overlay over them, and what is stored goes on the
//! overlay at once, so that the next version of the same batch sees it.

use minca_record::placement::{Form, Placed, RecordRow as PlacedRecord, place};
use minca_record::rules::FirstVersion;
use minca_record::version::{Missing as ChainMissing, Parts, Version, follows};

use crate::Engine;
use crate::event::{Answer, Count, Effect};
use crate::intake::Candidate;
use crate::judging::{Judging, ToJudge};
use crate::pending::View;
use crate::rows::{Found, HeldVersion, RecordRow, VersionRow};
use crate::standing::{Question, Standing};
use crate::waiting::Missing;

/// What becomes of a candidate.
enum Verdict {
    /// Held already in the form that would be kept: acknowledged, nothing stored.
    Held,
    /// To be placed; whether it counts is for readers. Of an access change it is known
    /// as it lands.
    Store(Option<Answer>),
    Later(Missing),
    Refused(&'static str),
    /// To be judged again once the replay is done with what came before it.
    NotYet,
    /// To be judged again with the body of its record's first version.
    Unread,
}

impl Engine {
    /// Judges candidates in order and places what is to be stored, until that took
    /// enough of the thread. False when some are left that could be judged on.
    pub(crate) fn judge_batch(&mut self, mut to_judge: ToJudge) -> bool {
        let enough = self.judge.spent().saturating_add(self.config.replay_steps);
        while let Some(candidate) = to_judge.candidates.pop_front() {
            to_judge.read_first_body(&candidate);
            let verdict = self.verdict(&candidate, &to_judge);
            match verdict {
                Verdict::NotYet => {
                    to_judge.candidates.push_front(candidate);
                    self.intake.judging = Some(Judging::Read(to_judge));
                    return true;
                }
                Verdict::Unread => {
                    to_judge.candidates.push_front(candidate);
                    self.intake.try_again(to_judge.candidates.into());
                    return true;
                }
                verdict => self.carry_out(verdict, candidate, &to_judge.found),
            }
            if self.judge.spent() >= enough && !to_judge.candidates.is_empty() {
                self.intake.judging = Some(Judging::Read(to_judge));
                return false;
            }
        }
        true
    }

    fn carry_out(&mut self, verdict: Verdict, candidate: Candidate, found: &Found) {
        let id = candidate.id();
        let is_committed =
            self.intake.overlay.version(&id).is_none() && found.versions.contains_key(&id);
        self.intake.settle_doubt(id, is_committed);
        match verdict {
            Verdict::Held => {
                self.count(Count::Answer(Answer::Held));
                // After a commit that only seemed to fail the judge doesn't know of it.
                self.judge.take_in(&candidate.vetted);
                self.intake.group.stored.push(candidate);
            }
            Verdict::Store(answer) => {
                if let Some(answer) = answer {
                    self.count(Count::Answer(answer));
                }
                self.place(&candidate, found);
                self.intake.group.stored.push(candidate);
            }
            Verdict::Later(missing) => self.have_wait(candidate, missing),
            Verdict::Refused(reason) if self.judge.is_ahead() => {
                self.intake.group.refused.push((candidate, reason));
            }
            Verdict::Refused(reason) => self.refuse(&candidate, reason),
            Verdict::NotYet | Verdict::Unread => {}
        }
    }

    fn verdict(&mut self, candidate: &Candidate, to_judge: &ToJudge) -> Verdict {
        let view = View {
            overlay: &self.intake.overlay,
            found: &to_judge.found,
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
                    root_named: self.judge.names_root(&candidate.vetted),
                });
            }
            Err(refusal) => return Verdict::Refused(refusal.reason()),
        }
        let first = version.genesis().and_then(|id| view.version(&id));
        let creator = first.map_or(root, |first| first.root);
        let first = first.map(|first| FirstVersion {
            retain: first.retain,
            body: match view.overlay.first(&first.id) {
                Some(placed) => placed.body(),
                None => to_judge.first_body(&first.id),
            },
        });
        let standing = self.judge.judge(&Question {
            vetted: &candidate.vetted,
            creator: &creator,
            first: candidate.first_read.then(|| first.unwrap_or_default()),
        });
        match standing {
            Standing::Stands => Verdict::Store(Some(Answer::Stands)),
            Standing::Withdrawn => Verdict::Store(Some(Answer::Withdrawn)),
            Standing::Unsettled => Verdict::Store(Some(Answer::Unsettled)),
            Standing::Change => Verdict::Store(None),
            Standing::SeenMissing(ids) => Verdict::Later(Missing {
                ids,
                root_named: self.judge.names_root(&candidate.vetted),
            }),
            Standing::RootNotNamed => Verdict::Later(Missing {
                ids: Vec::new(),
                root_named: false,
            }),
            Standing::Refused(reason) => Verdict::Refused(reason),
            Standing::Replaying => Verdict::NotYet,
            Standing::FirstWanted => Verdict::Unread,
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
    pub(crate) fn refuse(&mut self, candidate: &Candidate, reason: &'static str) {
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
