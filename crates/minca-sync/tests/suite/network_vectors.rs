//! network.json, but for the handshakes.

use minca_record::{
    base64url,
    derive::invite_topic,
    did::Did,
    json::{self, MESSAGE_DEPTH},
    url::NodeUrl,
};
use minca_sync::{
    allowance::{LIVE_BURST, LIVE_PER_SECOND, LiveAllowance},
    close::Close,
    envelope::{Envelope, Kind},
    handshake::PEER_LABEL,
    peer_state::{Membership, Peer, PeerState, Shown, peer_state},
    relay::{ROOM_LABEL, mail_id, room, turn_credential, turn_username},
    request::Target,
    who::{MAX_WHO_NOTE_BYTES, shown_note},
};
use serde_json::Value;

use crate::vectors::{Message, assert_sections, bytes, cases, file, text};

fn did(value: &Value) -> Did {
    Did::parse(text(value)).unwrap()
}

#[test]
fn every_section_of_the_network_vectors_is_covered() {
    let network = file("network.json");
    assert_sections(
        &network,
        vec![
            // What the file says of itself, and the keys the handshakes' tests sign with.
            "format",
            "about",
            "keys",
            "spaces",
            // handshake_vectors
            "handshakes",
            "helloCases",
            "clientCases",
            // here
            "labels",
            "urlCases",
            "requestCases",
            "envelopeCases",
            "whoCases",
            "peerStates",
            "liveAllowance",
            "relay",
        ],
    );
    assert_eq!(network["labels"]["peer"], PEER_LABEL);
    assert_eq!(network["labels"]["room"], ROOM_LABEL);
}

#[test]
fn every_node_url_is_taken_as_given() {
    for case in cases(&file("network.json"), "urlCases", 21) {
        match (NodeUrl::parse(text(&case["url"])), case["dial"].as_str()) {
            (Err(_), None) => {}
            (Ok(url), Some(dial)) => {
                assert_eq!(url.dial(text(&case["space"])), dial);
                assert_eq!(url.pin(), Some(did(&case["pin"])));
            }
            (read, _) => panic!("{}: {read:?}", case["why"]),
        }
    }
}

#[test]
fn every_request_is_taken_as_given() {
    for case in cases(&file("network.json"), "requestCases", 13) {
        let expect = &case["expect"];
        let expected = if let Some(space) = expect["space"].as_str() {
            Target::Peer {
                space: space.to_owned(),
            }
        } else if expect["relay"] == true {
            Target::Other
        } else {
            assert_eq!(expect["close"], Close::MissingSpace.code());
            Target::MissingSpace
        };
        assert_eq!(
            Target::read(text(&case["target"])),
            expected,
            "{}",
            case["why"]
        );
    }
}

#[test]
fn every_data_message_is_taken_as_given() {
    for case in cases(&file("network.json"), "envelopeCases", 13) {
        let message = Message::of(&case["message"]);
        let expect = &case["expect"];
        match Envelope::read(message.frame()) {
            Ok(Some(envelope)) => {
                let kind = match &envelope.kind {
                    Kind::Sync => "sync",
                    Kind::Who => "who",
                    Kind::Live => "live",
                    Kind::Other(kind) => kind.as_str().unwrap(),
                };
                assert_eq!(kind, expect["type"], "{}", case["why"]);
                let payload: Value = serde_json::from_slice(&envelope.payload.canonical()).unwrap();
                assert_eq!(payload, expect["payload"], "{}", case["why"]);
            }
            dropped => {
                assert_eq!(expect["dropped"], true, "{}", case["why"]);
                // Text means nothing; the rest is counted.
                assert_eq!(dropped.is_ok(), case["id"] == "text", "{}", case["why"]);
            }
        }
    }
}

#[test]
fn every_note_shows_the_account_given() {
    let mut longest = 0;
    for case in cases(&file("network.json"), "whoCases", 12) {
        let payload = json::read(case["payload"].to_string().as_bytes(), MESSAGE_DEPTH).unwrap();
        let now = case["nowSeconds"].as_u64().unwrap();
        let shown = shown_note(&payload, &did(&case["session"]), now);
        let account = case["account"]
            .as_str()
            .map(|account| Did::parse(account).unwrap());
        assert_eq!(shown.map(|note| note.root()), account, "{}", case["why"]);
        if account.is_some() {
            let note = payload.as_object().unwrap().get("note").unwrap();
            longest = longest.max(note.canonical().len());
        }
    }
    assert_eq!(longest, MAX_WHO_NOTE_BYTES);
}

