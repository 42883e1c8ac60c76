//! The worked examples of part 03, sections 1 to 8, as its text has them. Those of §4.6
//! are in `readings.rs`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use minca_access::{ShortLink, keys};
use minca_record::base64url;
use minca_record::constitution::{Constitution, ConstitutionError};
use minca_record::content_id::ContentId;
use minca_record::derive::{SpaceKey, invite_key, invite_link_seal_key};
use minca_record::did::Did;
use minca_record::envelope;
use minca_record::json::{MESSAGE_DEPTH, Object, Text, Value, read};
use minca_record::policy::Policy;

const ACCOUNT: &str = "did:key:zDnaed8DYZ8Hx21hjLc7fE9TXMkDUV65S3ys8HtLrnPC1piwd";
const CHESS_CLUB: &str = "blm7z6wkumdjs43sxki3lv27z5x6qtwa345vmlzjco2mxxau3jmhq";
const ROLES: &str = r#"[{"grants":[{"cmd":"/record","pol":[]},{"cmd":"/collection/define","pol":[]},{"cmd":"/role/assign","pol":[["==",".role","editor"]]}],"name":"editor","title":"Editor"}]"#;

fn object(text: &str) -> Object {
    let value = read(text.as_bytes(), MESSAGE_DEPTH).unwrap();
    value.into_object().unwrap()
}

/// The space of a constitution, which must have this id.
fn space(constitution: &str, id: &str) -> Constitution {
    let mut handed_around = object(constitution);
    assert_eq!(
        handed_around.canonical(),
        constitution.as_bytes(),
        "as the text has it"
    );
    handed_around.insert("id", id);
    Constitution::check(handed_around.into()).unwrap()
}

fn chess_club() -> String {
    format!(
        r#"{{"createdAt":"2026-01-01T00:00:00.000Z","minca":"constitution/1","name":"Chess club","nonce":"AAECAwQFBgcICQoL","resolver":"strong-remove/1","roles":{ROLES},"top":{{"founders":["{ACCOUNT}"]}},"visibility":"public"}}"#
    )
}

/// The key of §8.1: `ff fe fd … e0`.
fn space_key() -> SpaceKey {
    SpaceKey::new(std::array::from_fn(|place| 0xff - place as u8))
}

#[test]
fn the_chess_club_of_1_2_has_its_id() {
    let space = space(&chess_club(), CHESS_CLUB);
    assert!(!space.is_private());
    let mut other = object(&chess_club());
    other.insert("name", "Chess Club");
    other.insert("id", CHESS_CLUB);
    assert!(matches!(
        Constitution::check(other.into()),
        Err(ConstitutionError::Refused(_))
    ));
}

#[test]
fn the_private_chess_club_of_1_2_has_its_id() {
    let private = format!(
        r#"{{"createdAt":"2026-01-01T00:00:00.000Z","encryptionKeyId":"bgk-m-Kq-gEGgJCOOEYNYw","minca":"constitution/1","name":"Chess club","nonce":"AAECAwQFBgcICQoL","readKey":"did:key:zDnaes7SHHEzJcR4LfXNL8UjSMWQ3VMFfQiv6vZzoxgkaCNqt","resolver":"strong-remove/1","roles":{ROLES},"top":{{"founders":["{ACCOUNT}"]}},"visibility":"private"}}"#
    );
    let id = "bvvz7u7w4jvlzzbkkaqs4em7ahvxmhnsrjqnupq475wlslsl7uqfa";
    assert!(space(&private, id).is_private());
}

#[test]
fn the_bike_co_op_of_1_2_has_its_id_and_succeeds_the_chess_club() {
    let co_op = format!(
        r#"{{"assigned":{{"{ACCOUNT}":["steward"]}},"createdAt":"2026-01-01T00:00:00.000Z","minca":"constitution/1","name":"Bike co-op","nonce":"AAECAwQFBgcICQoL","resolver":"strong-remove/1","roles":[{{"grants":[{{"cmd":"/","pol":[]}}],"name":"steward"}}],"succeeds":"{CHESS_CLUB}","top":"none","visibility":"public"}}"#
    );
    let id = "brsvdnrzmurfdbm6inw6sv6shuw7lheubbibawsqljsckuxrrsena";
    let space = space(&co_op, id);
    assert_eq!(space.succeeds().unwrap().to_string(), CHESS_CLUB);
    assert!(space.founders().is_empty());
}

fn holds(policy: &str, arguments: &str) -> bool {
    let policy = read(policy.as_bytes(), MESSAGE_DEPTH).unwrap();
    Policy::read(&policy).unwrap().holds(&object(arguments))
}

