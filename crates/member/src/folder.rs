//! A member's folder on disk: its account, and the spaces it is in.
//!
//! ```text
//! account.json               the account's seed and the device's key
//! lock                       held by the one process that has the folder open
//! spaces/<space id>/card.json      the space, its keys, the nodes it is synced with, and what it
//!                                  was invited with
//! spaces/<space id>/versions.jsonl what is held of it
//! ```
//!
//! Nothing in it is sealed: **whoever reads the folder is the account, and reads its spaces.** It is
//! made so that only its owner may enter it, and its files with secrets so that only their owner
//! may read them.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use minca_record::base64url;
use minca_record::content_id::ContentId;
use minca_record::json::{MESSAGE_DEPTH, Object, Value, read};
use minca_record::signing::SigningKey;
use minca_record::url::NodeUrl;
use thiserror::Error;

use crate::entry::SpaceEntry;
use crate::holdings::{Holdings, JournalError};
use crate::identity::{Account, Device};
use crate::randomness::{Randomness, RandomnessError, SystemRandomness};
use crate::replica::Replica;
use crate::space::{Space, SpaceError};

const ACCOUNT: &str = "account.json";
const LOCK: &str = "lock";
const SPACES: &str = "spaces";
const CARD: &str = "card.json";
const VERSIONS: &str = "versions.jsonl";

/// Why a folder can't be used.
#[derive(Debug, Error)]
pub enum FolderError {
    /// Reading or writing failed.
    #[error("{path}: {error}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// There is no account in it.
    #[error("{0}: no member lives here yet")]
    NoAccount(PathBuf),
    /// There is an account in it already.
    #[error("{0}: a member lives here already")]
    AccountExists(PathBuf),
    /// Another process has it open.
    #[error("{0}: another process has this folder open")]
    InUse(PathBuf),
    /// A file in it is not what it should be.
    #[error("{path}: expected {expected}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What it should be.
        expected: &'static str,
    },
    /// The space is not in it.
    #[error("this member isn't in the space {0}")]
    NoSpace(ContentId),
    /// The space is in it already.
    #[error("this member is in the space {0} already")]
    SpaceExists(ContentId),
    /// The space's card.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// The space's versions.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// There were no random bytes.
    #[error(transparent)]
    Randomness(#[from] RandomnessError),
}

/// A member's folder, which no other process has open.
#[derive(Debug)]
pub struct MemberFolder {
    path: PathBuf,
    account: Account,
    device_key: SigningKey,
    _lock: File,
}

