//! Short links: a secret, the hash of one sealed invite, and where it is kept (03
//! §7.7).

use std::fmt;

use minca_record::base64url;
use minca_record::derive::{invite_link_secret, invite_topic};
use minca_record::url::RelayUrl;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use crate::invitation::{Invite, InviteRefusal, invite_in};
use crate::sealed_invite::{self, SealedInviteError, pin_of};

/// The most places of a link that are read.
pub const MAX_LINK_PLACES: usize = 2;

/// What a place is written without.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'%')
    .add(b'@')
    .add(b',')
    .add(b'#')
    .add(b'&');

/// A text is no short link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 43 characters of base64url, and maybe places behind an `@`")]
pub struct NoShortLink;

/// Why a link leads to no invite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkRefusal {
    /// Nothing that was fetched is what it names.
    #[error("nothing fetched hashes to the link's pin")]
    NotFound,
    /// Two things are.
    #[error("two different sealed invites hash to the link's pin")]
    Two,
    /// What it names is no good.
    #[error(transparent)]
    Sealed(#[from] SealedInviteError),
}

impl LinkRefusal {
    /// One word for it, or two.
    pub fn reason(&self) -> &'static str {
        match self {
            LinkRefusal::NotFound => "none",
            LinkRefusal::Two => "two",
            LinkRefusal::Sealed(SealedInviteError::NotOpened) => "decrypt",
            LinkRefusal::Sealed(SealedInviteError::NotDeflated) => "inflate",
            LinkRefusal::Sealed(SealedInviteError::TooLarge) => "too large",
            LinkRefusal::Sealed(SealedInviteError::Body | SealedInviteError::Invite(_)) => "body",
        }
    }
}

/// A short link.
#[derive(Clone, PartialEq, Eq)]
pub struct ShortLink {
    secret: [u8; 16],
    pin: [u8; 16],
    places: Vec<RelayUrl>,
}

impl ShortLink {
    /// A link to the sealed invite with this pin, sealed for `secret`, which must
    /// be random. Of `places`, no more than [`MAX_LINK_PLACES`] are named.
    pub fn new(secret: [u8; 16], pin: [u8; 16], places: &[RelayUrl]) -> ShortLink {
        let places = places.iter().take(MAX_LINK_PLACES).cloned().collect();
        ShortLink {
            secret,
            pin,
            places,
        }
    }

    /// Reads a bare link. [`invite_in`] finds it in another. A place that is no
    /// relay's URL is passed over.
    ///
    /// # Errors
    /// [`NoShortLink`].
    pub fn parse(text: &str) -> Result<ShortLink, NoShortLink> {
        let (code, places) = match text.split_once('@') {
            Some((code, places)) => (code, Some(places)),
            None => (text, None),
        };
        let bytes: [u8; 32] = base64url::decode_exact(code).map_err(|_| NoShortLink)?;
        let (secret, pin) = (&bytes[..16], &bytes[16..]);
        let places = places.into_iter().flat_map(|places| places.split(','));
        Ok(ShortLink {
            secret: std::array::from_fn(|place| secret[place]),
            pin: std::array::from_fn(|place| pin[place]),
            places: places
                .take(MAX_LINK_PLACES)
                .filter_map(read_place)
                .collect(),
        })
    }

    /// The secret of the invite it leads to, with which that was opened and is
    /// joined and closed.
    pub fn invite_secret(&self) -> [u8; 32] {
        invite_link_secret(&self.secret)
    }

    /// The mailbox topic its sealed invite is left under.
    pub fn topic(&self) -> String {
        base64url::encode(&invite_topic(&self.pin))
    }

    /// Where its sealed invite is kept; it may be on relays the reader uses itself
    /// as well.
    pub fn places(&self) -> &[RelayUrl] {
        &self.places
    }

    /// The invite it leads to, of all that was fetched from its topic, on every
    /// relay. It is to be checked like any other.
    ///
    /// # Errors
    /// [`LinkRefusal`].
    pub fn open<'a>(
        &self,
        fetched: impl IntoIterator<Item = &'a str>,
    ) -> Result<Invite, LinkRefusal> {
        let pinned = fetched.into_iter().filter(|blob| pin_of(blob) == self.pin);
        let invite = sealed_invite::open(&self.secret, only_one(pinned)?)?;
        Ok(invite.with_secret_for_a_role(self.invite_secret()))
    }
}

/// As it is handed around.
impl fmt::Display for ShortLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&base64url::encode(&[self.secret, self.pin].concat()))?;
        for (before, place) in ['@', ','].iter().zip(&self.places) {
            write!(f, "{before}{}", write_place(place))?;
        }
        Ok(())
    }
}

/// Shows nothing: who has a link can open what it leads to.
impl fmt::Debug for ShortLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShortLink(..)")
    }
}

/// An invite in either form.
#[derive(Clone, Debug, PartialEq)]
pub enum GivenInvite {
    /// The long one.
    Long(Invite),
    /// A short link, to be fetched and opened.
    Short(ShortLink),
}

/// Reads an invite wherever one is accepted: either form, bare or in a link.
///
/// # Errors
/// As [`Invite::parse`].
pub fn read_invite(text: &str) -> Result<GivenInvite, InviteRefusal> {
    let invite = invite_in(text);
    match ShortLink::parse(invite) {
        Ok(link) => Ok(GivenInvite::Short(link)),
        Err(NoShortLink) => Invite::parse(invite).map(GivenInvite::Long),
    }
}

/// The one blob that was pinned, however often it was fetched.
fn only_one<'a>(pinned: impl Iterator<Item = &'a str>) -> Result<&'a str, LinkRefusal> {
    let mut found = None;
    for blob in pinned {
        if found.is_some_and(|found| found != blob) {
            return Err(LinkRefusal::Two);
        }
        found = Some(blob);
    }
    found.ok_or(LinkRefusal::NotFound)
}

fn read_place(text: &str) -> Option<RelayUrl> {
    let place = percent_decode_str(text).decode_utf8().ok()?;
    if has_scheme(&place) {
        return place.parse().ok();
    }
    // `ws://` is read for this machine alone.
    let plain = format!("ws://{place}").parse();
    plain.or_else(|_| format!("wss://{place}").parse()).ok()
}

/// The place as it is written, without its scheme where a reader adds the same.
fn write_place(place: &RelayUrl) -> String {
    let whole = place.to_string();
    let bare = whole.split_once("://").map(|(_, bare)| bare);
    let bare = bare.filter(|bare| {
        let encoded = utf8_percent_encode(bare, ENCODED).to_string();
        read_place(&encoded).as_ref() == Some(place)
    });
    utf8_percent_encode(bare.unwrap_or(&whole), ENCODED).to_string()
}

/// Whether a place names its scheme; `://` may be in a path too.
fn has_scheme(place: &str) -> bool {
    place.split_once("://").is_some_and(|(scheme, _)| {
        scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // Nobody can make two texts with one pin.
    #[test]
    fn one_blob_fetched_twice_is_one_and_two_are_refused() {
        let of = |blobs: &[&'static str]| only_one(blobs.iter().copied());
        assert_eq!(of(&[]), Err(LinkRefusal::NotFound));
        assert_eq!(of(&["a", "a", "a"]), Ok("a"));
        assert_eq!(of(&["a", "a", "b"]), Err(LinkRefusal::Two));
        assert_eq!(of(&["b", "a"]), Err(LinkRefusal::Two));
    }
}
