//! Notes: an account lets one key act for it (01 §7).

use thiserror::Error;

use crate::base64url::{self, is_base64url};
use crate::command::{covers, is_command};
use crate::did::Did;
use crate::json::{Object, Text, Value};
use crate::policy::Policy;
use crate::required::Required;
use crate::signature::{PublicKey, Signature, parse_signature};
use crate::signing::SigningKey;

/// A note's `type`.
pub const NOTE_TYPE: &str = "minca/ucan/dlg@1";
/// The largest a note may be, in bytes of its canonical form.
pub const GREATEST_NOTE: usize = 65_536;
/// The longest a note's `nonce` may be.
pub const GREATEST_NONCE: usize = 64;

/// Why a note doesn't check out: the first step of 01 §7.5 that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoteError {
    /// It is not formed as 01 §7.1 says.
    #[error(transparent)]
    Shape(#[from] NoteShapeError),
    /// It isn't about its issuer.
    #[error("note: expected sub to be iss")]
    Subject,
    /// It is for another key.
    #[error("note: expected aud to be the key that shows it")]
    Audience,
    /// Its signature doesn't verify under `iss`.
    #[error("note: the signature doesn't verify")]
    Signature,
}

/// What in a note is not formed as 01 §7.1 says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("note: expected {expected}")]
pub struct NoteShapeError {
    /// What should be there.
    pub expected: &'static str,
}

/// A note that checks out: well-formed, about its issuer, signed by it. Says nothing of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    issuer: Did,
    audience: Did,
    command: Text,
    policy: Policy,
    expires: Option<u64>,
    not_before: Option<u64>,
}

/// A note of the right form, of which nothing else was checked.
#[derive(Clone, Debug)]
pub struct UnverifiedNote {
    note: Note,
    issuer_key: PublicKey,
    is_about_issuer: bool,
    signed: Vec<u8>,
    signature: Signature,
}

impl Note {
    /// Checks a note shown by the key `author`, in the order of 01 §7.5. No time is read.
    pub fn check(value: &Value, author: &Did) -> Result<Note, NoteError> {
        UnverifiedNote::read_shown_by(value, Some(author))?.verify(author)
    }

    /// The account the note's audience speaks for: the note's issuer.
    pub fn root(&self) -> Did {
        self.issuer
    }

    /// The key that may act.
    pub fn audience(&self) -> Did {
        self.audience
    }

    /// Whether the note is in time at `at`, whole seconds since 1970 (01 §7.6).
    pub fn in_time(&self, at: u64) -> bool {
        self.not_before.is_none_or(|start| start <= at) && self.expires.is_none_or(|end| at < end)
    }

    /// Whether the note lets its audience run `command` with `arguments` (01 §8). No time is read.
    pub fn grants(&self, command: &str, arguments: &Object) -> bool {
        covers(&self.command, command) && self.policy.holds(arguments)
    }

    /// Whether the note grants all of `required`.
    pub fn grants_all(&self, required: &[Required]) -> bool {
        required
            .iter()
            .all(|required| self.grants(required.command, &required.arguments))
    }
}

impl UnverifiedNote {
    /// Checks a note's form (01 §7.5, step 1).
    pub fn read(value: &Value) -> Result<UnverifiedNote, NoteShapeError> {
        UnverifiedNote::read_shown_by(value, None)
    }

    /// The account that issued it, if it checks out.
    pub fn issuer(&self) -> Did {
        self.note.issuer
    }

    /// Checks the rest: that it is about its issuer, for `author`, and signed (steps 2 to 4).
    pub fn verify(self, author: &Did) -> Result<Note, NoteError> {
        if !self.is_about_issuer {
            return Err(NoteError::Subject);
        }
        if self.note.audience != *author {
            return Err(NoteError::Audience);
        }
        if !self.issuer_key.verify(&self.signed, &self.signature) {
            return Err(NoteError::Signature);
        }
        Ok(self.note)
    }

