//! Limits of the network texts, inside and outside; what is written reads
//! back; nothing that comes makes a reader fail.

use minca_record::{
    json::{self, Object, Text, Value},
    note::sign_note,
    signing::SigningKey,
    url::{NodeUrl, RelayUrl},
};
use minca_sync::{
    allowance::{LIVE_BURST, LIVE_PER_SECOND, LiveAllowance, MAX_LIVE_UNITS, is_small_enough},
    close::Close,
    envelope::{Envelope, Kind, write_live, write_sync, write_who},
    frame::Frame,
    handshake::{
        Admitted, ClientView, Held, HostView, MAX_HANDSHAKE_BYTES, Nonce, check_welcome, proof,
        read_challenge, read_hello, welcome_label, write_challenge, write_hello, write_welcome,
    },
    request::Target,
    who::{lets_read, shown_note},
};
use proptest::prelude::*;

const PIN: &str = "did:key:zDnaefiqTFojC57yy8541Hv8Y9WTNAVkfwZRZ3ECEFtT3rtBk";

fn key(number: u8) -> SigningKey {
    SigningKey::from_scalar(&[number.max(1); 32]).unwrap()
}

fn frame(text: bool, bytes: &[u8]) -> Frame<'_> {
    match text {
        true => Frame::Text(bytes),
        false => Frame::Binary(bytes),
    }
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_fail(text in any::<bool>(), bytes in any_message()) {
        let message = frame(text, &bytes);
        let did = key(1).did();
        let nonce = Nonce([0; 16]);
        let view = ClientView { did: &did, space: "b", nonce: &nonce, pin: None };
        let _ = Envelope::read(message);
        if let Ok(hello) = read_hello(message) {
            for held in [Held::Nothing, Held::Public, Held::Private { current_read_key: key(2).did() }] {
                let host = HostView { node: &key(3).did(), nonce: &nonce, space: "b", held };
                let _ = proof(&hello, &host).verify();
            }
        }
        if let Ok(challenge) = read_challenge(message, &view) {
            let _ = check_welcome(message, &view, &challenge);
        }
    }

    #[test]
    fn no_text_makes_a_reader_fail(text in prop_oneof![
        "\\PC{0,60}",
        "(n[a-z]{1,3}\\+)?wss?://[a-z:@\\[\\]0-9/?#%&=.]{0,30}(#did:key:zDna[a-zA-Z0-9]{0,60})?",
        "/peer\\?[space=&%+0-9a-z]{0,30}",
    ]) {
        let _ = Target::read(&text);
        let _ = text.parse::<RelayUrl>();
        if let Ok(url) = NodeUrl::parse_typed(&text) {
            // Whatever is dialled asks a host for this one space.
            let dial = url.dial("bspace");
            let target = dial.split_once("://").unwrap().1;
            let query = target.split_once('?').unwrap().1;
            prop_assert_eq!(
                Target::read(&format!("/peer?{query}")),
                Target::Peer { space: "bspace".to_owned() }
            );
        }
    }

    #[test]
    fn any_space_is_dialled_as_it_is(space in "\\PC{1,40}") {
        let url = NodeUrl::parse_typed("wss://node.example/peer").unwrap();
        let dial = url.dial(&space);
        let target = dial.strip_prefix("wss://node.example").unwrap();
        prop_assert_eq!(Target::read(target), Target::Peer { space });
    }

    #[test]
    fn an_honest_handshake_opens(
        keys in prop::collection::btree_set(1u8..200, 4..10),
        behind in 0usize..7,
        node_nonce in any::<[u8; 16]>(),
        client_nonce in any::<[u8; 16]>(),
    ) {
        let keys: Vec<SigningKey> = keys.into_iter().map(key).collect();
        let [node, session, read_keys @ ..] = keys.as_slice() else { unreachable!() };
        let read_keys: Vec<&SigningKey> = read_keys.iter().collect();
        let (node_did, client) = (node.did(), session.did());
        let (node_nonce, client_nonce) = (Nonce(node_nonce), Nonce(client_nonce));
        let view = ClientView { did: &client, space: "bspace", nonce: &client_nonce, pin: Some(&node_did) };
        let challenge = write_challenge(&node_did, &node_nonce);
        let challenge = read_challenge(Frame::Text(challenge.as_bytes()), &view).unwrap();
        let hello = write_hello(&view, &challenge, session, &read_keys, Some("\"sealed\\"));
        let hello = read_hello(Frame::Text(hello.as_bytes())).unwrap();
        // The host is so many key changes behind.
        let current = read_keys.get(behind).map_or(key(250).did(), |key| key.did());
        let host = HostView {
            node: &node_did,
            nonce: &node_nonce,
            space: "bspace",
            held: Held::Private { current_read_key: current },
        };
        let expected = match behind <= 4 && behind < read_keys.len() {
            true => Ok(Admitted { client, on: Some(current) }),
            false => Err(Close::NotAReader),
        };
        prop_assert_eq!(proof(&hello, &host).verify(), expected);
        for space in ["bspace", "bother"] {
            let welcome = write_welcome(&node_did, &node.sign(&welcome_label(space, &node_did, &hello.nonce)));
            let open = check_welcome(Frame::Text(welcome.as_bytes()), &view, &challenge);
            prop_assert_eq!(open.is_ok(), space == "bspace");
        }
    }

    #[test]
    fn a_data_message_reads_back(text in "\\PC{0,20}", number in any::<u32>()) {
        let from = key(9).did();
        let payload = Value::Array(vec![text.as_str().into(), number.into()]);
        let read = |message: &[u8]| Envelope::read(Frame::Binary(message)).unwrap().unwrap();
        let sync = write_sync(&from, |out| payload.write_canonical(out));
        prop_assert_eq!(read(&sync), Envelope { kind: Kind::Sync, payload: payload.clone() });
        let live = write_live(&from, &payload);
        prop_assert_eq!(read(&live), Envelope { kind: Kind::Live, payload: payload.clone() });
        let who = read(&write_who(&from, Some(&payload)));
        prop_assert_eq!(who.kind, Kind::Who);
        prop_assert_eq!(who.payload.as_object().unwrap().get("note"), Some(&payload));
    }

    #[test]
    fn the_allowance_never_gives_more_than_its_rate(waits in prop::collection::vec(0u64..400, 1..300)) {
        let mut allowance = LiveAllowance::new(0);
        let mut now = 0;
        let mut taken = 0;
        // A bucket counted in fractions of a message.
        let mut model = LIVE_BURST as f64;
        for wait in waits {
            now += wait;
            model = (model + wait as f64 * LIVE_PER_SECOND as f64 / 1000.0).min(LIVE_BURST as f64);
            let expected = model >= 1.0 - 1e-9;
            prop_assert_eq!(allowance.take(now), expected);
            if expected {
                model -= 1.0;
                taken += 1;
            }
        }
        prop_assert!(taken <= LIVE_BURST + now * LIVE_PER_SECOND / 1000);
    }
}

