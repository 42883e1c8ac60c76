//! Invites: what is read, who may join with one, and what a member writes (03 §7).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use data_encoding::BASE32_NOPAD;
use minca_access::{
    Invitation, InvitationDraft, Invite, InviteRefusal, Kind, MAX_ROLE_SHOWN, check_invitation,
    encode_invite, invite_in, join_body, keys,
};
use minca_record::base64url;
use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::derive::{SpaceKey, invite_key};
use minca_record::did::Did;
use minca_record::hex;
use minca_record::json::{Object, Value};
use minca_record::signing::SigningKey;
use minca_record::url::MAX_URLS;
use proptest::prelude::*;
use support::{account, read, says, some_space, vectors};

fn text(value: &serde_json::Value) -> &str {
    value.as_str().unwrap()
}

fn secret(vectors: &serde_json::Value) -> [u8; 32] {
    base64url::decode_exact(text(&vectors["invite"]["secret"])).unwrap()
}

fn constitution(vectors: &serde_json::Value, name: &str) -> Constitution {
    let space = &vectors["spaces"][name];
    let mut object = read(&space["constitution"]).into_object().unwrap();
    object.insert("id", text(&space["id"]));
    Constitution::check(object.into()).unwrap()
}

fn first_key(vectors: &serde_json::Value) -> SpaceKey {
    let key = text(&vectors["spaceKeys"]["K0"]["key"]);
    SpaceKey::new(base64url::decode_exact(key).unwrap())
}

fn check(invite: &str) -> Result<Invitation, InviteRefusal> {
    Invite::parse(invite).and_then(check_invitation)
}

