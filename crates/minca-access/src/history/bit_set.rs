//! Sets of events, by their index, that share what they have in common.
//!
//! A set is a list of chunks behind reference counts. A copy costs a pointer per
//! 2,048 events, and a copy that then grows by one copies one chunk: in a history
//! that is one line, what each event saw costs 256 bytes beside those pointers.

use std::sync::Arc;

use super::Index;

const WORD: usize = 64;
const WORDS: usize = 32;
/// Events per chunk.
const CHUNK: usize = WORD * WORDS;

type Chunk = [u64; WORDS];

/// A set of events.
#[derive(Clone, Debug, Default)]
pub(super) struct BitSet {
    /// `None` where a whole chunk is empty.
    chunks: Vec<Option<Arc<Chunk>>>,
}

fn place(index: Index) -> (usize, usize, u64) {
    let index = index as usize;
    (index / CHUNK, index % CHUNK / WORD, 1 << (index % WORD))
}

impl BitSet {
    pub(super) fn contains(&self, index: Index) -> bool {
        let (chunk, word, bit) = place(index);
        matches!(self.chunks.get(chunk), Some(Some(words)) if words[word] & bit != 0)
    }

    pub(super) fn insert(&mut self, index: Index) {
        let (chunk, word, bit) = place(index);
        if self.chunks.len() <= chunk {
            self.chunks.resize(chunk + 1, None);
        }
        let words = self.chunks[chunk].get_or_insert_with(|| Arc::new([0; WORDS]));
        if words[word] & bit == 0 {
            Arc::make_mut(words)[word] |= bit;
        }
    }

    pub(super) fn remove(&mut self, index: Index) {
        let (chunk, word, bit) = place(index);
        if let Some(Some(words)) = self.chunks.get_mut(chunk)
            && words[word] & bit != 0
        {
            Arc::make_mut(words)[word] &= !bit;
        }
    }

    /// Adds every member of another set.
    pub(super) fn unite(&mut self, other: &BitSet) {
        if self.chunks.len() < other.chunks.len() {
            self.chunks.resize(other.chunks.len(), None);
        }
        for (own, other) in self.chunks.iter_mut().zip(&other.chunks) {
            let Some(theirs) = other else { continue };
            match own {
                None => *own = Some(Arc::clone(theirs)),
                Some(ours) if Arc::ptr_eq(ours, theirs) => {}
                Some(ours) => {
                    if !is_within(theirs, ours) {
                        let words = Arc::make_mut(ours);
                        words.iter_mut().zip(&**theirs).for_each(|(a, b)| *a |= b);
                    }
                }
            }
        }
    }

    /// The members that are in `other` too.
    pub(super) fn intersection(&self, other: &BitSet) -> BitSet {
        let chunks = self.chunks.iter().zip(&other.chunks);
        let chunks = chunks.map(|pair| match pair {
            (Some(a), Some(b)) if Arc::ptr_eq(a, b) => Some(Arc::clone(a)),
            (Some(a), Some(b)) => {
                let mut both = **a;
                both.iter_mut().zip(&**b).for_each(|(a, b)| *a &= b);
                both.iter().any(|word| *word != 0).then(|| Arc::new(both))
            }
            _ => None,
        });
        BitSet {
            chunks: chunks.collect(),
        }
    }

    /// Whether the two have a member in common.
    pub(super) fn meets(&self, other: &BitSet) -> bool {
        let mut chunks = self.chunks.iter().zip(&other.chunks);
        chunks.any(|pair| match pair {
            (Some(a), Some(b)) => a.iter().zip(&**b).any(|(a, b)| a & b != 0),
            _ => false,
        })
    }

    /// Whether every member is in `other`.
    pub(super) fn is_within(&self, other: &BitSet) -> bool {
        self.difference(other).next().is_none()
    }

