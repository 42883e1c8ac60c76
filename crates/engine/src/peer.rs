//! What an engine knows of one connected peer.

use std::collections::{BTreeSet, HashSet, VecDeque};

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_sync::message::{Hello, Holds, Message, RequestId};

use crate::config::EngineConfig;
use crate::event::{Millis, PeerMessage};
use crate::rate::Rate;
use crate::session::Session;

/// How often a peer may ask for what.
#[derive(Debug)]
pub(crate) struct Rates {
    pub(crate) hellos: Rate,
    sessions: Rate,
    wants: Rate,
    file_wants: Rate,
    /// Sessions it began, newest last, with their rounds so far.
    served: VecDeque<(RequestId, usize)>,
    rounds_per_session: usize,
}

/// Sessions of a peer that are known as begun. It is served more all the same, each
/// further round counting as a session.
const SESSIONS_KNOWN: usize = 64;

impl Rates {
    fn new(config: &EngineConfig) -> Rates {
        Rates {
            hellos: Rate::per_minute(config.hellos_per_minute),
            sessions: Rate::per_minute(config.sessions_per_minute),
            wants: Rate::per_minute(config.wants_per_minute),
            file_wants: Rate::per_minute(config.file_wants_per_minute),
            served: VecDeque::new(),
            rounds_per_session: config.rounds_per_session,
        }
    }

    /// Takes from the allowance of what a message asks for. Where that is used up, when
    /// it may be taken.
    pub(crate) fn take(&mut self, message: &PeerMessage, now: Millis) -> Result<(), Millis> {
        let rate = match message {
            PeerMessage::Sync(Message::Want(_)) => &mut self.wants,
            PeerMessage::Sync(Message::WantFile(_)) => &mut self.file_wants,
            PeerMessage::Sync(Message::Reconcile(reconcile)) => {
                let most = self.rounds_per_session;
                let known = self.served.iter_mut().find(|(id, _)| *id == reconcile.id);
                if let Some((_, rounds)) = known.filter(|(_, rounds)| *rounds < most) {
                    *rounds += 1;
                    return Ok(());
                }
                &mut self.sessions
            }
            _ => return Ok(()),
        };
        let free_at = rate.free_at();
        if free_at > now {
            return Err(free_at);
        }
        rate.take(now);
        if let PeerMessage::Sync(Message::Reconcile(reconcile)) = message {
            self.served.retain(|(id, _)| *id != reconcile.id);
            self.served.push_back((reconcile.id, 1));
            if self.served.len() > SESSIONS_KNOWN {
                self.served.pop_front();
            }
        }
        Ok(())
    }
}

/// One connected peer. All of it is forgotten when its socket is gone (05 §6.1).
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) did: Did,
    /// Messages not handled yet, in order, with their lengths.
    pub(crate) inbox: VecDeque<(PeerMessage, usize)>,
    /// A message whose answer is being read from the store; the next one waits.
    pub(crate) answering: bool,
    /// Its next message waits for room in the intake.
    pub(crate) in_line: bool,
    pub(crate) rates: Rates,
    /// Its next message is over a rate until then.
    pub(crate) held_until: Option<Millis>,
    /// Its newest hello that was over the rate.
    pub(crate) late_hello: Option<Hello>,
    /// Bytes given to the socket that it has not taken yet.
    pub(crate) unsent: usize,
    /// Malformed messages so far (04 §7.2).
    pub(crate) malformed: u32,
    /// What it holds, by its last hello; `None` before its first.
    pub(crate) holds: Option<Holds>,
    /// Collections that differed at its last hello and whose sessions have not begun.
    pub(crate) to_begin: BTreeSet<String>,
    /// Sessions with it in which this host initiates.
    pub(crate) sessions: Vec<Session>,
    /// A hello with `reply` is owed once nothing is in flight with it.
    pub(crate) owes_level_hello: bool,
    /// Ids to be asked for, newest first, and those asked for.
    pub(crate) asks: Asks,
    /// Versions it lacks, in the order they are to be sent.
    pub(crate) offers: Offers,
    /// When its hello is due, and why the time may only come nearer.
    pub(crate) hello_due: Millis,
    /// It was left out of something while its buffer was full.
    pub(crate) skipped: bool,
}

/// What is asked of a peer with `want`.
#[derive(Debug, Default)]
pub(crate) struct Asks {
    /// Each with its collection: a `want` is of one (05 §6.3).
    queue: VecDeque<(Box<str>, ContentId)>,
    pub(crate) in_flight: Vec<Want>,
    /// Everything in the queue or in flight, so that nothing is asked for twice.
    known: HashSet<ContentId>,
}

/// A `want` that has not been answered.
#[derive(Debug)]
pub(crate) struct Want {
    pub(crate) id: RequestId,
    pub(crate) collection: Box<str>,
    /// What it asked for, in the order it asked, and as a set.
    pub(crate) order: Vec<ContentId>,
    pub(crate) ids: HashSet<ContentId>,
    pub(crate) asked: Millis,
}

/// What is sent to a peer because it lacks it.
#[derive(Debug, Default)]
pub(crate) struct Offers {
    /// Ids whose records are not known yet, newest first.
    pub(crate) to_group: VecDeque<ContentId>,
    /// Ids in the order they are to go out, each list of one record, and their number.
    grouped: VecDeque<Vec<ContentId>>,
    grouped_ids: usize,
    /// A read for them is under way.
    pub(crate) reading: bool,
}

