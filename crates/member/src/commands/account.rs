//! Moving in: a new account, or another device's space card.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use minca_record::base64url;
use minca_record::json::{Object, Value};

use super::{invites, name, print_json, visibility};
use crate::entry::SpaceEntry;
use crate::folder::{FolderError, MemberFolder, read_object};
use crate::identity::Account;
use crate::randomness::SystemRandomness;
use crate::space::SpaceError;

/// `holdfast member init`
#[derive(Clone, Debug, Args)]
pub struct InitArgs {
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `holdfast member join`
#[derive(Clone, Debug, Args)]
pub struct JoinArgs {
    /// The file with the card another device wrote with `holdfast member card`, or with an invite;
    /// or the invite itself, by itself or in a link.
    pub card: PathBuf,
    /// A host to sync the space with, besides those on the card or in the invite.
    #[arg(long)]
    pub node: Vec<String>,
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn init(
    path: &Path,
    args: &InitArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut randomness = SystemRandomness;
    let account = Account::new(&mut randomness)?;
    let folder = MemberFolder::init(path, account, &mut randomness)?;
    tell(&folder, path, args.json, out)
}

pub(super) fn join(
    path: &Path,
    args: &JoinArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    if let Some(invite) = invites::invite_given(&args.card)? {
        return join_by_invite(path, &invite, args, out);
    }
    let card = read_object(&args.card, "a space card as JSON")?;
    let mut entry = SpaceEntry::from_card(&card)?;
    let account = match card.get("account") {
        None => None,
        Some(seed) => {
            let seed = seed
                .as_str()
                .and_then(|seed| base64url::decode_exact(seed).ok());
            Some(Account::from_seed(seed.ok_or(SpaceError::Card)?))
        }
    };
    let folder = folder_of(path, account)?;
    take_nodes(&mut entry, args)?;
    if take_in(&folder, &mut entry)? {
        return tell_known(&entry, args.json, out);
    }
    if args.json {
        let joined = Object::from([
            ("space", Value::from(entry.space.id().to_string())),
            ("account", Value::from(folder.account().did().to_string())),
        ]);
        return print_json(out, &joined);
    }
    writeln!(
        out,
        "Joined {:?}, a {} space",
        name(&entry),
        visibility(&entry)
    )?;
    writeln!(out, "  id       {}", entry.space.id())?;
    writeln!(out, "  as       {}", folder.account().did())?;
    match entry.nodes.is_empty() {
        true => writeln!(out, "Next: `holdfast member sync --node <node URL>`")?,
        false => writeln!(out, "Next: `holdfast member sync`")?,
    }
    Ok(())
}

/// A text this short, in bytes, was meant as a file's name: an invite holds a constitution.
const SHORTER_THAN_AN_INVITE: usize = 200;

fn join_by_invite(
    path: &Path,
    invite: &str,
    args: &JoinArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut entry = match invites::entry_of(invite) {
        Ok(entry) => entry,
        Err(error) if args.card.exists() => {
            return Err(error.context(args.card.display().to_string()));
        }
        Err(error) if invite.len() < SHORTER_THAN_AN_INVITE => {
            return Err(error.context(format!("{invite:?} is no file that is there")));
        }
        Err(error) => return Err(error),
    };
    take_nodes(&mut entry, args)?;
    let folder = folder_of(path, None)?;
    if take_in(&folder, &mut entry)? {
        return tell_known(&entry, args.json, out);
    }
    invites::tell_invited(&folder, &entry, args.json, out)
}

/// Takes a space in, or what is new of one that is in the folder: keys, hosts and the secret of an
/// invite. True in the second case: a member that was away while the key changed gets back in by
/// another's invite or card.
fn take_in(folder: &MemberFolder, entry: &mut SpaceEntry) -> anyhow::Result<bool> {
    let known = match folder.space(entry.space.id()) {
        Err(FolderError::NoSpace(_)) => {
            folder.add_entry(entry)?;
            return Ok(false);
        }
        known => known?,
    };
    let given = std::mem::replace(entry, known);
    for key in given.space.space_keys() {
        entry.space.hold_key(key.clone());
    }
    let new = given.nodes.into_iter();
    entry.nodes.extend(
        new.filter(|node| !entry.nodes.contains(node))
            .collect::<Vec<_>>(),
    );
    let new = given.invited_nodes.into_iter();
    let new = new.filter(|node| !entry.invited_nodes.contains(node));
    entry.invited_nodes.extend(new.collect::<Vec<_>>());
    entry.invite_secret = given.invite_secret.or(entry.invite_secret);
    folder.save_space(entry)?;
    Ok(true)
}

fn tell_known(entry: &SpaceEntry, json: bool, out: &mut (dyn Write + Send)) -> anyhow::Result<()> {
    let keys = entry.space.space_keys().count();
    if json {
        let known = Object::from([
            ("space", Value::from(entry.space.id().to_string())),
            ("keys", Value::from(keys as u64)),
        ]);
        return print_json(out, &known);
    }
    writeln!(
        out,
        "This member has {:?} already; what was new of its keys and hosts is kept (keys now: {keys}).",
        name(entry)
    )?;
    Ok(writeln!(out, "Next: `holdfast member sync`")?)
}

/// Adds the hosts that were given, once all are node URLs.
fn take_nodes(entry: &mut SpaceEntry, args: &JoinArgs) -> anyhow::Result<()> {
    for node in &args.node {
        if !entry.nodes.contains(node) {
            entry.nodes.push(node.clone());
        }
    }
    for node in &entry.nodes {
        super::syncing::node_url(node)?;
    }
    Ok(())
}

/// The folder at `path`; one for `account`, or a new account, where nobody lives there.
fn folder_of(path: &Path, account: Option<Account>) -> anyhow::Result<MemberFolder> {
    match MemberFolder::open(path) {
        Err(FolderError::NoAccount(_)) => {
            let mut randomness = SystemRandomness;
            let account = match account {
                Some(account) => account,
                None => Account::new(&mut randomness)?,
            };
            Ok(MemberFolder::init(path, account, &mut randomness)?)
        }
        folder => {
            let folder = folder?;
            let is_other = account.is_some_and(|other| other.did() != folder.account().did());
            if is_other {
                anyhow::bail!(
                    "the card is another account's, and {} has one: join from another --folder",
                    path.display()
                );
            }
            Ok(folder)
        }
    }
}

fn tell(
    folder: &MemberFolder,
    path: &Path,
    json: bool,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let (account, device) = (folder.account().did(), folder.device().did());
    if json {
        let made = Object::from([
            ("account", Value::from(account.to_string())),
            ("device", Value::from(device.to_string())),
        ]);
        return print_json(out, &made);
    }
    writeln!(out, "A new member lives in {}", path.display())?;
    writeln!(out, "  account  {account}")?;
    writeln!(out, "  device   {device}")?;
    writeln!(
        out,
        "Whoever reads that folder is this member. Next: `holdfast member found <name>`"
    )?;
    Ok(())
}
