//! The answering side of reconciling (05 §3.4).

use std::ops::Range;

use super::{
    FrameLimit, ItemSet, Malformed,
    answer::{Answer, Progress, checked_version},
    message::VERSION,
};

/// One answer of a responder, which keeps nothing between messages.
///
/// ```
/// use minca_sync::negentropy::{FrameLimit, Responder, ResponderStep, SortedItems};
///
/// let mut responder = Responder::new(vec![0x61, 0, 0, 2, 0], FrameLimit::SYNC)?;
/// match responder.step(&SortedItems::new()) {
///     ResponderStep::Done(message) => assert_eq!(message, [0x61, 0, 0, 2, 0]),
///     ResponderStep::Needs(ranges) => unreachable!("all is in memory, not {ranges:?}"),
/// }
/// # Ok::<(), minca_sync::negentropy::Malformed>(())
/// ```
#[derive(Debug)]
pub struct Responder {
    /// `None` where the message is in another version.
    answer: Option<Answer>,
}

/// What a [`Responder`] came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponderStep {
    /// Load the items in these ranges of indices, keep them loaded, and call
    /// [`step`](Responder::step) again.
    Needs(Vec<Range<usize>>),
    /// The message to send back.
    Done(Vec<u8>),
}

impl Responder {
    /// Begins the answer to `message`, reading it to its end.
    ///
    /// # Errors
    /// [`Malformed`]. A message in a version not spoken here is no error: it is
    /// answered with the one that is.
    pub fn new(message: Vec<u8>, limit: FrameLimit) -> Result<Self, Malformed> {
        let version = checked_version(&message)?;
        Ok(Self {
            answer: (version == VERSION).then(|| Answer::new(message, limit, false)),
        })
    }

    /// Goes on with the answer. If the set changed since the last call it
    /// begins anew. Once done, it isn't called again.
    pub fn step(&mut self, set: &impl ItemSet) -> ResponderStep {
        let Some(answer) = &mut self.answer else {
            return ResponderStep::Done(vec![VERSION]);
        };
        match answer.run(set) {
            Progress::Needs(ranges) => ResponderStep::Needs(ranges),
            // Only an initiator pauses.
            Progress::Pause | Progress::Done => ResponderStep::Done(answer.take_output()),
        }
    }
}
