//! Sealed invites: what a short link leads to (03 §7.7).

use minca_record::base64url;
use minca_record::derive::invite_link_seal_key;
use minca_record::envelope::{SealError, open_bare, seal_bare};
use minca_record::hash::sha256;
use minca_record::json::{self, MESSAGE_DEPTH, Object, Value};
use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use crate::invitation::{Invite, InviteRefusal, encode_invite};

/// The longest blob that is made, in characters: what a mailbox takes (07 §5).
pub const MAX_BLOB_CHARACTERS: usize = 12_000;
/// The most a sealed invite inflates to, in bytes.
pub const MAX_INFLATED: usize = 64 * 1024;

/// The body's `v`.
const BODY_VERSION: u64 = 2;
/// What `CompressionStream` uses; a reader takes any.
const COMPRESSION_LEVEL: u8 = 6;

/// A sealed invite that was made, and the pin of the links to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedInvite {
    /// What is left in mailboxes, exactly as it is.
    pub blob: String,
    /// What a link names it by.
    pub pin: [u8; 16],
}

/// Why an invite can't be sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealInviteError {
    /// No mailbox takes it: the long form is given instead.
    #[error("expected at most {MAX_BLOB_CHARACTERS} characters when sealed, got {0}")]
    TooLong(usize),
    /// It is too long to seal at all.
    #[error(transparent)]
    Seal(#[from] SealError),
}

/// Why a sealed invite is not taken, though it is the one a link names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealedInviteError {
    /// It was sealed under another key, or is nothing sealed.
    #[error("expected base64url of what the link's key sealed")]
    NotOpened,
    /// What is inside isn't deflated.
    #[error("expected a zlib stream inside")]
    NotDeflated,
    /// It inflates to too much.
    #[error("expected at most {MAX_INFLATED} bytes inflated")]
    TooLarge,
    /// What was deflated.
    #[error("expected a JSON object with `v` 2 and the string `invite`")]
    Body,
    /// What its `invite` is.
    #[error("`invite` of a sealed invite: {0}")]
    Invite(InviteRefusal),
}

/// The first 16 bytes of a blob's hash, the one a relay files it under.
pub(crate) fn pin_of(blob: &str) -> [u8; 16] {
    let hash = sha256(blob.as_bytes());
    std::array::from_fn(|place| hash[place])
}

/// Seals an invitation for the link whose secret is `link`. `until` is when the
/// inviter stops serving it, for display; `nonce` must be random. What is sealed
/// once is never sealed again: its links name this blob.
///
/// # Errors
/// [`SealInviteError`].
pub fn seal_invite(
    link: &[u8; 16],
    invitation: &Object,
    until: Option<&str>,
    nonce: [u8; 12],
) -> Result<SealedInvite, SealInviteError> {
    let mut body = Object::from([
        ("v", Value::from(BODY_VERSION)),
        ("invite", encode_invite(invitation, None).into()),
    ]);
    if let Some(until) = until {
        body.insert("until", until);
    }
    let deflated = compress_to_vec_zlib(&body.canonical(), COMPRESSION_LEVEL);
    let sealed = seal_bare(&invite_link_seal_key(link), &deflated, nonce)?;
    let blob = base64url::encode(&sealed);
    if blob.len() > MAX_BLOB_CHARACTERS {
        return Err(SealInviteError::TooLong(blob.len()));
    }
    let pin = pin_of(&blob);
    Ok(SealedInvite { blob, pin })
}

/// Opens what was sealed for the link whose secret is `link`. The invite has no
/// secret beside it.
pub(crate) fn open(link: &[u8; 16], blob: &str) -> Result<Invite, SealedInviteError> {
    let sealed = base64url::decode(blob).map_err(|_| SealedInviteError::NotOpened)?;
    let deflated = open_bare(&invite_link_seal_key(link), &sealed)
        .map_err(|_| SealedInviteError::NotOpened)?;
    let body = inflate(&deflated)?;
    let body = json::read(&body, MESSAGE_DEPTH).map_err(|_| SealedInviteError::Body)?;
    let body = body.as_object().ok_or(SealedInviteError::Body)?;
    if body.get("v").and_then(Value::whole_number) != Some(BODY_VERSION) {
        return Err(SealedInviteError::Body);
    }
    let invite = body.get("invite").and_then(Value::as_str);
    let invite = invite.ok_or(SealedInviteError::Body)?;
    let invite = Invite::parse(invite).map_err(SealedInviteError::Invite)?;
    // Ours: a link's secret is derived from the link, never carried.
    if invite.secret().is_some() {
        return Err(SealedInviteError::Body);
    }
    Ok(invite)
}

/// Inflates a whole zlib stream, never past [`MAX_INFLATED`]. As in a browser,
/// nothing may follow it.
fn inflate(deflated: &[u8]) -> Result<Vec<u8>, SealedInviteError> {
    let flags = inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER
        | inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let mut inflated = vec![0; MAX_INFLATED];
    let mut state = Box::<DecompressorOxide>::default();
    let (status, read, written) = decompress(&mut state, deflated, &mut inflated, 0, flags);
    match status {
        TINFLStatus::Done if read == deflated.len() => {
            inflated.truncate(written);
            Ok(inflated)
        }
        TINFLStatus::HasMoreOutput => Err(SealedInviteError::TooLarge),
        _ => Err(SealedInviteError::NotDeflated),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_inflates_to_the_limit_is_taken_and_a_byte_more_is_not() {
        for level in [0, 1, 6, 9] {
            let text = vec![b'a'; MAX_INFLATED + 1];
            let of = |length: usize| inflate(&compress_to_vec_zlib(&text[..length], level));
            assert_eq!(of(MAX_INFLATED), Ok(text[1..].to_vec()));
            assert_eq!(of(MAX_INFLATED + 1), Err(SealedInviteError::TooLarge));
            assert_eq!(of(0), Ok(Vec::new()));
        }
    }

    #[test]
    fn a_stream_cut_short_or_followed_by_something_is_no_stream() {
        let whole = compress_to_vec_zlib(b"a text, a text, a text", 6);
        for end in 0..whole.len() {
            let cut = inflate(&whole[..end]);
            assert_eq!(cut, Err(SealedInviteError::NotDeflated), "{end}");
        }
        let more = [&whole[..], b"x"].concat();
        assert_eq!(inflate(&more), Err(SealedInviteError::NotDeflated));
        let mut changed = whole;
        *changed.last_mut().unwrap() ^= 1;
        assert_eq!(inflate(&changed), Err(SealedInviteError::NotDeflated));
    }
}