impl MemberFolder {
    /// Makes a folder for `account`, with a fresh device key.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn init(
        path: &Path,
        account: Account,
        randomness: &mut dyn Randomness,
    ) -> Result<MemberFolder, FolderError> {
        make_folder(path).map_err(|error| at(path, error))?;
        let lock = lock(path)?;
        let file = path.join(ACCOUNT);
        if fs::exists(&file).map_err(|error| at(&file, error))? {
            return Err(FolderError::AccountExists(path.to_owned()));
        }
        let device_key = account.new_device(randomness)?.key().clone();
        let folder = MemberFolder {
            path: path.to_owned(),
            account,
            device_key,
            _lock: lock,
        };
        folder.save_account()?;
        Ok(folder)
    }

    /// Opens a folder.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn open(path: &Path) -> Result<MemberFolder, FolderError> {
        let file = path.join(ACCOUNT);
        if !fs::exists(&file).map_err(|error| at(&file, error))? {
            return Err(FolderError::NoAccount(path.to_owned()));
        }
        let lock = lock(path)?;
        let expected = "an account: JSON with a seed and a deviceKey";
        let malformed = || FolderError::Malformed {
            path: file.clone(),
            expected,
        };
        let object = read_object(&file, expected)?;
        let text = |name| object.get(name).and_then(Value::as_str);
        let seed = text("seed").and_then(|seed| base64url::decode_exact(seed).ok());
        let scalar = text("deviceKey").and_then(|key| base64url::decode_exact(key).ok());
        let device_key = SigningKey::from_scalar(&scalar.ok_or_else(malformed)?);
        Ok(MemberFolder {
            path: path.to_owned(),
            account: Account::from_seed(seed.ok_or_else(malformed)?),
            device_key: device_key.map_err(|_| malformed())?,
            _lock: lock,
        })
    }

    /// The account.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// The device.
    pub fn device(&self) -> Device {
        Device::with_key(self.account.clone(), self.device_key.clone())
    }

    /// Goes on under a fresh device key, in every space.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn take_fresh_key(&mut self, randomness: &mut dyn Randomness) -> Result<(), FolderError> {
        self.device_key = self.account.new_device(randomness)?.key().clone();
        self.save_account()
    }

    /// Takes a space in, with the nodes to sync it with.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn add_space(&self, space: &Space, nodes: Vec<String>) -> Result<(), FolderError> {
        self.add_entry(&SpaceEntry::new(space.clone(), nodes))
    }

    /// As [`add_space`](Self::add_space), with all that is kept with the space.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn add_entry(&self, entry: &SpaceEntry) -> Result<(), FolderError> {
        let id = entry.space.id();
        let folder = self.space_folder(id);
        if fs::exists(folder.join(CARD)).map_err(|error| at(&folder, error))? {
            return Err(FolderError::SpaceExists(id));
        }
        fs::create_dir_all(&folder).map_err(|error| at(&folder, error))?;
        self.save_space(entry)
    }

    /// Writes a space's card anew.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn save_space(&self, entry: &SpaceEntry) -> Result<(), FolderError> {
        let card = self.space_folder(entry.space.id()).join(CARD);
        write_secret(&card, &entry.to_card())
    }

    /// The spaces in it, by id.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn spaces(&self) -> Result<Vec<SpaceEntry>, FolderError> {
        let folder = self.path.join(SPACES);
        let mut ids = Vec::new();
        match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(at(&folder, error)),
            Ok(entries) => {
                for entry in entries {
                    let name = entry.map_err(|error| at(&folder, error))?.file_name();
                    ids.extend(name.to_str().and_then(|name| ContentId::parse(name).ok()));
                }
            }
        }
        ids.sort_unstable();
        ids.into_iter().map(|id| self.space(id)).collect()
    }

    /// A space in it.
    ///
    /// # Errors
    /// [`FolderError::NoSpace`] where it isn't.
    pub fn space(&self, id: ContentId) -> Result<SpaceEntry, FolderError> {
        let file = self.space_folder(id).join(CARD);
        if !fs::exists(&file).map_err(|error| at(&file, error))? {
            return Err(FolderError::NoSpace(id));
        }
        let card = read_object(&file, "a space card as JSON")?;
        Ok(SpaceEntry::from_card(&card)?)
    }

    /// Opens what is held of a space.
    ///
    /// # Errors
    /// [`FolderError`].
    pub fn replica(&self, entry: &SpaceEntry) -> Result<Replica, FolderError> {
        let path = self.space_folder(entry.space.id()).join(VERSIONS);
        let holdings = Holdings::open(&path)?;
        let randomness = Box::new(SystemRandomness);
        Ok(Replica::new(
            entry.space.clone(),
            self.device(),
            holdings,
            randomness,
        ))
    }

    fn space_folder(&self, id: ContentId) -> PathBuf {
        self.path.join(SPACES).join(id.to_string())
    }

    fn save_account(&self) -> Result<(), FolderError> {
        let account = Object::from([
            ("seed", base64url::encode(self.account.seed())),
            ("deviceKey", base64url::encode(&self.device_key.scalar())),
        ]);
        write_secret(&self.path.join(ACCOUNT), &account)
    }
}

/// A node URL as it is kept: pinned to the node that was met there, where it wasn't pinned before.
pub fn pinned(url: &NodeUrl, node: minca_record::did::Did) -> String {
    format!("{}#{node}", url.address())
}

/// Reads a file that holds a JSON object.
///
/// # Errors
/// [`FolderError::Malformed`] with what was `expected`.
pub fn read_object(path: &Path, expected: &'static str) -> Result<Object, FolderError> {
    let bytes = fs::read(path).map_err(|error| at(path, error))?;
    read(&bytes, MESSAGE_DEPTH)
        .ok()
        .and_then(Value::into_object)
        .ok_or_else(|| FolderError::Malformed {
            path: path.to_owned(),
            expected,
        })
}

