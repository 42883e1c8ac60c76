//! Keys: a private space's, and those an account's devices sign with.

use std::io::Write;

use anyhow::bail;
use clap::{Args, Subcommand};

use super::WhichSpace;
use super::caveats;
use super::changing::{Changing, Deed, did, explained, tell_key_due, tell_written};
use super::membership::ChangeArgs;
use crate::clock::UnixTime;
use crate::folder::MemberFolder;
use crate::randomness::SystemRandomness;
use crate::{access, cutoff};

/// `holdfast member key`
#[derive(Clone, Debug, Subcommand)]
pub enum KeyCommand {
    /// Change a private space's key, and seal the new one to every reader.
    Change(ChangeArgs),
    /// Seal the current key to the readers that have none; a sync does it too.
    Share(ChangeArgs),
    /// Revoke one of this account's keys, such as a lost device's, in a space.
    Revoke(RevokeArgs),
}

/// `holdfast member key revoke`
#[derive(Clone, Debug, Args)]
pub struct RevokeArgs {
    /// The key's DID: a device's.
    pub key: String,
    /// Leave nothing standing that the key signed, as where a thief had it.
    #[arg(long)]
    pub without_cutoff: bool,
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(
    folder: &mut MemberFolder,
    command: &KeyCommand,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    match command {
        KeyCommand::Change(args) => change(folder, args, out),
        KeyCommand::Share(args) => share(folder, args, out),
        KeyCommand::Revoke(args) => revoke(folder, args, out),
    }
}

fn change(
    folder: &MemberFolder,
    args: &ChangeArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut changing = Changing::open(folder, &args.which)?;
    let deed = Deed("Changed", "changing", "the space's key".to_owned());
    let written = deed.explained(changing.replica.change_key(UnixTime::now()))?;
    tell_written("Changed the space's key", &written, args.json, out)?;
    if args.json {
        return Ok(());
    }
    let without = changing.replica.readers_without_box().len();
    if without > 0 {
        writeln!(
            out,
            "Readers without a box yet: {without}. They get one at a sync after they published a member key."
        )?;
    }
    tell_key_due(&changing.replica, out)
}

fn share(
    folder: &MemberFolder,
    args: &ChangeArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut changing = Changing::open(folder, &args.which)?;
    let written = explained(changing.replica.share_key(UnixTime::now()))?;
    let done = match written.len() {
        0 => "Every reader that has published a member key has the current key.".to_owned(),
        some => format!("Sealed the current key to {some} more readers"),
    };
    if written.is_empty() && !args.json {
        writeln!(out, "{done}")?;
        return Ok(());
    }
    tell_written(&done, &written, args.json, out)
}

fn revoke(
    folder: &mut MemberFolder,
    args: &RevokeArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let key = did(&args.key)?;
    let mut changing = Changing::open(folder, &args.which)?;
    let account = folder.account().did();
    if let Some(owner) = caveats::owner_of(&changing.replica, &key, &account) {
        bail!(
            "expected a key of this account's, and {key} is {}: a revoke reaches nothing of another account",
            match owner == key {
                true => "another account".to_owned(),
                false => format!("one of {owner}"),
            }
        );
    }
    let caveat = caveats::of_revoking(&changing.replica, &key, &account);
    changing.caveats.extend(caveat);
    let cutoff = match args.without_cutoff {
        true => Default::default(),
        false => cutoff::of_key(&changing.replica, &key),
    };
    let write = access::revoke(&key, &account, cutoff);
    let deed = Deed("Revoked", "revoking", key.to_string());
    if key == folder.device().did() {
        // Whether the account may is asked before its key is left.
        deed.explained(changing.replica.ask(write.clone(), UnixTime::now()))?;
        folder.take_fresh_key(&mut SystemRandomness)?;
        changing.replica.use_device(folder.device());
        if !args.json {
            writeln!(
                out,
                "That was this device's key; it goes on under a fresh one."
            )?;
        }
    }
    changing.make(&deed, write, args.json, out)
}
