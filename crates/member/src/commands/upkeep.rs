//! What a member does for a space whenever it met a host: it joins, publishes its member key, and
//! hands the current key to readers that lack it.

use minca_record::derive::invite_key;
use minca_record::json::Text;
use minca_record::version::Version;

use crate::access;
use crate::clock::UnixTime;
use crate::entry::SpaceEntry;
use crate::folder::MemberFolder;
use crate::replica::{Replica, WriteError};

/// What was done.
#[derive(Default)]
pub(super) struct Upkeep {
    /// What was written, to be pushed.
    pub(super) written: Vec<Version>,
    /// What is to be told.
    pub(super) told: Vec<String>,
}

/// Does what there is to do. A device that must take a fresh key first does nothing.
pub(super) fn upkeep(
    folder: &MemberFolder,
    entry: &mut SpaceEntry,
    replica: &mut Replica,
) -> anyhow::Result<Upkeep> {
    let mut upkeep = Upkeep::default();
    if replica.needs_fresh_key() {
        return Ok(upkeep);
    }
    let now = UnixTime::now();
    join(folder, entry, replica, &mut upkeep)?;
    let published = replica.publish_member_key(now);
    let shared = published.and_then(|published| {
        upkeep.written.extend(published);
        replica.share_key(now)
    });
    match shared {
        Ok(shared) => upkeep.written.extend(shared),
        Err(error @ WriteError::Journal(_)) => return Err(error.into()),
        Err(error) => upkeep.told.push(format!("Handed on no key: {error}")),
    }
    Ok(upkeep)
}

/// Joins with the secret that is kept, once the invite is here and open; then the secret is
/// forgotten (03 §7.3).
fn join(
    folder: &MemberFolder,
    entry: &mut SpaceEntry,
    replica: &mut Replica,
    upkeep: &mut Upkeep,
) -> anyhow::Result<()> {
    let Some(secret) = entry.invite_secret else {
        return Ok(());
    };
    let account = folder.account().did();
    let state = replica.gatekeeper().history().current();
    let invite = Text::from(invite_key(&secret).did().to_string());
    let Some(role) = state.invites.get(&invite).and_then(|it| it.role.as_str()) else {
        upkeep
            .told
            .push("The invite hasn't come yet: joining waits for it.".to_owned());
        return Ok(());
    };
    let account_name = Text::from(account.to_string());
    let held = state.assigned.get(&account_name);
    if !held.is_some_and(|held| held.contains_key(&Text::from(role))) {
        let write = access::join(entry.space.id(), &account, role, &secret);
        match replica.write(write, UnixTime::now()) {
            Ok(version) => upkeep.written.push(version),
            Err(error @ WriteError::Journal(_)) => return Err(error.into()),
            Err(error) => {
                upkeep.told.push(format!("Not joined: {error}"));
                return Ok(());
            }
        }
        upkeep.told.push(format!("Joined as {role}"));
    }
    entry.invite_secret = None;
    Ok(folder.save_space(entry)?)
}
