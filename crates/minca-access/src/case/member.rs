//! Reading the members of a case's objects.

use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{Object, Text, Value};

use super::error::{At, Came, CaseError};
use crate::fields::is_did_key;

/// An object of a case, which knows its place.
pub(super) struct Members<'a> {
    object: &'a Object,
    at: At<'a>,
}

impl<'a> Members<'a> {
    pub(super) fn of(value: &'a Value, at: At<'a>) -> Result<Members<'a>, CaseError> {
        match value.as_object() {
            Some(object) => Ok(Members { object, at }),
            None => Err(CaseError::Unlike {
                at: at.member(""),
                expected: "an object",
                came: Came::of(Some(value)),
            }),
        }
    }

    /// The error that something else than `expected` is at the member.
    pub(super) fn unlike(&self, name: &str, expected: &'static str) -> CaseError {
        CaseError::Unlike {
            at: self.at.member(name),
            expected,
            came: Came::of(self.object.get(name)),
        }
    }

    /// The object itself.
    pub(super) fn all(&self) -> &'a Object {
        self.object
    }

    pub(super) fn optional(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name)
    }

    pub(super) fn text(&self, name: &str) -> Result<&'a Text, CaseError> {
        let text = self.object.get(name).and_then(Value::as_text);
        text.ok_or_else(|| self.unlike(name, "a string"))
    }

    pub(super) fn str(&self, name: &str) -> Result<&'a str, CaseError> {
        let text = self.object.get(name).and_then(Value::as_str);
        text.ok_or_else(|| self.unlike(name, "a string without lone surrogates"))
    }

    /// A string that begins as a key's DID does, whether or not it is one.
    pub(super) fn did_key(&self, name: &str) -> Result<&'a Text, CaseError> {
        let text = self.text(name)?;
        if is_did_key(text) {
            Ok(text)
        } else {
            Err(self.unlike(name, "a string that begins did:key:"))
        }
    }

    pub(super) fn did(&self, name: &str) -> Result<Did, CaseError> {
        let did = self.object.get(name).and_then(Value::as_str);
        let did = did.and_then(|did| Did::parse(did).ok());
        did.ok_or_else(|| self.unlike(name, "the did:key of a P-256 key"))
    }

    pub(super) fn id(&self, name: &str) -> Result<ContentId, CaseError> {
        let id = self.object.get(name).and_then(id_of);
        id.ok_or_else(|| self.unlike(name, "a content id"))
    }

    pub(super) fn ids(&self, name: &str) -> Result<Vec<ContentId>, CaseError> {
        let list = self.object.get(name).and_then(Value::as_array);
        let ids = list.and_then(|list| list.iter().map(id_of).collect());
        ids.ok_or_else(|| self.unlike(name, "an array of content ids"))
    }

    pub(super) fn boolean(&self, name: &str) -> Result<bool, CaseError> {
        let boolean = self.object.get(name).and_then(Value::as_bool);
        boolean.ok_or_else(|| self.unlike(name, "true or false"))
    }

    pub(super) fn boolean_or_false(&self, name: &str) -> Result<bool, CaseError> {
        match self.object.get(name) {
            None => Ok(false),
            Some(_) => self.boolean(name),
        }
    }

    /// A place in a line.
    pub(super) fn place(&self, name: &str) -> Result<u64, CaseError> {
        let place = self.object.get(name).and_then(Value::whole_number);
        place.ok_or_else(|| self.unlike(name, "a whole number from 0 to 2^53 - 1"))
    }

    pub(super) fn object(&self, name: &str) -> Result<&'a Object, CaseError> {
        let object = self.object.get(name).and_then(Value::as_object);
        object.ok_or_else(|| self.unlike(name, "an object"))
    }

    /// The objects of the list called `name`, in order.
    pub(super) fn objects(
        &'a self,
        name: &'a str,
    ) -> Result<impl Iterator<Item = Result<Members<'a>, CaseError>>, CaseError> {
        let list = self.object.get(name).and_then(Value::as_array);
        let list = list.ok_or_else(|| self.unlike(name, "an array"))?;
        let list = list.iter().enumerate();
        Ok(list.map(move |(index, value)| Members::of(value, self.at.element(name, index))))
    }
}

fn id_of(value: &Value) -> Option<ContentId> {
    ContentId::parse(value.as_str()?).ok()
}