struct Given<'a>(&'a Value);

impl Given<'_> {
    fn names(&self, list: &str, account: &Did) -> bool {
        let list = self.0[list].as_array().unwrap();
        list.contains(&Value::from(account.to_string()))
    }
}

impl Membership for Given<'_> {
    fn current_read_key(&self) -> Did {
        did(&self.0["currentReadKey"])
    }

    fn key_due(&self) -> bool {
        self.0["keyDue"].as_bool().unwrap()
    }

    fn is_reader(&self, account: &Did) -> bool {
        self.names("readers", account)
    }

    fn is_former_member(&self, account: &Did) -> bool {
        self.names("formerMembers", account)
    }
}

fn peer_of(peer: &Value, reads: bool) -> Peer {
    let who = match (peer["whoArrived"].as_bool().unwrap(), &peer["whoAccount"]) {
        (false, _) => None,
        (true, Value::Null) => Some(Shown::Nothing),
        (true, account) => Some(Shown::Account {
            account: did(account),
            reads,
        }),
    };
    Peer {
        session: did(&peer["session"]),
        admitted_on: did(&peer["admittedOn"]),
        admitted_at_ms: peer["admittedAtMs"].as_u64().unwrap(),
        who,
    }
}

#[test]
fn every_peer_is_in_the_state_given() {
    for case in cases(&file("network.json"), "peerStates", 15) {
        let state = match peer_state(
            &Given(&case["space"]),
            &peer_of(&case["peer"], true),
            case["nowMs"].as_u64().unwrap(),
        ) {
            PeerState::Open => "open",
            PeerState::Held => "held",
            PeerState::Silent => "silent",
            PeerState::Gone => "gone",
        };
        assert_eq!(state, case["expect"], "{}", case["why"]);
    }
}

#[test]
fn a_note_that_lets_nobody_read_makes_no_reader() {
    let network = file("network.json");
    let state = |id: &str, reads| {
        let case = cases(&network, "peerStates", 15);
        let case = case.iter().find(|case| case["id"] == id).unwrap();
        let now = case["nowMs"].as_u64().unwrap();
        peer_state(&Given(&case["space"]), &peer_of(&case["peer"], reads), now)
    };
    assert_eq!(state("changed-member", true), PeerState::Open);
    assert_eq!(state("changed-member", false), PeerState::Gone);
    // One who lost their place is known by any good note.
    assert_eq!(state("due-former", false), PeerState::Silent);
}

#[test]
fn the_live_allowance_goes_as_given() {
    let network = file("network.json");
    let given = &network["liveAllowance"];
    assert_eq!(given["burst"], LIVE_BURST);
    assert_eq!(given["perSecond"], LIVE_PER_SECOND);
    let mut allowance = LiveAllowance::new(0);
    for step in cases(given, "arrivals", 4) {
        let now = step["atMs"].as_u64().unwrap();
        let messages = step["messages"].as_u64().unwrap();
        let taken = (0..messages).filter(|_| allowance.take(now)).count();
        assert_eq!(taken as u64, step["taken"].as_u64().unwrap(), "at {now}");
    }
}

#[test]
fn the_relays_names_are_as_given() {
    let network = file("network.json");
    let relay = &network["relay"];
    assert_sections(relay, vec!["rooms", "turn", "mailbox"]);
    for case in cases(relay, "rooms", 3) {
        assert_eq!(room(text(&case["space"])), case["room"]);
    }
    let turn = &relay["turn"];
    let username = turn_username(1_790_000_000, &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(username, turn["username"]);
    let secret = text(&turn["secret"]).as_bytes();
    assert_eq!(turn_credential(secret, &username), turn["credential"]);
    let mailbox = &relay["mailbox"];
    assert_sections(mailbox, vec!["blob", "id", "inviteTopicOfPinF0toFF"]);
    assert_eq!(mail_id(text(&mailbox["blob"])), mailbox["id"]);
    assert_eq!(
        base64url::decode(text(&mailbox["id"])).unwrap(),
        bytes(&mailbox["id"])
    );
    let pin: Vec<u8> = (0xf0..=0xff).collect();
    assert_eq!(
        base64url::encode(&invite_topic(&pin)),
        mailbox["inviteTopicOfPinF0toFF"]
    );
}
