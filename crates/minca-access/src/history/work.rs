//! What a replay spends, and what it need not work out twice.

use std::collections::HashMap;

use super::Index;
use super::view::DefinitionState;

/// The most answers about definers that are remembered. At about 50 bytes each.
const MOST_ANSWERS: usize = 1 << 16;

/// The most states of rival definitions that are remembered. Each is at least two latest
/// changes, as a rule no more.
const MOST_DEFINITIONS: usize = 1 << 8;

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
    /// What several latest changes of a definition come to in own views.
    pub(super) definitions: HashMap<Vec<Index>, DefinitionState>,
}

impl Work {
    /// Remembers what several latest changes of a definition come to.
    pub(super) fn keep_definition(&mut self, latest: &[Index], state: &DefinitionState) {
        if self.definitions.len() >= MOST_DEFINITIONS {
            self.definitions.clear();
        }
        self.definitions.insert(latest.to_vec(), state.clone());
    }

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
