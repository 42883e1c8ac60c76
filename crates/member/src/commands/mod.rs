//! `holdfast member …`: a device on the command line.

mod access;
mod account;
mod caveats;
mod changing;
mod definitions;
mod invites;
mod keys;
mod membership;
mod network;
mod records;
mod roles;
mod spaces;
mod syncing;
mod upkeep;

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, Subcommand};
use minca_record::json::Object;

use crate::entry::SpaceEntry;
use crate::folder::{FolderError, MemberFolder};
use crate::replica::{Record, Replica};
use changing::space_id;

pub use access::AccessArgs;
pub use account::{InitArgs, JoinArgs};
pub use definitions::DefineCollectionArgs;
pub use invites::{CloseArgs, InviteCommand, OpenArgs, ViewArgs};
pub use keys::{KeyCommand, RevokeArgs};
pub use membership::{ChangeArgs, RemoveArgs, SucceedArgs};
pub use network::{KeepersArgs, RelaysArgs};
pub use records::{DeleteArgs, EditArgs, ListArgs, WriteArgs};
pub use roles::{AssignArgs, DefineArgs, LeaveRoleArgs, RoleCommand, UnassignArgs};
pub use spaces::{CardArgs, FoundArgs, SpaceArgs, SpacesArgs};
pub use syncing::{SyncArgs, node_url};

/// Plays a member of a space: founds spaces, writes records, syncs them with a host.
#[derive(Clone, Debug, Args)]
pub struct MemberArgs {
    /// The member's folder. Whoever reads it is the member.
    #[arg(
        long,
        global = true,
        default_value = "holdfast-member",
        env = "HOLDFAST_MEMBER"
    )]
    pub folder: PathBuf,
    /// What to do.
    #[command(subcommand)]
    pub command: MemberCommand,
}

/// What a member does.
#[derive(Clone, Debug, Subcommand)]
pub enum MemberCommand {
    /// Make an account and a device.
    Init(InitArgs),
    /// Found a space.
    Found(FoundArgs),
    /// List the spaces this member is in.
    Spaces(SpacesArgs),
    /// Show a space as a host is given it: without its key.
    Space(SpaceArgs),
    /// Write a new record.
    Write(WriteArgs),
    /// Write a record anew.
    Edit(EditArgs),
    /// Delete a record.
    Delete(DeleteArgs),
    /// List the records of a space.
    List(ListArgs),
    /// Define a collection, or define it anew. `delete collection:<name>` ends a definition.
    Define(DefineCollectionArgs),
    /// Bring a space level with its hosts.
    Sync(SyncArgs),
    /// Write a space card, with which another device joins.
    Card(CardArgs),
    /// Join a space by its card, or by an invite.
    Join(JoinArgs),
    /// Show who may do what in a space.
    Access(AccessArgs),
    /// Define roles, and say who has them.
    #[command(subcommand)]
    Role(RoleCommand),
    /// Invite to a space.
    #[command(subcommand)]
    Invite(InviteCommand),
    /// Remove an account from a space.
    Remove(RemoveArgs),
    /// Leave a space.
    Leave(ChangeArgs),
    /// Step down as a founder of a space.
    StepDown(ChangeArgs),
    /// Change a space's key, or revoke a key of this account.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Name the relays where a space's members meet.
    Relays(RelaysArgs),
    /// Name the nodes that keep a space whole.
    Keepers(KeepersArgs),
    /// Name a space that succeeds another.
    Succeed(SucceedArgs),
    /// Prove that keys forked their lines, where they did: what they signed there counts no more.
    ProveForks(ChangeArgs),
}

