//! `handshakes`, `helloCases` and `clientCases` of network.json.

use minca_record::{did::Did, hash::sha256, hex, signing::SigningKey};
use minca_sync::{
    close::Close,
    envelope::{write_sync, write_who},
    frame::Frame,
    handshake::{
        Admitted, Challenge, ClientView, Held, HostView, Nonce, check_welcome, hello_label, proof,
        read_challenge, read_hello, welcome_label, write_challenge, write_hello, write_welcome,
    },
    message::{self, Holds},
    request::Target,
};
use serde_json::Value;

use crate::vectors::{Message, cases, file, text};

fn did(value: &Value) -> Did {
    Did::parse(text(value)).unwrap()
}

fn nonce(value: &Value) -> Nonce {
    Nonce::parse(text(value)).unwrap()
}

fn key(network: &Value, did: &Did) -> SigningKey {
    let keys = network["keys"].as_object().unwrap();
    let key = keys
        .values()
        .find(|key| key["did"] == did.to_string())
        .unwrap();
    let scalar = hex::decode_exact::<32>(text(&key["private"])).unwrap();
    let key = SigningKey::from_scalar(&scalar).unwrap();
    assert_eq!(key.did(), *did);
    key
}

/// The read keys that proved themselves in a hello, newest first.
fn read_keys(network: &Value, hello: &str) -> Vec<SigningKey> {
    let hello: Value = serde_json::from_str(hello).unwrap();
    let earlier = hello["earlier"].as_array().into_iter().flatten();
    std::iter::once(&hello["readKey"])
        .chain(earlier.map(|entry| &entry["readKey"]))
        .filter(|key| !key.is_null())
        .map(|read_key| key(network, &did(read_key)))
        .collect()
}

#[test]
fn every_handshake_is_the_same_byte_for_byte() {
    let network = file("network.json");
    for case in cases(&network, "handshakes", 3) {
        let (node, client) = (did(&case["node"]), did(&case["client"]));
        let space = text(&case["space"]);
        let asked = Target::Peer {
            space: space.to_owned(),
        };
        assert_eq!(Target::read(text(&case["request"])), asked);
        let (node_nonce, client_nonce) = (nonce(&case["nodeNonce"]), nonce(&case["clientNonce"]));
        let h = hello_label(space, &client, &node, &node_nonce);
        assert_eq!(h, text(&case["H"]).as_bytes());
        assert_eq!(hex::encode(&sha256(&h)), case["Hsha256"]);
        let w = welcome_label(space, &node, &client_nonce);
        assert_eq!(w, text(&case["W"]).as_bytes());
        assert_eq!(hex::encode(&sha256(&w)), case["Wsha256"]);

        let messages = cases(&case, "messages", 6);
        let view = ClientView {
            did: &client,
            space,
            nonce: &client_nonce,
            pin: Some(&node),
        };
        let challenge = write_challenge(&node, &node_nonce);
        assert_eq!(challenge, messages[0]["text"]);
        let challenge = read_challenge(Frame::Text(challenge.as_bytes()), &view).unwrap();
        assert_eq!(
            challenge,
            Challenge {
                node,
                nonce: node_nonce
            }
        );
        let read_keys = read_keys(&network, text(&messages[1]["text"]));
        let read_keys: Vec<&SigningKey> = read_keys.iter().collect();
        let session = key(&network, &client);
        let hello = write_hello(&view, &challenge, &session, &read_keys, None);
        assert_eq!(hello, messages[1]["text"]);

        // The host knows the oldest of the keys.
        let on = read_keys.last().map(|key| key.did());
        let held = on.map_or(Held::Public, |current_read_key| Held::Private {
            current_read_key,
        });
        let host = HostView {
            node: &node,
            nonce: &node_nonce,
            space,
            held,
        };
        let hello = read_hello(Frame::Text(hello.as_bytes())).unwrap();
        assert_eq!(proof(&hello, &host).verify(), Ok(Admitted { client, on }));
        assert_eq!(hello.nonce, client_nonce);
        let welcome = write_welcome(&node, &key(&network, &node).sign(&w));
        assert_eq!(welcome, messages[2]["text"]);
        assert_eq!(
            check_welcome(Frame::Text(welcome.as_bytes()), &view, &challenge),
            Ok(())
        );

        let binary = |at: usize| Message::of(&messages[at]);
        let hello = |out: &mut Vec<u8>| message::write_hello(out, &Holds::All, [], false);
        assert_eq!(Frame::Binary(&write_who(&client, None)), binary(3).frame());
        assert_eq!(Frame::Binary(&write_who(&node, None)), binary(4).frame());
        assert_eq!(Frame::Binary(&write_sync(&node, hello)), binary(5).frame());
    }
}

