//! The readers of single texts: what is read is written back the same.

use minca_record::agreement::AgreementPublic;
use minca_record::content_id::ContentId;
use minca_record::definition::is_definable;
use minca_record::file_name::{decode_file_name, encode_file_name};
use minca_record::files::FileId;
use minca_record::record_key::{is_record_key, owner_part};
use minca_record::time::{is_iso_string, item_timestamp, parse_date_time};
use minca_record::topics::Topic;
use minca_record::{base64url, hash, hex, store_key};
use minca_sync::handshake::Nonce;
use minca_sync::negentropy::varint;

/// Milliseconds from 1970 to the furthest time ECMAScript's `Date` holds.
const FURTHEST_MS: u64 = 8_640_000_000_000_000;

/// One run.
pub fn run(data: &[u8]) {
    a_varint(data);
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(id) = ContentId::parse(text) {
        assert_eq!(id.to_string(), text);
    }
    if let Ok(bytes) = base64url::decode(text) {
        assert_eq!(base64url::encode(&bytes), text);
        assert!(base64url::is_base64url(text, text.len()));
    }
    if let Some(bytes) = hex::decode(text) {
        assert_eq!(hex::encode(&bytes), text);
    }
    if let Some(file) = FileId::parse(text) {
        assert_eq!(file.to_string(), text);
    }
    if let Some(nonce) = Nonce::parse(text) {
        assert_eq!(nonce.to_string(), text);
    }
    if let Ok(public) = AgreementPublic::parse(text) {
        assert_eq!(public.to_string(), text);
    }
    if let Some(key) = decode_file_name(text) {
        assert_eq!(decode_file_name(&encode_file_name(&key)), Some(key));
    }
    assert_eq!(
        decode_file_name(&encode_file_name(text)).as_deref(),
        Some(text)
    );
    times(text);
    let _ = (Topic::parse(text), is_definable(text), is_record_key(text));
    assert!(owner_part(text).is_none_or(|owner| owner.len() == 40));
    assert_eq!(hash::hex40(text).len(), 40);
    let id = ContentId::of(data);
    let _ = (store_key::current(text), store_key::item(text, 1, id));
}

fn times(text: &str) {
    let read = parse_date_time(text);
    assert!(read.is_none_or(|ms| ms.unsigned_abs() <= FURTHEST_MS));
    let seconds = read.map_or(0, |ms| ms.div_euclid(1000).max(0).unsigned_abs());
    assert_eq!(item_timestamp(text), seconds);
    assert!(!is_iso_string(text) || read.is_some());
}

fn a_varint(data: &[u8]) {
    let mut offset = 0;
    let Ok(value) = varint::read(data, &mut offset) else {
        return;
    };
    assert!(offset <= data.len() && value <= varint::LARGEST);
    let mut written = Vec::new();
    varint::write(&mut written, value);
    // Leading zero groups are read and never written.
    assert!(data[..offset].ends_with(&written));
}
