//! Reading members of an access change's body.

use minca_record::json::{Object, Text};

use crate::no_event::NoEvent;

/// The string called `name`.
pub(crate) fn text(body: &Object, name: &str) -> Result<Text, NoEvent> {
    let text = body.get(name).and_then(|value| value.as_text());
    text.cloned().ok_or(NoEvent::Fields)
}

/// The string called `name`, if it begins `did:key:`. It need be no P-256 key.
pub(crate) fn did_key(body: &Object, name: &str) -> Result<Text, NoEvent> {
    let text = text(body, name)?;
    if is_did_key(&text) {
        Ok(text)
    } else {
        Err(NoEvent::Fields)
    }
}

/// The boolean called `name`.
pub(crate) fn boolean(body: &Object, name: &str) -> Result<bool, NoEvent> {
    let value = body.get(name).and_then(|value| value.as_bool());
    value.ok_or(NoEvent::Fields)
}

/// Whether it begins as a key's DID does.
pub(crate) fn is_did_key(text: &Text) -> bool {
    text.as_wtf8().starts_with(b"did:key:")
}
