//! Moving in: a new account, or another device's space card.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use minca_record::base64url;
use minca_record::json::{Object, Value};

use super::{name, print_json, visibility};
use crate::folder::{FolderError, MemberFolder, SpaceEntry, nodes_of, read_object};
use crate::identity::Account;
use crate::randomness::SystemRandomness;
use crate::space::{Space, SpaceError};

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
    /// The card another device wrote with `holdfast member card`.
    pub card: PathBuf,
    /// A host to sync the space with, besides those on the card.
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
    let card = read_object(&args.card, "a space card as JSON")?;
    let space = Space::from_card(&card)?;
    let account = match card.get("account") {
        None => None,
        Some(seed) => {
            let seed = seed
                .as_str()
                .and_then(|seed| base64url::decode_exact(seed).ok());
            Some(Account::from_seed(seed.ok_or(SpaceError::Card)?))
        }
    };
    let folder = match MemberFolder::open(path) {
        Err(FolderError::NoAccount(_)) => {
            let mut randomness = SystemRandomness;
            let account = match account {
                Some(account) => account,
                None => Account::new(&mut randomness)?,
            };
            MemberFolder::init(path, account, &mut randomness)?
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
            folder
        }
    };
    let mut nodes = nodes_of(&card);
    nodes.extend(
        args.node
            .iter()
            .filter(|node| !nodes_of(&card).contains(node))
            .cloned(),
    );
    for node in &nodes {
        super::syncing::node_url(node)?;
    }
    folder.add_space(&space, nodes.clone())?;
    let entry = SpaceEntry { space, nodes };
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