    /// The members, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = Index> + '_ {
        self.chunks.iter().enumerate().flat_map(|(number, chunk)| {
            let words = chunk.iter().flat_map(|words| words.iter().enumerate());
            words.flat_map(move |(word, bits)| ones(number * CHUNK + word * WORD, *bits))
        })
    }

    /// The members that aren't in `other`, ascending.
    pub(super) fn difference<'a>(&'a self, other: &'a BitSet) -> impl Iterator<Item = Index> + 'a {
        self.chunks
            .iter()
            .enumerate()
            .filter_map(move |(number, chunk)| {
                let ours = chunk.as_ref()?;
                let theirs = other.chunks.get(number).and_then(Option::as_ref);
                if theirs.is_some_and(|theirs| Arc::ptr_eq(ours, theirs)) {
                    return None;
                }
                Some((number, ours, theirs))
            })
            .flat_map(|(number, ours, theirs)| {
                (0..WORDS).flat_map(move |word| {
                    let bits = ours[word] & !theirs.map_or(0, |theirs| theirs[word]);
                    ones(number * CHUNK + word * WORD, bits)
                })
            })
    }

    /// The greatest member that is in `other` too and not in `except`.
    pub(super) fn last_common(&self, other: &BitSet, except: &BitSet) -> Option<Index> {
        let chunks = self.chunks.iter().zip(&other.chunks).enumerate().rev();
        for (number, pair) in chunks {
            let (Some(a), Some(b)) = pair else { continue };
            let except = except.chunks.get(number).and_then(Option::as_ref);
            for word in (0..WORDS).rev() {
                let bits = a[word] & b[word] & !except.map_or(0, |except| except[word]);
                if bits != 0 {
                    let bit = WORD - 1 - bits.leading_zeros() as usize;
                    return Some((number * CHUNK + word * WORD + bit) as Index);
                }
            }
        }
        None
    }

    pub(super) fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// How many members there are.
    pub(super) fn len(&self) -> usize {
        let words = self.chunks.iter().flatten().flat_map(|words| words.iter());
        words.map(|word| word.count_ones() as usize).sum()
    }

    /// How many words an operation on the whole set looks at.
    pub(super) fn words(&self) -> u64 {
        (self.chunks.len() * WORDS) as u64
    }

    /// About how many bytes the set takes if it shares nothing.
    pub(super) fn bytes(&self) -> usize {
        let full = self.chunks.iter().flatten().count();
        self.chunks.len() * size_of::<usize>() + full * (size_of::<Chunk>() + 16)
    }
}

fn is_within(part: &Chunk, whole: &Chunk) -> bool {
    part.iter()
        .zip(whole)
        .all(|(part, whole)| part & !whole == 0)
}

fn ones(base: usize, mut bits: u64) -> impl Iterator<Item = Index> {
    std::iter::from_fn(move || {
        (bits != 0).then(|| {
            let bit = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            (base + bit) as Index
        })
    })
}

impl FromIterator<Index> for BitSet {
    fn from_iter<I: IntoIterator<Item = Index>>(members: I) -> BitSet {
        let mut set = BitSet::default();
        members.into_iter().for_each(|member| set.insert(member));
        set
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn members() -> impl Strategy<Value = Vec<Index>> {
        prop::collection::vec(
            prop_oneof![0..200_u32, 1_900..2_200_u32, 6_000..6_200_u32],
            0..60,
        )
    }

    proptest! {
        #[test]
        fn a_set_is_as_a_sorted_set_of_numbers(
            ours in members(), theirs in members(), gone in members(),
        ) {
            let mut own: BitSet = ours.iter().copied().collect();
            let mut other: BitSet = theirs.iter().copied().collect();
            let mut own_model: BTreeSet<Index> = ours.into_iter().collect();
            let other_model: BTreeSet<Index> = theirs.into_iter().collect();
            for index in &gone {
                own.remove(*index);
                own_model.remove(index);
            }
            let gone: BitSet = gone.into_iter().collect();
            prop_assert_eq!(own.len(), own_model.len());
            prop_assert_eq!(own.is_empty(), own_model.is_empty());
            prop_assert!(own.iter().eq(own_model.iter().copied()));
            prop_assert!(other_model.iter().all(|index| other.contains(*index)));
            let both: Vec<Index> = own_model.intersection(&other_model).copied().collect();
            prop_assert!(own.intersection(&other).iter().eq(both.iter().copied()));
            prop_assert_eq!(own.meets(&other), !both.is_empty());
            let last = other_model.iter().copied().rfind(|index| own_model.contains(index));
            prop_assert_eq!(own.last_common(&other, &BitSet::default()), last);
            let open = both.iter().copied().rfind(|index| !gone.contains(*index));
            prop_assert_eq!(own.last_common(&other, &gone), open);
            prop_assert!(own.difference(&other).eq(own_model.difference(&other_model).copied()));
            prop_assert_eq!(own.is_within(&other), own_model.is_subset(&other_model));
            other.unite(&own);
            prop_assert!(own.is_within(&other));
            prop_assert!(other.iter().eq(own_model.union(&other_model).copied()));
        }
    }
}