#[test]
fn a_negation_of_2_2_holds_where_there_is_no_such_argument_and_a_choice_does_not() {
    let removal = r#"{"self":false,"roles":["admin"]}"#;
    assert!(holds(r#"[["!=",".role","admin"]]"#, removal));
    let choice = r#"[["or",[["==",".role","member"],["==",".role","mod"]]]]"#;
    assert!(!holds(choice, removal));
    assert!(holds(choice, r#"{"role":"mod","self":false,"roles":[]}"#));
    assert!(!holds(
        r#"[["==",".body.text","hi"]]"#,
        r#"{"collection":"a"}"#
    ));
}

#[test]
fn the_grants_of_2_3_hold_for_what_they_say() {
    let own_moves = r#"[["==",".collection","app.chess"],["==",".byCreator",true]]"#;
    assert!(holds(
        own_moves,
        r#"{"collection":"app.chess","byCreator":true}"#
    ));
    assert!(!holds(
        own_moves,
        r#"{"collection":"app.chess","byCreator":false}"#
    ));
    let treasurer = r#"[["==",".role","treasurer"],["==",".self",false]]"#;
    assert!(holds(
        treasurer,
        r#"{"role":"treasurer","self":false,"roles":[]}"#
    ));
    assert!(!holds(
        treasurer,
        r#"{"role":"treasurer","self":true,"roles":[]}"#
    ));
    let not_admins = r#"[["==",".self",false],["not",["any",".roles",["==",".","admin"]]]]"#;
    assert!(holds(not_admins, r#"{"self":false,"roles":["member"]}"#));
    assert!(!holds(
        not_admins,
        r#"{"self":false,"roles":["admin","member"]}"#
    ));
    assert!(!holds(not_admins, r#"{"self":true,"roles":["member"]}"#));
}

#[test]
fn access_records_are_where_3_1_has_them() {
    let account = Text::from(ACCOUNT);
    assert_eq!(
        keys::assign(&account, &"editor".into()),
        "assign:ccb96616c9f3e392394ad3a7332f2d061a9bedd3"
    );
    let hashed = "6f84748d0060d75ec4767c101275af7b2e7c4ab1";
    assert_eq!(keys::remove(&account), format!("remove:{hashed}"));
    assert_eq!(keys::step_down(&account), format!("stepdown:{hashed}"));
    assert_eq!(
        keys::succeed(ContentId::parse(CHESS_CLUB).unwrap()),
        "succeed:e97c86b71857105804aba53feb034af8c419f9bb"
    );
    assert_eq!(
        keys::invite(&"did:key:zDnaepvP6YSjYyaBgu3v9VSziUgdmpk4t5a4Xw9VVA1e1BEd9".into()),
        "invite:13d55f0d88a0d85e161fee68b002cb9a68e8cb45"
    );
}

#[test]
fn the_secret_of_7_1_is_its_invites_key() {
    let secret: [u8; 32] = std::array::from_fn(|place| place as u8);
    let written = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
    assert_eq!(base64url::encode(&secret), written);
    assert_eq!(
        invite_key(&secret).did().to_string(),
        "did:key:zDnaepvP6YSjYyaBgu3v9VSziUgdmpk4t5a4Xw9VVA1e1BEd9"
    );
}

#[test]
fn the_short_link_of_7_7_gives_its_keys_and_its_places() {
    let link = "AAECAwQFBgcICQoLDA0OD_Dx8vP09fb3-Pn6-_z9_v8@host.example,relay.example/minca";
    let parsed = ShortLink::parse(link).unwrap();
    assert_eq!(parsed.to_string(), link);
    assert_eq!(
        base64url::encode(&parsed.invite_secret()),
        "-VeKPkDHj10Sod96XjdaMmYrdj2qD0hAugTgfzBceX4"
    );
    let secret: [u8; 16] = std::array::from_fn(|place| place as u8);
    assert_eq!(
        base64url::encode(&invite_link_seal_key(&secret)),
        "vh2bIf3PYkKDDgSCyeY-s-HPP4xgGk6pTj_YhCd-Gt8"
    );
    assert_eq!(
        parsed.topic(),
        "ex_E83cHgNjstsHBJeImIx_l0G71b0ivofu6MOcfu6I"
    );
    let places: Vec<String> = parsed.places().iter().map(ToString::to_string).collect();
    assert_eq!(places, ["wss://host.example", "wss://relay.example/minca"]);
}

#[test]
fn the_space_key_of_8_1_has_its_id_and_read_key() {
    let key = space_key();
    let written = "__79_Pv6-fj39vX08_Lx8O_u7ezr6uno5-bl5OPi4eA";
    assert_eq!(base64url::encode(key.bytes()), written);
    assert_eq!(key.key_id(), "bgk-m-Kq-gEGgJCOOEYNYw");
    let read_key = "did:key:zDnaes7SHHEzJcR4LfXNL8UjSMWQ3VMFfQiv6vZzoxgkaCNqt";
    assert_eq!(key.read_key().did(), Did::parse(read_key).unwrap());
}

#[test]
fn the_sealed_body_of_8_3_opens_with_its_bound_and_no_other() {
    let sealed = "AaChoqOkpaanqKmqq07DZlJUgYUf0LLiscCoiOZyTpmIYbOrOnd01S8p1FoAP4mxJDJ7";
    let sealed = base64url::decode(sealed).unwrap();
    let bound = |key: &str| {
        Object::from([
            ("space", Value::from("bexample")),
            ("collection", "app.note".into()),
            ("key", key.into()),
            ("keyId", "bgk-m-Kq-gEGgJCOOEYNYw".into()),
        ])
    };
    let open = |key: &str| {
        let seal_key = space_key().seal_key();
        envelope::open(&seal_key, "minca/record-body/v1", &bound(key), &sealed)
    };
    assert_eq!(open("k1").unwrap(), br#"{"body":{"text":"hi"}}"#);
    assert!(open("k2").is_err());
}
