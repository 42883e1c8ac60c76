//! A client's part: is this the node that was meant? (04 §5.2)

use minca_record::{
    did::Did,
    json::{Object, Value},
    signature::parse_signature,
};

use super::{MAX_HANDSHAKE_BYTES, Nonce, object, welcome_label};
use crate::{close::Close, frame::Frame};

/// What a client knows as it dials.
#[derive(Debug, Clone, Copy)]
pub struct ClientView<'a> {
    /// Its session DID.
    pub did: &'a Did,
    /// The space it asks for.
    pub space: &'a str,
    /// The nonce of its hello.
    pub nonce: &'a Nonce,
    /// The DID the node must have; `None` where any that proves itself will do.
    pub pin: Option<&'a Did>,
}

/// A challenge that was taken: the node names itself, unproven yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Challenge {
    /// The node's DID.
    pub node: Did,
    /// The nonce the hello is signed over.
    pub nonce: Nonce,
}

/// Reads the node's first message. Nothing was sent before it was taken.
///
/// # Errors
/// [`Close::ProtocolError`]: it is no challenge, another node than the pinned
/// one, or the client itself.
pub fn read_challenge(message: Frame<'_>, client: &ClientView<'_>) -> Result<Challenge, Close> {
    let challenge = challenge(message).ok_or(Close::ProtocolError)?;
    let is_pinned = client.pin.is_none_or(|pin| *pin == challenge.node);
    if is_pinned && challenge.node != *client.did {
        Ok(challenge)
    } else {
        Err(Close::ProtocolError)
    }
}

/// Checks the node's second message. After it the session is open.
///
/// # Errors
/// [`Close::ProtocolError`]: it is no welcome, of another node than the
/// challenge, or its signature doesn't verify.
pub fn check_welcome(
    message: Frame<'_>,
    client: &ClientView<'_>,
    challenge: &Challenge,
) -> Result<(), Close> {
    let is_proven = welcome(message).is_some_and(|(node, signature)| {
        node == challenge.node
            && node.public_key().verify(
                &welcome_label(client.space, &node, client.nonce),
                &signature,
            )
    });
    if is_proven {
        Ok(())
    } else {
        Err(Close::ProtocolError)
    }
}

fn challenge(message: Frame<'_>) -> Option<Challenge> {
    let object = small_object(message, "challenge")?;
    Some(Challenge {
        node: did(&object)?,
        nonce: Nonce::parse(object.get("nonce")?.as_str()?)?,
    })
}

fn welcome(message: Frame<'_>) -> Option<(Did, [u8; 64])> {
    let object = small_object(message, "welcome")?;
    let signature = object.get("sig").and_then(Value::as_str)?;
    Some((did(&object)?, parse_signature(signature).ok()?))
}

fn small_object(message: Frame<'_>, kind: &str) -> Option<Object> {
    let (Frame::Text(bytes) | Frame::Binary(bytes)) = message;
    if bytes.len() > MAX_HANDSHAKE_BYTES {
        return None;
    }
    object(message, kind)
}

fn did(object: &Object) -> Option<Did> {
    Did::parse(object.get("did")?.as_str()?).ok()
}