#[test]
fn invitations_are_accepted_or_refused_as_the_vectors_say() {
    let vectors = vectors();
    let cases = vectors["invitations"]["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 51);
    let mut accepted = 0;
    for case in cases {
        let name = text(&case["name"]);
        let checked = check(text(&case["invite"]));
        if case["is"] == "refuse" {
            // A loose version with a log is `not-loose` in records.json.
            let why = match text(&case["why"]) {
                "bad-log" => "not-loose",
                why => why,
            };
            assert_eq!(checked.unwrap_err().reason(), why, "{name}");
            continue;
        }
        let invitation = checked.unwrap_or_else(|why| panic!("{name}: {why}"));
        let kind = if invitation.is_to_a_role() {
            "role"
        } else {
            "view-only"
        };
        let nodes: Vec<String> = invitation
            .nodes
            .iter()
            .map(|node| format!("{}#{}", node.address(), node.pin().unwrap()))
            .collect();
        let relays: Vec<&str> = invitation.relays.iter().map(|it| it.address()).collect();
        assert_eq!(kind, text(&case["kind"]), "{name}");
        assert_eq!(invitation.by.to_string(), text(&case["by"]), "{name}");
        assert_eq!(serde_json::json!(nodes), case["nodes"], "{name}");
        assert_eq!(serde_json::json!(relays), case["relays"], "{name}");
        accepted += 1;
    }
    assert_eq!(accepted, 17);
}

#[test]
fn an_invite_is_found_in_a_link_as_the_vectors_say() {
    let vectors = vectors();
    let cases = vectors["invitations"]["inLinks"].as_array().unwrap();
    assert_eq!(cases.len(), 6);
    for case in cases {
        assert_eq!(invite_in(text(&case["text"])), text(&case["invite"]));
    }
    // The first of several, and not what only looks alike.
    assert_eq!(invite_in("https://a/?invite=A#invite=B"), "A#invite=B");
    assert_eq!(invite_in("https://a/?x=1&invite=\u{3000}"), "");
    assert_eq!(invite_in("xinvite=A"), "xinvite=A");
}

#[test]
fn an_invitation_is_written_as_in_the_vectors() {
    let vectors = vectors();
    let secret = secret(&vectors);
    let given = text(&vectors["invitations"]["cases"][0]["invite"]);
    let (invitation, _) = given.split_once('.').unwrap();
    let invitation: serde_json::Value =
        serde_json::from_slice(&base64url::decode(invitation).unwrap()).unwrap();
    let scalar = text(&vectors["people"]["aliceLaptop"]["private"]);
    let scalar: [u8; 32] = hex::decode(scalar).unwrap().try_into().unwrap();
    let name = text(&invitation["key"]).to_uppercase();
    let name = BASE32_NOPAD.decode(name.as_bytes()).unwrap();
    let draft = InvitationDraft {
        space: &constitution(&vectors, "private"),
        key: Some(&first_key(&vectors)),
        role: Some("editor"),
        relays: &["wss://relay.example"],
        nodes: &[],
    };
    let signed = draft.sign(
        &SigningKey::from_scalar(&scalar).unwrap(),
        Some(read(&invitation["proof"])),
        text(&invitation["createdAt"]),
        name.try_into().unwrap(),
    );
    assert_eq!(encode_invite(&signed, Some(&secret)), given);
}

#[test]
fn an_invites_secret_stands_for_the_key_of_the_vectors_and_joins() {
    let vectors = vectors();
    let secret = secret(&vectors);
    let did = invite_key(&secret).did();
    assert_eq!(did.to_string(), text(&vectors["invite"]["did"]));
    assert_eq!(did.to_string(), text(&vectors["invitations"]["inviteDid"]));
    let body = join_body(some_space().id, &account(), "editor", &secret);
    let joiner = account().to_string().into();
    let key = keys::assign(&joiner, &"editor".into());
    let joined = Kind::Assign {
        did: joiner,
        role: "editor".into(),
        assigned: true,
        via_invite: Some(did),
    };
    assert_eq!(says("sys.assign", &key, body), Ok(joined));
}

#[test]
fn a_join_of_the_vectors_is_written_alike() {
    let vectors = vectors();
    let cases = vectors["events"]["assign"].as_array().unwrap();
    let joins = cases
        .iter()
        .filter(|case| case["yields"]["viaInvite"].is_string())
        // A signature that verifies, and that nobody makes.
        .filter(|case| !text(&case["name"]).starts_with("the other s"));
    let mut count = 0;
    for case in joins {
        let body = read(&case["version"]["body"]);
        let of = |name: &str| {
            body.as_object()
                .unwrap()
                .get(name)
                .unwrap()
                .as_str()
                .unwrap()
        };
        let space = ContentId::parse(text(&case["version"]["space"])).unwrap();
        let account = Did::parse(of("did")).unwrap();
        let written = join_body(space, &account, of("role"), &secret(&vectors));
        assert_eq!(Value::from(written), body, "{}", case["name"]);
        count += 1;
    }
    assert!(count > 0);
}

/// What a founder's own invitation to the public space comes to, with the body
/// changed before it is signed.
fn with_body(change: impl FnOnce(&mut Object), secret: Option<&[u8; 32]>) -> String {
    let space = constitution(&vectors(), "public");
    let mut body = Object::from([("space", space.as_handed_around())]);
    change(&mut body);
    let draft = minca_record::loose::LooseDraft {
        collection: minca_record::loose::INVITATIONS,
        key: "lsshlqgq7ahwsxlpivjrqatywa",
        created_at: "2026-10-25T18:15:44.884Z",
        note: None,
        body: body.into(),
    };
    let author = SigningKey::from_scalar(&[7; 32]).unwrap();
    encode_invite(&draft.sign(&author), secret)
}

#[test]
fn a_list_of_nodes_that_breaks_a_rule_is_ignored_whole() {
    let pinned = |n: usize| format!("wss://n{n}.example#{}", account());
    let nodes = |urls: Vec<String>| {
        let urls: Vec<Value> = urls.into_iter().map(Value::from).collect();
        let invite = with_body(|body| drop(body.insert("nodes", urls)), None);
        check(&invite).unwrap().nodes.len()
    };
    assert_eq!(nodes((0..MAX_URLS).map(pinned).collect()), MAX_URLS);
    assert_eq!(nodes((0..=MAX_URLS).map(pinned).collect()), 0);
    assert_eq!(nodes(vec![pinned(0), pinned(1), pinned(0)]), 0);
    assert_eq!(nodes(vec![pinned(0), "wss://n1.example".to_owned()]), 0);
    assert_eq!(nodes(vec![pinned(0), "no URL".to_owned()]), 0);
}

#[test]
fn a_role_makes_a_role_invite_and_so_does_a_secret() {
    let role = |length: usize| {
        let role = "é".repeat(length);
        check(&with_body(|body| drop(body.insert("role", role)), None))
    };
    assert!(role(MAX_ROLE_SHOWN).unwrap().is_to_a_role());
    assert_eq!(role(MAX_ROLE_SHOWN + 1).unwrap_err(), InviteRefusal::Role);
    assert!(!check(&with_body(|_| (), None)).unwrap().is_to_a_role());
    let with_secret = check(&with_body(|_| (), Some(&[5; 32]))).unwrap();
    assert!(with_secret.is_to_a_role());
    assert_eq!(with_secret.secret, Some([5; 32]));
}

#[test]
fn of_two_faults_the_one_that_is_looked_for_first_is_told() {
    let refusal = |change: &dyn Fn(&mut Object)| check(&with_body(change, None)).unwrap_err();
    let both = |body: &mut Object| {
        body.insert("secret", "x");
        body.insert("key", 7u32);
    };
    assert_eq!(refusal(&both), InviteRefusal::Member);
    let both = |body: &mut Object| {
        body.insert("key", 7u32);
        body.insert("role", 7u32);
    };
    assert_eq!(refusal(&both), InviteRefusal::Key);
    // The space is looked at after all the other members, its keys last.
    let both = |body: &mut Object| {
        let space = body.get("space").unwrap().as_object().unwrap();
        let mut space = space.clone();
        space.insert("name", "another");
        body.insert("space", space);
        body.insert("key", base64url::encode(&[7; 32]));
    };
    assert_eq!(refusal(&both).reason(), "space:id");
    let key = |body: &mut Object| drop(body.insert("key", base64url::encode(&[7; 32])));
    assert_eq!(refusal(&key), InviteRefusal::KeyOfPublic);
}

#[test]
fn nothing_of_an_invite_is_shown() {
    let vectors = vectors();
    let given = text(&vectors["invitations"]["cases"][0]["invite"]);
    let invite = Invite::parse(given).unwrap();
    assert_eq!(format!("{invite:?}"), "Invite(..)");
    let shown = format!("{:?}", check_invitation(invite).unwrap());
    let key = text(&vectors["spaceKeys"]["K0"]["key"]);
    assert!(!shown.contains(key) && !shown.contains("255") && !shown.contains("secret"));
}

proptest! {
    #[test]
    fn no_text_makes_a_reader_fail(text in "\\PC{0,80}|[A-Za-z0-9_-]{0,80}(\\.[A-Za-z0-9_-]{43})?") {
        let _ = check(invite_in(&text));
    }

    #[test]
    fn an_invite_that_is_read_is_written_back_the_same(
        secret in any::<Option<[u8; 32]>>(),
        name in "\\PC{0,10}",
        member in "[a-z]{1,5}",
    ) {
        let space = Object::from([("id", "an id"), ("name", &*name)]);
        let invitation = Object::from([
            (&*member, Value::from("x")),
            ("collection", "sys.invitation".into()),
            ("body", Object::from([("space", space)]).into()),
        ]);
        let text = encode_invite(&invitation, secret.as_ref());
        let link = format!("https://app.example/#invite={text}&more");
        let invite = Invite::parse(invite_in(&link)).unwrap();
        prop_assert_eq!(invite.space_id(), "an id");
        prop_assert_eq!(invite.encode(), text);
    }
}
