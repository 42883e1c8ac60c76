//! Accounts, the devices that sign for them, and the notes they sign under (01 §2, §7.7).

use std::fmt;

use minca_record::base64url;
use minca_record::derive::identity_key;
use minca_record::did::Did;
use minca_record::json::{Object, Value};
use minca_record::note::sign_note;
use minca_record::signing::SigningKey;

use crate::clock::UnixTime;
use crate::randomness::{Randomness, RandomnessError, random_bytes};

/// Seconds before now that a note's `nbf` says: readers allow no slack (01 §7.6).
const NOTE_SLACK: u64 = 300;
/// Seconds a note lasts.
const NOTE_LIFETIME: u64 = 3600;
/// Seconds after which a device takes a new one.
const NOTE_RENEWAL: u64 = NOTE_LIFETIME / 4 * 3;

/// An account: 16 bytes, and the root key made from them. Whoever has the bytes is the account.
#[derive(Clone)]
pub struct Account {
    seed: [u8; 16],
    root: SigningKey,
}

impl Account {
    /// The account with this seed.
    pub fn from_seed(seed: [u8; 16]) -> Account {
        Account {
            seed,
            root: identity_key(&seed),
        }
    }

    /// A new account.
    ///
    /// # Errors
    /// [`RandomnessError`].
    pub fn new(randomness: &mut dyn Randomness) -> Result<Account, RandomnessError> {
        Ok(Account::from_seed(random_bytes(randomness)?))
    }

    /// The seed, which is the account.
    pub fn seed(&self) -> &[u8; 16] {
        &self.seed
    }

    /// The account's DID: that of its root key.
    pub fn did(&self) -> Did {
        self.root.did()
    }

    /// The root key. In ordinary use it signs notes and nothing else.
    pub fn root_key(&self) -> &SigningKey {
        &self.root
    }

    /// A device of the account, with a key of its own and no note yet.
    ///
    /// # Errors
    /// [`RandomnessError`].
    pub fn new_device(&self, randomness: &mut dyn Randomness) -> Result<Device, RandomnessError> {
        let key = identity_key(&random_bytes::<32>(randomness)?);
        Ok(Device::with_key(self.clone(), key))
    }

    /// Signs a note to a key (01 §7.7). `changes` are set over the payload's usual members, so
    /// that any of them can be another.
    pub fn note(
        &self,
        to: Did,
        nonce: [u8; 12],
        now: UnixTime,
        changes: impl IntoIterator<Item = (&'static str, Value)>,
    ) -> Value {
        let account = self.did().to_string();
        let mut payload = Object::from([
            ("iss", Value::from(account.as_str())),
            ("aud", Value::from(to.to_string())),
            ("sub", Value::from(account)),
            ("cmd", Value::from("/")),
            ("pol", Value::Array(Vec::new())),
            ("nonce", Value::from(base64url::encode(&nonce))),
            ("nbf", Value::from(now.seconds().saturating_sub(NOTE_SLACK))),
            ("exp", Value::from(now.seconds() + NOTE_LIFETIME)),
        ]);
        for (name, value) in changes {
            payload.insert(name, value);
        }
        sign_note(payload, &self.root)
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Account(..)")
    }
}

/// A device: a session key that signs for an account under a note.
///
/// It has the account's seed, as a person's own device does, and so renews its note itself.
#[derive(Clone, Debug)]
pub struct Device {
    account: Account,
    key: SigningKey,
    note: Option<(Value, UnixTime)>,
}

impl Device {
    /// The device with this session key. With the account's root key it signs without a note.
    pub fn with_key(account: Account, key: SigningKey) -> Device {
        Device {
            account,
            key,
            note: None,
        }
    }

    /// The account's root key playing a device: what it signs carries no note.
    pub fn of_root_key(account: Account) -> Device {
        let key = account.root_key().clone();
        Device::with_key(account, key)
    }

    /// The account it signs for.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// The session key's DID, which is the device's name on the wire and its versions' `author`.
    pub fn did(&self) -> Did {
        self.key.did()
    }

    /// The session key.
    pub fn key(&self) -> &SigningKey {
        &self.key
    }

    /// The note it signs under at `now`, taken anew after three quarters of its time; `None` for
    /// the account's own root key, which needs none.
    ///
    /// # Errors
    /// [`RandomnessError`].
    pub fn note(
        &mut self,
        now: UnixTime,
        randomness: &mut dyn Randomness,
    ) -> Result<Option<Value>, RandomnessError> {
        if self.did() == self.account.did() {
            return Ok(None);
        }
        if let Some((note, since)) = &self.note {
            let age = now.seconds().checked_sub(since.seconds());
            if age.is_some_and(|age| age < NOTE_RENEWAL) {
                return Ok(Some(note.clone()));
            }
        }
        let note = self
            .account
            .note(self.did(), random_bytes(randomness)?, now, []);
        self.note = Some((note.clone(), now));
        Ok(Some(note))
    }

    /// Shows this note from now on, whatever it says and however old it is. For tests.
    pub fn set_note(&mut self, note: Value, since: UnixTime) {
        self.note = Some((note, since));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::randomness::FixedRandomness;
    use minca_record::note::Note;

    const NOW: u64 = 1_767_225_600;

    fn at(seconds: u64) -> UnixTime {
        UnixTime::from_milliseconds(seconds * 1000)
    }

    #[test]
    fn the_account_of_the_seed_1_to_16_is_the_founder_of_part_03() {
        let seed = std::array::from_fn(|place| place as u8 + 1);
        let did = "did:key:zDnaed8DYZ8Hx21hjLc7fE9TXMkDUV65S3ys8HtLrnPC1piwd";
        assert_eq!(Account::from_seed(seed).did().to_string(), did);
    }

    #[test]
    fn a_device_signs_under_a_note_that_checks_out_and_is_in_time() {
        let mut randomness = FixedRandomness::new(1);
        let account = Account::new(&mut randomness).unwrap();
        let mut device = account.new_device(&mut randomness).unwrap();
        let note = device.note(at(NOW), &mut randomness).unwrap().unwrap();
        let checked = Note::check(&note, &device.did()).unwrap();
        assert_eq!(checked.root(), account.did());
        for (second, is_in_time) in [(NOW - 301, false), (NOW - 300, true), (NOW + 3600, false)] {
            assert_eq!(checked.in_time(second), is_in_time);
        }
    }

    #[test]
    fn a_note_is_renewed_after_three_quarters_of_its_time_and_when_the_clock_went_back() {
        let mut randomness = FixedRandomness::new(1);
        let account = Account::new(&mut randomness).unwrap();
        let mut device = account.new_device(&mut randomness).unwrap();
        let mut note = |second| device.note(at(second), &mut randomness).unwrap().unwrap();
        let first = note(NOW);
        assert_eq!(note(NOW + 2699), first);
        let second = note(NOW + 2700);
        assert_ne!(second, first);
        assert_ne!(note(NOW), second);
    }

    #[test]
    fn the_root_key_signs_without_a_note() {
        let mut randomness = FixedRandomness::new(1);
        let account = Account::new(&mut randomness).unwrap();
        let mut device = Device::of_root_key(account);
        assert_eq!(device.note(at(NOW), &mut randomness).unwrap(), None);
    }
}
