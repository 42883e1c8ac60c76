//! base64url, content ids, `hex40`, DIDs and signatures (01 §1, §4, §6; 02 §2).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod support;

use minca_record::content_id::ContentId;
use minca_record::did::{Did, DidError};
use minca_record::hash::{hex40, sha256};
use minca_record::signature::{PublicKey, parse_signature};
use minca_record::signing::SigningKey;
use minca_record::{base64url, hex, json};
use p256::ecdsa::signature::Verifier;
use proptest::prelude::*;
use support::{list, section, string};

#[test]
fn base64url_has_one_spelling() {
    let cases = section("identity.json", "base64url");
    assert_eq!(
        (list(&cases, "valid").len(), list(&cases, "invalid").len()),
        (5, 8)
    );
    for case in list(&cases, "valid") {
        let bytes = hex::decode(string(case, "hex")).unwrap();
        assert_eq!(base64url::decode(string(case, "text")).as_ref(), Ok(&bytes));
        assert_eq!(base64url::encode(&bytes), string(case, "text"));
    }
    for case in list(&cases, "invalid") {
        assert!(base64url::decode(string(case, "text")).is_err(), "{case}");
        assert!(
            base64url::decode_exact::<1>(string(case, "text")).is_err(),
            "{case}"
        );
        assert!(
            base64url::decode_exact::<2>(string(case, "text")).is_err(),
            "{case}"
        );
        assert!(
            base64url::decode_exact::<3>(string(case, "text")).is_err(),
            "{case}"
        );
    }
    assert_eq!(base64url::decode_exact::<3>("AAEC"), Ok([0, 1, 2]));
    assert!(base64url::decode_exact::<2>("AAEC").is_err());
    assert!(base64url::decode_exact::<4>("AAEC").is_err());
}

#[test]
fn hex_is_lower_case_and_even() {
    assert_eq!(hex::decode("00ff"), Some(vec![0, 255]));
    assert_eq!(hex::decode("00FF"), None);
    assert_eq!(hex::decode("00f"), None);
    assert_eq!(hex::decode_exact::<2>("00ff"), Some([0, 255]));
    assert_eq!(hex::decode_exact::<3>("00ff"), None);
    assert!(hex::is_hex("0a", 2) && !hex::is_hex("0A", 2) && !hex::is_hex("0a", 3));
}

#[test]
fn content_ids_have_one_spelling() {
    let cases = section("records.json", "ids");
    let count = |name| list(&cases, name).len();
    assert_eq!(
        (count("valid"), count("hashOfText"), count("invalid")),
        (6, 4, 11)
    );
    for case in list(&cases, "valid") {
        let digest = hex::decode_exact(string(case, "digest")).unwrap();
        let id = ContentId::from_digest(digest);
        assert_eq!(id.to_string(), string(case, "id"));
        assert_eq!(ContentId::parse(string(case, "id")), Ok(id));
        assert_eq!(id.digest(), &digest);
    }
    for case in list(&cases, "hashOfText") {
        assert_eq!(
            ContentId::of(string(case, "utf8").as_bytes()).to_string(),
            string(case, "id")
        );
    }
    for case in list(&cases, "invalid") {
        assert!(ContentId::parse(string(case, "text")).is_err(), "{case}");
    }
}

#[test]
fn canonical_forms_have_the_ids_of_the_vectors() {
    for case in section("records.json", "canonicalJson").as_array().unwrap() {
        let form = json::read(string(case, "json").as_bytes(), 128)
            .unwrap()
            .canonical();
        assert_eq!(hex::encode(&sha256(&form)), string(case, "sha256"));
        assert_eq!(ContentId::of(&form).to_string(), string(case, "id"));
    }
    for case in section("identity.json", "canonical").as_array().unwrap() {
        let form = json::read(case["value"].to_string().as_bytes(), 128)
            .unwrap()
            .canonical();
        assert_eq!(ContentId::of(&form).to_string(), string(case, "cid"));
    }
}

#[test]
fn hex40_is_that_of_the_vectors() {
    let cases = section("records.json", "hex40");
    assert_eq!(cases.as_array().unwrap().len(), 4);
    for case in cases.as_array().unwrap() {
        assert_eq!(hex40(string(case, "of")), string(case, "hex40"));
    }
    let cases = section("identity.json", "hex40");
    assert_eq!(cases.as_array().unwrap().len(), 4);
    for case in cases.as_array().unwrap() {
        assert_eq!(hex40(string(case, "text")), string(case, "hex40"));
    }
}

