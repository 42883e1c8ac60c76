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

/// Tells validities apart, for what is remembered of their views.
pub(super) type Generation = u64;

/// What is known of one invocation.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// In own views: these never change.
    pub(super) own: Answers,
    /// In the views of one validity, which must be the one asked in.
    pub(super) among: Answers,
    pub(super) generation: Generation,
}

impl Known {
    fn len(&self) -> usize {
        self.own.len() + self.among.len()
    }

    /// Forgets the older half: what comes next is asked of the newer ones as a rule, each of
    /// which stands for all it went down to.
    fn forget_older(&mut self) {
        for answers in [&mut self.own, &mut self.among] {
            let oldest = answers.keys().min().copied().unwrap_or_default();
            let newest = answers.keys().max().copied().unwrap_or_default();
            answers.retain(|index, _| *index > oldest + (newest - oldest) / 2);
        }
    }
}

/// The meter, and answers that never change.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// Steps spent: a step is a lookup, a word of a set, or a statement of a policy
    /// judged for one value. On the order of some nanoseconds.
    pub(super) spent: u64,
    /// By invocation, in canonical bytes.
    answers: HashMap<Vec<u8>, Known>,
    held: usize,
    generations: Generation,
    /// What several latest changes of a definition come to, by the generation asked in.
    definitions: HashMap<Vec<Index>, (Option<Generation>, DefinitionState)>,
}

impl Work {
    /// One that no validity has.
    pub(super) fn next_generation(&mut self) -> Generation {
        self.generations += 1;
        self.generations
    }

    /// What several latest changes of a definition were found to come to in the views of
    /// one validity, or in own ones.
    pub(super) fn known_definition(
        &self,
        generation: Option<Generation>,
        latest: &[Index],
    ) -> Option<&DefinitionState> {
        let (known_in, state) = self.definitions.get(latest)?;
        (*known_in == generation).then_some(state)
    }

    /// Remembers that.
    pub(super) fn keep_definition(
        &mut self,
        generation: Option<Generation>,
        latest: &[Index],
        state: &DefinitionState,
    ) {
        if self.definitions.len() >= MOST_DEFINITIONS {
            self.definitions.clear();
        }
        let kept = (generation, state.clone());
        self.definitions.insert(latest.to_vec(), kept);
    }

    /// Takes out what is known for an invocation: of own views, and of those of one
    /// validity if it is asked in one.
    pub(super) fn take_answers(
        &mut self,
        invocation: &[u8],
        generation: Option<Generation>,
    ) -> Known {
        let mut known = self.answers.remove(invocation).unwrap_or_default();
        self.held -= known.len();
        if let Some(generation) = generation
            && known.generation != generation
        {
            known.among.clear();
            known.generation = generation;
        }
        known
    }

    /// Puts it back, with what was learnt.
    pub(super) fn keep_answers(&mut self, invocation: Vec<u8>, mut known: Known) {
        if known.len() > MOST_ANSWERS {
            known.forget_older();
        }
        if self.held + known.len() > MOST_ANSWERS {
            self.answers.clear();
            self.held = 0;
        }
        if known.len() <= MOST_ANSWERS {
            self.held += known.len();
            self.answers.insert(invocation, known);
        }
    }
}
