//! What a device saw of the access history, and whether its account may write something: asked
//! before anything is written.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use minca_access::history::{Asked, Refusal, Status, Verdict};
use minca_access::keys;
use minca_record::content_id::ContentId;
use minca_record::json::{Text, Value};
use minca_record::version::{MAX_SEEN, Version};

use super::{Replica, Write, WriteError};
use crate::clock::UnixTime;

impl Replica {
    /// What a version written in `collection` now names as seen: the heads of the access history.
    /// Of more than 64, those the writer's own standing rests on come first, then those its
    /// clocks say were made last, as the history tells of no order (03 §3.2).
    pub fn heads(&self, collection: &str) -> Vec<ContentId> {
        let mut heads = self.gatekeeper().history().heads();
        if heads.len() <= MAX_SEEN {
            return heads;
        }
        let own = self.own_standing(collection);
        heads.sort_by_cached_key(|id| {
            let version = self.holdings.get(id);
            let is_own = version.is_some_and(|version| own.contains(version.key()));
            (!is_own, Reverse(version.map(|version| version.item())))
        });
        heads.truncate(MAX_SEEN);
        heads
    }

    /// The keys of the access records that the account's standing rests on.
    fn own_standing(&self, collection: &str) -> BTreeSet<String> {
        let account = Text::from(self.device.account().did().to_string());
        let state = self.gatekeeper().history().current();
        let roles = state.assigned.get(&account).into_iter().flatten();
        let mut own = BTreeSet::new();
        for (role, _) in roles {
            own.insert(keys::assign(&account, role));
            own.extend(role.as_str().map(keys::role));
        }
        own.insert(keys::remove(&account));
        own.insert(format!("collection:{collection}"));
        own
    }

    /// What [`write`](Replica::write) would write; nothing is held or used up yet.
    ///
    /// # Errors
    /// [`WriteError`]: it can't be written, or the account may not.
    pub fn ask(&mut self, write: Write, now: UnixTime) -> Result<Version, WriteError> {
        let draft = self.draft(write, now)?;
        let version = Version::shape(Value::from(draft.sign(self.device.key())))?;
        self.check_allowed(&version)?;
        Ok(version)
    }

    fn check_allowed(&self, version: &Version) -> Result<(), WriteError> {
        let gatekeeper = self.gatekeeper();
        let account = self.device.account().did();
        let checked = minca_record::version::Checked {
            version: version.clone(),
            author: self.device.did(),
            root: account,
        };
        if let Some(event) = gatekeeper.event(&checked) {
            return match gatekeeper.would_become(event?, &self.holdings) {
                (Status::Applied, _) => Ok(()),
                (
                    Status::Refused(Refusal::NotGranted),
                    Some(Asked::Command { command, arguments }),
                ) => Err(WriteError::ChangeNotGranted { command, arguments }),
                (Status::Refused(why), _) => Err(WriteError::ChangeRefused(why)),
                (Status::Struck { .. }, _) => Err(WriteError::Withdrawn),
                (Status::Waiting, _) => Err(WriteError::SeenMissing),
            };
        }
        let judgement = gatekeeper.judge_record(version, &account, &self.holdings);
        match judgement.verdict {
            Verdict::Stands => Ok(gatekeeper.check_rules(version, &account, &self.holdings)?),
            Verdict::Withdrawn => Err(WriteError::Withdrawn),
            Verdict::NotYet => Err(WriteError::SeenMissing),
            Verdict::Refused if !gatekeeper.history().is_member(&account) => {
                Err(WriteError::NotMember)
            }
            Verdict::Refused => Err(WriteError::NotGranted {
                collection: version.collection().to_owned(),
            }),
        }
    }
}
