//! What every command that changes access does: it asks the history, writes, and tells.

use std::io::Write;

use anyhow::{Context, bail};
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{Object, Value};
use minca_record::version::Version;

use super::{WhichSpace, plain, print_json};
use crate::clock::UnixTime;
use crate::entry::SpaceEntry;
use crate::folder::MemberFolder;
use crate::replica::{self, Replica, WriteError};
use crate::space::SpaceError;

/// What a change does, for people: `Assigned`, `assigning`, and what.
pub(super) struct Deed(
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) String,
);

impl Deed {
    /// As it is told once it is done.
    fn done(&self) -> String {
        format!("{} {}", self.0, self.2)
    }

    /// An error with what was refused, and what helps.
    pub(super) fn explained<T>(&self, written: Result<T, WriteError>) -> anyhow::Result<T> {
        explained(written).with_context(|| plain(&format!("{} {}", self.1, self.2)))
    }
}

/// A space of a folder, open to be changed.
pub(super) struct Changing {
    pub(super) entry: SpaceEntry,
    pub(super) replica: Replica,
    /// Told beside the change once it is made, a sentence each.
    pub(super) caveats: Vec<String>,
}

impl Changing {
    pub(super) fn open(folder: &MemberFolder, which: &WhichSpace) -> anyhow::Result<Changing> {
        let entry = which.find(folder)?;
        let replica = folder.replica(&entry)?;
        Ok(Changing {
            entry,
            replica,
            caveats: Vec::new(),
        })
    }

    /// Makes a change and tells of it; nothing is written where it is refused.
    pub(super) fn make(
        &mut self,
        deed: &Deed,
        write: replica::Write,
        json: bool,
        out: &mut (dyn Write + Send),
    ) -> anyhow::Result<()> {
        let version = self.replica.write(write, UnixTime::now());
        let version = deed.explained(version)?;
        tell_written(&deed.done(), &[version], json, out)?;
        if !json {
            for caveat in &self.caveats {
                writeln!(out, "{}.", plain(caveat))?;
            }
            tell_key_due(&self.replica, out)?;
        }
        Ok(())
    }
}

/// An error with what helps.
pub(super) fn explained<T>(written: Result<T, WriteError>) -> anyhow::Result<T> {
    match written {
        Err(error @ WriteError::LineUnknown) => {
            Err(error).context("`holdfast member sync` gives this device a fresh key")
        }
        Err(
            error @ (WriteError::ChangeRefused(_)
            | WriteError::ChangeNotGranted { .. }
            | WriteError::NotMember
            | WriteError::NotGranted { .. }),
        ) => bail!(
            "{error}. Nothing was written. `holdfast member access` shows who may do what, as far as this device knows"
        ),
        Err(error @ WriteError::Space(SpaceError::CurrentKeyMissing)) => bail!(
            "{error}. Nothing was written. A sync brings it where a box for this member is there; an invite or a card of another member, given to `holdfast member join`, brings it too"
        ),
        other => Ok(other?),
    }
}

/// Tells what was written, a line of JSON for each version.
pub(super) fn tell_written(
    done: &str,
    versions: &[Version],
    json: bool,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    if json {
        for version in versions {
            let written = Object::from([
                ("collection", Value::from(version.collection())),
                ("key", Value::from(version.key())),
                ("id", Value::from(version.id().to_string())),
            ]);
            print_json(out, &written)?;
        }
        return Ok(());
    }
    writeln!(out, "{}", plain(done))?;
    for version in versions {
        writeln!(out, "  change   {}", version.id())?;
    }
    writeln!(
        out,
        "It is on this device. `holdfast member sync` brings it to the hosts."
    )?;
    Ok(())
}

/// Says so where the space's key is due for a change, to a member: nobody else changes it.
pub(super) fn tell_key_due(replica: &Replica, out: &mut (dyn Write + Send)) -> anyhow::Result<()> {
    let account = replica.device().account().did();
    let is_for_this_account = {
        let mut history = replica.gatekeeper().history();
        history.is_member(&account) && history.key_is_due()
    };
    if is_for_this_account {
        writeln!(
            out,
            "The space's key is due for a change, as who lost their place still has it: `holdfast member key change`"
        )?;
    }
    Ok(())
}

/// An account or a key as a person gives it; `me` is this member's account.
pub(super) fn account(folder: &MemberFolder, given: &str) -> anyhow::Result<Did> {
    if given == "me" {
        return Ok(folder.account().did());
    }
    did(given)
}

/// A key as a person gives it.
pub(super) fn did(given: &str) -> anyhow::Result<Did> {
    Did::parse(given).with_context(|| format!("expected a DID as did:key:zDn…, got {given:?}"))
}

/// A space's id as a person gives it.
pub(super) fn space_id(given: &str) -> anyhow::Result<ContentId> {
    match ContentId::parse(given) {
        Ok(id) => Ok(id),
        Err(_) => bail!("expected the whole id of a space, b and 52 characters, got {given:?}"),
    }
}
