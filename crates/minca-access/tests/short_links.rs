//! Short links and the sealed invites they lead to (03 §7.7).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_access::{
    GivenInvite, Invite, InviteRefusal, LinkRefusal, MAX_BLOB_CHARACTERS, NoShortLink,
    SealInviteError, SealedInviteError, ShortLink, invite_in, read_invite, seal_invite,
};
use minca_record::base64url;
use minca_record::json::{Object, Value};
use minca_record::url::RelayUrl;
use proptest::prelude::*;
use support::{read, vectors};

fn text(value: &serde_json::Value) -> &str {
    value.as_str().unwrap()
}

fn bytes<const LENGTH: usize>(value: &serde_json::Value) -> [u8; LENGTH] {
    base64url::decode_exact(text(value)).unwrap()
}

fn urls(places: &serde_json::Value) -> Vec<RelayUrl> {
    let places = places.as_array().unwrap().iter();
    places.map(|place| text(place).parse().unwrap()).collect()
}

#[test]
fn the_link_of_the_protocols_example_is_read_and_written() {
    let vectors = vectors();
    let seed = &vectors["shortLinks"]["seed"];
    let link = ShortLink::new(
        bytes(&seed["S"]),
        bytes(&seed["pin"]),
        &urls(&seed["places"]),
    );
    assert_eq!(link.to_string(), text(&seed["link"]));
    assert_eq!(ShortLink::parse(text(&seed["link"])), Ok(link.clone()));
    assert_eq!(link.topic(), text(&seed["topic"]));
    assert_eq!(
        base64url::encode(&link.invite_secret()),
        text(&seed["inviteSecret"])
    );
    let code = ShortLink::parse(text(&seed["code"])).unwrap();
    assert_eq!(code.to_string(), text(&seed["code"]));
    assert_eq!(code.places(), []);
    assert_eq!(format!("{link:?}"), "ShortLink(..)");
}