#[test]
fn dids_have_one_spelling() {
    let cases = section("identity.json", "dids");
    assert_eq!(
        (list(&cases, "valid").len(), list(&cases, "invalid").len()),
        (8, 29)
    );
    for case in list(&cases, "valid") {
        let did = Did::parse(string(case, "did")).unwrap();
        assert_eq!(hex::encode(did.point()), string(case, "compressed"));
        assert_eq!(did.to_string(), string(case, "did"));
        assert_eq!(PublicKey::parse(string(case, "did")).unwrap().did(), did);
        assert_eq!(did.public_key().did(), did);
    }
    for case in list(&cases, "invalid") {
        assert!(Did::parse(string(case, "did")).is_err(), "{case}");
        assert!(PublicKey::parse(string(case, "did")).is_err(), "{case}");
    }
}

#[test]
fn did_keys_are_those_of_the_records_vectors() {
    let cases = section("records.json", "didKeys");
    assert_eq!(
        (list(&cases, "valid").len(), list(&cases, "invalid").len()),
        (2, 9)
    );
    for did in list(&cases, "valid") {
        assert_eq!(
            Did::parse(did.as_str().unwrap()).unwrap().to_string(),
            did.as_str().unwrap()
        );
    }
    for case in list(&cases, "invalid") {
        assert!(Did::parse(string(case, "did")).is_err(), "{case}");
    }
}

#[test]
fn a_refused_did_says_what_was_expected() {
    let error = |did: &str| Did::parse(did).unwrap_err();
    assert_eq!(error("did:web:example.com"), DidError::Form);
    assert_eq!(
        error("did:key:zDnaed8DYZ8Hx21hjLc7fE9TXMkDUV65S3ys8HtLrnPC1piw0"),
        DidError::Base58
    );
    assert_eq!(
        error("did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"),
        DidError::Form
    );
    assert_eq!(
        error("did:key:z2oAtU1dVqLDN6bSd22dS9r8oLANXRaHfgYKMRLcqYxJsWmCf"),
        DidError::Codec
    );
    assert_eq!(
        error("did:key:zDnaeQRy3dcKsKa1zmKtVKsTy3m2HYoQnFnfKuxD6HfSTQgYg"),
        DidError::Point
    );
}

#[test]
fn signing_keys_are_those_of_the_records_vectors() {
    let cases = section("records.json", "signingKeys");
    assert_eq!(cases.as_array().unwrap().len(), 3);
    for case in cases.as_array().unwrap() {
        let key = SigningKey::from_scalar(&hex::decode_exact(string(case, "d")).unwrap()).unwrap();
        assert_eq!(
            hex::encode(key.did().point()),
            string(case, "publicKeyCompressed")
        );
        assert_eq!(key.did().to_string(), string(case, "did"));
        assert_eq!(hex40(&key.did().to_string()), string(case, "hex40"));
        assert_eq!(hex::encode(&key.scalar()), string(case, "d"));
    }
}

#[test]
fn scalars_are_from_1_to_n_less_1() {
    let scalar = |text: &str| SigningKey::from_scalar(&hex::decode_exact(text).unwrap());
    let n = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
    let n_less_1 = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550";
    assert!(SigningKey::from_scalar(&[0; 32]).is_err());
    assert!(scalar(n).is_err());
    assert!(scalar(n_less_1).is_ok());
    assert!(SigningKey::from_scalar(&[0xFF; 32]).is_err());
}

#[test]
fn signatures_are_judged_as_the_vectors_say() {
    let cases = section("identity.json", "signatures");
    assert_eq!(cases.as_array().unwrap().len(), 14);
    for case in cases.as_array().unwrap() {
        let key = PublicKey::parse(string(case, "did")).unwrap();
        let bytes = hex::decode(string(case, "sig")).unwrap();
        let verifies = parse_signature(&base64url::encode(&bytes))
            .is_ok_and(|signature| key.verify(string(case, "message").as_bytes(), &signature));
        assert_eq!(
            verifies,
            case["valid"].as_bool().unwrap(),
            "{}",
            string(case, "why")
        );
    }
}

#[test]
fn signing_gives_the_signatures_of_the_vectors() {
    let people = section("identity.json", "keys");
    let scalar_of = |did: &str| {
        let person = people
            .as_array()
            .unwrap()
            .iter()
            .find(|person| string(person, "did") == did)
            .unwrap();
        hex::decode_exact(string(person, "d")).unwrap()
    };
    let mut signed = 0;
    for case in section("identity.json", "signatures").as_array().unwrap() {
        if !case["valid"].as_bool().unwrap() || string(case, "why").contains("n - s") {
            continue;
        }
        let key = SigningKey::from_scalar(&scalar_of(string(case, "did"))).unwrap();
        let signature = key.sign(string(case, "message").as_bytes());
        assert_eq!(
            hex::encode(&signature),
            string(case, "sig"),
            "{}",
            string(case, "why")
        );
        signed += 1;
    }
    assert_eq!(signed, 3);
}