impl Offers {
    /// Ids it holds, but those being read.
    fn len(&self) -> usize {
        self.to_group.len() + self.grouped_ids
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.to_group.is_empty() && self.grouped.is_empty() && !self.reading
    }

    /// Whether a message could be made of what is here.
    pub(crate) fn is_grouped(&self) -> bool {
        !self.grouped.is_empty()
    }

    /// Adds records' ids at the end.
    pub(crate) fn put(&mut self, records: Vec<Vec<ContentId>>) {
        self.grouped_ids += records.iter().map(Vec::len).sum::<usize>();
        self.grouped.extend(records);
    }

    /// Puts ids back that a message had no room for: they go first in the next.
    pub(crate) fn put_back(&mut self, ids: Vec<ContentId>) {
        self.grouped_ids += ids.len();
        self.grouped.push_front(ids);
    }

    /// The ids of the next message, at most `most`: whole records while they fit.
    /// A record with more than `most` goes over several.
    pub(crate) fn next_message(&mut self, most: usize) -> Vec<ContentId> {
        let mut ids = Vec::new();
        while let Some(mut record) = self.grouped.pop_front() {
            if ids.is_empty() && record.len() > most {
                self.grouped.push_front(record.split_off(most));
                ids = record;
                break;
            }
            if ids.len() + record.len() > most {
                self.grouped.push_front(record);
                break;
            }
            ids.extend(record);
        }
        self.grouped_ids -= ids.len();
        ids
    }
}

impl Asks {
    /// Begins the time anew after which wants are given up.
    pub(crate) fn still_wait(&mut self, now: Millis) {
        for want in &mut self.in_flight {
            want.asked = now;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.has_more() && self.in_flight.is_empty()
    }

    /// Whether there is anything to ask for yet.
    pub(crate) fn has_more(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Asks for an id unless it is asked for already; `first`, before all others.
    pub(crate) fn ask(&mut self, id: ContentId, collection: &str, first: bool) {
        if !self.known.insert(id) {
            return;
        }
        if first {
            self.queue.push_front((collection.into(), id));
        } else {
            self.queue.push_back((collection.into(), id));
        }
    }

    /// The ids of the next `want`: those at the head of the queue that are of one
    /// collection, at most `most`. It is in flight from now on.
    pub(crate) fn next_want(
        &mut self,
        id: RequestId,
        most: usize,
        now: Millis,
    ) -> Option<Vec<ContentId>> {
        let collection = self.queue.front()?.0.clone();
        let mut order = Vec::new();
        while order.len() < most
            && let Some((_, id)) = self.queue.pop_front_if(|(of, _)| *of == collection)
        {
            order.push(id);
        }
        let ids = order.iter().copied().collect();
        self.in_flight.push(Want {
            id,
            collection,
            order: order.clone(),
            ids,
            asked: now,
        });
        Some(order)
    }

    /// Takes the answer to a `want`. `None` if none such is in flight.
    pub(crate) fn answered(&mut self, id: RequestId) -> Option<Want> {
        let at = self.in_flight.iter().position(|want| want.id == id)?;
        let want = self.in_flight.swap_remove(at);
        for id in &want.ids {
            self.known.remove(id);
        }
        Some(want)
    }

    /// Gives up wants that heard nothing since `before`. What they asked for is
    /// found again in a later round.
    pub(crate) fn give_up(&mut self, before: Millis) -> bool {
        let known = &mut self.known;
        let count = self.in_flight.len();
        self.in_flight.retain(|want| {
            let keep = want.asked > before;
            if !keep {
                for id in &want.ids {
                    known.remove(id);
                }
            }
            keep
        });
        self.in_flight.len() != count
    }
}

impl Peer {
    pub(crate) fn new(did: Did, config: &EngineConfig, now: Millis) -> Peer {
        Peer {
            did,
            inbox: VecDeque::new(),
            answering: false,
            in_line: false,
            rates: Rates::new(config),
            held_until: None,
            late_hello: None,
            unsent: 0,
            malformed: 0,
            holds: None,
            to_begin: BTreeSet::new(),
            sessions: Vec::new(),
            owes_level_hello: false,
            asks: Asks::default(),
            offers: Offers::default(),
            hello_due: now,
            skipped: false,
        }
    }

    /// Whether the peer holds a collection, as far as it said. One that said no
    /// hello yet gets everything (05 §7).
    pub(crate) fn wants_pushed(&self, collection: &str) -> bool {
        self.holds
            .as_ref()
            .is_none_or(|holds| holds.includes(collection))
    }

    /// Whether no session, ask or offer is under way with it (05 §6.5).
    pub(crate) fn is_quiet(&self) -> bool {
        self.sessions.is_empty()
            && self.to_begin.is_empty()
            && self.asks.is_empty()
            && self.offers.is_empty()
    }

    /// Ids noted of it: found in sessions, to be asked for, to be sent.
    pub(crate) fn ids_noted(&self) -> usize {
        let in_sessions: usize = self.sessions.iter().map(Session::ids_noted).sum();
        in_sessions + self.asks.known.len() + self.offers.len()
    }

    /// Brings the time of the next hello nearer.
    pub(crate) fn hello_by(&mut self, time: Millis) {
        self.hello_due = self.hello_due.min(time);
    }
}
