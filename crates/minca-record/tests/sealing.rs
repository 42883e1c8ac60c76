//! Derived keys, envelopes and sealing to a key (01 §3, §5, §9–§11).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_record::agreement::{AgreementKey, AgreementPublic};
use minca_record::derive::{
    SpaceKey, account_key, contact_key, hkdf, identity_key, invite_key, invite_link_seal_key,
    invite_link_secret, invite_topic, local_key, member_key,
};
use minca_record::envelope::{self, OpenError, additional_data};
use minca_record::json::{Object, Value};
use minca_record::signing::SigningKey;
use minca_record::{base64url, hex, hpke};
use proptest::prelude::*;
use support::{list, our_object, section, string};

fn bytes<const LENGTH: usize>(of: &serde_json::Value, name: &str) -> [u8; LENGTH] {
    hex::decode_exact(string(of, name)).unwrap()
}

#[test]
fn key_pairs_are_derived_as_the_vectors_say() {
    let cases = section("identity.json", "keys");
    assert_eq!(cases.as_array().unwrap().len(), 9);
    for case in cases.as_array().unwrap() {
        let ikm = hex::decode(string(case, "ikm")).unwrap();
        assert_eq!(
            hex::encode(&hkdf::<48>(&ikm, "minca/p256-identity-key/v1")),
            string(case, "okm")
        );
        for key in [
            identity_key(&ikm),
            SigningKey::from_uniform(&bytes(case, "okm")),
        ] {
            assert_eq!(hex::encode(&key.scalar()), string(case, "d"));
            assert_eq!(hex::encode(key.did().point()), string(case, "compressed"));
            assert_eq!(key.did().to_string(), string(case, "did"));
        }
    }
}

#[test]
fn hkdf_is_that_of_the_vectors() {
    let cases = section("identity.json", "derive");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 4);
    for case in cases {
        let ikm: [u8; 32] = bytes(case, "ikm");
        let okm = match case["L"].as_u64() {
            Some(16) => hkdf::<16>(&ikm, string(case, "info")).to_vec(),
            Some(32) => hkdf::<32>(&ikm, string(case, "info")).to_vec(),
            other => panic!("an unknown length: {other:?}"),
        };
        assert_eq!(hex::encode(&okm), string(case, "okm"));
    }
    let space = SpaceKey::new(bytes(&cases[0], "ikm"));
    assert_eq!(space.key_id(), string(&cases[0], "base64url"));
    assert_eq!(hex::encode(&space.seal_key()), string(&cases[1], "okm"));
    assert_eq!(
        space.read_key().did(),
        identity_key(&bytes::<32>(&cases[2], "okm")).did()
    );
    assert_eq!(
        space.read_key().did().to_string(),
        "did:key:zDnaes7SHHEzJcR4LfXNL8UjSMWQ3VMFfQiv6vZzoxgkaCNqt"
    );
    let invite = invite_key(&bytes(&cases[3], "ikm"));
    assert_eq!(
        invite.did().to_string(),
        "did:key:zDnaepvP6YSjYyaBgu3v9VSziUgdmpk4t5a4Xw9VVA1e1BEd9"
    );
    assert_eq!(format!("{space:?}{invite:?}"), "SpaceKey(..)SigningKey(..)");
}

#[test]
fn the_invite_key_signs_as_the_vector_says() {
    let case = section("identity.json", "inviteSignature");
    let secret: [u8; 32] = std::array::from_fn(|place| place as u8);
    let key = invite_key(&secret);
    assert_eq!(key.did().to_string(), string(&case, "invite"));
    assert_eq!(
        base64url::encode(&key.sign(string(&case, "message").as_bytes())),
        string(&case, "sig")
    );
}

#[test]
fn short_links_are_those_of_the_vector() {
    let case = section("identity.json", "inviteLink");
    let (link, pin): ([u8; 16], [u8; 16]) = (bytes(&case, "S"), bytes(&case, "pin"));
    assert_eq!(
        base64url::encode(&[link, pin].concat()),
        string(&case, "code")
    );
    assert_eq!(
        base64url::encode(&invite_link_secret(&link)),
        string(&case, "inviteSecret")
    );
    assert_eq!(
        base64url::encode(&invite_link_seal_key(&link)),
        string(&case, "sealKey")
    );
    assert_eq!(
        base64url::encode(&invite_topic(&pin)),
        string(&case, "topic")
    );
}

#[test]
fn envelopes_open_as_the_vectors_say() {
    let cases = section("identity.json", "envelopes");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 21);
    let mut opened = 0;
    for case in cases {
        let (key, label, bound) = (
            bytes(case, "key"),
            string(case, "label"),
            our_object(&case["bound"]),
        );
        assert_eq!(
            hex::encode(&additional_data(label, &bound)),
            string(case, "aad")
        );
        let sealed = base64url::decode(string(case, "sealed")).unwrap();
        let plaintext = envelope::open(&key, label, &bound, &sealed);
        if !case["opens"].as_bool().unwrap() {
            assert_eq!(plaintext, Err(OpenError), "{}", string(case, "why"));
            continue;
        }
        let plaintext = plaintext.unwrap();
        assert_eq!(
            plaintext,
            string(case, "plaintext").as_bytes(),
            "{}",
            string(case, "why")
        );
        let nonce = sealed[1..13].try_into().unwrap();
        assert_eq!(
            envelope::seal(&key, label, &bound, &plaintext, nonce).unwrap(),
            sealed
        );
        opened += 1;
    }
    assert_eq!(opened, 4);
}

