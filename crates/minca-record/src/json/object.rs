//! A JSON object: members with unique names, in canonical order.

use super::text::cmp_utf16;
use super::{Text, Value};

/// A JSON object. Members have unique names and are kept sorted by name, ascending by UTF-16 code
/// unit, which is the order of the canonical form (02 §1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object {
    members: Vec<(Text, Value)>,
}

impl Object {
    /// An object without members.
    pub fn new() -> Object {
        Object::default()
    }

    /// Takes members in any order; of equal names the last counts (02 §1).
    pub(super) fn from_members(mut members: Vec<(Text, Value)>) -> Object {
        let ascending = members.is_sorted_by(|(a, _), (b, _)| a < b);
        if !ascending {
            // Stable, so that equal names keep the order they came in.
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            members.dedup_by(|later, kept| {
                let same = later.0 == kept.0;
                if same {
                    std::mem::swap(later, kept);
                }
                same
            });
        }
        Object { members }
    }

    /// The value of the member called `name`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let place = self.place(name.as_bytes()).ok()?;
        Some(&self.members[place].1)
    }

    /// The value of the member called `name`, which may hold lone surrogates.
    pub fn get_text(&self, name: &Text) -> Option<&Value> {
        let place = self.place(name.as_wtf8()).ok()?;
        Some(&self.members[place].1)
    }

    /// Whether there is a member called `name`.
    pub fn contains(&self, name: &str) -> bool {
        self.place(name.as_bytes()).is_ok()
    }

    /// Sets the member called `name`; gives back the value it had.
    pub fn insert(&mut self, name: impl Into<Text>, value: impl Into<Value>) -> Option<Value> {
        let (name, value) = (name.into(), value.into());
        match self.place(name.as_wtf8()) {
            Ok(place) => Some(std::mem::replace(&mut self.members[place].1, value)),
            Err(place) => {
                self.members.insert(place, (name, value));
                None
            }
        }
    }

    /// Takes the member called `name` out.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let place = self.place(name.as_bytes()).ok()?;
        Some(self.members.remove(place).1)
    }

    /// The members in canonical order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Text, &Value)> + DoubleEndedIterator {
        self.members.iter().map(|(name, value)| (name, value))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    fn place(&self, name: &[u8]) -> Result<usize, usize> {
        self.members
            .binary_search_by(|(own, _)| cmp_utf16(own.as_wtf8(), name))
    }
}

impl<N: Into<Text>, V: Into<Value>> FromIterator<(N, V)> for Object {
    /// Of equal names the last counts.
    fn from_iter<I: IntoIterator<Item = (N, V)>>(members: I) -> Object {
        Object::from_members(
            members
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }
}

impl<N: Into<Text>, V: Into<Value>, const COUNT: usize> From<[(N, V); COUNT]> for Object {
    fn from(members: [(N, V); COUNT]) -> Object {
        members.into_iter().collect()
    }
}

impl IntoIterator for Object {
    type Item = (Text, Value);
    type IntoIter = std::vec::IntoIter<(Text, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[derive(Clone, Debug)]
    enum Step {
        Insert(u8, u32),
        Remove(u8),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            (0u8..12, any::<u32>()).prop_map(|(name, value)| Step::Insert(name, value)),
            (0u8..12).prop_map(Step::Remove),
        ];
        proptest::collection::vec(step, 0..40)
    }

    /// Twelve names whose UTF-16 order is not their UTF-8 order.
    fn name(index: u8) -> String {
        [
            "",
            "a",
            "b",
            "aa",
            "\u{e000}",
            "😀",
            "\u{ffff}",
            "é",
            "z",
            "0",
            "a😀",
            "a\u{ff61}",
        ][usize::from(index)]
        .to_owned()
    }

    proptest! {
        #[test]
        fn behaves_as_a_map_ordered_by_code_units(steps in steps()) {
            let mut object = Object::new();
            let mut model: BTreeMap<Vec<u16>, (String, Value)> = BTreeMap::new();
            for step in steps {
                match step {
                    Step::Insert(index, value) => {
                        let name = name(index);
                        let before = object.insert(name.as_str(), value);
                        let model_before =
                            model.insert(name.encode_utf16().collect(), (name, Value::from(value)));
                        prop_assert_eq!(before, model_before.map(|(_, value)| value));
                    }
                    Step::Remove(index) => {
                        let name = name(index);
                        let key: Vec<u16> = name.encode_utf16().collect();
                        prop_assert_eq!(object.remove(&name), model.remove(&key).map(|(_, value)| value));
                        prop_assert!(!object.contains(&name));
                    }
                }
            }
            prop_assert_eq!(object.len(), model.len());
            for ((own, value), (name, modelled)) in object.iter().zip(model.values()) {
                prop_assert_eq!(own.as_str(), Some(name.as_str()));
                prop_assert_eq!(value, modelled);
                prop_assert_eq!(object.get(name), Some(modelled));
            }
        }

        #[test]
        fn collecting_is_inserting_one_after_the_other(members in proptest::collection::vec((0u8..12, any::<u32>()), 0..40)) {
            let collected: Object = members.iter().map(|&(index, value)| (name(index), value)).collect();
            let mut inserted = Object::new();
            for &(index, value) in &members {
                inserted.insert(name(index), value);
            }
            prop_assert_eq!(collected, inserted);
        }
    }
}
