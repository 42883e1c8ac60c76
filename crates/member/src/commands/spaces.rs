//! Founding spaces, and handing them on.

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use minca_record::base64url;
use minca_record::json::{Object, Value};

use super::{WhichSpace, app_records, name, print_json, visibility};
use crate::clock::UnixTime;
use crate::entry::SpaceEntry;
use crate::folder::{MemberFolder, write_secret};
use crate::randomness::SystemRandomness;
use crate::space::{Space, Visibility};

/// `holdfast member found`
#[derive(Clone, Debug, Args)]
pub struct FoundArgs {
    /// What the space is called.
    pub name: String,
    /// Leave bodies in the clear, for anyone who knows the space's id.
    #[arg(long)]
    pub public: bool,
    /// A host to sync it with.
    #[arg(long)]
    pub node: Vec<String>,
    /// The id of a space it is to succeed. There, `holdfast member succeed` names it.
    #[arg(long)]
    pub succeeds: Option<String>,
    /// Print the space as a host is given it, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// `holdfast member spaces`
#[derive(Clone, Debug, Args)]
pub struct SpacesArgs {
    /// Tell it as JSON, a line for each.
    #[arg(long)]
    pub json: bool,
}

/// `holdfast member space`
#[derive(Clone, Debug, Args)]
pub struct SpaceArgs {
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
}

/// `holdfast member card`
#[derive(Clone, Debug, Args)]
pub struct CardArgs {
    /// The file to write, which only its owner may read.
    pub file: PathBuf,
    /// Put the account's seed on it too, so that whoever joins by it is the same account on
    /// another device. Without it, who joins reads and can't write.
    #[arg(long)]
    pub with_account: bool,
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
}

pub(super) fn found(
    folder: &MemberFolder,
    args: &FoundArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    for node in &args.node {
        super::syncing::node_url(node)?;
    }
    let visibility = if args.public {
        Visibility::Public
    } else {
        Visibility::Private
    };
    let founder = folder.account().did().to_string();
    let now = UnixTime::now();
    let mut randomness = SystemRandomness;
    let space = match &args.succeeds {
        None => Space::found(&args.name, visibility, &founder, now, &mut randomness)?,
        Some(before) => {
            let before = super::space_id(before)?;
            let mut members = Space::founding_members(&args.name, &founder);
            members.insert("succeeds", before.to_string());
            Space::found_with(members, visibility, now, &mut randomness)?
        }
    };
    folder.add_space(&space, args.node.clone())?;
    if args.json {
        return print_json(out, &space.constitution().as_handed_around());
    }
    let entry = SpaceEntry::new(space, args.node.clone());
    writeln!(
        out,
        "Founded {:?}, a {} space",
        name(&entry),
        self::visibility(&entry)
    )?;
    writeln!(out, "  id       {}", entry.space.id())?;
    let key = if self::visibility(&entry) == "private" {
        "; its key stays here"
    } else {
        ""
    };
    writeln!(
        out,
        "A host is given what `holdfast member space` prints, by `holdfast carry add`{key}."
    )?;
    Ok(())
}

pub(super) fn list(
    folder: &MemberFolder,
    args: &SpacesArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let spaces = folder.spaces()?;
    if spaces.is_empty() && !args.json {
        writeln!(out, "This member is in no space yet.")?;
    }
    for entry in spaces {
        let replica = folder.replica(&entry)?;
        let (held, records) = (replica.holdings().len(), app_records(&replica).len());
        if args.json {
            let nodes: Vec<Value> = entry
                .nodes
                .iter()
                .map(|node| node.as_str().into())
                .collect();
            let space = Object::from([
                ("id", Value::from(entry.space.id().to_string())),
                (
                    "name",
                    Value::from(entry.space.constitution().name().clone()),
                ),
                ("visibility", visibility(&entry).into()),
                ("records", Value::from(records as u64)),
                ("versions", Value::from(held as u64)),
                ("nodes", nodes.into()),
            ]);
            print_json(out, &space)?;
            continue;
        }
        writeln!(out, "{:?}, {}", name(&entry), visibility(&entry))?;
        writeln!(out, "  id       {}", entry.space.id())?;
        writeln!(out, "  records  {records} (versions: {held})")?;
        for node in &entry.nodes {
            writeln!(out, "  host     {}", super::plain(node))?;
        }
    }
    Ok(())
}

pub(super) fn show(
    folder: &MemberFolder,
    args: &SpaceArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let entry = args.which.find(folder)?;
    print_json(out, &entry.space.constitution().as_handed_around())
}

pub(super) fn card(
    folder: &MemberFolder,
    args: &CardArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let entry = args.which.find(folder)?;
    if std::fs::exists(&args.file)? {
        bail!("{} is there already", args.file.display());
    }
    // The keys it holds now: later ones came in boxes.
    let space = folder.replica(&entry)?.space().clone();
    let mut card = SpaceEntry {
        space,
        ..entry.clone()
    }
    .to_handed_on_card();
    if args.with_account {
        card.insert("account", base64url::encode(folder.account().seed()));
    }
    write_secret(&args.file, &card)?;
    let what = match (args.with_account, entry.space.read_key().is_some()) {
        (true, _) => "Whoever reads it is this account.",
        (false, true) => "Whoever reads it reads the space.",
        (false, false) => "It holds no secret: the space is public.",
    };
    writeln!(out, "Wrote {}. {what}", args.file.display())?;
    writeln!(out, "There: `holdfast member join {}`", args.file.display())?;
    Ok(())
}
