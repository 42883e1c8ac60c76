//! Who is in a space: removing, leaving, stepping down, and where a space goes on.

use std::io::Write;

use anyhow::ensure;
use clap::Args;

use super::WhichSpace;
use super::caveats;
use super::changing::{Changing, Deed, account, explained, space_id, tell_written};
use crate::access;
use crate::clock::UnixTime;
use crate::folder::MemberFolder;
use crate::{cutoff, forks};

/// `holdfast member remove`
#[derive(Clone, Debug, Args)]
pub struct RemoveArgs {
    /// The account's DID.
    pub account: String,
    /// Leave nothing standing that the account wrote without having seen this.
    #[arg(long)]
    pub without_cutoff: bool,
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `holdfast member leave`, `step-down` and `prove-forks`
#[derive(Clone, Debug, Args)]
pub struct ChangeArgs {
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `holdfast member succeed`
#[derive(Clone, Debug, Args)]
pub struct SucceedArgs {
    /// The id of the space that succeeds this one, founded with `--succeeds`.
    pub successor: String,
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn remove(
    folder: &MemberFolder,
    args: &RemoveArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut changing = Changing::open(folder, &args.which)?;
    let account = account(folder, &args.account)?;
    ensure!(
        account != folder.account().did(),
        "that is this member's own account: `holdfast member leave`"
    );
    let cutoff = match args.without_cutoff {
        true => Default::default(),
        false => cutoff::of_account(&changing.replica, &account),
    };
    let write = access::remove(&account.to_string(), cutoff);
    let deed = Deed("Removed", "removing", account.to_string());
    changing.make(&deed, write, args.json, out)
}

pub(super) fn leave(
    folder: &MemberFolder,
    args: &ChangeArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut changing = Changing::open(folder, &args.which)?;
    let account = folder.account().did();
    ensure!(
        changing
            .replica
            .readers()
            .iter()
            .any(|reader| *reader != account),
        "nobody else is in this space, so there is nobody to tell (03 §6.2)"
    );
    let state = changing.replica.gatekeeper().history().current();
    let caveat = caveats::of_founder_going(&state, &account);
    changing.caveats.extend(caveat);
    let cutoff = cutoff::of_account(&changing.replica, &account);
    let write = access::remove(&account.to_string(), cutoff);
    let deed = Deed("Left", "leaving", "the space".to_owned());
    changing.make(&deed, write, args.json, out)
}

pub(super) fn step_down(
    folder: &MemberFolder,
    args: &ChangeArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut changing = Changing::open(folder, &args.which)?;
    let account = folder.account().did();
    let state = changing.replica.gatekeeper().history().current();
    let caveat = caveats::of_founder_going(&state, &account);
    changing.caveats.extend(caveat);
    let cutoff = cutoff::of_account(&changing.replica, &account);
    let write = access::step_down(&account.to_string(), cutoff);
    let deed = Deed("Stepped down", "stepping down", "as a founder".to_owned());
    changing.make(&deed, write, args.json, out)
}

pub(super) fn succeed(
    folder: &MemberFolder,
    args: &SucceedArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut changing = Changing::open(folder, &args.which)?;
    let successor = space_id(&args.successor)?;
    ensure!(
        successor != changing.entry.space.id(),
        "expected the id of another space than this one, to succeed it"
    );
    let deed = Deed("Named", "naming", format!("{successor} a successor"));
    changing.make(&deed, access::succeed(successor), args.json, out)
}

pub(super) fn prove_forks(
    folder: &MemberFolder,
    args: &ChangeArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut changing = Changing::open(folder, &args.which)?;
    let found = forks::unproven(&changing.replica);
    if found.is_empty() {
        if !args.json {
            writeln!(
                out,
                "No key's line is forked here that isn't proven so already."
            )?;
        }
        return Ok(());
    }
    let proofs = explained(forks::prove(&mut changing.replica, &found, UnixTime::now()))?;
    let told: Vec<String> = found
        .iter()
        .map(|fork| {
            let (writer, collection, from) = (fork.writer, &fork.collection, fork.from);
            format!("Proved that {writer} forked its line of {collection} at place {from}")
        })
        .collect();
    tell_written(&told.join("; "), &proofs, args.json, out)
}
