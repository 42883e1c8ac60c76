//! Who is in histories: eight accounts with three keys each, and the keys of
//! invites. All of them real points.

use std::sync::LazyLock;

use minca_record::did::Did;
use minca_record::signing::SigningKey;

const ACCOUNTS: usize = 8;
const DEVICES: usize = 3;
const INVITES: usize = 3;
const READ_KEYS: usize = 6;

static KEYS: LazyLock<Vec<Did>> = LazyLock::new(|| {
    let count = ACCOUNTS * DEVICES + INVITES + READ_KEYS;
    let key = |number: usize| SigningKey::from_uniform(&[number as u8 + 1; 48]).did();
    (0..count).map(key).collect()
});

/// The accounts. Each is the first of its own keys.
pub fn accounts() -> &'static [Did] {
    &KEYS[..ACCOUNTS]
}

/// The keys an account signs with.
pub fn keys_of(account: &Did) -> Vec<Did> {
    let Some(place) = accounts().iter().position(|it| it == account) else {
        return vec![*account];
    };
    (0..DEVICES)
        .map(|device| KEYS[device * ACCOUNTS + place])
        .collect()
}

/// The keys invites are known by.
pub fn invite_keys() -> &'static [Did] {
    let from = ACCOUNTS * DEVICES;
    &KEYS[from..from + INVITES]
}

/// Public halves of read keys.
pub fn read_keys() -> &'static [Did] {
    &KEYS[ACCOUNTS * DEVICES + INVITES..]
}
