//! The handshake's messages, by a host and by a client, in spaces of every kind.

use std::sync::LazyLock;

use minca_record::did::Did;
use minca_sync::close::Close;
use minca_sync::frame::Frame;
use minca_sync::handshake::{
    Challenge, ClientView, Held, HostView, MAX_HANDSHAKE_BYTES, Nonce, check_welcome, proof,
    read_challenge, read_hello, write_challenge,
};

/// DIDs of the vectors: the founder's, the node's and the client's.
static DIDS: LazyLock<[Did; 3]> = LazyLock::new(|| {
    [
        "did:key:zDnaed8DYZ8Hx21hjLc7fE9TXMkDUV65S3ys8HtLrnPC1piwd",
        "did:key:zDnaefiqTFojC57yy8541Hv8Y9WTNAVkfwZRZ3ECEFtT3rtBk",
        "did:key:zDnaezfzzwcZ3ad3pzrynAr2LTgTceueQAKMX1auV6M8ptjzA",
    ]
    .map(|did| Did::parse(did).expect("a DID"))
});

const SPACE: &str = "blm7z6wkumdjs43sxki3lv27z5x6qtwa345vmlzjco2mxxau3jmhq";

/// The most signatures one hello may cost.
const MOST_CHECKS: usize = 3;

/// One run.
pub fn run(data: &[u8]) {
    for message in [Frame::Text(data), Frame::Binary(data)] {
        host(message, data.len());
        client(message);
    }
    if let Ok(text) = std::str::from_utf8(data)
        && let Some(nonce) = Nonce::parse(text)
    {
        assert_eq!(nonce.to_string(), text);
    }
}

fn host(message: Frame<'_>, length: usize) {
    let hello = match read_hello(message) {
        Ok(hello) => hello,
        Err(close) => {
            let too_big = length > MAX_HANDSHAKE_BYTES;
            let expected = if too_big {
                Close::TooBig
            } else {
                Close::ExpectedHello
            };
            assert_eq!(close, expected);
            return;
        }
    };
    let [founder, node, _] = &*DIDS;
    let held = [
        Held::Nothing,
        Held::Public,
        Held::Private {
            current_read_key: *founder,
        },
    ];
    for held in held {
        let host = HostView {
            node,
            nonce: &Nonce([0xA0; 16]),
            space: SPACE,
            held,
        };
        let proof = proof(&hello, &host);
        let count = proof.checks().len();
        assert!(count <= MOST_CHECKS);
        let nothing_held = proof.decide(&vec![false; count]);
        assert_eq!(nothing_held, Err(Close::NotAReader));
        assert_eq!(proof.decide(&[]), Err(Close::NotAReader));
        match proof.decide(&vec![true; count]) {
            Ok(admitted) => {
                assert_eq!(admitted.client.to_string(), *hello.did);
                assert_eq!(admitted.on.is_some(), held != Held::Public);
                assert_ne!(held, Held::Nothing);
            }
            Err(close) => assert_eq!(close, Close::NotAReader),
        }
        let _ = proof.verify();
    }
}

fn client(message: Frame<'_>) {
    let [_, node, client] = &*DIDS;
    for pin in [None, Some(node)] {
        let view = ClientView {
            did: client,
            space: SPACE,
            nonce: &Nonce([0xB0; 16]),
            pin,
        };
        if let Ok(challenge) = read_challenge(message, &view) {
            assert!(pin.is_none_or(|pin| *pin == challenge.node));
            let written = write_challenge(&challenge.node, &challenge.nonce);
            let again = read_challenge(Frame::Text(written.as_bytes()), &view);
            assert_eq!(again, Ok(challenge));
        }
        let challenge = Challenge {
            node: *node,
            nonce: Nonce([0xA0; 16]),
        };
        let _ = check_welcome(message, &view, &challenge);
    }
}
