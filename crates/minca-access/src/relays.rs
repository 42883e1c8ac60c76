//! Relays: where a space's members meet (03 §10, `checkRelays`).

use std::collections::BTreeSet;

use minca_record::json::{Object, Text, Value};
use minca_record::url::{MAX_URLS, RelayUrl, UrlError};

use crate::event::Kind;
use crate::no_event::NoEvent;

/// The most relays a space names.
pub const MAX_RELAYS: usize = MAX_URLS;

/// Why a list of relays is none (03 §10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRelays {
    /// It is too long.
    #[error("expected at most {MAX_RELAYS} relays, got {0}")]
    TooMany(usize),
    /// One is there twice, as a string.
    #[error("expected no relay twice")]
    Twice,
    /// One is no relay URL.
    #[error("expected URLs of relays: {0}")]
    NoUrl(#[from] UrlError),
}

/// Reads `relays`: strings, of which [`check_relays`] says more.
pub(crate) fn read(body: &Object) -> Result<Kind, NoEvent> {
    let list = body.get("relays").and_then(Value::as_array);
    let list = list.filter(|list| list.len() <= MAX_RELAYS);
    let relays = list.ok_or(NoEvent::Fields)?.iter();
    let relays: Option<_> = relays.map(|relay| relay.as_text().cloned()).collect();
    Ok(Kind::Relays {
        relays: relays.ok_or(NoEvent::Fields)?,
    })
}

/// `checkRelays`: at most 8 relay URLs (04 §1.2), none twice. A kind nobody here
/// speaks is as good as any. A `relays` event whose list fails is refused (03
/// §4.5), and an invite's relays that fail are not used (03 §7.6).
///
/// # Errors
/// The first rule that fails.
pub fn check_relays(list: &[Text]) -> Result<(), BadRelays> {
    read_relays(list).map(|_| ())
}

/// The URLs of a list that passes [`check_relays`]. Who uses them passes over
/// those of a kind it doesn't speak.
///
/// # Errors
/// As [`check_relays`].
pub fn read_relays(list: &[Text]) -> Result<Vec<RelayUrl>, BadRelays> {
    if list.len() > MAX_RELAYS {
        return Err(BadRelays::TooMany(list.len()));
    }
    let distinct: BTreeSet<&Text> = list.iter().collect();
    if distinct.len() != list.len() {
        return Err(BadRelays::Twice);
    }
    list.iter().map(read_relay).collect()
}

fn read_relay(relay: &Text) -> Result<RelayUrl, BadRelays> {
    // A text with a lone surrogate is no URL's.
    let relay = relay.as_str().ok_or(UrlError::Character)?;
    Ok(relay.parse::<RelayUrl>()?)
}
