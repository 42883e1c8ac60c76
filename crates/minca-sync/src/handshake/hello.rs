//! The client's hello, read by a host (04 §5.3 step 4, §6.1).

use minca_record::json::{Object, Value};

use super::{MAX_EARLIER_READ_KEYS, Nonce, object};
use crate::{close::Close, frame::Frame};

/// The largest message of the handshake, either way (04 §7.1).
pub const MAX_HANDSHAKE_BYTES: usize = 65_536;

/// Characters a `did` may have behind `did:key:z`.
const MAX_DID_CHARACTERS: usize = 250;

/// A well-formed hello. Nothing of it is proven yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// The client's session DID, as it spells it; it may be no DID at all.
    pub did: Box<str>,
    /// The client's nonce: the welcome is signed over it.
    pub nonce: Nonce,
    pub(super) sig: Option<Box<str>>,
    pub(super) read: Option<Box<str>>,
    pub(super) read_key: ReadKey,
    /// The first four entries that are objects with a string `readKey`, with
    /// their `read`.
    pub(super) earlier: Vec<(Box<str>, Option<Box<str>>)>,
}

/// The read key a hello claims to prove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReadKey {
    /// None is named: the host's current one is meant.
    Current,
    /// This one.
    Named(Box<str>),
    /// A string no key is named by.
    Nobodys,
}

/// Reads the first message of a socket.
///
/// # Errors
/// [`Close::TooBig`] over [`MAX_HANDSHAKE_BYTES`], and [`Close::ExpectedHello`].
pub fn read_hello(message: Frame<'_>) -> Result<Hello, Close> {
    let (Frame::Text(bytes) | Frame::Binary(bytes)) = message;
    if bytes.len() > MAX_HANDSHAKE_BYTES {
        return Err(Close::TooBig);
    }
    let object = object(message, "hello").ok_or(Close::ExpectedHello)?;
    hello(&object).ok_or(Close::ExpectedHello)
}

fn hello(object: &Object) -> Option<Hello> {
    let did = object.get("did")?.as_str()?;
    let nonce = Nonce::parse(object.get("nonce")?.as_str()?)?;
    if !looks_like_a_did(did) {
        return None;
    }
    let earlier = object.get("earlier").and_then(Value::as_array);
    Some(Hello {
        did: did.into(),
        nonce,
        sig: string(object, "sig"),
        read: string(object, "read"),
        read_key: match object.get("readKey").and_then(Value::as_text) {
            None => ReadKey::Current,
            Some(text) => text
                .as_str()
                .map_or(ReadKey::Nobodys, |text| ReadKey::Named(text.into())),
        },
        earlier: earlier
            .unwrap_or_default()
            .iter()
            .take(MAX_EARLIER_READ_KEYS)
            .filter_map(|entry| {
                let entry = entry.as_object()?;
                Some((string(entry, "readKey")?, string(entry, "read")))
            })
            .collect(),
    })
}

/// `^did:key:z[1-9A-HJ-NP-Za-km-z]{1,250}$`
fn looks_like_a_did(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("did:key:z") else {
        return false;
    };
    (1..=MAX_DID_CHARACTERS).contains(&rest.len())
        && rest
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() && !matches!(byte, b'0' | b'I' | b'O' | b'l'))
}

fn string(object: &Object, name: &str) -> Option<Box<str>> {
    object.get(name)?.as_str().map(Box::from)
}
