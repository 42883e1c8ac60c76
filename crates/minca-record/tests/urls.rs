//! URLs of relays and nodes, inside and outside their limits.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use minca_record::did::Did;
use minca_record::url::{MAX_URL_CHARACTERS, NodeUrl, RelayUrl, UrlError, read_nodes};

const PIN: &str = "did:key:zDnaefiqTFojC57yy8541Hv8Y9WTNAVkfwZRZ3ECEFtT3rtBk";

#[test]
fn a_relay_url_is_read_by_its_form() {
    let read = |text: &str| text.parse::<RelayUrl>();
    let relay = read("wss://relay.example/minca").unwrap();
    assert_eq!(
        (relay.kind(), relay.address()),
        (None, "wss://relay.example/minca")
    );
    let nostr = read("nostr+wss://relay.example").unwrap();
    assert_eq!(
        (nostr.kind(), nostr.address()),
        (Some("nostr"), "wss://relay.example")
    );
    assert!(read("nostr+ws://localhost:7000").is_ok());
    assert!(read("ws://[::1]/x").is_ok());
    assert_eq!(read("ws://relay.example"), Err(UrlError::Scheme));
    assert_eq!(read("nostr+ws://127.0.0.2"), Err(UrlError::Scheme));
    assert_eq!(read("https://relay.example"), Err(UrlError::Scheme));
    assert_eq!(read("relay.example"), Err(UrlError::Scheme));
    assert_eq!(read("+wss://relay.example"), Err(UrlError::Kind));
    assert_eq!(read("Nostr+wss://relay.example"), Err(UrlError::Kind));
    assert_eq!(read("1a+wss://relay.example"), Err(UrlError::Kind));
    assert!(read(&format!("{}+wss://relay.example", "k".repeat(20))).is_ok());
    assert_eq!(
        read(&format!("{}+wss://relay.example", "k".repeat(21))),
        Err(UrlError::Kind)
    );
    assert_eq!(read("wss://relay.example#x"), Err(UrlError::Fragment));
    assert_eq!(read("wss://a:b@relay.example"), Err(UrlError::Authority));
    assert_eq!(read("wss://relay.example:0"), Err(UrlError::Authority));
    assert_eq!(read("wss://relay.example:65536"), Err(UrlError::Authority));
    assert!(read("wss://relay.example:65535").is_ok());
    let of_length = |length: usize| format!("wss://r.example/{}", "p".repeat(length - 16));
    assert!(read(&of_length(MAX_URL_CHARACTERS)).is_ok());
    assert_eq!(read(&of_length(201)), Err(UrlError::TooLong(201)));
}

#[test]
fn a_node_url_may_be_without_a_pin_where_a_person_typed_it() {
    assert_eq!(NodeUrl::parse("wss://node.example"), Err(UrlError::Pin));
    let typed = NodeUrl::parse_typed("wss://node.example").unwrap();
    assert_eq!((typed.pin(), typed.address()), (None, "wss://node.example"));
    assert_eq!(
        NodeUrl::parse_typed("wss://node.example#"),
        Err(UrlError::Pin)
    );
    let space = "wss://node.example/peer?a=b&%73pace=c";
    assert_eq!(NodeUrl::parse_typed(space), Err(UrlError::Space));
    let pinned = |length: usize| format!("wss://n.example/{}#{PIN}", "p".repeat(length - 16));
    let url = NodeUrl::parse(&pinned(MAX_URL_CHARACTERS)).unwrap();
    assert_eq!(url.pin(), Some(Did::parse(PIN).unwrap()));
    assert_eq!(NodeUrl::parse(&pinned(201)), Err(UrlError::TooLong(201)));
}

#[test]
fn a_list_of_nodes_holds_eight_and_none_twice() {
    let nodes: Vec<String> = (0..9)
        .map(|i| format!("wss://n{i}.example#{PIN}"))
        .collect();
    let list = |count: usize| nodes[..count].iter().map(String::as_str);
    assert_eq!(read_nodes(list(8)).map(|urls| urls.len()), Some(8));
    assert_eq!(read_nodes(list(9)), None);
    assert_eq!(read_nodes(list(1).chain(["wss://n.example"])), None);
    assert_eq!(read_nodes(list(1).chain(list(1))), None);
}
