//! A connection that only pushes what was signed beforehand, with no replica behind it: what a
//! load is made of.

use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::Value;
use minca_record::url::NodeUrl;
use minca_sync::envelope::{Envelope, Kind, write_sync};
use minca_sync::frame::Frame;
use minca_sync::message::{Message as SyncMessage, write_push_update, write_versions};
use tokio_tungstenite::tungstenite::Message;

use super::dial::{self, Caller, DialError, Socket};
use super::{ConnectionError, broken};

/// A live push of one version (05 §7), from the session key `from`.
pub fn live_push(from: &Did, version: &[u8]) -> Vec<u8> {
    write_sync(from, |out| write_push_update(out, version))
}

/// Versions sent unasked (05 §6.3), at most [`MAX_IDS`](minca_sync::message::MAX_IDS).
pub fn batch<'a>(from: &Did, versions: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    write_sync(from, |out| write_versions(out, None, versions))
}

/// Dials, does the handshake, and says `who` with `note`. It says no hello: it asks for nothing
/// and has nothing compared.
///
/// # Errors
/// [`DialError`].
pub async fn open(
    url: &NodeUrl,
    caller: &Caller<'_>,
    note: Option<&Value>,
) -> Result<(Pusher, Answers), DialError> {
    let (mut socket, _) = dial::dial(url, caller).await?;
    let who = dial::who(&caller.session.did(), note);
    socket.send(Message::binary(who)).await?;
    let (sink, stream) = socket.split();
    Ok((Pusher { sink }, Answers { stream }))
}

/// The half that sends.
pub struct Pusher {
    sink: SplitSink<Socket, Message>,
}

impl Pusher {
    /// Sends a whole message. It waits for room in the connection, never for an answer.
    ///
    /// # Errors
    /// [`ConnectionError::Closed`], [`ConnectionError::Broken`].
    pub async fn send(&mut self, message: Vec<u8>) -> Result<(), ConnectionError> {
        let sent = self.sink.send(Message::binary(message)).await;
        sent.map_err(broken)
    }
}

/// The half that hears. The host's pings are answered while it is listened to.
pub struct Answers {
    stream: SplitStream<Socket>,
}

impl Answers {
    /// The versions the next `stored` names. What else comes is passed over.
    ///
    /// # Errors
    /// [`ConnectionError::Closed`], [`ConnectionError::Broken`].
    pub async fn stored(&mut self) -> Result<Vec<ContentId>, ConnectionError> {
        loop {
            match self.stream.next().await {
                None => {
                    return Err(ConnectionError::Closed {
                        code: None,
                        reason: String::new(),
                    });
                }
                Some(Ok(Message::Close(frame))) => {
                    let (code, reason) = frame.map_or((None, String::new()), |frame| {
                        (Some(u16::from(frame.code)), frame.reason.to_string())
                    });
                    return Err(ConnectionError::Closed { code, reason });
                }
                Some(Ok(Message::Binary(bytes))) => {
                    if let Some(ids) = ids_stored(&bytes) {
                        return Ok(ids);
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(broken(error)),
            }
        }
    }
}

fn ids_stored(bytes: &[u8]) -> Option<Vec<ContentId>> {
    let envelope = Envelope::read(Frame::Binary(bytes)).ok()??;
    match (envelope.kind, SyncMessage::read(envelope.payload)) {
        (Kind::Sync, Ok(SyncMessage::Stored(stored))) => Some(stored.ids),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Account;
    use minca_sync::message::write_stored;

    #[test]
    fn only_a_stored_names_versions_that_are_stored() {
        let did = Account::from_seed([1; 16]).did();
        let id = ContentId::of(b"version");
        let stored = write_sync(&did, |out| write_stored(out, [&id]));
        assert_eq!(ids_stored(&stored), Some(vec![id]));
        let version = format!(r#"{{"collection":"app.load","id":"{id}"}}"#);
        for other in [
            live_push(&did, version.as_bytes()),
            batch(&did, [version.as_bytes()]),
            minca_sync::envelope::write_who(&did, None),
            b"no JSON".to_vec(),
        ] {
            assert_eq!(ids_stored(&other), None);
        }
    }

    #[test]
    fn pushes_are_read_as_what_they_are() {
        let did = Account::from_seed([1; 16]).did();
        let version: &[u8] = br#"{"collection":"app.load"}"#;
        let read = |bytes: Vec<u8>| {
            let envelope = Envelope::read(Frame::Binary(&bytes)).unwrap().unwrap();
            SyncMessage::read(envelope.payload).unwrap()
        };
        assert!(matches!(
            read(live_push(&did, version)),
            SyncMessage::PushUpdate(_)
        ));
        let SyncMessage::Versions(versions) = read(batch(&did, [version, version])) else {
            panic!("expected versions");
        };
        assert_eq!((versions.id, versions.versions.len()), (None, 2));
    }
}
