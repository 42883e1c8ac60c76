//! Roles: what they may do, and who has them.

use std::io::Write;

use anyhow::{Context, ensure};
use clap::{Args, Subcommand};
use minca_record::command::is_command;
use minca_record::constitution::is_role_name;
use minca_record::json::{MESSAGE_DEPTH, Value, read};
use minca_record::policy::Policy;

use super::WhichSpace;
use super::caveats;
use super::changing::{Changing, Deed, account};
use crate::access::{self, Grant, RoleDraft};
use crate::cutoff;
use crate::folder::MemberFolder;
use crate::randomness::SystemRandomness;

/// `holdfast member role`
#[derive(Clone, Debug, Subcommand)]
pub enum RoleCommand {
    /// Define a role, or define it anew: what it says replaces what was said before.
    Define(DefineArgs),
    /// Assign a role to an account.
    Assign(AssignArgs),
    /// Take a role from an account.
    Unassign(UnassignArgs),
    /// Leave a role.
    Leave(LeaveRoleArgs),
}

/// `holdfast member role define`
#[derive(Clone, Debug, Args)]
pub struct DefineArgs {
    /// The role's name.
    pub name: String,
    /// What people read.
    #[arg(long)]
    pub title: Option<String>,
    /// What its holders may do: a command, as `/record`, or a command under a policy on its
    /// arguments, as `/role/assign=[["==",".role","editor"]]`. Give none to take all away.
    #[arg(long)]
    pub grant: Vec<String>,
    /// A role whose holders' powers its holders have too.
    #[arg(long)]
    pub nest: Vec<String>,
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `holdfast member role assign`
#[derive(Clone, Debug, Args)]
pub struct AssignArgs {
    /// The account's DID, or `me`.
    pub account: String,
    /// The role.
    pub role: String,
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `holdfast member role unassign`
#[derive(Clone, Debug, Args)]
pub struct UnassignArgs {
    /// The account's DID.
    pub account: String,
    /// The role.
    pub role: String,
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

/// `holdfast member role leave`
#[derive(Clone, Debug, Args)]
pub struct LeaveRoleArgs {
    /// The role.
    pub role: String,
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(
    folder: &MemberFolder,
    command: &RoleCommand,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    match command {
        RoleCommand::Define(args) => define(folder, args, out),
        RoleCommand::Assign(args) => assign(folder, args, out),
        RoleCommand::Unassign(args) => unassign(folder, args, out),
        RoleCommand::Leave(args) => leave(folder, args, out),
    }
}

fn define(
    folder: &MemberFolder,
    args: &DefineArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    for name in args.nest.iter().chain([&args.name]) {
        ensure!(
            is_role_name(name),
            "expected a role's name, at most 40 of a-z, 0-9, `.`, `_` and `-`, got {name:?}"
        );
    }
    ensure!(
        !args.nest.contains(&args.name),
        "expected other roles than {} itself to be nested in it",
        args.name
    );
    let mut changing = Changing::open(folder, &args.which)?;
    let grants = args.grant.iter().map(|given| grant(given));
    let grants: Vec<Grant<'_>> = grants.collect::<anyhow::Result<_>>()?;
    let nests: Vec<&str> = args.nest.iter().map(String::as_str).collect();
    let role = RoleDraft {
        name: &args.name,
        title: args.title.as_deref(),
        grants: &grants,
        nests: &nests,
    };
    let state = changing.replica.gatekeeper().history().current();
    changing.caveats = caveats::of_role(&state, &grants, &nests);
    let (space, issuer) = (changing.entry.space.id(), folder.account().did());
    let write = access::define_role(space, &issuer, &role, &mut SystemRandomness)?;
    let deed = Deed("Defined", "defining", format!("the role {}", args.name));
    changing.make(&deed, write, args.json, out)
}

/// `/command` or `/command=policy`.
fn grant(given: &str) -> anyhow::Result<Grant<'_>> {
    let (command, policy) = match given.split_once('=') {
        None => (given, Value::Array(Vec::new())),
        Some((command, policy)) => {
            let policy = read(policy.as_bytes(), MESSAGE_DEPTH);
            let policy = policy.with_context(|| format!("the policy in {given:?}"))?;
            Policy::read(&policy).with_context(|| format!("the policy in {given:?}"))?;
            (command, policy)
        }
    };
    ensure!(
        is_command(&command.into()),
        "expected a command as /record/write in {given:?}"
    );
    Ok((command, policy))
}

fn assign(
    folder: &MemberFolder,
    args: &AssignArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut changing = Changing::open(folder, &args.which)?;
    let account = account(folder, &args.account)?;
    let state = changing.replica.gatekeeper().history().current();
    let caveat = caveats::of_assigning(&state, &account, &args.role);
    changing.caveats.extend(caveat);
    let write = access::assign(&account.to_string(), &args.role);
    let deed = Deed(
        "Assigned",
        "assigning",
        format!("{} to {account}", args.role),
    );
    changing.make(&deed, write, args.json, out)
}

fn unassign(
    folder: &MemberFolder,
    args: &UnassignArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut changing = Changing::open(folder, &args.which)?;
    let account = account(folder, &args.account)?;
    let cutoff = match args.without_cutoff {
        true => Default::default(),
        false => cutoff::of_account(&changing.replica, &account),
    };
    let write = access::unassign(&account.to_string(), &args.role, cutoff);
    let deed = Deed("Took", "taking", format!("{} from {account}", args.role));
    changing.make(&deed, write, args.json, out)
}

fn leave(
    folder: &MemberFolder,
    args: &LeaveRoleArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut changing = Changing::open(folder, &args.which)?;
    let account = folder.account().did();
    let cutoff = cutoff::of_account(&changing.replica, &account);
    let write = access::unassign(&account.to_string(), &args.role, cutoff);
    let deed = Deed("Left", "leaving", format!("the role {}", args.role));
    changing.make(&deed, write, args.json, out)
}
