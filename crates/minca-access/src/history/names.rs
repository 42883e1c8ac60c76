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
    /// Keys by their points: spelling a DID out costs a microsecond.
    by_did: HashMap<Did, Name>,
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
        name
    }

    pub(super) fn of_str(&mut self, text: &str) -> Name {
        self.of(&Text::from(text))
    }

    pub(super) fn of_did(&mut self, did: &Did) -> Name {
        if let Some(name) = self.by_did.get(did) {
            return *name;
        }
        let name = self.of(&Text::from(did.to_string()));
        self.by_did.insert(*did, name);
        name
    }

    /// The name of a string that was met.
    pub(super) fn known(&self, text: &Text) -> Option<Name> {
        self.by_text.get(text).copied()
    }

    /// The name of an account or key that was met.
    pub(super) fn known_did(&self, did: &Did) -> Option<Name> {
        let known = self.by_did.get(did).copied();
        known.or_else(|| self.known(&Text::from(did.to_string())))
    }

    pub(super) fn text(&self, name: Name) -> &Text {
        &self.texts[name.0 as usize]
    }
}
