//! How a host keeps a version: envelope, note and body apart, so that a body
//! can be dropped and a note kept once, and what they hash to stays bytes.

use super::Version;
use crate::json::Value;

/// A version in the pieces a store keeps. [`join`] puts them together.
#[derive(Clone, PartialEq, Eq)]
pub struct Parts {
    /// Its canonical form without `body` and `proof`.
    pub envelope: Vec<u8>,
    /// The canonical form of its note, if it has one.
    pub proof: Option<Vec<u8>>,
    /// The canonical form of its body, if it carries one; also the `null` a
    /// delete may carry.
    pub body: Option<Vec<u8>>,
}

impl Parts {
    /// Takes a version apart.
    pub fn split(version: &Version) -> Parts {
        let mut envelope = Vec::with_capacity(version.signed_part.len());
        version
            .object
            .write_canonical_without(&["body", "proof"], &mut envelope);
        Parts {
            envelope,
            proof: version.proof().map(Value::canonical),
            body: version.body_canonical.clone(),
        }
    }

    /// The version as JSON for the wire: see [`join`].
    pub fn join(&self) -> Vec<u8> {
        join(&self.envelope, self.proof.as_deref(), self.body.as_deref())
    }
}

/// Shows lengths alone: what a version holds belongs in no log.
impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts")
            .field("envelope", &self.envelope.len())
            .field("proof", &self.proof.as_ref().map(Vec::len))
            .field("body", &self.body.as_ref().map(Vec::len))
            .finish()
    }
}

/// Puts a version together from its pieces, as JSON for the wire. Without the
/// body it is the version's stub.
///
/// The result is valid JSON with exactly the version's members, though not in
/// canonical order; the pieces are spliced, not read.
pub fn join(envelope: &[u8], proof: Option<&[u8]>, body: Option<&[u8]>) -> Vec<u8> {
    let inside = envelope.strip_prefix(b"{").unwrap_or(envelope);
    let parts_size = proof.map_or(0, <[u8]>::len) + body.map_or(0, <[u8]>::len);
    let mut out = Vec::with_capacity(envelope.len() + parts_size + b"\"body\":,\"proof\":,".len());
    out.push(b'{');
    for (name, value) in [(&b"\"body\":"[..], body), (&b"\"proof\":"[..], proof)] {
        let Some(value) = value else {
            continue;
        };
        out.extend_from_slice(name);
        out.extend_from_slice(value);
        // An envelope is never without members, so something always follows.
        out.push(b',');
    }
    out.extend_from_slice(inside);
    out
}
