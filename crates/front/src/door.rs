//! What a peer must prove, by `minca-sync`'s rules; all of it that needs no socket.

use crate::config::HostIdentity;
use link::DoorAnswer;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_sync::close::Close;
use minca_sync::handshake::{Held, Hello, HostView, Nonce, proof, welcome_label, write_welcome};

/// A hello to be judged: against this, on this socket, for this space.
pub(crate) struct Claim {
    pub(crate) hello: Hello,
    /// The `space` of the request, decoded; it may be no space id.
    pub(crate) space: String,
    /// The nonce of the challenge.
    pub(crate) nonce: Nonce,
    pub(crate) answer: DoorAnswer,
}

/// A claim that held.
pub(crate) struct Proven {
    /// The session DID.
    pub(crate) peer: Did,
    /// The read key the proof holds under; `None` in a public space.
    pub(crate) read_key: Option<Did>,
    /// The welcome, signed and not yet deserved: the worker still has to admit.
    pub(crate) welcome: String,
}

/// A fresh nonce. `None` if the system gives no randomness.
pub(crate) fn fresh_nonce() -> Option<Nonce> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(Nonce(bytes))
}

/// The space to ask the worker about: the one in the request or, where that is no space
/// id, one that nobody has, so that asking costs the same.
pub(crate) fn space_to_ask(space: &str) -> ContentId {
    ContentId::parse(space).unwrap_or(NO_SPACE)
}

/// A digest of nothing anyone could know a text of.
const NO_SPACE: ContentId = ContentId::from_digest([0; 32]);

impl Claim {
    /// Verifies every signature, and signs the welcome if the claim holds. Takes a
    /// fraction of a millisecond: not for a thread that serves sockets.
    ///
    /// # Errors
    ///
    /// The close that refuses it, the same for whatever is missing.
    pub(crate) fn check(self, identity: &HostIdentity) -> Result<Proven, Close> {
        let held = match self.answer {
            _ if ContentId::parse(&self.space).is_err() => Held::Nothing,
            DoorAnswer::NotHeld => Held::Nothing,
            DoorAnswer::Public => Held::Public,
            DoorAnswer::Private { read_key } => Held::Private {
                current_read_key: read_key,
            },
        };
        let view = HostView {
            node: &identity.did,
            nonce: &self.nonce,
            space: &self.space,
            held,
        };
        let admitted = proof(&self.hello, &view).verify()?;
        let label = welcome_label(&self.space, &identity.did, &self.hello.nonce);
        let signature = identity.signing_key.sign(&label);
        Ok(Proven {
            peer: admitted.client,
            read_key: admitted.on,
            welcome: write_welcome(&identity.did, &signature),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use minca_record::signing::SigningKey;
    use minca_sync::frame::Frame;
    use minca_sync::handshake::{Challenge, ClientView, check_welcome, read_hello, write_hello};

    fn key(byte: u8) -> SigningKey {
        SigningKey::from_scalar(&[byte; 32]).unwrap()
    }

    fn claim(space: &str, answer: DoorAnswer) -> Result<Proven, Close> {
        let identity = HostIdentity::of(key(1));
        let (session, read) = (key(2), key(3));
        let nonce = Nonce([4; 16]);
        let did = session.did();
        let client = ClientView {
            did: &did,
            space,
            nonce: &Nonce([5; 16]),
            pin: None,
        };
        let challenge = Challenge {
            node: identity.did,
            nonce,
        };
        let hello = write_hello(&client, &challenge, &session, &[&read], None);
        let claim = Claim {
            hello: read_hello(Frame::Text(hello.as_bytes())).unwrap(),
            space: space.to_owned(),
            nonce,
            answer,
        };
        let proven = claim.check(&identity)?;
        let welcome = Frame::Text(proven.welcome.as_bytes());
        assert_eq!(check_welcome(welcome, &client, &challenge), Ok(()));
        assert_eq!(proven.peer, did);
        Ok(proven)
    }

    #[test]
    fn what_a_client_writes_is_proven_and_the_welcome_is_one_it_takes() {
        let space = ContentId::of(b"space").to_string();
        let read_key = key(3).did();
        let private = claim(&space, DoorAnswer::Private { read_key }).unwrap();
        assert_eq!(private.read_key, Some(read_key));
        let public = claim(&space, DoorAnswer::Public).unwrap();
        assert_eq!(public.read_key, None);
    }

    #[test]
    fn what_is_no_space_id_is_refused_whatever_the_worker_says() {
        let refused = claim("nothing", DoorAnswer::Public);
        assert_eq!(refused.err(), Some(Close::NotAReader));
    }
}
