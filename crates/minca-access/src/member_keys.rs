//! Member keys: what a member's boxes are sealed to (03 §9.1).
//!
//! The private half is [`member_key`](minca_record::derive::member_key).

use minca_record::agreement::AgreementPublic;
use minca_record::did::Did;
use minca_record::json::Object;
use minca_record::version::{Checked, supersedes};

use crate::keys;

/// The collection of member keys.
pub const MEMBER_KEYS: &str = "sys.memberkey";

/// The body that publishes a member key, for the record at
/// [`keys::member_key`].
pub fn member_key_body(key: &AgreementPublic) -> Object {
    Object::from([("key", key.to_string())])
}

/// The member key of `account`: of its versions that count, the one that wins
/// (02 §4.3). `standing` are versions that stand, current, first and retained,
/// of any record; those of others are passed over.
pub fn member_key_of<'a>(
    account: &Did,
    standing: impl IntoIterator<Item = &'a Checked>,
) -> Option<AgreementPublic> {
    let record = keys::member_key(account);
    let mut winner: Option<(&Checked, AgreementPublic)> = None;
    for checked in standing {
        let version = &checked.version;
        let is_theirs = checked.root == *account
            && version.collection() == MEMBER_KEYS
            && version.key() == record;
        let Some(key) = published(checked).filter(|_| is_theirs) else {
            continue;
        };
        let wins = winner.is_none_or(|(best, _)| {
            let best = &best.version;
            supersedes(version.seq(), version.id(), best.seq(), best.id())
        });
        if wins {
            winner = Some((checked, key));
        }
    }
    winner.map(|(_, key)| key)
}

/// The valid point a version publishes. Other members of its body are ignored.
/// [ours]
fn published(checked: &Checked) -> Option<AgreementPublic> {
    let version = &checked.version;
    if version.deleted() {
        return None;
    }
    let key = version.body()?.as_object()?.get("key")?;
    AgreementPublic::parse(key.as_str()?).ok()
}