#[test]
fn every_hello_is_judged_as_given() {
    for case in cases(&file("network.json"), "helloCases", 70) {
        let host = &case["host"];
        let held = match (host["holds"].as_bool().unwrap(), text(&host["visibility"])) {
            (false, _) => Held::Nothing,
            (true, "public") => Held::Public,
            (true, visibility) => {
                assert_eq!(visibility, "private");
                Held::Private {
                    current_read_key: did(&host["currentReadKey"]),
                }
            }
        };
        let (node, nonce) = (did(&host["node"]), nonce(&host["nonce"]));
        let view = HostView {
            node: &node,
            nonce: &nonce,
            space: text(&host["space"]),
            held,
        };
        let judged = read_hello(Message::of(&case["message"]).frame())
            .and_then(|hello| proof(&hello, &view).verify());
        let expect = &case["expect"];
        match judged {
            Ok(admitted) => {
                assert_eq!(expect["welcome"], true, "{}", case["id"]);
                let on = expect["admittedOn"]
                    .as_str()
                    .map(|on| Did::parse(on).unwrap());
                assert_eq!(admitted.on, on, "{}", case["id"]);
            }
            Err(close) => assert_eq!(expect["close"], close.code(), "{}", case["id"]),
        }
    }
}

#[test]
fn every_node_is_judged_as_given() {
    for case in cases(&file("network.json"), "clientCases", 22) {
        let client = &case["client"];
        let (own, nonce) = (did(&client["did"]), nonce(&client["nonce"]));
        let pin = client["pin"].as_str().map(|pin| Did::parse(pin).unwrap());
        let space = text(&client["space"]);
        let view = ClientView {
            did: &own,
            space,
            nonce: &nonce,
            pin: pin.as_ref(),
        };
        let expect = &case["expect"];
        let challenge = read_challenge(Message::of(&case["challenge"]).frame(), &view);
        let outcome = match (challenge, case.get("welcome")) {
            (Ok(challenge), Some(welcome)) => {
                check_welcome(Message::of(welcome).frame(), &view, &challenge)
            }
            (Ok(_), None) => {
                let sends_hello = expect.get("hello").or(expect.get("sendsHello"));
                assert_eq!(sends_hello, Some(&Value::Bool(true)), "{case}");
                continue;
            }
            (Err(close), _) => Err(close),
        };
        match outcome {
            Ok(()) => assert_eq!(expect["open"], true, "{}", case["id"]),
            Err(close) => assert_eq!(expect["close"], close.code(), "{}", case["id"]),
        }
    }
}

#[test]
fn refusing_costs_the_same_whether_the_space_is_held_or_not() {
    let network = file("network.json");
    let mut compared = 0;
    for case in cases(&network, "helloCases", 70) {
        let Ok(hello) = read_hello(Message::of(&case["message"]).frame()) else {
            continue;
        };
        let host = &case["host"];
        let (node, nonce) = (did(&host["node"]), nonce(&host["nonce"]));
        let judged = |held| {
            let view = HostView {
                node: &node,
                nonce: &nonce,
                space: text(&host["space"]),
                held,
            };
            let proof = proof(&hello, &view);
            (proof.checks().len(), proof.verify())
        };
        let (cost, outcome) = judged(Held::Nothing);
        assert_eq!(outcome, Err(Close::NotAReader));
        // Keys the client doesn't hold: of someone else's space.
        for name in ["carol's account", "another node"] {
            let current_read_key = did(&network["keys"][name]["did"]);
            let held = Held::Private { current_read_key };
            assert_eq!(
                judged(held),
                (cost, Err(Close::NotAReader)),
                "{}",
                case["id"]
            );
        }
        assert!(cost == 0 || cost == 2);
        compared += 1;
    }
    assert!(compared > 40);
}
