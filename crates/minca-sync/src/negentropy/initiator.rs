//! The asking side of reconciling (05 §3.4).

use std::ops::Range;

use super::{
    Bound, Found, FrameLimit, ItemSet, Malformed, NotLoaded,
    answer::{Answer, Progress, checked_version},
    message::{VERSION, Writer},
    split::split,
};

/// The first message of a session: the whole set.
///
/// # Errors
/// [`NotLoaded`]: it is called again once those are loaded besides what is now.
pub fn initiate(set: &impl ItemSet) -> Result<Vec<u8>, NotLoaded> {
    let mut out = Writer::new();
    split(&mut out, set, 0..set.len(), &Bound::END)?;
    Ok(out.into_bytes())
}

/// One round of an initiator: what it makes of one answer. Nothing need be kept
/// between rounds but what was found.
#[derive(Debug)]
pub struct Initiator {
    answer: Answer,
}

/// What an [`Initiator`] came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InitiatorStep {
    /// Load the items in these ranges of indices, keep them loaded, and call
    /// [`step`](Initiator::step) again.
    Needs(Vec<Range<usize>>),
    /// Many ids were found; call [`step`](Initiator::step) again for the rest.
    Found(Found),
    /// The round is over.
    Done {
        /// What was found since the last step.
        found: Found,
        /// The next message to send; `None` where there is nothing more to say
        /// and the session is over.
        next: Option<Vec<u8>>,
    },
}

impl Initiator {
    /// Begins a round with the responder's `message`, reading it to its end.
    ///
    /// # Errors
    /// [`Malformed`], also for a version not spoken here.
    pub fn new(message: Vec<u8>, limit: FrameLimit) -> Result<Self, Malformed> {
        let version = checked_version(&message)?;
        if version != VERSION {
            return Err(Malformed::OtherVersion(version));
        }
        Ok(Self {
            answer: Answer::new(message, limit, true),
        })
    }

    /// Goes on with the round. If the set changed since the last call it begins
    /// anew, and may name ids again. Once done, it isn't called again.
    pub fn step(&mut self, set: &impl ItemSet) -> InitiatorStep {
        match self.answer.run(set) {
            Progress::Needs(ranges) => InitiatorStep::Needs(ranges),
            Progress::Pause => InitiatorStep::Found(self.answer.take_found()),
            Progress::Done => {
                let message = self.answer.take_output();
                InitiatorStep::Done {
                    found: self.answer.take_found(),
                    next: (message.len() > 1).then_some(message),
                }
            }
        }
    }
}
