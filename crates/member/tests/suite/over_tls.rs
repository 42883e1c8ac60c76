//! The client over TLS, with a certificate of the test's own in front of the tests' host.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use member::client::{ConnectError, Connection, DialError, Options};
use member::clock::UnixTime;
use member::holdings::Holdings;
use member::identity::Account;
use member::randomness::FixedRandomness;
use member::replica::Replica;
use member::space::{Space, Visibility};
use minca_record::url::NodeUrl;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::support::{Host, Manner};

/// Ends TLS and passes everything on to `to`, as a proxy in front of a host does. Gives its port
/// and its certificate, which is for `localhost`.
async fn proxy(to: SocketAddr) -> (u16, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("localhost:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let mut outside = acceptor.accept(stream).await?;
                let mut inside = TcpStream::connect(to).await?;
                tokio::io::copy_bidirectional(&mut outside, &mut inside).await?;
                io::Result::Ok(())
            });
        }
    });
    (port, certificate)
}

fn replica(space: Space) -> Replica {
    let mut randomness = FixedRandomness::new(11);
    let device = Account::from_seed([5; 16])
        .new_device(&mut randomness)
        .unwrap();
    Replica::new(space, device, Holdings::in_memory(), Box::new(randomness))
}

#[tokio::test]
async fn a_host_behind_tls_is_reached_where_its_certificate_is_trusted_and_only_there() {
    let founder = Account::from_seed([5; 16]).did().to_string();
    let mut randomness = FixedRandomness::new(1);
    let now = UnixTime::now();
    let space = Space::found("Notes", Visibility::Private, &founder, now, &mut randomness).unwrap();
    let host = Host::start(space.as_handed_around(), Manner::Well).await;
    let (port, certificate) = proxy(host.address).await;
    let url = format!("wss://localhost:{port}/peer#{}", host.node);
    let url = NodeUrl::parse(&url).unwrap();

    let mut device = replica(space);
    let refused = Connection::open(&url, &mut device, Options::default())
        .await
        .unwrap_err();
    let ConnectError::Dial(DialError::Io(refused)) = refused else {
        panic!("{refused}");
    };
    assert_eq!(refused.kind(), io::ErrorKind::InvalidData, "{refused}");

    let options = Options {
        extra_roots: vec![certificate],
        ..Options::default()
    };
    let mut connection = Connection::open(&url, &mut device, options).await.unwrap();
    let version = device.create("app.note", "over TLS".into(), now).unwrap();
    connection.push(&mut device, &version).await.unwrap();
    connection
        .sync_until_level(&mut device, Duration::from_secs(30))
        .await
        .unwrap();
    assert!(device.holdings().is_stored_by(&version.id(), &host.node));
}
