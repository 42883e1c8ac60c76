//! Names a relay and its clients agree on (04 Appendix A).

use aws_lc_rs::hmac;
use data_encoding::{BASE32_NOPAD, BASE64};
use minca_record::{base64url, hash::sha256};

/// The label of a space's room: the earlier protocol's, renamed.
pub const ROOM_LABEL: &str = "minca-room/v1";

/// Bytes of the hash that name a room.
const ROOM_BYTES: usize = 20;

/// The room of a space, on every relay (04 §A.3).
pub fn room(space: &str) -> String {
    let hash = sha256(format!("{ROOM_LABEL}|{space}").as_bytes());
    BASE32_NOPAD
        .encode(&hash[..ROOM_BYTES])
        .to_ascii_lowercase()
}

/// The id of a blob in a mailbox: the hash of its text (04 §A.6).
pub fn mail_id(blob: &str) -> String {
    base64url::encode(&sha256(blob.as_bytes()))
}

/// A TURN user name that expires: `expires` in seconds since 1970, `random`
/// from the system's secure source (04 §A.4).
pub fn turn_username(expires: u64, random: &[u8; 9]) -> String {
    format!("{expires}:{}", base64url::encode(random))
}

/// The password to a TURN user name, by the secret shared with the TURN server
/// (04 §A.4). HMAC-SHA1 is what coturn takes.
pub fn turn_credential(secret: &[u8], username: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret);
    BASE64.encode(hmac::sign(&key, username.as_bytes()).as_ref())
}
