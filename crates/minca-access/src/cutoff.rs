//! Cutoffs: what of an account's lines a change that takes from it leaves
//! standing (03 §6.3).

use std::collections::BTreeMap;

use minca_record::json::{Object, Text, Value};

use crate::no_event::NoEvent;

/// The most places a cutoff names in all.
pub const MAX_PLACES: usize = 1_024;

/// For a key and a collection, the last place of its line that a change
/// leaves standing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cutoff {
    keys: BTreeMap<Text, BTreeMap<Text, u64>>,
}

impl Cutoff {
    /// Whether the change leaves `place` of the line standing.
    pub fn covers(&self, key: &Text, collection: &Text, place: u64) -> bool {
        let covered = self.keys.get(key).and_then(|lines| lines.get(collection));
        covered.is_some_and(|last| place <= *last)
    }

    /// Whether it names no key.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Each key it names, with the last place covered of each collection. A
    /// key may have none.
    pub fn keys(&self) -> impl Iterator<Item = (&Text, &BTreeMap<Text, u64>)> {
        self.keys.iter()
    }

    /// Reads `cutoff` of a body; absent, it is empty. What names a key or a
    /// collection may be any string.
    pub(crate) fn read(body: &Object) -> Result<Cutoff, NoEvent> {
        let Some(cutoff) = body.get("cutoff") else {
            return Ok(Cutoff::default());
        };
        read(cutoff).ok_or(NoEvent::Cutoff)
    }

    /// The cutoff of a kind that must not have one.
    pub(crate) fn none_in(body: &Object) -> Result<Cutoff, NoEvent> {
        if body.contains("cutoff") {
            return Err(NoEvent::Cutoff);
        }
        Ok(Cutoff::default())
    }
}

impl From<BTreeMap<Text, BTreeMap<Text, u64>>> for Cutoff {
    /// For each key and collection the last place covered. Whether there are at
    /// most [`MAX_PLACES`] is for who writes it.
    fn from(keys: BTreeMap<Text, BTreeMap<Text, u64>>) -> Cutoff {
        Cutoff { keys }
    }
}

fn read(cutoff: &Value) -> Option<Cutoff> {
    let mut places = 0;
    let mut keys = BTreeMap::new();
    for (key, lines) in cutoff.as_object()?.iter() {
        let lines = lines.as_object()?;
        places += lines.len();
        if places > MAX_PLACES {
            return None;
        }
        let lines = lines
            .iter()
            .map(|(collection, place)| Some((collection.clone(), place_of(place)?)))
            .collect::<Option<_>>()?;
        keys.insert(key.clone(), lines);
    }
    Some(Cutoff { keys })
}

/// A place, a non-negative integer. One past 2^53 − 1, where no line gets to,
/// is taken as the greatest there is, and covers as much. [ours]
fn place_of(place: &Value) -> Option<u64> {
    let number = place.as_f64()?;
    let is_integer = number >= 0.0 && number.trunc() == number;
    is_integer.then(|| place.whole_number().unwrap_or(GREATEST_PLACE))
}

/// The greatest place a line can have.
const GREATEST_PLACE: u64 = minca_record::json::GREATEST_WHOLE_NUMBER;
