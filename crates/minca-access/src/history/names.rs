//! Small numbers for the strings a history speaks of: accounts, keys, roles, invites.

use std::collections::HashMap;

use minca_record::did::Did;
use minca_record::json::Text;

/// A string of the history, as a number of this replay's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Name(u32);

/// The strings met so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    by_text: HashMap<Text, Name>,
    /// Those that spell a key's DID, by its point: spelling one out costs a microsecond.
    by_point: HashMap<[u8; 33], Name>,
    texts: Vec<Text>,
}

impl Names {
    /// The name of a string; a new one if it was never met.
    pub(super) fn of(&mut self, text: &Text) -> Name {
        if let Some(name) = self.by_text.get(text) {
            return *name;
        }
        let name = Name(self.texts.len() as u32);
        self.texts.push(text.clone());
        self.by_text.insert(text.clone(), name);
        if let Some(point) = text.as_str().and_then(Did::point_spelled) {
            self.by_point.insert(point, name);
        }
        name
    }

    pub(super) fn of_str(&mut self, text: &str) -> Name {
        self.of(&Text::from(text))
    }

    pub(super) fn of_did(&mut self, did: &Did) -> Name {
        match self.known_did(did) {
            Some(name) => name,
            None => self.of(&Text::from(did.to_string())),
        }
    }

    /// The name of a string that was met.
    pub(super) fn known(&self, text: &Text) -> Option<Name> {
        self.by_text.get(text).copied()
    }

    /// The name of an account or key that was met.
    pub(super) fn known_did(&self, did: &Did) -> Option<Name> {
        self.by_point.get(did.point()).copied()
    }

    pub(super) fn text(&self, name: Name) -> &Text {
        &self.texts[name.0 as usize]
    }
}

/// A map by name: names are dense, so it is a list.
#[derive(Debug)]
pub(super) struct ByName<T>(Vec<Option<T>>);

impl<T> Default for ByName<T> {
    fn default() -> ByName<T> {
        ByName(Vec::new())
    }
}

impl<T> ByName<T> {
    pub(super) fn get(&self, name: Name) -> Option<&T> {
        self.0.get(name.0 as usize).and_then(Option::as_ref)
    }

    pub(super) fn entry(&mut self, name: Name) -> &mut Option<T> {
        let place = name.0 as usize;
        if self.0.len() <= place {
            self.0.resize_with(place + 1, || None);
        }
        &mut self.0[place]
    }

    pub(super) fn contains(&self, name: Name) -> bool {
        self.get(name).is_some()
    }

    /// The entries, in an order that means nothing outside this replay.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Name, &T)> {
        let entries = self.0.iter().enumerate();
        entries.filter_map(|(place, entry)| Some((Name(place as u32), entry.as_ref()?)))
    }
}

/// A set that holds a few names, as a rule.
#[derive(Debug, Default)]
pub(super) struct NameSet {
    few: Vec<Name>,
    /// All others, a bit each: names are dense.
    more: Vec<u64>,
}

impl NameSet {
    const FEW: usize = 16;

    /// False if it holds the name already.
    pub(super) fn insert(&mut self, name: Name) -> bool {
        if self.few.contains(&name) {
            return false;
        }
        if self.few.len() < NameSet::FEW {
            self.few.push(name);
            return true;
        }
        let (word, bit) = (name.0 as usize / 64, 1 << (name.0 % 64));
        if self.more.len() <= word {
            self.more.resize(word + 1, 0);
        }
        let is_new = self.more[word] & bit == 0;
        self.more[word] |= bit;
        is_new
    }
}
