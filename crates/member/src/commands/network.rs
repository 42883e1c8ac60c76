//! Where a space's members meet, and which nodes keep it whole (03 §10).

use std::io::Write;

use anyhow::Context;
use clap::Args;
use minca_access::check_relays;
use minca_record::json::Text;

use super::WhichSpace;
use super::changing::{Changing, Deed, did};
use crate::access;
use crate::folder::MemberFolder;

/// `holdfast member relays`
#[derive(Clone, Debug, Args)]
pub struct RelaysArgs {
    /// The relays, at most 8, as wss://relay.example: they replace those named before.
    #[arg(required_unless_present = "none")]
    pub relay: Vec<String>,
    /// Name none.
    #[arg(long, conflicts_with = "relay")]
    pub none: bool,
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `holdfast member keepers`
#[derive(Clone, Debug, Args)]
pub struct KeepersArgs {
    /// The nodes, at most 16, each its DID or its DID and a name, as did:key:zDn…=attic: they
    /// replace those named before.
    #[arg(required_unless_present = "none")]
    pub keeper: Vec<String>,
    /// How many of them a write should reach, 1 to 16.
    #[arg(long)]
    pub copies: Option<u8>,
    /// Name none.
    #[arg(long, conflicts_with = "keeper")]
    pub none: bool,
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn relays(
    folder: &MemberFolder,
    args: &RelaysArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let texts: Vec<Text> = args.relay.iter().map(|url| url.as_str().into()).collect();
    for (url, text) in args.relay.iter().zip(&texts) {
        check_relays(std::slice::from_ref(text)).with_context(|| format!("the relay {url:?}"))?;
    }
    check_relays(&texts).context("the relays")?;
    let mut changing = Changing::open(folder, &args.which)?;
    let urls: Vec<&str> = args.relay.iter().map(String::as_str).collect();
    let deed = Deed("Named", "naming", format!("{} relays", urls.len()));
    changing.make(&deed, access::relays(&urls), args.json, out)
}

pub(super) fn keepers(
    folder: &MemberFolder,
    args: &KeepersArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut changing = Changing::open(folder, &args.which)?;
    let mut keepers = Vec::with_capacity(args.keeper.len());
    for given in &args.keeper {
        let (node, name) = given.split_once('=').unwrap_or((given, ""));
        did(node)?;
        keepers.push((node, name));
    }
    let deed = Deed("Named", "naming", format!("{} keepers", keepers.len()));
    let write = access::keepers(&keepers, args.copies.map(u64::from));
    changing.make(&deed, write, args.json, out)
}