    /// Knowing `author`, whose point was checked already, saves a square root.
    fn read_shown_by(
        value: &Value,
        author: Option<&Did>,
    ) -> Result<UnverifiedNote, NoteShapeError> {
        let note = value.as_object().ok_or(expected("an object"))?;
        let of_type = note
            .get("type")
            .is_some_and(|kind| kind.as_text().is_some_and(|kind| kind == NOTE_TYPE));
        let (Some(payload), Some(sig), true, 3) = (
            note.get("payload").and_then(Value::as_object),
            note.get("sig"),
            of_type,
            note.len(),
        ) else {
            return Err(expected(
                "type minca/ucan/dlg@1, payload, sig and nothing else",
            ));
        };
        let signature = sig
            .as_str()
            .and_then(|sig| parse_signature(sig).ok())
            .ok_or(expected("sig to be base64url of 64 bytes"))?;
        let signed = signed_bytes(note);
        let size = signed.len() + r#","sig":"#.len() + sig.canonical().len();
        if size > GREATEST_NOTE {
            return Err(expected("at most 65536 bytes"));
        }

        let required = |name: &str| payload.get(name).and_then(Value::as_text);
        let issuer = payload
            .get("iss")
            .and_then(Value::as_str)
            .ok_or(expected("iss to be a P-256 DID"))?;
        let issuer_key = PublicKey::parse(issuer).map_err(|_| expected("iss to be a P-256 DID"))?;
        let audience = payload
            .get("aud")
            .and_then(Value::as_str)
            .and_then(|audience| parse_knowing(audience, author))
            .ok_or(expected("aud to be a P-256 DID"))?;
        let is_about_issuer = payload
            .get("sub")
            .and_then(Value::as_str)
            .and_then(|subject| parse_knowing(subject, Some(&issuer_key.did())))
            .map(|subject| subject == issuer_key.did())
            .ok_or(expected("sub to be a P-256 DID"))?;
        let command = required("cmd")
            .filter(|cmd| is_command(cmd))
            .ok_or(expected("cmd to be a command path"))?;
        let policy = payload
            .get("pol")
            .and_then(|policy| Policy::read(policy).ok())
            .ok_or(expected("pol to be a policy"))?;
        if !required("nonce").is_some_and(is_nonce) {
            return Err(expected("nonce to be 1 to 64 of A-Z a-z 0-9 - _"));
        }
        if payload
            .get("meta")
            .is_some_and(|meta| meta.as_object().is_none())
        {
            return Err(expected("meta, if there, to be an object"));
        }
        let expires = match payload.get("exp") {
            None | Some(Value::Null) => None,
            Some(end) => Some(
                end.whole_number()
                    .ok_or(expected("exp to be whole seconds or null"))?,
            ),
        };
        let not_before = match payload.get("nbf") {
            None => None,
            Some(start) => Some(
                start
                    .whole_number()
                    .ok_or(expected("nbf to be whole seconds"))?,
            ),
        };
        if payload.iter().any(|(name, _)| !is_payload_member(name)) {
            return Err(expected("no other member in payload"));
        }

        let note = Note {
            issuer: issuer_key.did(),
            audience,
            command: command.clone(),
            policy,
            expires,
            not_before,
        };
        Ok(UnverifiedNote {
            note,
            issuer_key,
            is_about_issuer,
            signed,
            signature,
        })
    }
}

/// What a note's signature is over (01 §7.2): the note without `sig`, in canonical form.
fn signed_bytes(note: &Object) -> Vec<u8> {
    let mut signed = Vec::new();
    note.write_canonical_without(&["sig"], &mut signed);
    signed
}

/// Signs a note over `payload`, as a member does: the note as JSON has it. Nothing of the payload
/// is checked; a reader will.
pub fn sign_note(payload: Object, issuer: &SigningKey) -> Value {
    let mut note = Object::from([
        ("type", Value::from(NOTE_TYPE)),
        ("payload", Value::from(payload)),
    ]);
    let signature = issuer.sign(&signed_bytes(&note));
    note.insert("sig", base64url::encode(&signature));
    note.into()
}

fn is_payload_member(name: &Text) -> bool {
    const MEMBERS: [&str; 9] = [
        "iss", "aud", "sub", "cmd", "pol", "nonce", "meta", "exp", "nbf",
    ];
    MEMBERS.iter().any(|member| name == member)
}

fn is_nonce(nonce: &Text) -> bool {
    let of_the_alphabet = |nonce: &str| is_base64url(nonce, nonce.len());
    (1..=GREATEST_NONCE).contains(&nonce.utf16_len()) && nonce.as_str().is_some_and(of_the_alphabet)
}

/// Reads a DID that may well be `known`, whose point needn't be checked again.
fn parse_knowing(text: &str, known: Option<&Did>) -> Option<Did> {
    let did = Did::parse_unchecked(text).ok()?;
    if Some(&did) == known {
        return Some(did);
    }
    Did::parse(text).ok()
}

fn expected(expected: &'static str) -> NoteShapeError {
    NoteShapeError { expected }
}
