//! A blind host for one space: the host's part of the handshake around a device's sync machine.
//! It shares no code with the real one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use member::gatekeeper::Gatekeeper;
use member::holdings::Holdings;
use member::identity::Account;
use member::space::Space;
use member::sync::{Effect, Sync};
use minca_record::constitution::Constitution;
use minca_record::did::Did;
use minca_record::json::Value;
use minca_record::signing::SigningKey;
use minca_sync::envelope::{Envelope, Kind, write_sync, write_who};
use minca_sync::frame::Frame;
use minca_sync::handshake::{
    Held, HostView, Nonce, proof, read_hello, welcome_label, write_challenge, write_welcome,
};
use minca_sync::message::Holds;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

/// A host. What it keeps outlives its connections.
pub(crate) struct Host {
    pub(crate) address: SocketAddr,
    pub(crate) node: Did,
    pub(crate) kept: Arc<Mutex<Option<Kept>>>,
}

/// The space a host keeps.
pub(crate) struct Kept {
    space: String,
    sync: Sync,
    pub(crate) holdings: Holdings,
}

/// How a host behaves.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Manner {
    Well,
    /// Signs its welcome with another key.
    WrongWelcome,
    /// Closes with this code as soon as it has sent its welcome.
    ClosesWith(u16),
}

impl Kept {
    /// The read key to prove is that of the key the history names as current.
    fn held(&self) -> Held {
        let keys = self.sync.gatekeeper().history().current().keys;
        match keys.last() {
            None => Held::Public,
            Some(key) => Held::Private {
                current_read_key: Did::parse(key.read_key.as_str().unwrap()).unwrap(),
            },
        }
    }
}

impl Host {
    /// A host that keeps nothing yet.
    pub(crate) async fn empty(manner: Manner) -> Host {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let key = Account::from_seed([200; 16]).root_key().clone();
        let node = key.did();
        let kept: Arc<Mutex<Option<Kept>>> = Arc::default();
        let served = Arc::clone(&kept);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&served), key.clone(), manner));
            }
        });
        Host {
            address,
            node,
            kept,
        }
    }

    /// A host that keeps `space`, as it is handed around.
    pub(crate) async fn start(space: Value, manner: Manner) -> Host {
        let host = Host::empty(manner).await;
        host.keep(space).await;
        host
    }

    pub(crate) async fn keep(&self, space: Value) {
        let constitution = Constitution::check(space).unwrap();
        let id = constitution.id().to_string();
        let holdings = Holdings::in_memory();
        let gatekeeper = Gatekeeper::new(Space::holding(constitution, []), &holdings);
        *self.kept.lock().await = Some(Kept {
            space: id,
            sync: Sync::new(self.node, gatekeeper, Holds::All),
            holdings,
        });
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://{}/peer#{}", self.address, self.node)
    }
}

async fn serve(
    stream: TcpStream,
    kept: Arc<Mutex<Option<Kept>>>,
    key: SigningKey,
    manner: Manner,
) -> Option<()> {
    let node = key.did();
    let mut socket = tokio_tungstenite::accept_async(stream).await.ok()?;
    let nonce = Nonce([9; 16]);
    socket
        .send(Message::text(write_challenge(&node, &nonce)))
        .await
        .ok()?;
    let message = tokio::time::timeout(Duration::from_secs(10), socket.next())
        .await
        .ok()??
        .ok()?;
    let hello = read_hello(Frame::Text(message.to_text().ok()?.as_bytes())).ok()?;
    let (space, held) = match &*kept.lock().await {
        None => (String::new(), Held::Nothing),
        Some(kept) => (kept.space.clone(), kept.held()),
    };
    let host = HostView {
        node: &node,
        nonce: &nonce,
        space: &space,
        held,
    };
    let admitted = match proof(&hello, &host).verify() {
        Ok(admitted) => admitted,
        Err(close) => {
            let code = CloseCode::from(close.code());
            let frame = CloseFrame {
                code,
                reason: close.reason().into(),
            };
            socket.close(Some(frame)).await.ok()?;
            return None;
        }
    };
    let signer = match manner {
        Manner::WrongWelcome => Account::from_seed([201; 16]).root_key().clone(),
        _ => key,
    };
    let signature = signer.sign(&welcome_label(&space, &node, &hello.nonce));
    socket
        .send(Message::text(write_welcome(&node, &signature)))
        .await
        .ok()?;
    if let Manner::ClosesWith(code) = manner {
        let frame = CloseFrame {
            code: CloseCode::from(code),
            reason: "as told".into(),
        };
        socket.close(Some(frame)).await.ok()?;
        return None;
    }
    socket
        .send(Message::binary(write_who(&node, None)))
        .await
        .ok()?;
    let mut effects = match &mut *kept.lock().await {
        None => return None,
        Some(Kept { sync, holdings, .. }) => sync.connected(admitted.client, holdings),
    };
    loop {
        for effect in effects {
            if let Effect::Send { payload, .. } = effect {
                let bytes = write_sync(&node, |out| out.extend_from_slice(&payload));
                socket.send(Message::binary(bytes)).await.ok()?;
            }
        }
        let Message::Binary(bytes) = socket.next().await?.ok()? else {
            effects = Vec::new();
            continue;
        };
        let envelope = Envelope::read(Frame::Binary(&bytes)).ok()??;
        if envelope.kind != Kind::Sync {
            effects = Vec::new();
            continue;
        }
        let mut kept = kept.lock().await;
        let Kept { sync, holdings, .. } = kept.as_mut()?;
        effects = sync
            .received(admitted.client, envelope.payload, holdings)
            .ok()?;
    }
}