#[test]
fn the_invite_signature_verifies() {
    let case = section("identity.json", "inviteSignature");
    let key = PublicKey::parse(string(&case, "invite")).unwrap();
    let signature = parse_signature(string(&case, "sig")).unwrap();
    assert!(key.verify(string(&case, "message").as_bytes(), &signature));
    assert!(!key.verify(b"another message", &signature));
}

/// A signing key from any 32 bytes; the few that are no scalar become 1.
fn signing_key(bytes: [u8; 32]) -> SigningKey {
    let mut one = [0; 32];
    one[31] = 1;
    SigningKey::from_scalar(&bytes).unwrap_or_else(|_| SigningKey::from_scalar(&one).unwrap())
}

fn second_opinion(did: &Did, message: &[u8], signature: &[u8; 64]) -> bool {
    let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(did.point()).unwrap();
    p256::ecdsa::Signature::from_slice(signature)
        .is_ok_and(|signature| key.verify(message, &signature).is_ok())
}

/// Signatures near good ones: a part zeroed, set to the order, or a byte changed.
#[derive(Clone, Debug)]
enum Harm {
    None,
    OtherHalf,
    Byte(usize, u8),
    Zero(usize),
    Order(usize),
}

fn harms() -> impl Strategy<Value = Harm> {
    prop_oneof![
        Just(Harm::None),
        Just(Harm::OtherHalf),
        (0usize..64, 1u8..).prop_map(|(place, bits)| Harm::Byte(place, bits)),
        (0usize..2).prop_map(Harm::Zero),
        (0usize..2).prop_map(Harm::Order),
    ]
}

fn harmed(mut signature: [u8; 64], harm: &Harm) -> [u8; 64] {
    let order: [u8; 32] =
        hex::decode_exact("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
            .unwrap();
    match *harm {
        Harm::None => {}
        Harm::OtherHalf => {
            let parsed = p256::ecdsa::Signature::from_slice(&signature).unwrap();
            let (r, s) = parsed.split_scalars();
            signature = p256::ecdsa::Signature::from_scalars(r, -s)
                .unwrap()
                .to_bytes()
                .into();
        }
        Harm::Byte(place, bits) => signature[place] ^= bits,
        Harm::Zero(part) => signature[part * 32..][..32].fill(0),
        Harm::Order(part) => signature[part * 32..][..32].copy_from_slice(&order),
    }
    signature
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn verifying_agrees_with_another_library(scalar in any::<[u8; 32]>(), message in any::<Vec<u8>>(), harm in harms()) {
        let key = signing_key(scalar);
        let signature = harmed(key.sign(&message), &harm);
        let verifies = key.did().public_key().verify(&message, &signature);
        prop_assert_eq!(verifies, matches!(harm, Harm::None | Harm::OtherHalf));
        prop_assert_eq!(verifies, second_opinion(&key.did(), &message, &signature));
    }

    #[test]
    fn points_are_on_the_curve_when_another_library_says_so(x in any::<[u8; 32]>(), high in any::<bool>(), odd in any::<bool>()) {
        let mut bytes = vec![0x80, 0x24, 2 + u8::from(odd)];
        bytes.extend(x);
        if high {
            // Around the field prime, above which no x may be.
            bytes[3..15].copy_from_slice(&[0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1, 0, 0, 0, 0]);
        }
        let text = format!("did:key:z{}", bs58::encode(&bytes).into_string());
        let theirs = p256::PublicKey::from_sec1_bytes(&bytes[2..]);
        match Did::parse(&text) {
            Ok(did) => {
                prop_assert!(theirs.is_ok());
                prop_assert_eq!(did.to_string(), text);
            }
            Err(error) => {
                prop_assert!(theirs.is_err());
                prop_assert_eq!(error, DidError::Point);
            }
        }
    }

    #[test]
    fn dids_are_ordered_as_their_strings(a in any::<[u8; 32]>(), b in any::<[u8; 32]>()) {
        let (a, b) = (signing_key(a).did(), signing_key(b).did());
        prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
        prop_assert_eq!(Did::parse(&a.to_string()), Ok(a));
    }

    #[test]
    fn what_parses_as_a_did_is_written_the_same(text in "did:key:zDn[1-9A-HJ-NP-Za-km-z]{46}") {
        if let Ok(did) = Did::parse(&text) {
            prop_assert_eq!(did.to_string(), text);
        }
    }
}
