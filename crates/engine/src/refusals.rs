//! What was refused from whom, so that it is not asked of that peer again.
//!
//! Never by id alone: a stranger's mangled copy has the genuine version's id
//! (02 §9.5).

use std::collections::{HashSet, VecDeque};

use minca_record::content_id::ContentId;
use minca_record::did::Did;

/// A bounded memory of (peer, id); the oldest is forgotten first.
#[derive(Debug)]
pub(crate) struct Refusals {
    most: usize,
    order: VecDeque<(Did, ContentId)>,
    known: HashSet<(Did, ContentId)>,
}

impl Refusals {
    pub(crate) fn new(most: usize) -> Refusals {
        Refusals {
            most,
            order: VecDeque::new(),
            known: HashSet::new(),
        }
    }

    pub(crate) fn remember(&mut self, peer: Did, id: ContentId) {
        if self.most == 0 || !self.known.insert((peer, id)) {
            return;
        }
        self.order.push_back((peer, id));
        if self.order.len() > self.most
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    pub(crate) fn knows(&self, peer: Did, id: ContentId) -> bool {
        self.known.contains(&(peer, id))
    }
}
