//! DIDs: what is read is written back the same, and no key has two spellings.

use minca_record::did::{DID_LENGTH, Did};
use minca_record::signature::PublicKey;

/// One run: the bytes as a text, and as what a DID's base58 stands for.
pub fn run(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        check(text);
    }
    let Some((point, rest)) = data.split_first_chunk::<33>() else {
        return;
    };
    // What follows the point changes the codec, so that others are met too.
    let codec: [u8; 2] = match rest {
        [first, second, ..] => [*first, *second],
        _ => [0x80, 0x24],
    };
    let text = format!("did:key:z{}", base58(&[&codec[..], point].concat()));
    if let Some(did) = check(&text) {
        assert_eq!(did.point(), point);
        assert_eq!(codec, [0x80, 0x24]);
    }
}

fn check(text: &str) -> Option<Did> {
    let read = Did::parse(text);
    assert_eq!(read, PublicKey::parse(text).map(|key| key.did()));
    let did = read.ok()?;
    assert_eq!(text.len(), DID_LENGTH);
    assert_eq!(did.to_string(), text, "one spelling");
    assert_eq!(did.public_key().did(), did);
    Some(did)
}

/// base58btc by long division.
fn base58(bytes: &[u8]) -> String {
    const ALPHABET: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut number = bytes.to_vec();
    let mut out = Vec::new();
    while number.iter().any(|&byte| byte != 0) {
        let mut rest = 0;
        for byte in &mut number {
            let here = rest * 256 + usize::from(*byte);
            *byte = (here / 58) as u8;
            rest = here % 58;
        }
        out.push(char::from(ALPHABET[rest]));
    }
    out.extend(bytes.iter().take_while(|&&byte| byte == 0).map(|_| '1'));
    out.iter().rev().collect()
}