/// Writes a file that only its owner may read, whole or not at all.
///
/// # Errors
/// [`FolderError::Io`].
pub fn write_secret(path: &Path, object: &Object) -> Result<(), FolderError> {
    let fresh = path.with_extension("new");
    let writing = || {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&fresh)?;
        file.write_all(&object.canonical())?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        fs::rename(&fresh, path)?;
        match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => File::open(folder)?.sync_all(),
            _ => File::open(".")?.sync_all(),
        }
    };
    writing().map_err(|error| at(path, error))
}

/// Makes a folder, and what it is in, for its owner alone; one that is there stays as it is.
fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn lock(path: &Path) -> Result<File, FolderError> {
    let file = path.join(LOCK);
    let options = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&file);
    let lock = options.map_err(|error| at(&file, error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(FolderError::InUse(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(at(&file, error)),
    }
}

fn at(path: &Path, error: io::Error) -> FolderError {
    FolderError::Io {
        path: path.to_owned(),
        error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::UnixTime;
    use crate::randomness::FixedRandomness;
    use crate::space::Visibility;

    fn now() -> UnixTime {
        UnixTime::from_milliseconds(1_790_424_000_000)
    }

    #[test]
    fn a_folder_opened_again_has_its_account_its_key_its_spaces_and_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("member");
        let mut randomness = FixedRandomness::new(1);
        let account = Account::new(&mut randomness).unwrap();
        let did = account.did().to_string();
        let made = MemberFolder::init(&path, account, &mut randomness).unwrap();
        let space =
            Space::found("Notes", Visibility::Private, &did, now(), &mut randomness).unwrap();
        let nodes = vec!["ws://localhost:1/peer".to_owned()];
        made.add_space(&space, nodes.clone()).unwrap();
        let entry = made.space(space.id()).unwrap();
        let mut replica = made.replica(&entry).unwrap();
        let first = replica
            .create("app.note", Value::from("one"), now())
            .unwrap();
        let device = made.device().did();
        drop((replica, made));

        let opened = MemberFolder::open(&path).unwrap();
        assert_eq!(
            (opened.account().did().to_string(), opened.device().did()),
            (did, device)
        );
        let spaces = opened.spaces().unwrap();
        assert_eq!(spaces.len(), 1);
        assert_eq!(
            (spaces[0].space.id(), &spaces[0].nodes),
            (space.id(), &nodes)
        );
        let mut replica = opened.replica(&spaces[0]).unwrap();
        assert!(!replica.needs_fresh_key());
        assert_eq!(replica.records(None).len(), 1);
        let second = replica
            .create("app.note", Value::from("two"), now())
            .unwrap();
        assert_eq!((second.log().n, second.log().prev), (1, Some(first.id())));
    }

    #[test]
    fn one_process_has_it_at_a_time_and_a_second_account_does_not_move_in() {
        let folder = tempfile::tempdir().unwrap();
        let mut randomness = FixedRandomness::new(1);
        let account = Account::new(&mut randomness).unwrap();
        let missing = MemberFolder::open(folder.path());
        assert!(matches!(missing, Err(FolderError::NoAccount(_))));
        let made = MemberFolder::init(folder.path(), account.clone(), &mut randomness).unwrap();
        assert!(matches!(
            MemberFolder::open(folder.path()),
            Err(FolderError::InUse(_))
        ));
        drop(made);
        let again = MemberFolder::init(folder.path(), account, &mut randomness);
        assert!(matches!(again, Err(FolderError::AccountExists(_))));
    }

    #[cfg(unix)]
    #[test]
    fn files_with_secrets_are_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mut randomness = FixedRandomness::new(1);
        let account = Account::new(&mut randomness).unwrap();
        let did = account.did().to_string();
        let path = folder.path().join("member");
        let made = MemberFolder::init(&path, account, &mut randomness).unwrap();
        let space =
            Space::found("Notes", Visibility::Private, &did, now(), &mut randomness).unwrap();
        made.add_space(&space, Vec::new()).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o700);
        for file in [path.join(ACCOUNT), made.space_folder(space.id()).join(CARD)] {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
    }
}