/// Runs a command; what it tells goes to `out`.
///
/// # Errors
/// Whatever went wrong, for people to read.
pub async fn run(args: MemberArgs, out: &mut (dyn Write + Send)) -> anyhow::Result<()> {
    let folder = args.folder.as_path();
    match args.command {
        MemberCommand::Init(init) => account::init(folder, &init, out),
        MemberCommand::Join(join) => account::join(folder, &join, out),
        MemberCommand::Found(found) => spaces::found(&open(folder)?, &found, out),
        MemberCommand::Spaces(list) => spaces::list(&open(folder)?, &list, out),
        MemberCommand::Space(space) => spaces::show(&open(folder)?, &space, out),
        MemberCommand::Card(card) => spaces::card(&open(folder)?, &card, out),
        MemberCommand::Write(write) => records::write(&open(folder)?, write, out),
        MemberCommand::Edit(edit) => records::edit(&open(folder)?, edit, out),
        MemberCommand::Delete(delete) => records::delete(&open(folder)?, &delete, out),
        MemberCommand::List(list) => records::list(&open(folder)?, &list, out),
        MemberCommand::Define(define) => definitions::define(&open(folder)?, &define, out),
        MemberCommand::Sync(sync) => syncing::sync(&mut open(folder)?, &sync, out).await,
        MemberCommand::Access(access) => access::show(&open(folder)?, &access, out),
        MemberCommand::Role(role) => roles::run(&open(folder)?, &role, out),
        MemberCommand::Invite(invite) => invites::run(&open(folder)?, &invite, out),
        MemberCommand::Remove(remove) => membership::remove(&open(folder)?, &remove, out),
        MemberCommand::Leave(leave) => membership::leave(&open(folder)?, &leave, out),
        MemberCommand::StepDown(args) => membership::step_down(&open(folder)?, &args, out),
        MemberCommand::Key(key) => keys::run(&mut open(folder)?, &key, out),
        MemberCommand::Relays(relays) => network::relays(&open(folder)?, &relays, out),
        MemberCommand::Keepers(keepers) => network::keepers(&open(folder)?, &keepers, out),
        MemberCommand::Succeed(succeed) => membership::succeed(&open(folder)?, &succeed, out),
        MemberCommand::ProveForks(args) => membership::prove_forks(&open(folder)?, &args, out),
    }
}

fn open(folder: &std::path::Path) -> anyhow::Result<MemberFolder> {
    match MemberFolder::open(folder) {
        Err(error @ FolderError::NoAccount(_)) => {
            bail!("{error}: make one with `holdfast member init`, or join a space with a card")
        }
        other => Ok(other?),
    }
}

/// Which space a command is about.
#[derive(Clone, Debug, Default, Args)]
pub struct WhichSpace {
    /// The space's id, or how it begins; not needed where the member is in one space only.
    #[arg(long)]
    pub space: Option<String>,
}

impl WhichSpace {
    fn find(&self, folder: &MemberFolder) -> anyhow::Result<SpaceEntry> {
        let mut spaces = folder.spaces()?;
        if let Some(begins) = &self.space {
            spaces.retain(|entry| entry.space.id().to_string().starts_with(begins.as_str()));
        }
        match (spaces.pop(), spaces.is_empty()) {
            (Some(entry), true) => Ok(entry),
            (None, _) if self.space.is_some() => bail!(
                "this member is in no space whose id is or begins with that: `holdfast member spaces` lists them"
            ),
            (None, _) => bail!(
                "this member is in no space yet: `holdfast member found <name>` or `holdfast member join <card>`"
            ),
            _ => bail!(
                "this member is in several spaces: say which with --space (`holdfast member spaces` lists them)"
            ),
        }
    }
}

/// The records of a space but for those in the space's own collections, `sys.*`.
fn app_records(replica: &Replica) -> Vec<Record> {
    let mut records = replica.records(None);
    records.retain(|record| !record.collection.starts_with("sys."));
    records
}

/// One line of JSON.
fn print_json(out: &mut (dyn Write + Send), object: &Object) -> anyhow::Result<()> {
    out.write_all(&object.canonical())?;
    writeln!(out)?;
    Ok(())
}

fn visibility(entry: &SpaceEntry) -> &'static str {
    match entry.space.is_private() {
        true => "private",
        false => "public",
    }
}

/// A space's name with what would change a terminal escaped: it comes from a stranger.
fn name(entry: &SpaceEntry) -> String {
    plain(
        entry
            .space
            .constitution()
            .name()
            .as_str()
            .unwrap_or("(unreadable)"),
    )
}

/// An error with its causes. Errors often end in their cause's words already, and those are told
/// once.
pub fn told(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let words = cause.to_string();
        if text.is_empty() {
            text = words;
        } else if !text.ends_with(&words) {
            text = format!("{text}: {words}");
        }
    }
    text
}

/// Text from a stranger, with control characters escaped.
fn plain(text: &str) -> String {
    text.chars()
        .flat_map(|character| {
            let is_control = character.is_control();
            let escaped = is_control
                .then(|| character.escape_default())
                .into_iter()
                .flatten();
            escaped.chain((!is_control).then_some(character))
        })
        .collect()
}