#[test]
fn key_agreement_is_that_of_the_vectors() {
    let case = section("identity.json", "keyAgreement");
    let seed = bytes(&case, "accountSeed");
    assert_eq!(
        hex::encode(&account_key(&seed)),
        string(&case, "accountKey")
    );
    assert_ne!(local_key(&seed), account_key(&seed));
    let contact = contact_key(&seed);
    assert_eq!(
        hex::encode(&contact.scalar()),
        string(&case["contactKey"], "d")
    );
    assert_eq!(
        contact.public().to_string(),
        string(&case["contactKey"], "public")
    );
    let member = member_key(&account_key(&seed), string(&case["memberKey"], "space"));
    assert_eq!(
        hex::encode(&member.scalar()),
        string(&case["memberKey"], "d")
    );
    assert_eq!(
        member.public().to_string(),
        string(&case["memberKey"], "public")
    );

    let boxed = &case["box"];
    let (label, bound) = (string(boxed, "label"), our_object(&boxed["bound"]));
    assert_eq!(
        hex::encode(&additional_data(label, &bound)),
        string(boxed, "info")
    );
    let ephemeral = AgreementKey::from_scalar(&bytes(boxed, "ephemeralD")).unwrap();
    let plaintext = string(boxed, "plaintext").as_bytes();
    let sealed = hpke::seal(&member.public(), label, &bound, plaintext, &ephemeral).unwrap();
    assert_eq!(base64url::encode(&sealed), string(boxed, "sealed"));
    assert_eq!(
        hpke::open(&member, label, &bound, &sealed).unwrap(),
        plaintext
    );
    assert_eq!(hpke::open(&contact, label, &bound, &sealed), Err(OpenError));
    assert_eq!(
        hpke::open(&member, "another label", &bound, &sealed),
        Err(OpenError)
    );
    assert_eq!(
        hpke::open(&member, label, &Object::new(), &sealed),
        Err(OpenError)
    );
    for cut in [0, 1, 65, 66, sealed.len() - 1] {
        assert_eq!(
            hpke::open(&member, label, &bound, &sealed[..cut]),
            Err(OpenError),
            "{cut} bytes"
        );
    }

    let publics = &case["publicKeys"];
    assert_eq!(
        (list(publics, "valid").len(), list(publics, "invalid").len()),
        (2, 6)
    );
    for public in list(publics, "valid") {
        let public = public.as_str().unwrap();
        assert_eq!(AgreementPublic::parse(public).unwrap().to_string(), public);
    }
    for public in list(publics, "invalid") {
        assert!(
            AgreementPublic::parse(public.as_str().unwrap()).is_err(),
            "{public}"
        );
    }

    let weave = &case["weaveCheck"];
    let okm = hkdf(&bytes::<16>(weave, "seed"), string(weave, "identityInfo"));
    assert_eq!(
        SigningKey::from_uniform(&okm).did().to_string(),
        string(weave, "did")
    );
}

fn bounds() -> impl Strategy<Value = Object> {
    ("[a-z]{0,5}", "\\PC{0,5}")
        .prop_map(|(space, key)| Object::from([("space", Value::from(space)), ("key", key.into())]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_sealed_opens_and_nothing_near_it_does(
        key in any::<[u8; 32]>(), nonce in any::<[u8; 12]>(), bound in bounds(), plaintext in any::<Vec<u8>>(),
        place in any::<prop::sample::Index>(), bits in 1u8..,
    ) {
        let mut sealed = envelope::seal(&key, "label", &bound, &plaintext, nonce).unwrap();
        prop_assert_eq!(sealed.len(), 29 + plaintext.len());
        prop_assert_eq!(envelope::open(&key, "label", &bound, &sealed), Ok(plaintext));
        let place = place.index(sealed.len());
        sealed[place] ^= bits;
        prop_assert_eq!(envelope::open(&key, "label", &bound, &sealed), Err(OpenError));
    }

    #[test]
    fn what_is_sealed_to_a_key_opens_and_nothing_near_it_does(
        own in any::<[u8; 16]>(), ephemeral in any::<[u8; 16]>(), bound in bounds(), plaintext in any::<Vec<u8>>(),
        place in any::<prop::sample::Index>(), bits in 1u8..,
    ) {
        let (own, ephemeral) = (contact_key(&own), contact_key(&ephemeral));
        let mut sealed = hpke::seal(&own.public(), "label", &bound, &plaintext, &ephemeral).unwrap();
        prop_assert_eq!(hpke::open(&own, "label", &bound, &sealed), Ok(plaintext));
        let place = place.index(sealed.len());
        sealed[place] ^= bits;
        prop_assert_eq!(hpke::open(&own, "label", &bound, &sealed), Err(OpenError));
    }
}