#[test]
fn links_lead_to_invites_as_the_vectors_say() {
    let vectors = vectors();
    let cases = vectors["shortLinks"]["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 11);
    for case in cases {
        let name = text(&case["name"]);
        let link = ShortLink::parse(text(&case["code"])).unwrap();
        assert_eq!(link.topic(), text(&case["topic"]), "{name}");
        let blobs = case["blobs"].as_array().unwrap();
        let opened = link.open(blobs.iter().map(text));
        if case["opens"] == true {
            let long = opened.unwrap().encode();
            assert_eq!(long, text(&case["long"]), "{name}");
        } else {
            let why = opened.unwrap_err().reason();
            assert_eq!(why, text(&case["why"]), "{name}");
        }
    }
}

#[test]
fn the_places_of_a_link_are_those_of_the_vectors() {
    let vectors = vectors();
    let cases = vectors["shortLinks"]["places"].as_array().unwrap();
    assert_eq!(cases.len(), 9);
    for case in cases {
        let link = ShortLink::parse(text(&case["link"])).unwrap();
        let places: Vec<String> = link.places().iter().map(ToString::to_string).collect();
        assert_eq!(serde_json::json!(places), case["places"]);
        assert_eq!(ShortLink::parse(&link.to_string()), Ok(link));
    }
}

#[test]
fn a_code_of_another_form_is_no_link() {
    let vectors = vectors();
    let invalid = vectors["shortLinks"]["codes"]["invalid"]
        .as_array()
        .unwrap();
    assert_eq!(invalid.len(), 4);
    for code in invalid {
        assert_eq!(ShortLink::parse(text(code)), Err(NoShortLink));
        let with_a_place = format!("{}@host.example", text(code));
        assert_eq!(ShortLink::parse(&with_a_place), Err(NoShortLink));
    }
}

fn first_invitation(vectors: &serde_json::Value) -> Object {
    let long = text(&vectors["invitations"]["cases"][0]["invite"]);
    let (invitation, _) = long.split_once('.').unwrap();
    let invitation = base64url::decode(invitation).unwrap();
    read(&serde_json::from_slice(&invitation).unwrap())
        .into_object()
        .unwrap()
}

#[test]
fn what_is_sealed_opens_for_its_link_and_no_other() {
    let invitation = first_invitation(&vectors());
    let until = Some("2026-11-25T18:15:44.884Z");
    let sealed = seal_invite(&[1; 16], &invitation, until, [2; 12]).unwrap();
    let link = ShortLink::new([1; 16], sealed.pin, &[]);
    let invite = link
        .open([&*sealed.blob, "another", &*sealed.blob])
        .unwrap();
    assert_eq!(invite.secret(), Some(&link.invite_secret()));
    let long = minca_access::encode_invite(&invitation, Some(&link.invite_secret()));
    assert_eq!(invite.encode(), long);

    let other_secret = ShortLink::new([3; 16], sealed.pin, &[]);
    let not_opened = Err(LinkRefusal::Sealed(SealedInviteError::NotOpened));
    assert_eq!(other_secret.open([&*sealed.blob]), not_opened);
    let other_pin = ShortLink::new([1; 16], [0; 16], &[]);
    assert_eq!(other_pin.open([&*sealed.blob]), Err(LinkRefusal::NotFound));
}

#[test]
fn a_link_to_a_view_only_invite_puts_no_secret_beside_it() {
    let vectors = vectors();
    let cases = vectors["invitations"]["cases"].as_array().unwrap();
    let view_only = cases
        .iter()
        .find(|case| case["kind"] == "view-only")
        .unwrap();
    let long = text(&view_only["invite"]);
    let invitation = base64url::decode(long).unwrap();
    let invitation = read(&serde_json::from_slice(&invitation).unwrap());
    let invitation = invitation.into_object().unwrap();
    let sealed = seal_invite(&[1; 16], &invitation, None, [2; 12]).unwrap();
    let opened = ShortLink::new([1; 16], sealed.pin, &[]).open([&*sealed.blob]);
    assert_eq!(opened.unwrap().encode(), long);
}

#[test]
fn an_invite_too_long_for_a_mailbox_is_not_sealed() {
    // Hashes, which don't deflate to less than they are.
    let noise = |count: usize| -> Object {
        let noise = (0..count).map(|n| {
            let hash = minca_record::hash::sha256(&n.to_be_bytes());
            Value::from(base64url::encode(&hash))
        });
        Object::from([("noise", noise.collect::<Vec<_>>())])
    };
    assert!(seal_invite(&[1; 16], &noise(50), None, [2; 12]).is_ok());
    let refused = seal_invite(&[1; 16], &noise(500), None, [2; 12]).unwrap_err();
    assert!(matches!(refused, SealInviteError::TooLong(length) if length > MAX_BLOB_CHARACTERS));
}

#[test]
fn either_form_is_read_wherever_an_invite_is() {
    let vectors = vectors();
    let long = text(&vectors["invitations"]["cases"][0]["invite"]);
    let short = text(&vectors["shortLinks"]["seed"]["link"]);
    for around in [
        "",
        "https://app.example/#invite=",
        "https://app.example/?a=1&invite=",
    ] {
        let read = read_invite(&format!("{around}{long}"));
        assert_eq!(read, Ok(GivenInvite::Long(Invite::parse(long).unwrap())));
        let read = read_invite(&format!("{around}{short}"));
        assert_eq!(
            read,
            Ok(GivenInvite::Short(ShortLink::parse(short).unwrap()))
        );
    }
    assert_eq!(read_invite("neither"), Err(InviteRefusal::NoInvite));
}

#[test]
fn a_place_is_written_without_a_scheme_where_a_reader_adds_the_same() {
    let code = "A".repeat(43);
    let written = |url: &str| {
        let link = ShortLink::new([0; 16], [0; 16], &[url.parse().unwrap()]);
        assert_eq!(ShortLink::parse(&link.to_string()), Ok(link.clone()));
        link.to_string().strip_prefix(&code).unwrap().to_owned()
    };
    assert_eq!(written("wss://a.example/x"), "@a.example/x");
    assert_eq!(written("ws://localhost:1"), "@localhost:1");
    assert_eq!(written("wss://localhost:1"), "@wss://localhost:1");
    assert_eq!(written("nostr+wss://a.example"), "@nostr+wss://a.example");
    assert_eq!(written("nostr+ws://[::1]"), "@nostr+ws://[::1]");
    assert_eq!(
        written("wss://a.example/%2C,&@"),
        "@a.example/%252C%2C%26%40"
    );
    assert_eq!(written("wss://a.example/://"), "@a.example/://");
}

#[test]
fn a_place_that_is_no_relays_counts_as_read() {
    let code = "A".repeat(43);
    let places = |places: &str| {
        let link = ShortLink::parse(&format!("{code}@{places}")).unwrap();
        link.places().len()
    };
    assert_eq!(places(""), 0);
    assert_eq!(places(",a.example"), 1);
    assert_eq!(places("ws://a.example,http://a.example,b.example"), 0);
    assert_eq!(places("a.example/%ff"), 0);
    assert_eq!(places("a.example/%20"), 0);
    assert_eq!(places("a:b%40a.example"), 0);
}

proptest! {
    #[test]
    fn a_link_that_is_written_is_read_the_same(
        secret in any::<[u8; 16]>(),
        pin in any::<[u8; 16]>(),
        places in prop::collection::vec(
            "((nostr\\+)?wss?://)(a\\.example|localhost|\\[::1\\])(:[1-9][0-9])?(/[!-~]{0,20})?",
            0..4,
        ),
    ) {
        let places: Vec<RelayUrl> = places.iter().filter_map(|it| it.parse().ok()).collect();
        let link = ShortLink::new(secret, pin, &places);
        let text = format!("https://app.example/?invite={link}&x");
        prop_assert_eq!(ShortLink::parse(invite_in(&text)), Ok(link));
    }

    #[test]
    fn no_text_makes_a_reader_fail(
        places in "(@[!-~]{0,30}|\\PC{0,30}){0,3}",
        blob in "[A-Za-z0-9_-]{0,80}",
    ) {
        let code = "A".repeat(43);
        if let Ok(link) = ShortLink::parse(&format!("{code}{places}")) {
            let _ = link.open([&*blob]);
        }
        let _ = read_invite(&places);
    }
}
