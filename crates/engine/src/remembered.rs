//! What is looked up again and again and may be forgotten: a map of bounded size that
//! keeps what was used lately.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// A map in two generations. What is looked up moves to the young one; when that has
/// half the map's weight, the old one is forgotten and the young one is the old.
#[derive(Debug)]
pub(crate) struct Remembered<K, V> {
    young: HashMap<K, (V, usize)>,
    old: HashMap<K, (V, usize)>,
    young_weight: usize,
    most: usize,
}

impl<K: Eq + Hash, V: Clone> Remembered<K, V> {
    /// Entries of this weight together, at most.
    pub(crate) fn new(most: usize) -> Remembered<K, V> {
        Remembered {
            young: HashMap::new(),
            old: HashMap::new(),
            young_weight: 0,
            most,
        }
    }

    pub(crate) fn get<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        if let Some((value, _)) = self.young.get(key) {
            return Some(value.clone());
        }
        let (key, (value, weight)) = self.old.remove_entry(key)?;
        let found = value.clone();
        self.put(key, value, weight);
        Some(found)
    }

    /// Remembers a value, if it isn't heavier than all may be together.
    pub(crate) fn put(&mut self, key: K, value: V, weight: usize) {
        let half = self.most / 2;
        if weight > half {
            return;
        }
        if self.young_weight + weight > half {
            self.old = std::mem::take(&mut self.young);
            self.young_weight = 0;
        }
        self.young_weight += weight;
        if let Some((_, replaced)) = self.young.insert(key, (value, weight)) {
            self.young_weight -= replaced;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_the_rest_is_forgotten_within_the_bound() {
        let mut remembered = Remembered::new(100);
        for number in 0..1_000_u32 {
            remembered.put(number, number, 1);
            assert_eq!(remembered.get(&0), Some(0), "used all the time");
            let held = remembered.young.len() + remembered.old.len();
            assert!(held <= 100, "{held}");
        }
        assert_eq!(remembered.get(&999), Some(999));
        assert_eq!(remembered.get(&500), None);
    }

    #[test]
    fn what_is_too_heavy_is_not_remembered() {
        let mut remembered = Remembered::new(100);
        remembered.put("light", 1, 50);
        remembered.put("heavy", 2, 51);
        assert_eq!(remembered.get("heavy"), None);
        assert_eq!(remembered.get("light"), Some(1));
        remembered.put("light", 3, 10);
        assert_eq!(
            (remembered.get("light"), remembered.young_weight),
            (Some(3), 10)
        );
    }
}