fn any_message() -> impl Strategy<Value = Vec<u8>> {
    let member = prop::sample::select(vec![
        r#""type":"hello""#.to_owned(),
        r#""type":"welcome""#.to_owned(),
        r#""type":"challenge""#.to_owned(),
        r#""type":7"#.to_owned(),
        format!(r#""did":"{PIN}""#),
        r#""did":"did:key:z""#.to_owned(),
        r#""did":"\ud800""#.to_owned(),
        r#""nonce":"sLGys7S1tre4ubq7vL2-vw""#.to_owned(),
        r#""nonce":null"#.to_owned(),
        format!(r#""sig":"{}""#, "A".repeat(86)),
        format!(r#""sig":"{}""#, "_".repeat(86)),
        format!(r#""read":"{}""#, "A".repeat(86)),
        r#""readKey":"\udfff""#.to_owned(),
        r#""earlier":[1,{},{"readKey":"x"},[]]"#.to_owned(),
        r#""payload":[[[{}]]]"#.to_owned(),
    ]);
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..60),
        prop::collection::vec(member, 0..8).prop_map(|members| format!(
            "{{{}}}",
            members.join(",")
        )
        .into_bytes()),
    ]
}

#[test]
fn a_message_of_the_handshake_has_at_most_65536_bytes() {
    let node = key(1).did();
    let own = key(2).did();
    let nonce = Nonce([0; 16]);
    let view = ClientView {
        did: &own,
        space: "b",
        nonce: &nonce,
        pin: None,
    };
    let challenge = write_challenge(&node, &nonce);
    let padded = |bytes: usize| challenge.clone() + &" ".repeat(bytes - challenge.len());
    let read = |text: &str| read_challenge(Frame::Text(text.as_bytes()), &view);
    assert!(read(&padded(MAX_HANDSHAKE_BYTES)).is_ok());
    assert_eq!(read(&padded(65_537)), Err(Close::ProtocolError));
}

#[test]
fn a_live_message_has_at_most_65536_units() {
    // Two quotes besides.
    let inside = Value::from("x".repeat(MAX_LIVE_UNITS - 2));
    assert!(is_small_enough(&inside));
    assert!(!is_small_enough(&Value::from(
        "x".repeat(MAX_LIVE_UNITS - 1)
    )));
    // Counted in UTF-16: two units each, four bytes.
    assert!(is_small_enough(&Value::from(
        "😀".repeat(MAX_LIVE_UNITS / 2 - 1)
    )));
    assert!(!is_small_enough(&Value::from(
        "😀".repeat(MAX_LIVE_UNITS / 2)
    )));
    // A lone surrogate is written in six.
    let lone = |count: usize| Value::from(Text::from_utf16(&vec![0xd800; count]));
    assert!(is_small_enough(&lone((MAX_LIVE_UNITS - 2) / 6)));
    assert!(!is_small_enough(&lone((MAX_LIVE_UNITS - 2) / 6 + 1)));
}

#[test]
fn a_message_nested_deeper_than_128_is_malformed() {
    let message = |depth: usize| {
        // The envelope is one level.
        let nested = "[".repeat(depth - 1) + &"]".repeat(depth - 1);
        format!(r#"{{"type":"live","payload":{nested}}}"#)
    };
    let read = |depth| Envelope::read(Frame::Binary(message(depth).as_bytes()));
    assert!(read(128).is_ok());
    assert!(read(129).is_err());
}

#[test]
fn every_close_has_the_code_and_reason_of_the_text() {
    let given = [
        (Close::MissingSpace, 4000, "missing ?space="),
        (Close::ExpectedHello, 4002, "expected a hello frame"),
        (Close::ProtocolError, 4002, "protocol error"),
        (Close::NotAReader, 4003, "not a reader of this space"),
        (Close::NoHello, 4008, "no hello"),
        (Close::Replaced, 4009, "replaced by a newer connection"),
        (Close::ShuttingDown, 1001, "node shutting down"),
        (Close::Malformed, 1008, "malformed"),
        (Close::TooBig, 1009, "message too big"),
        (Close::CouldNotOpen, 1011, "could not open space"),
        (Close::InternalError, 1011, "internal error"),
        (Close::TryAgainLater, 1013, "try again later"),
        (Close::Normal, 1000, ""),
        (Close::Framing, 1002, ""),
        (Close::NotUtf8, 1007, ""),
    ];
    for (close, code, reason) in given {
        assert_eq!((close.code(), close.reason()), (code, reason));
    }
}

#[test]
fn what_is_no_note_shows_no_account() {
    let session = key(1).did();
    for payload in [Value::Null, Value::from("x"), Value::Array(Vec::new())] {
        assert!(shown_note(&payload, &session, 0).is_none());
    }
}

#[test]
fn a_note_lets_read_where_its_command_and_policy_do() {
    let account = key(1);
    let session = key(2).did();
    let shown = |command: &str, space: &str| {
        let policy = format!(r#"[["==",".space","{space}"]]"#);
        let policy = json::read(policy.as_bytes(), 8).unwrap();
        let payload = Object::from([
            ("iss", Value::from(account.did().to_string())),
            ("aud", session.to_string().into()),
            ("sub", account.did().to_string().into()),
            ("cmd", command.into()),
            ("pol", policy),
            ("nonce", "AAECAwQFBgcICQoL".into()),
            ("exp", 100u32.into()),
        ]);
        let payload = Object::from([("note", sign_note(payload, &account))]);
        shown_note(&payload.into(), &session, 99).unwrap()
    };
    assert!(lets_read(&shown("/", "bspace"), "bspace"));
    assert!(lets_read(&shown("/record", "bspace"), "bspace"));
    assert!(lets_read(&shown("/record/read", "bspace"), "bspace"));
    assert!(!lets_read(&shown("/record/read", "bother"), "bspace"));
    assert!(!lets_read(&shown("/record/write", "bspace"), "bspace"));
}

#[test]
fn a_did_has_at_most_250_characters_behind_its_z() {
    let hello = |characters: usize| {
        let did = format!("did:key:z{}", "D".repeat(characters));
        let nonce = Nonce([0; 16]);
        let hello = format!(r#"{{"type":"hello","did":"{did}","nonce":"{nonce}"}}"#);
        read_hello(Frame::Text(hello.as_bytes())).map(|hello| hello.did.len())
    };
    assert_eq!(hello(0), Err(Close::ExpectedHello));
    assert_eq!(hello(1), Ok(10));
    assert_eq!(hello(250), Ok(259));
    assert_eq!(hello(251), Err(Close::ExpectedHello));
}
