//! Candidates that are being judged, with the rows they name.

use std::collections::{HashMap, VecDeque};

use minca_record::content_id::ContentId;
use minca_record::json::{self, Value};

use crate::event::JobId;
use crate::intake::Candidate;
use crate::rows::Found;

/// Candidates taken out of line to be judged.
#[derive(Debug)]
pub(crate) enum Judging {
    /// The rows they name are being read.
    Reading(JobId, Vec<Candidate>),
    /// The rows are here, and these are left to be judged against them.
    Read(ToJudge),
}

/// Candidates with the rows they name.
#[derive(Debug)]
pub(crate) struct ToJudge {
    pub(crate) candidates: VecDeque<Candidate>,
    pub(crate) found: Found,
    /// The bodies of first versions among what was found, once one was looked at.
    first_bodies: HashMap<ContentId, Value>,
}

impl ToJudge {
    pub(crate) fn new(candidates: Vec<Candidate>, found: Found) -> ToJudge {
        ToJudge {
            candidates: candidates.into(),
            found,
            first_bodies: HashMap::new(),
        }
    }

    /// Reads the body of the first version that a candidate is measured by, where it was
    /// found: once, however many candidates are measured by it.
    pub(crate) fn read_first_body(&mut self, candidate: &Candidate) {
        let first = candidate.version().genesis();
        if let Some(first) = first.filter(|_| candidate.first_read)
            && let Some(body) = self.found.bodies.remove(&first)
            && let Ok(body) = json::read(&body, json::MESSAGE_DEPTH)
        {
            self.first_bodies.insert(first, body);
        }
    }

    /// A first version's body, if it was found and read.
    pub(crate) fn first_body(&self, first: &ContentId) -> Option<&Value> {
        self.first_bodies.get(first)
    }
}
