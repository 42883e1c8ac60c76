//! The record key that `onePer` derives (02 §7.3).

use aws_lc_rs::hmac;

use crate::definition::KeyPart;
use crate::derive::{SpaceKey, hkdf};
use crate::hash::sha256;
use crate::json::{Text, Value};
use crate::links::Link;
use crate::record_key::owned_key;

/// Our guess at the label of the key under a private space's first key (02
/// §7.3, §16.8).
const ONE_PER: &str = "minca/one-per/v1";

/// How many bytes of the digest a key holds.
const DIGEST_BYTES: usize = 20;

/// What the digest of a derived key is made with.
#[derive(Clone)]
pub struct OnePerKey(Digest);

#[derive(Clone)]
enum Digest {
    Plain,
    Keyed([u8; 32]),
}

impl OnePerKey {
    /// For a public space, where anyone can derive the keys.
    pub fn public() -> OnePerKey {
        OnePerKey(Digest::Plain)
    }

    /// For a private space, from its first space key.
    pub fn of_first_space_key(first_space_key: &SpaceKey) -> OnePerKey {
        OnePerKey(Digest::Keyed(hkdf(first_space_key.bytes(), ONE_PER)))
    }

    /// The secret that the digest is keyed with; `None` for a public space.
    pub fn secret(&self) -> Option<&[u8; 32]> {
        match &self.0 {
            Digest::Plain => None,
            Digest::Keyed(secret) => Some(secret),
        }
    }

    fn digest(&self, text: &[u8]) -> String {
        let digest = match &self.0 {
            Digest::Plain => sha256(text).to_vec(),
            Digest::Keyed(secret) => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
                hmac::sign(&key, text).as_ref().to_vec()
            }
        };
        crate::hex::encode(digest.get(..DIGEST_BYTES).unwrap_or_default())
    }
}

/// The key that a first version must have under `onePer`; `None` when a part
/// has no value in it, and so no key is good.
///
/// `root` is the DID of the account that writes.
pub fn derived_key(
    key: &OnePerKey,
    collection: &str,
    parts: &[KeyPart],
    root: &str,
    body: &Value,
    links: &[Link<'_>],
) -> Option<String> {
    let text = lines(collection, parts, root, body, links)?;
    let name = format!("one:{}", key.digest(text.as_bytes()));
    if parts.contains(&KeyPart::Author) {
        return Some(owned_key(root, &name));
    }
    Some(name)
}

/// The text that is hashed: the collection and a line for each part.
fn lines(
    collection: &str,
    parts: &[KeyPart],
    root: &str,
    body: &Value,
    links: &[Link<'_>],
) -> Option<String> {
    let mut text = String::from(collection);
    for part in parts {
        text.push('\n');
        match part {
            KeyPart::Author => {
                text.push_str("@author=");
                text.push_str(root);
            }
            KeyPart::Link(rel) => {
                let link = links.iter().find(|link| *rel == *link.rel)?;
                text.push_str("link:");
                text.push_str(link.rel);
                text.push('=');
                text.push_str(link.to);
            }
            KeyPart::Field(field) => {
                let value = body.as_object()?.get_text(field)?;
                push_text(&mut text, field);
                text.push('=');
                // A canonical form is always UTF-8 (02 §1).
                text.push_str(&String::from_utf8_lossy(&value.canonical()));
            }
        }
    }
    Some(text)
}

/// Adds `field` as ECMAScript's encoder writes it: a lone surrogate becomes
/// U+FFFD.
fn push_text(text: &mut String, field: &Text) {
    let replaced = |unit: Result<char, _>| unit.unwrap_or(char::REPLACEMENT_CHARACTER);
    text.extend(char::decode_utf16(field.utf16_units()).map(replaced));
}
