//! What a replay spends, and what it need not work out twice.

use std::collections::HashMap;

use super::Index;

/// The most answers about definers that are remembered. At about 50 bytes each.
const MOST_ANSWERS: usize = 1 << 16;

/// Whether the definer of each role definition could have run one command itself,
/// as of the definition's own view.
pub(super) type Answers = HashMap<Index, bool>;

/// The meter, and answers that never change.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// Steps spent: a step is a lookup, a word of a set, or a statement of a policy
    /// judged for one value. On the order of some nanoseconds.
    pub(super) spent: u64,
    /// By invocation, in canonical bytes.
    answers: HashMap<Vec<u8>, Answers>,
    held: usize,
}

impl Work {
    /// Takes out what is known for an invocation.
    pub(super) fn take_answers(&mut self, invocation: &[u8]) -> Answers {
        let answers = self.answers.remove(invocation).unwrap_or_default();
        self.held -= answers.len();
        answers
    }

    /// Puts it back, with what was learnt.
    pub(super) fn keep_answers(&mut self, invocation: Vec<u8>, answers: Answers) {
        if self.held + answers.len() > MOST_ANSWERS {
            self.answers.clear();
            self.held = 0;
        }
        if answers.len() <= MOST_ANSWERS {
            self.held += answers.len();
            self.answers.insert(invocation, answers);
        }
    }
}
